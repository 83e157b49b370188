"""Hops in batch are Spark's, on every version of Spark."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta

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
