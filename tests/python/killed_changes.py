"""The stream that test_change_kills.py kills: answers when rows leave, to Parquet.

Run as `killed_changes.py FOLDER [--finish]`, with a file of rows a batch; late rows are kept.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from killed_labels import LABELS, read
from kills import stream


def changes(rows: DataFrame) -> DataFrame:
    """Windows of three hours."""
    return sash.on_change(
        rows,
        partition_by="user",
        order_by="ts",
        window="3 hours",
        n=F.count("*"),
        sum="sum(lab)",
        distinct=F.count_distinct(F.col("lab") % 7),
    )


def answers(spark: SparkSession, folder: Path) -> DataFrame:
    spark.conf.set("spark.sash.stream.lateRowsPath", str(folder / "late"))
    rows = read(spark, folder / "labels", LABELS, stream=True)
    return changes(rows.withWatermark("ts", "1 hour"))


if __name__ == "__main__":
    stream(answers)
