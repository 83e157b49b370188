"""What a stream says to a user of Python: its counts, its errors and its lines in the log."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

import sash

SCHEMA = "id BIGINT, k INT, ts TIMESTAMP, x INT"
LATE_ROWS = "io.sash.spark.streams.plan.LateRows"
START = "io.sash.spark.streams.start"


@pytest.fixture
def streaming(streaming: SparkSession) -> SparkSession:
    """With one task."""
    streaming.conf.set("spark.sash.stream.buckets", "1")
    streaming.conf.set("spark.sql.shuffle.partitions", "1")
    return streaming


@contextmanager
def logged(spark: SparkSession, name: str) -> Iterator[Callable[[], list[str]]]:
    """Collect the lines of a logger of the JVM."""
    jvm = spark._jvm
    log4j = jvm.org.apache.logging.log4j
    text = jvm.java.io.StringWriter()
    create = log4j.core.appender.WriterAppender.createAppender
    appender = create(
        log4j.core.layout.PatternLayout.createDefaultLayout(), None, text, "a", False, True
    )
    appender.start()
    logger = log4j.LogManager.getLogger(name)
    level = logger.getLevel()
    logger.addAppender(appender)
    logger.setLevel(log4j.Level.WARN)  # the last, since a new appender resets it
    try:
        yield lambda: str(text.toString()).splitlines()
    finally:
        logger.removeAppender(appender)
        logger.setLevel(level)


def add(
    spark: SparkSession, folder: Path, ids: range, time: str = "timestamp_seconds(id)"
) -> None:
    spark.sql(
        f"""SELECT id, CAST(id % 3 AS INT) AS k, {time} AS ts, CAST(1 AS INT) AS x
        FROM range({ids.start}, {ids.stop})"""
    ).coalesce(1).write.mode("append").parquet(str(folder / "in"))


def events(spark: SparkSession, folder: Path) -> DataFrame:
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    return rows.parquet(str(folder / "in")).withWatermark("ts", "10 seconds")


def start(rows: DataFrame, folder: Path) -> StreamingQuery:
    writer = rows.writeStream.format("noop").trigger(availableNow=True)
    return writer.option("checkpointLocation", str(folder / "checkpoint")).start()


def over(rows: DataFrame, name: str = "sum") -> DataFrame:
    w = Window.partitionBy("k").orderBy("ts").rowsBetween(-4, 0)
    return rows.select("id", getattr(F, name)("x").over(w).alias("a"))


@pytest.mark.slow
def test_late_rows_and_rows_without_a_time_are_counted_and_said(streaming, tmp_path):
    add(streaming, tmp_path, range(3600, 3620))
    add(streaming, tmp_path, range(4), time="CAST(NULL AS TIMESTAMP)")
    with logged(streaming, LATE_ROWS) as lines:
        query = start(over(events(streaming, tmp_path)), tmp_path)
        query.awaitTermination()
        assert lines() == []
        counts = [p.observedMetrics["sash.0"] for p in query.recentProgress]
        assert sum(c.rowsWithoutTime for c in counts) == 4
        assert sum(c.rowsInTime for c in counts) == 20
        add(streaming, tmp_path, range(30))
        query = start(over(events(streaming, tmp_path)), tmp_path)
        query.awaitTermination()
        (said,) = lines()
    assert "dropped 30 of 30 rows as late: the watermark on ts had passed" in said
    assert "in the order of their event times" in said
    late = sum(p.observedMetrics["sash.0"].rowsDropped for p in query.recentProgress)
    assert late == 30


@pytest.mark.slow
def test_another_query_on_a_checkpoint_is_an_error_with_versions_and_a_remedy(
    streaming, tmp_path
):
    add(streaming, tmp_path, range(20))
    start(over(events(streaming, tmp_path)), tmp_path).awaitTermination()
    add(streaming, tmp_path, range(20, 40))

    def error(name: str) -> str:
        with pytest.raises(StreamingQueryException) as caught:
            start(over(events(streaming, tmp_path), name), tmp_path).awaitTermination()
        return str(caught.value)

    changed = error("max")
    versions = f"Sash {sash.__version__} on Spark {streaming.version}"
    for words in ("sum(x)", "max(x)", versions, "start the query as it was", "new checkpoint"):
        assert words in changed
    shutil.rmtree(tmp_path / "checkpoint" / "state" / "0" / "_sash")
    gone = error("max")
    assert "is gone" in gone
    assert "restore that file, or start with a new checkpoint location" in gone


def test_a_start_says_which_stream_waits(streaming, tmp_path):
    add(streaming, tmp_path, range(1))
    rows = events(streaming, tmp_path)
    with logged(streaming, f"{START}.SlowestStream") as lines:
        union = rows.union(events(streaming, tmp_path))
        start(over(union), tmp_path / "union").stop()
        (said,) = lines()
    assert "2 streams with watermarks (ts, ts)" in said
    assert "set it to max before the first start" in said
