"""Streams as benchmarks run them: the cells, their rows in files, and queries by Spark and Sash.

A row's number says everything: its key, its time (10,000 rows a second), its value, and whether
it is late. History has the numbers below zero, so that windows are full when zero comes.
"""

import os
import shutil
import statistics
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import engines
from harness import BLUE, GREEN, ORANGE

SASH, SPARK, FLINK = "Sash", "Spark", "Flink"
COLOURS = {SASH: BLUE, SPARK: ORANGE, FLINK: GREEN}
PASS_THROUGH, TUMBLING, HOP = "pass-through", "tumbling", "hop"
FRAMES = ("ROWS", "RANGE")
LARGE, SMALL = 100_000, 10_000
"""Rows of a micro-batch."""
ROWS_A_SECOND = 10_000
"""Of event time, whatever the batch."""
EPOCH_MS = 1_700_000_000_000
"""The time of row 0, which begins a window."""
CHUNK = 2_000_000
"""Rows of a file of history, at most: each is a micro-batch."""
MOST_LATE_MS = 5_000
ROCKS = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
}
SETTINGS = {
    "spark.sql.shuffle.partitions": "4",
    "spark.sash.stream.buckets": "64",
    **ROCKS,
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}


@dataclass(frozen=True)
class Cell:
    """A query over the stream of so many keys, by an engine, in micro-batches of so many rows."""

    engine: str
    query: str
    keys: int
    batch: int = LARGE
    """0 for Flink, which has none."""
    rows: int = 0
    panes: int = 0
    late: int | None = None
    """Percent of the rows; None where the delay is too short for late ones."""
    mode: str = "append"

    @property
    def name(self) -> str:
        """The query, as the report calls it."""
        if self.rows:
            late = "" if self.late is None else f", {self.late} % out of order"
            mode = "" if self.mode == "append" else f", {self.mode} mode"
            return f"{self.query}, {self.rows:,} rows{late}{mode}"
        return f"{self.query}, {self.panes:,} panes" if self.panes else self.query

    def __str__(self) -> str:
        batch = f", batches of {self.batch:,}" if self.batch else ""
        return f"{self.keys:,} keys, {self.name}{batch}, by {self.engine}"

    @property
    def over(self) -> bool:
        return self.query in FRAMES

    @property
    def plain(self) -> bool:
        """Whether it is neither of late rows nor in update mode."""
        return self.late is None and self.mode == "append"

    @property
    def history(self) -> int:
        """Rows that fill the windows of all keys: for a hop, one a key in each pane."""
        return self.keys * max(self.rows, self.panes)

    @property
    def slide_ms(self) -> int:
        """A tumbling window's or a pane's length: what a batch holds, so that each ends one."""
        return (self.batch or LARGE) * 1000 // ROWS_A_SECOND

    @property
    def range_ms(self) -> int:
        """How far a RANGE frame reaches back, to hold as many rows as the ROWS frame."""
        return (self.rows - 1) * self.keys * 1000 // ROWS_A_SECOND

    @property
    def delay(self) -> int:
        """Seconds that the watermark is behind."""
        return 1 if self.late is None else 10

    @property
    def run(self) -> "Cell":
        """What measures it: one run for all batches, where windows do not depend on them."""
        return self if self.query in (TUMBLING, HOP) else replace(self, batch=0)

    def by(self, engine: str, batch: int) -> "Cell":
        return replace(self, engine=engine, batch=batch)


def numbered(cell: Cell, first: int, last: int) -> pa.Table:
    """The rows from one number up to another, without it."""
    number = np.arange(first, last, dtype=np.int64)
    ms = EPOCH_MS + number * 1000 // ROWS_A_SECOND
    key = number * 2_654_435_761 % cell.keys
    if cell.query == HOP:  # one row a key in each pane, as far back as the windows reach
        ms = np.where(number < 0, EPOCH_MS + number // cell.keys * cell.slide_ms, ms)
        key = np.where(number < 0, number % cell.keys, key)
    elif cell.late:
        random = np.random.default_rng(abs(first))
        late = random.random(len(number)) < cell.late / 100
        ms -= np.where(late, random.integers(1, MOST_LATE_MS, len(number)), 0)
    time = pa.array(ms * 1000, pa.timestamp("us", tz="UTC"))
    return pa.table({"k": key, "ts": time, "x": number % 1000})


def in_batches(folder: Path, cell: Cell, batches: list[int]) -> Path:
    """A new folder of files for Spark: the history, and one file for each micro-batch.

    Spark takes files by the time at which they were written; theirs is that of their place.
    """
    folder.mkdir(parents=True)
    for place, (first, last) in enumerate(_spans(cell, batches)):
        file = folder / f"{place:04d}.parquet"
        pq.write_table(numbered(cell, first, last), file)
        os.utime(file, (place, place))
    return folder


def in_one(path: Path, cell: Cell, rows: int) -> Path:
    """One file for Flink, which hands out several in no order: history and so many rows.

    All is one row group, since it would hand out several of these in no order, too.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [numbered(cell, first, last) for first, last in _spans(cell, [rows])]
    together = pa.concat_tables(parts)
    pq.write_table(together, path, row_group_size=len(together))
    return path


def _spans(cell: Cell, batches: list[int]) -> Iterator[tuple[int, int]]:
    """The first number of each file, and that behind its last."""
    for first in range(-cell.history, 0, CHUNK):
        yield first, min(first + CHUNK, 0)
    first = 0
    for batch in batches:
        yield first, first + batch
        first += batch


@contextmanager
def session(memory: str) -> Iterator[SparkSession]:
    """A session in a JVM that ends with it, so that its memory is there for others."""
    spark = engines.session(2, memory, **SETTINGS)
    try:
        yield spark
    finally:
        spark.stop()
        gateway: Any = SparkContext._gateway
        gateway.shutdown()
        gateway.proc.stdin.close()
        try:
            gateway.proc.wait(60)
        except subprocess.TimeoutExpired:
            # RocksDB's threads, when they still compact, may call a JVM that has ended
            gateway.proc.kill()
            gateway.proc.wait()
        SparkContext._gateway = SparkContext._jvm = None


def run(
    spark: SparkSession, cell: Cell, folder: Path, batches: list[int], sink: str = "noop"
) -> list[dict[str, Any]]:
    """Run a query to the end of its rows; what each of its batches was like."""
    source = in_batches(folder / "in", cell, batches)
    spark.conf.set("spark.sash.enabled", str(cell.engine == SASH).lower())
    answers = _query(cell, read(spark, source, cell.delay)).writeStream
    writer = answers.outputMode(cell.mode).format(sink).queryName("answers")
    progress = to_end(writer, folder / "checkpoint")
    operators = [op["operatorName"] for op in progress[-1]["stateOperators"]]
    if (cell.engine == SASH) != any(op.startswith("transformWithState") for op in operators):
        raise SystemExit(f"{cell}: not by whom it was to be answered: {operators}")
    shutil.rmtree(folder)
    return progress


def read(spark: SparkSession, source: Path, delay: int) -> DataFrame:
    """The rows of a folder's files, each of which is a micro-batch; the delay is in seconds."""
    reader = spark.readStream.schema("k BIGINT, ts TIMESTAMP, x BIGINT")
    rows = reader.option("maxFilesPerTrigger", 1).parquet(str(source))
    return rows.withWatermark("ts", f"{delay} seconds")


def to_end(writer: Any, checkpoint: Path) -> list[dict[str, Any]]:
    """Run a query to the end of what there is; what each batch that had rows was like."""
    writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    query = writer.start()
    query.awaitTermination()
    return [p for p in query.recentProgress if p["numInputRows"]]


def _query(cell: Cell, rows: DataFrame) -> DataFrame:
    if cell.query == PASS_THROUGH:
        return rows
    if cell.over:
        frame = (
            f"ROWS {cell.rows - 1} PRECEDING"
            if cell.query == "ROWS"
            else f"RANGE INTERVAL '{cell.range_ms / 1000:.3f}' SECOND PRECEDING"
        )
        over = F.expr(f"sum(x) OVER (PARTITION BY k ORDER BY ts {frame}) AS s")
        return rows.select("k", "ts", over)
    slide = f"{cell.slide_ms} milliseconds"
    size = f"{cell.slide_ms * cell.panes} milliseconds"
    window = F.window("ts", slide) if cell.query == TUMBLING else F.window("ts", size, slide)
    sums = rows.groupBy("k", window).agg(F.sum("x").alias("s"))
    return sums.select("k", F.col("window.start").alias("ts"), "s")


def millis(cell: Cell, progress: list[dict[str, Any]], counted: int) -> list[float]:
    """What each of the last whole batches took."""
    batches = [p for p in progress if p["numInputRows"] == cell.batch][-counted:]
    if len(batches) < counted:
        raise SystemExit(f"{cell}: just {len(batches)} whole batches")
    return [float(p["durationMs"]["triggerExecution"]) for p in batches]


def figures(cell: Cell, progress: list[dict[str, Any]], counted: int) -> dict[str, Any]:
    """What an event took, and what the state store did in the last batch."""
    took = millis(cell, progress, counted)
    last = [p for p in progress if p["numInputRows"] == cell.batch][-1]
    return {
        "micros": statistics.median(took) * 1000 / cell.batch,
        "events": cell.batch * counted,
        "slowest": max(took) / statistics.median(took),
        "state_mb": of_state(last, "rocksdbSstFileSize") / 1e6,
        "gets": of_state(last, "rocksdbGetCount"),
        "puts": of_state(last, "rocksdbPutCount"),
    }


def of_state(batch: dict[str, Any], metric: str) -> int:
    """A metric of the state store, of all operators of a batch."""
    return sum(op["customMetrics"].get(metric, 0) for op in batch["stateOperators"])
