"""The stream that test_label_kills.py kills: features of labels, from two folders to Parquet.

Run as `killed_labels.py FOLDER [--finish]`, it goes on from the checkpoint in FOLDER, a file of
labels and one of events a batch; with `--finish` only to the end of what is there.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from kills import KILLED
from streaming import CONF, to_parquet

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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--finish", action="store_true")
    given = parser.parse_args()

    builder = SparkSession.builder.master("local[2]").config(map={**CONF, **KILLED})
    spark = sash.configure(builder).getOrCreate()
    labels = read(spark, given.folder / "labels", LABELS, stream=True)
    events = read(spark, given.folder / "events", EVENTS, stream=True)
    trigger = {"availableNow": True} if given.finish else {}
    to_parquet(features(labels, events), given.folder, **trigger).awaitTermination()


if __name__ == "__main__":
    main()
