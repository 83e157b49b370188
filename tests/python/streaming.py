"""How tests run a stream."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

import sash

ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SHORT = {
    # a test ends before the second compiler has paid for itself: three fifths of the time
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=512m",
}
"""Of a JVM of short queries."""
CONF = {
    **SHORT,
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": ROCKS,
    "spark.sash.stream.buckets": "4",
}
"""Of a session of its own, with few keys."""


def session(more: dict[str, str] | None = None) -> SparkSession:
    """A session with Sash, CONF and more settings."""
    builder = SparkSession.builder.master("local[2]").config(map={**CONF, **(more or {})})
    return sash.configure(builder).getOrCreate()


def to_parquet(rows: DataFrame, folder: Path, **trigger: Any) -> StreamingQuery:
    """Start a stream that is written to ``folder/out``; its checkpoint is beside it."""
    writer = (
        rows.writeStream.format("parquet")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
    )
    return (writer.trigger(**trigger) if trigger else writer).start()
