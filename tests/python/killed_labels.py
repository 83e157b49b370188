"""The stream that test_label_kills.py kills: features of labels, from two folders to Parquet.

Run as `killed_labels.py FOLDER [--finish]`, with a file of labels and one of events a batch.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from kills import stream

EVENTS = "user string, ts timestamp, amount long"
LABELS = "user string, ts timestamp, lab long"
START = datetime(2026, 1, 1)


def drawn(rng: random.Random, first: int, hours: int, count: int) -> Iterator[dict[str, object]]:
    """Rows of labels or events from the first hour on, with NULL users and equal times."""
    for i in range(count):
        hour, minute = first + rng.randrange(hours), rng.randrange(0, 60, 5)
        yield {
            "user": rng.choice(["a", "b", "c", None]),
            "ts": str(START + timedelta(hours=hour, minutes=minute)),
            "amount": rng.randrange(100),
            "lab": first * 1000 + i,
        }


def read(spark: SparkSession, folder: Path, schema: str, stream: bool) -> DataFrame:
    """A folder of JSON files; a stream takes one at a time."""
    if not stream:
        return spark.read.schema(schema).json(str(folder))
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(folder))


def features(labels: DataFrame, events: DataFrame) -> DataFrame:
    """The function that makes the training set and that serves."""
    return sash.window_join(
        labels.withWatermark("ts", "1 hour"),
        events.withWatermark("ts", "1 hour"),
        on="user",
        by="ts",
        sum_2h=(F.sum("amount"), "2 hours"),
        n_9h=(F.count("*"), "9 hours"),
        distinct_9h=(F.count_distinct("amount"), "9 hours"),
        max_30m=(F.max("amount"), "30 minutes"),
        ever=(F.count("*"), None),
    )


def answers(spark: SparkSession, folder: Path) -> DataFrame:
    labels = read(spark, folder / "labels", LABELS, stream=True)
    return features(labels, read(spark, folder / "events", EVENTS, stream=True))


if __name__ == "__main__":
    stream(answers)
