"""The stream that test_history.py kills: windows that begin with a table, to Parquet.

Run as `killed_history.py FOLDER [--finish]`, with one file of events a batch.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import sash
from killed_labels import LABELS, START, read
from kills import stream

UNTIL = START + timedelta(hours=6)


def features(rows: DataFrame) -> DataFrame:
    """Two orders, hence two operators; `lab` is the number of a row."""
    by_rows = Window.partitionBy("user").orderBy("ts", "lab").rowsBetween(-49, 0)
    by_time = sash.SlidingWindow.partitionBy("user").orderBy("ts").time("3 hours")
    growing = "row_number() OVER (PARTITION BY user ORDER BY ts, lab)"
    return rows.select(
        "lab",
        "ts",
        F.sum("lab").over(by_rows).alias("sum"),
        F.count_distinct(F.col("lab") % 7).over(by_rows).alias("distinct"),
        sash.sliding_agg("lab", "count", by_time).alias("time"),
        F.expr(growing).alias("number"),
    )


def answers(spark: SparkSession, folder: Path) -> DataFrame:
    live = read(spark, folder / "labels", LABELS, stream=True).withWatermark("ts", "1 hour")
    past = read(spark, folder / "past", LABELS, stream=False)
    return features(sash.warm_start(live, past, by="ts", until=UNTIL))


if __name__ == "__main__":
    stream(answers)
