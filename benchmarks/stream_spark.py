"""A query over a stream by Spark's own operators, or by Sash's."""

from __future__ import annotations

import shutil
import statistics
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import DataStreamWriter

import engines_spark
import stream_files
from stream_cells import PASS_THROUGH, SASH, TUMBLING, Cell
from stream_results import Figures

ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "k BIGINT, ts TIMESTAMP, x BIGINT"


@contextmanager
def session(memory: str) -> Iterator[SparkSession]:
    """A session in a JVM that ends with it, so that its memory is there for others."""
    spark = engines_spark.session(2, memory, with_sash=True)
    for key, value in {
        "spark.sql.shuffle.partitions": "4",
        "spark.sash.stream.buckets": "64",
        "spark.sql.streaming.stateStore.providerClass": ROCKS,
        "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
        "spark.sql.streaming.numRecentProgressUpdates": "1000",
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    }.items():
        spark.conf.set(key, value)
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


def measure(
    spark: SparkSession, cells: list[Cell], lead: int, counted: int, scratch: Path
) -> dict[Cell, Figures]:
    """Measure cells of one run, which differ in nothing but the batch.

    Batches of each size come in turn; of each size the last ones count.
    """
    folder = scratch / "stream"
    batches = [cell.batch for cell in cells for _ in range(lead + counted)]
    source = stream_files.in_batches(folder / "in", cells[0], batches)
    progress = run(spark, cells[0], source, folder / "checkpoint", "noop")
    found = {cell: _figures(cell, progress, counted) for cell in cells}
    shutil.rmtree(folder)
    return found


def run(
    spark: SparkSession, cell: Cell, source: Path, checkpoint: Path, sink: str
) -> list[dict[str, Any]]:
    """Run a query to the end of its files; what each of its batches was like."""
    spark.conf.set("spark.sash.enabled", str(cell.engine == SASH).lower())
    answers = _query(cell, read(spark, source, cell.delay)).writeStream
    writer = answers.outputMode(cell.mode).format(sink).queryName("answers")
    progress = to_end(writer, checkpoint)
    operators = [op["operatorName"] for op in progress[-1]["stateOperators"]]
    if (cell.engine == SASH) != any(op.startswith("transformWithState") for op in operators):
        raise SystemExit(f"{cell}: not by whom it was to be answered: {operators}")
    return progress


def read(spark: SparkSession, source: Path, delay: int) -> DataFrame:
    """The rows of a folder's files, each of which is a micro-batch; the delay is in seconds."""
    return (
        spark.readStream.schema(SCHEMA)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(source))
        .withWatermark("ts", f"{delay} seconds")
    )


def to_end(writer: DataStreamWriter, checkpoint: Path) -> list[dict[str, Any]]:
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


def _figures(cell: Cell, progress: list[dict[str, Any]], counted: int) -> Figures:
    batches = [p for p in progress if p["numInputRows"] == cell.batch][-counted:]
    if len(batches) < counted:
        raise SystemExit(f"{cell}: just {len(batches)} whole batches")
    millis = [p["durationMs"]["triggerExecution"] for p in batches]
    return Figures(
        micros=statistics.median(millis) * 1000 / cell.batch,
        events=cell.batch * counted,
        slowest=max(millis) / statistics.median(millis),
        state_mb=of_state(batches[-1], "rocksdbSstFileSize") / 1e6,
        gets=of_state(batches[-1], "rocksdbGetCount"),
        puts=of_state(batches[-1], "rocksdbPutCount"),
    )


def of_state(batch: dict[str, Any], metric: str) -> int:
    """A metric of the state store, of all operators of a batch."""
    return sum(op["customMetrics"].get(metric, 0) for op in batch["stateOperators"])
