"""The streams that test_history.py kills: windows that begin with a table, to Parquet.

Run as `killed_together.py` says, with the KIND of each; one file of a folder is a batch.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import sash
from killed_labels import EVENTS, LABELS, START, read
from killed_together import run

UNTIL = START + timedelta(hours=6)


def over(rows: DataFrame) -> DataFrame:
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


def hops(rows: DataFrame) -> DataFrame:
    """Windows by their end, some of which hold rows of the table and of the stream."""
    grouped = rows.groupBy("user", F.window("ts", "5 hours", "1 hour"))
    answers = grouped.agg(F.sum("lab").alias("sum"), F.count("*").alias("n"))
    return answers.selectExpr("user", "window.end AS ts", "sum", "n")


def labels(labels: DataFrame, events: DataFrame) -> DataFrame:
    return sash.window_join(
        labels,
        events,
        on="user",
        by="ts",
        sum_2h=(F.sum("amount"), "2 hours"),
        distinct_9h=(F.count_distinct("amount"), "9 hours"),
        ever=(F.count("*"), None),
    )


def features(kind: str, rows: DataFrame, events: DataFrame) -> DataFrame:
    if kind == "labels":
        return labels(rows, events)
    return {"over": over, "hops": hops}[kind](rows)


def answers(spark: SparkSession, folder: Path, kind: str) -> DataFrame:
    def begun(name: str, schema: str) -> DataFrame:
        live = read(spark, folder / name, schema, stream=True).withWatermark("ts", "1 hour")
        past = read(spark, folder / f"past_{name}", schema, stream=False)
        return sash.warm_start(live, past, by="ts", until=UNTIL)

    return features(kind, begun("labels", LABELS), begun("events", EVENTS))


if __name__ == "__main__":
    run(answers)
