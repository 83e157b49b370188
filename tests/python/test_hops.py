"""Hops in batch are Spark's, on every version of Spark."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


@pytest.fixture
def events(spark: SparkSession) -> Iterator[DataFrame]:
    rng = random.Random(5)  # noqa: S311
    start = datetime(2026, 3, 1)
    rows = [
        (rng.choice([None, 0, 1]), start + timedelta(seconds=rng.uniform(0, 300)), i)
        for i in range(200)
    ]
    yield spark.createDataFrame([*rows, (1, None, 7)], "k INT, ts TIMESTAMP, x INT")
    spark.conf.unset("spark.sash.hops.enabled")


def hops(events: DataFrame) -> DataFrame:
    """Windows of five panes, and of pairs of panes."""
    return (
        events.groupBy("k", F.window("ts", "50 seconds", "10 seconds"))
        .agg(F.count("*").alias("n"), F.max("x").alias("most"))
        .unionByName(
            events.groupBy("k", F.window("ts", "25 seconds", "10 seconds")).agg(
                F.count("x").alias("n"), F.sum("x").alias("most")
            )
        )
    )


def plan(frame: DataFrame) -> str:
    return frame._jdf.queryExecution().executedPlan().toString()


def test_hops_are_sparks(spark: SparkSession, events: DataFrame) -> None:
    ours = hops(events)
    assert plan(ours).count("HopWindows [") == 2
    answers = sorted(map(str, ours.collect()))
    spark.conf.set("spark.sash.hops.enabled", "false")
    theirs = hops(events)
    assert "HopWindows" not in plan(theirs)
    assert answers == sorted(map(str, theirs.collect()))
    assert len(answers) > 100


def below(events: DataFrame) -> DataFrame:
    """Windows made below the aggregation, with columns and conditions in between."""
    windowed = events.withColumn("w", F.window("ts", "50 seconds", "10 seconds"))
    windowed.createOrReplaceTempView("windowed")
    sql = """
        SELECT k, w.start, w.end, n, most FROM (
          SELECT k, w, count(y) AS n, max(x) AS most FROM (SELECT *, x + 1 AS y FROM windowed)
          WHERE second(w.start) = 0 OR k IS NULL GROUP BY k, w)
        """
    return (
        windowed.where("x % 3 > 0")
        .drop("ts")
        .groupBy("w", "k")
        .agg(F.count("*").alias("n"), F.max("x").alias("most"))
        .select("k", "w.start", "w.end", "n", "most")
        .unionByName(events.sparkSession.sql(sql))
    )


def test_hops_below_the_aggregation_are_sparks(spark: SparkSession, events: DataFrame) -> None:
    ours = below(events)
    assert plan(ours).count("HopWindows [") == 2
    answers = sorted(map(str, ours.collect()))
    spark.conf.set("spark.sash.hops.enabled", "false")
    theirs = below(events)
    assert "HopWindows" not in plan(theirs)
    assert answers == sorted(map(str, theirs.collect()))
    assert len(answers) > 50


def of_all_values(events: DataFrame) -> DataFrame:
    """Answers from all values of a window, beside partials."""
    return events.groupBy("k", F.window("ts", "50 seconds", "10 seconds")).agg(
        F.count_distinct("x").alias("different"),
        F.median("x").alias("middle"),
        F.sort_array(F.collect_set("x")).alias("those"),
        F.avg("x").alias("mean"),
    )


def test_distinct_and_medians_are_sparks(spark: SparkSession, events: DataFrame) -> None:
    ours = of_all_values(events)
    assert plan(ours).count("HopWindows [") == 1
    answers = sorted(map(str, ours.collect()))
    spark.conf.set("spark.sash.hops.enabled", "false")
    assert answers == sorted(map(str, of_all_values(events).collect()))
    assert len(answers) > 50


@pytest.mark.parametrize("mode", ["append", "update"])
def test_distinct_on_a_stream_is_that_of_the_batch(
    streaming: SparkSession, events: DataFrame, tmp_path: Path, mode: str
) -> None:
    rows = str(tmp_path / "rows")
    events.where("ts IS NOT NULL").repartition(1).write.parquet(rows)
    files = streaming.readStream.schema(events.schema).parquet(rows)
    stream = files.withWatermark("ts", "1 hour")
    query = (
        of_all_values(stream)
        .writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        .format("memory")
        .queryName(f"distinct_{mode}")
        .outputMode(mode)
        .start()
    )
    query.processAllAvailable()
    last = datetime(2026, 3, 2)
    streaming.createDataFrame([(5, last, 1)], events.schema).write.mode("append").parquet(rows)
    query.processAllAvailable()
    query.stop()
    expected = of_all_values(events.where("ts IS NOT NULL"))
    answered = streaming.table(f"distinct_{mode}").where("k IS NULL OR k < 5")
    assert sorted(map(str, answered.collect())) == sorted(map(str, expected.collect()))
