"""OVER on a stream gives what it gives in batch, on every version of Spark."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import sash
from streaming import ROCKS, to_parquet
from windows import setting

SCHEMA = "id BIGINT, k INT, ts TIMESTAMP, x INT"


@pytest.fixture
def streaming(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    session.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKS)
    session.conf.set("spark.sash.stream.buckets", "8")
    return session


def write(spark: SparkSession, folder: Path, files: range) -> None:
    """Files of rows that come up to 20 seconds after others that are later than they."""
    rng = random.Random(files.start)  # noqa: S311
    start = datetime(2026, 3, 1)
    for n in files:
        rows = [
            (
                100 * n + i,
                rng.choice([None, 0, 1]),
                start + timedelta(seconds=10 * n + rng.uniform(-20, 10)),
                rng.choice([None, *range(20)]),
            )
            for i in range(40)
        ]
        spark.createDataFrame(rows, SCHEMA).coalesce(1).write.mode("append").parquet(str(folder))


def run(
    spark: SparkSession, folder: Path, of: Callable[[DataFrame], DataFrame]
) -> dict[int, tuple]:
    """All answers until now, each of which came once."""
    rows = (
        spark.readStream.schema(SCHEMA)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder / "in"))
        .withWatermark("ts", "40 seconds")
    )
    to_parquet(of(rows), folder, availableNow=True).awaitTermination()
    answers = spark.read.parquet(str(folder / "out")).collect()
    assert len({row.id for row in answers}) == len(answers)
    return {row.id: tuple(row) for row in answers}


def features(rows: DataFrame) -> DataFrame:
    by_rows = Window.partitionBy("k").orderBy("ts", "id").rowsBetween(-9, 0)
    by_time = sash.SlidingWindow.partitionBy("k").orderBy("ts").time("30 seconds")
    return rows.select(
        "id",
        "ts",
        F.sum("x").over(by_rows).alias("sum"),
        F.count_distinct("x").over(by_rows).alias("distinct"),
        sash.sliding_agg("x", "max", by_time).alias("max"),
        sash.sliding_agg("x", "avg", by_time).alias("avg"),
        sash.sliding_agg("x", "count", sash.SlidingWindow.orderBy("ts", "id").count(5)),
    )


def test_a_stream_gives_what_the_batch_gives(streaming, tmp_path):
    write(streaming, tmp_path / "in", range(4))
    first = run(streaming, tmp_path, features)
    write(streaming, tmp_path / "in", range(4, 7))
    both = run(streaming, tmp_path, features)
    batch = features(streaming.read.schema(SCHEMA).parquet(str(tmp_path / "in")))
    expected = {row.id: tuple(row) for row in batch.collect()}
    assert len(expected) > len(both) > len(first) > 40
    assert all(both[row] == answer for row, answer in first.items())
    assert both == {row: expected[row] for row in both}


def test_what_a_stream_cannot_do_says_so(streaming, tmp_path):
    write(streaming, tmp_path, range(1))
    rows = streaming.readStream.schema(SCHEMA).parquet(str(tmp_path))
    window = Window.partitionBy("k").orderBy("ts").rowsBetween(-9, 0)
    with pytest.raises(AnalysisException, match="call withWatermark on the event time"):
        rows.select(F.sum("x").over(window)).schema  # noqa: B018
    rows = rows.withWatermark("ts", "1 minute")
    with pytest.raises(AnalysisException, match="write in append or update mode"):
        rows.select(F.sum("x").over(window)).writeStream.format("noop").outputMode(
            "complete"
        ).start()


def test_a_common_table_expression_that_is_read_twice(streaming, tmp_path):
    (
        streaming.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", 10)
        .option("startTimestamp", 1_700_000_000_000)
        .option("advanceMillisPerBatch", 60_000)
        .load()
        .withWatermark("timestamp", "1 second")
        .createOrReplaceTempView("events")
    )
    both = streaming.sql("""
        WITH c AS (
          SELECT value, sum(value) OVER (ORDER BY timestamp, value ROWS 2 PRECEDING) AS s
          FROM events)
        SELECT value, s FROM c UNION ALL SELECT -1 - value, s FROM c""")
    writer = both.writeStream.format("memory").queryName("both")
    query = writer.option("checkpointLocation", str(tmp_path)).start()
    until = time.monotonic() + 120
    while query.isActive and len(query.recentProgress) < 6 and time.monotonic() < until:
        time.sleep(0.2)
    query.stop()
    found = {row.value: row.s for row in streaming.table("both").collect()}
    of_one = {value for value in found if value >= 0}
    assert len(of_one) >= 20
    assert found.keys() - of_one == {-1 - value for value in of_one}
    assert all(found[-1 - value] == found[value] == 3 * value - 3 for value in of_one - {0, 1})


def test_answers_at_once_and_again(streaming, tmp_path):
    def at_once(rows: DataFrame) -> DataFrame:
        w = Window.partitionBy("k").orderBy("ts", "id")
        return rows.select("id", F.sum("x").over(w.rowsBetween(-9, 0)).alias("sum"))

    last: dict[int, tuple] = {}
    given = 0
    for files in range(3), range(3, 6):
        write(streaming, tmp_path / "in", files)
        rows = (
            streaming.readStream.schema(SCHEMA)
            .option("maxFilesPerTrigger", 1)
            .parquet(str(tmp_path / "in"))
            .withWatermark("ts", "40 seconds")
        )
        batches: list[list] = []
        query = (
            at_once(rows)
            .writeStream.foreachBatch(lambda rows, _, b=batches: b.append(rows.collect()))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .outputMode("update")
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        given += sum(map(len, batches))
        last |= {row.id: tuple(row) for batch in batches for row in batch}
    batch = at_once(streaming.read.parquet(str(tmp_path / "in"))).collect()
    assert last == {row.id: tuple(row) for row in batch}
    assert given > len(last)  # late rows have changed some


def hops(rows: DataFrame) -> DataFrame:
    window = F.window("ts", "25 seconds", "10 seconds")
    plus_one = F.udf(lambda x: None if x is None else x + 1, "bigint", useArrow=False)
    return (
        rows.groupBy("k", window)
        .agg(F.count("*").alias("rows"), F.sum("x").alias("sum"), F.max("id").alias("last"))
        .select("window.start", "k", "rows", plus_one("sum"), "last")
    )


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["append", "update"])
def test_hops_on_a_stream_are_sparks(streaming, tmp_path, mode):
    """Batch by batch, with a restart, and rows that come late."""

    def answers(sash_on: str) -> dict[int, list[tuple]]:
        folder = tmp_path / sash_on
        batches: dict[int, list[tuple]] = {}
        for files in (range(4), range(4, 7)):
            write(streaming, folder / "in", files)
            rows = (
                streaming.readStream.schema(SCHEMA)
                .option("maxFilesPerTrigger", 1)
                .option("latestFirst", False)
                .parquet(str(folder / "in"))
                .withWatermark("ts", "10 seconds")
            )
            query = (
                hops(rows)
                .writeStream.foreachBatch(
                    lambda df, n: batches.update({n: sorted(map(tuple, df.collect()), key=repr)})
                )
                .outputMode(mode)
                .option("checkpointLocation", str(folder / "checkpoint"))
                .trigger(availableNow=True)
                .start()
            )
            query.awaitTermination()
            operators = query.lastProgress["stateOperators"]
            name = "transformWithStateExec" if sash_on == "true" else "stateStoreSave"
            assert [o["operatorName"] for o in operators] == [name]
        return batches

    ours = answers("true")
    with setting(streaming, "spark.sash.enabled", "false"):
        sparks = answers("false")
    assert sum(map(len, sparks.values())) > 20
    assert ours == sparks


@pytest.mark.slow
def test_python_below_between_and_above(streaming, tmp_path):
    plus_one = F.udf(lambda x: None if x is None else x + 1, "bigint", useArrow=False)

    def over(rows: DataFrame) -> DataFrame:
        w = Window.partitionBy(plus_one("k")).orderBy("ts", plus_one("x"), "id")
        a = F.sum(plus_one("x")).over(w.rowsBetween(-9, 0))
        return rows.select("id", plus_one(a).alias("a")).where(plus_one("a") > 20)

    write(streaming, tmp_path / "in", range(4))
    run(streaming, tmp_path, over)
    write(streaming, tmp_path / "in", range(4, 7))
    both = run(streaming, tmp_path, over)
    batch = over(streaming.read.schema(SCHEMA).parquet(str(tmp_path / "in")))
    expected = {row.id: tuple(row) for row in batch.collect()}
    assert len(both) > 100
    assert both == {row: expected[row] for row in both}
