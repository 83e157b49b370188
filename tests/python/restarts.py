"""A stream over files that is started again and again, and fails now and then."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import sash

SCHEMA = "id BIGINT, k INT, s STRING, ts TIMESTAMP, x INT"
START = datetime(2026, 3, 1)
LAST = START + timedelta(days=2)
"""The time of a row that lets the watermark pass all others."""
Row = tuple[int, int | None, str, datetime, int | None]
Query = Callable[[DataFrame], DataFrame]
"""The answers begin with a number of their own and with their time."""


def drawn(rng: random.Random, files: int) -> list[list[Row]]:
    """Files of rows, which are out of order by up to eight seconds, and pause now and then."""
    seconds, rows = 100.0, []
    for file in range(files):
        rows.append([])
        for _ in range(rng.choice([1, 8, 25])):
            pause = 25.0 if rng.random() < 0.05 else rng.choice([0.2, 1.0, 3.0])
            seconds += pause
            number = sum(map(len, rows))
            time = START + timedelta(seconds=round(seconds - rng.uniform(0, 8), 3))
            row = (
                number,
                rng.choice([None, 0, 1, 2]),
                rng.choice("ab"),
                time + timedelta(microseconds=number),  # each has a time of its own
                rng.choice([None, 1, 2, 5, 7]),
            )
            rows[file].append(row)
    return rows


class Restarts:
    """The stream, which reads one file a batch."""

    def __init__(self, spark: SparkSession, folder: Path, settings: dict[str, str]) -> None:
        self.spark = spark
        self.folder = folder
        for name, value in settings.items():
            spark.conf.set(name, value)
        self.until: datetime | None = None
        self.files = 0
        self.answers: list[tuple[Any, ...]] = []
        (folder / "in").mkdir()

    def come(self, rows: list[Row]) -> None:
        """Write a file of rows, which the stream finds as a whole."""
        hidden = self.folder / "in" / f"_{self.files}"
        names = ("id", "k", "s", "ts", "x")
        lines = [json.dumps(dict(zip(names, row, strict=True)), default=str) for row in rows]
        hidden.write_text("\n".join(lines))
        os.utime(hidden, (1_700_000_000 + self.files, 1_700_000_000 + self.files))
        hidden.rename(self.folder / "in" / f"{self.files:03}.json")
        self.files += 1

    def run(self, query: Query, table: list[Row], fails: bool) -> list[tuple[Any, ...]]:
        """Run the stream to its last file, and return the answers.

        With ``fails`` its first batch fails, and it starts once more.
        """
        before = len(self.answers)
        if fails:
            try:
                self.start(query, table, fails)
            except StreamingQueryException as error:
                if "on purpose" not in str(error):
                    raise
        self.start(query, table)
        return self.answers[before:]

    def rows(self, table: list[Row]) -> DataFrame:
        """The rows of the stream, which begins with the table if there is a history."""
        stream = self.spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
        rows = stream.json(str(self.folder / "in")).withWatermark("ts", "10 seconds")
        if self.until is None:
            return rows
        past = [row for row in table if row[3] <= self.until]
        return sash.warm_start(
            rows, self.spark.createDataFrame(past, SCHEMA), by="ts", until=self.until
        )

    def start(self, query: Query, table: list[Row], fails: bool = False) -> None:
        """Run the stream to its last file; with ``fails`` its first batch fails."""

        def write(answers: DataFrame, _: int) -> None:
            rows = answers.collect()
            if fails:
                raise ValueError("on purpose")
            self.answers.extend(map(tuple, rows))

        writer = query(self.rows(table)).writeStream.foreachBatch(write)
        started = (
            writer.option("checkpointLocation", str(self.folder / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        try:
            started.awaitTermination()
        finally:
            started.stop()
