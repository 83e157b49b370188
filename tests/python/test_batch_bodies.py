"""A function of foreachBatch reads all rows of a stream's batch, or fails with a remedy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

SCHEMA = "id BIGINT, k INT, ts TIMESTAMP, x INT"
Body = Callable[[DataFrame, int], None]


def features(rows: DataFrame) -> DataFrame:
    w = Window.partitionBy("k").orderBy("ts", "id").rowsBetween(-3, 0)
    return rows.select("id", F.sum("x").over(w).alias("sum"))


def add(spark: SparkSession, folder: Path, number: int) -> None:
    spark.sql(
        f"""SELECT id, CAST(id % 5 AS INT) AS k, timestamp_seconds(1e9 + id) AS ts,
        CAST(id AS INT) AS x FROM range({20 * number}, {20 * number + 20})"""
    ).coalesce(1).write.mode("append").parquet(str(folder / "in"))


def run(spark: SparkSession, folder: Path, body: Body) -> None:
    """Run a query of its own over the files that no query before has read."""
    rows = spark.readStream.schema(SCHEMA).parquet(str(folder / "in"))
    (
        features(rows.withWatermark("ts", "1 second"))
        .writeStream.foreachBatch(body)
        .outputMode("update")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
        .awaitTermination()
    )


@pytest.mark.slow
def test_a_function_that_reads_in_part_fails_or_reads_all_first(streaming, tmp_path):
    found: dict[int, int] = {}

    def keep(batch: DataFrame) -> None:
        found.update({row.id: row.sum for row in batch.collect()})

    def in_part(batch: DataFrame, _: int) -> None:
        batch.take(1)

    def persisted(batch: DataFrame, _: int) -> None:
        batch.persist()
        batch.count()
        if not batch.isEmpty():
            assert batch.limit(1).collect() == batch.take(1)
            keep(batch)
        batch.unpersist()

    def guarded(batch: DataFrame, _: int) -> None:
        if not batch.isEmpty():
            keep(batch)

    add(streaming, tmp_path, 0)
    run(streaming, tmp_path, persisted)
    add(streaming, tmp_path, 1)
    with pytest.raises(StreamingQueryException) as error:
        run(streaming, tmp_path, in_part)
    assert "has not read all rows of batch " in str(error.value)
    assert "begin the function with batch.persist() and batch.count()" in str(error.value)
    run(streaming, tmp_path, persisted)  # the batch that has failed
    add(streaming, tmp_path, 2)
    run(streaming, tmp_path, guarded)
    batch = features(streaming.read.schema(SCHEMA).parquet(str(tmp_path / "in")))
    assert found == {row.id: row.sum for row in batch.collect()}
    assert len(found) == 60
