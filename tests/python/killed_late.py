"""The streams that test_late_rows.py kills: their late rows go to a folder, answers to Parquet.

Run as `killed_together.py` says, with the KIND of each; a file of labels and one of events is a
batch.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from killed_labels import EVENTS, LABELS, START, features, read
from killed_together import run


def drawn(rng: random.Random, hour: int, count: int) -> Iterator[dict[str, object]]:
    """Rows of an hour, and rows that are hours older; `lab` is the number of a row."""
    for i in range(count):
        back = timedelta(hours=rng.choice([0, 0, 0, 1, 4, 7]), minutes=rng.randrange(0, 60, 5))
        yield {
            "user": rng.choice(["a", "b", "c", None]),
            "ts": str(START + timedelta(hours=hour) - back),
            "amount": rng.randrange(100),
            "lab": hour * 1000 + i,
        }


def over(rows: DataFrame) -> DataFrame:
    by_rows = Window.partitionBy("user").orderBy("ts", "lab").rowsBetween(-49, 0)
    return rows.select("lab", F.sum(F.col("lab") * 2).over(by_rows).alias("sum"))


def hops(rows: DataFrame) -> DataFrame:
    """Windows of each row alone: a row that is not late has at least one."""
    return rows.groupBy("lab", F.window("ts", "3 hours", "1 hour")).agg(F.count("*").alias("n"))


def answers(spark: SparkSession, folder: Path, kind: str) -> DataFrame:
    spark.conf.set("spark.sash.stream.lateRowsPath", str(folder / "late"))
    rows = read(spark, folder / "labels", LABELS, stream=True)
    if kind == "labels":
        return features(rows, read(spark, folder / "events", EVENTS, stream=True))
    return {"over": over, "hops": hops}[kind](rows.withWatermark("ts", "1 hour"))


if __name__ == "__main__":
    run(answers)
