"""The three streams of the soak, and the batch queries that have the same answers."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

import sash
from soak_rows import EVERY, LABELS, ROWS, START

DELAY = "10 minutes"
LIVE = "3 hours"
LIVE_SETTING = "spark.sash.stream.keyTimeToLive"
UNTIL = str(datetime.fromtimestamp(START, timezone.utc).replace(tzinfo=None))


def over(rows: DataFrame, *keys: str) -> DataFrame:
    """Frames of rows and of time, multisets, window kinds and totals, in one operator."""
    order = Window.partitionBy("k", *keys).orderBy("ts")
    kinds = sash.SlidingWindow.partitionBy("k", *keys).orderBy("ts")
    last_50, last_100 = order.rowsBetween(-49, 0), order.rowsBetween(-99, 0)
    hour, session = kinds.time("1 hour"), kinds.session("15 minutes")
    budget = kinds.predicate("sum", lambda total: total <= 500, col="x")
    x = F.col("x")
    return rows.select(
        "id",
        "k",
        "ts",
        F.sum(x).over(last_50).alias("sum_50"),
        F.max(x).over(last_100).alias("max_100"),
        F.count_distinct(x).over(last_100).alias("distinct_100"),
        F.avg(x).over(hour).alias("avg_hour"),
        F.median(x).over(hour).alias("median_hour"),
        F.stddev(x).over(kinds.time("10 minutes") & kinds.count(20)).alias("stddev"),
        F.count("*").over(session).alias("in_session"),
        F.count("*").over(budget).alias("in_budget"),
        F.lag(x).over(order).alias("before"),
        F.row_number().over(order).alias("number"),
    )


def hop() -> Column:
    """The windows of a row."""
    return F.window("ts", "1 hour", "5 minutes")


def hops(rows: DataFrame, window: Column) -> DataFrame:
    """Some rows are late for some of their windows only."""
    windows = rows.groupBy("k", window)
    found = windows.agg(F.count("*").alias("n"), F.sum("x").alias("s"), F.max("x").alias("m"))
    return found.select("k", F.col("window.start").alias("start"), "n", "s", "m")


def labels(of: DataFrame, rows: DataFrame) -> DataFrame:
    """The rows of the two hours before each label."""
    return of.sparkSession.sql(
        """
        SELECT l.lab, l.user, l.at, f.* FROM {of} l, LATERAL (
            SELECT count(*) AS n, sum(e.x) AS s, count(DISTINCT e.x) AS d, max(e.x) AS m
            FROM {rows} e
            WHERE e.k = l.user AND e.ts >= l.at - INTERVAL 2 HOURS AND e.ts < l.at) f
        """,
        of=of,
        rows=rows,
    )


@dataclass
class Stream:
    """One of the three, which is started again and again on its checkpoint."""

    name: str
    start: Callable[[SparkSession, Path], StreamingQuery]

    def run(self, spark: SparkSession, folder: Path) -> StreamingQuery:
        """Start it, or go on. Each has a folder of its own for late rows."""
        spark.conf.set("spark.sash.stream.lateRowsPath", str(folder / "late" / self.name))
        return self.start(spark, folder)


def read(spark: SparkSession, folder: Path, name: str) -> DataFrame:
    """A folder of files as a stream."""
    schema, time = (LABELS, "at") if name == "labels" else (ROWS, "ts")
    rows = spark.readStream.schema(schema).parquet(str(folder / name))
    return rows.withWatermark(time, DELAY)


def _start_over(spark: SparkSession, folder: Path) -> StreamingQuery:
    past = spark.read.schema(ROWS).parquet(str(folder / "past"))
    spark.conf.set(LIVE_SETTING, LIVE.replace(" hours", "h"))
    warm = sash.warm_start(read(spark, folder, "rows"), past, by="ts", until=UNTIL)
    query = _to_parquet(over(warm), folder, "over")
    spark.conf.unset(LIVE_SETTING)
    return query


def _start_labels(spark: SparkSession, folder: Path) -> StreamingQuery:
    found = labels(read(spark, folder, "labels"), read(spark, folder, "rows"))
    return _to_parquet(found, folder, "labels")


def _start_hops(spark: SparkSession, folder: Path) -> StreamingQuery:
    offsets = Path(_checkpoint(folder, "hops")) / "offsets"
    (folder / "offsets").mkdir(exist_ok=True)

    def keep(rows: DataFrame, batch: int) -> None:
        # Spark lets old offsets go; they say which watermark each row met
        shutil.copy(offsets / str(batch), folder / "offsets" / str(batch))
        rows.write.mode("overwrite").parquet(str(folder / "out" / "hops" / f"batch={batch}"))

    found = hops(read(spark, folder, "rows"), hop())
    written = found.writeStream.outputMode("update")
    written = written.foreachBatch(keep).trigger(processingTime=f"{EVERY} seconds")
    return written.option("checkpointLocation", _checkpoint(folder, "hops")).start()


def _to_parquet(rows: DataFrame, folder: Path, name: str) -> StreamingQuery:
    written = rows.writeStream.format("parquet").option("path", str(folder / "out" / name))
    written = written.option("checkpointLocation", _checkpoint(folder, name))
    return written.trigger(processingTime=f"{EVERY} seconds").start()


def _checkpoint(folder: Path, name: str) -> str:
    return str(folder / "checkpoint" / name)


STREAMS = [
    Stream("over", _start_over),
    Stream("hops", _start_hops),
    Stream("labels", _start_labels),
]
