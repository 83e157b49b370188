"""The streams that test_changed_query.py kills: three versions of a query on one checkpoint.

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
    """Windows of one order, hence one operator; `lab` is the number of a row."""
    order = Window.partitionBy("user").orderBy("ts", "lab")
    lab = F.col("lab")
    if version == "1":
        last_50 = order.rowsBetween(-49, 0)
        some, more = F.sum(lab).over(last_50), F.count_distinct(lab % 7).over(last_50)
    else:  # the state of version 1 has the sum, but no maximum
        some = F.sum(lab).over(order.rowsBetween(-19, 0))
        more = F.max(lab).over(order.rowsBetween(-199, 0))
    number = F.row_number().over(order)
    windows = [some.alias("some"), number.alias("number")]
    if version != "2":
        windows.append(more.alias("more"))
    answers = rows.select("lab", "ts", *windows)
    more = F.lit(0) if version == "2" else F.col("more")
    return answers.select(
        "lab",
        "ts",
        F.col("some").cast("long").alias("some"),
        more.cast("long").alias("more"),
        "number",
        F.lit(version).alias("version"),
    )


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
