"""Are the answers of the soak those of batch queries over the same rows?"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import soak_hops
import soak_queries
from soak_rows import LABELS, ROWS

Found = dict[str, dict[str, int]]


def check(spark: SparkSession, folder: Path, watermarks: dict[str, str]) -> Found:
    """How many answers and late rows each stream has, and how many answers differ.

    ``watermarks`` has the last watermark of each stream: later rows wait for theirs.
    """
    rows = spark.read.schema(ROWS).parquet(str(folder / "rows"))
    windows = soak_hops.windows(spark, folder)
    in_time = soak_queries.hops(windows.where("open"), F.col("window"))
    answers = {
        "over": lambda late: _over(spark, folder, rows, late, watermarks["over"]),
        "hops": lambda late: in_time,
        "labels": lambda late: _labels(spark, folder, rows, late, watermarks["labels"]),
    }
    found = {}
    for name, right in answers.items():
        late = _late(spark, folder, name).cache()
        given = _given(spark, folder, name)
        found[name] = {"late": late.count(), **_compared(given, right(late))}
        late.unpersist()
    late = spark.read.parquet(str(folder / "late/hops")).select("row.id", "missed", "windows")
    missed = F.count_if(~F.col("open")).alias("missed")
    closed = windows.groupBy("id").agg(missed, F.count("*").alias("windows")).where("missed > 0")
    found["late rows of hops"] = {"late": late.count(), **_compared(late, closed)}
    return found


def _compared(given: DataFrame, expected: DataFrame) -> dict[str, int]:
    given, expected = given.cache(), expected.cache()
    found = {
        "answers": given.count(),
        "expected": expected.count(),
        "wrong": given.exceptAll(expected).count(),
        "missing": expected.exceptAll(given).count(),
    }
    for frame in given, expected:
        frame.unpersist()
    return found


def _late(spark: SparkSession, folder: Path, name: str) -> DataFrame:
    """The late rows of a stream."""
    return spark.read.parquet(str(folder / "late" / name)).select("row.*")


def _given(spark: SparkSession, folder: Path, name: str) -> DataFrame:
    """The answers of a stream; in update mode the last one of each window."""
    given = spark.read.parquet(str(folder / "out" / name))
    if name == "over":
        return _rounded(given)
    if name == "labels":
        return given
    last = Window.partitionBy("k", "start").orderBy(F.desc("batch"))
    numbered = given.withColumn("back", F.row_number().over(last))
    return numbered.where("back = 1").drop("back", "batch")


def _over(
    spark: SparkSession, folder: Path, live: DataFrame, late: DataFrame, watermark: str
) -> DataFrame:
    """A key begins anew after a pause that is longer than its time to live."""
    past = spark.read.schema(ROWS).parquet(str(folder / "past"))
    after = F.col("ts") > _time(soak_queries.UNTIL)
    rows = _without(live.where(after), late, "id").unionAll(past)
    pause = F.expr("ts - lag(ts) OVER (PARTITION BY k ORDER BY ts)")
    begins = (pause > F.expr(f"INTERVAL {soak_queries.LIVE}")).cast("int")
    life = F.sum(F.coalesce("begins", F.lit(0))).over(Window.partitionBy("k").orderBy("ts"))
    lives = rows.withColumn("begins", begins).withColumn("life", life)
    due = after & (F.col("ts") <= _time(watermark))
    return _rounded(soak_queries.over(lives, "life").where(due))


def _rounded(answers: DataFrame) -> DataFrame:
    """The last bits of a deviation depend on the grouping in which it is added up."""
    return answers.withColumn("stddev", F.round("stddev", 6))


def _labels(
    spark: SparkSession, folder: Path, rows: DataFrame, late: DataFrame, watermark: str
) -> DataFrame:
    labels = spark.read.schema(LABELS).parquet(str(folder / "labels"))
    due = _without(labels.where(F.col("at") <= _time(watermark)), late, "lab")
    # late events have the names of the labels' columns, and no id; their times are their own
    events = late.where("source >= 0").select(F.col("user").alias("k"), F.col("at").alias("ts"))
    in_time = rows.join(events, ["k", "ts"], "left_anti").select(rows.columns)
    return soak_queries.labels(due, in_time)


def _without(rows: DataFrame, late: DataFrame, column: str) -> DataFrame:
    """No row of the other table has a value in the column."""
    return rows.join(late.select(column).where(F.col(column).isNotNull()), column, "left_anti")


def _time(of: str) -> Column:
    return F.lit(of).cast("timestamp")
