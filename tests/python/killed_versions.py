"""The streams that test_changed_query.py kills: a query, and a new version of it beside it.

Run as `killed_together.py` says, with VERSION [UNTIL] of each; a file of events is a batch.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import sash
from killed_labels import LABELS, read
from killed_together import run


def features(rows: DataFrame, version: str) -> DataFrame:
    """Two windows of one order; `lab` is the number of a row."""
    order = Window.partitionBy("user").orderBy("ts", "lab")
    lab = F.col("lab")
    number = F.row_number().over(order).alias("number")
    if version == "1":
        more = F.count_distinct(lab % 7).over(order.rowsBetween(-49, 0))
    else:  # no state of version 1 has it
        more = F.max(-lab).over(order.rowsBetween(-199, 0))
    return rows.select("lab", "ts", number, more.cast("long").alias("more"))


def answers(
    spark: SparkSession, folder: Path, version: str, until: str | None = None
) -> DataFrame:
    rows = read(spark, folder / "labels", LABELS, stream=True).withWatermark("ts", "1 hour")
    if until is not None:
        past = read(spark, folder / "past", LABELS, stream=False)
        rows = sash.warm_start(rows, past, by="ts", until=until)
    return features(rows, version)


if __name__ == "__main__":
    run(answers)
