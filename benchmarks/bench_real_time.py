"""The latency of OVER in real-time mode beside Spark's own aggregate by key, row by row.

    make bench-real-time

Needs PySpark 4.3, so the target runs it in that version's environment, beside a Kafka broker. The
broker notes when it takes a row and when it takes its answer. Writes real_time.md to
docs/benchmarks.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

import machine
import sash
from progress import Progress

OUT = Path(__file__).parent.parent / "docs" / "benchmarks" / "real_time.md"
KEYS = 10
BROKER = os.environ.get("KAFKA_BOOTSTRAP", "")
WARM_UP = 10
"""Seconds whose rows do not count."""


def over(rows: DataFrame) -> DataFrame:
    """Sash's operator, in Spark's transformWithState."""
    window = Window.partitionBy("k").orderBy("t").rowsBetween(-99, 0)
    return rows.select("sent", F.sum("x").over(window).alias("s"))


def aggregate(rows: DataFrame) -> DataFrame:
    """Spark's own state: a sum of each key."""
    return rows.groupBy("k").agg(F.max("sent").alias("sent"), F.sum("x").alias("s"))


def plain(rows: DataFrame) -> DataFrame:
    """Neither: the source and the sink alone."""
    return rows.select("sent", "x")


QUERIES: dict[str, Callable[[DataFrame], DataFrame]] = {
    "no state": plain,
    "Spark: sum(x) GROUP BY k": aggregate,
    "Sash: sum(x) OVER (PARTITION BY k ORDER BY t ROWS 99 PRECEDING)": over,
}


def latencies(
    spark: SparkSession, query: Callable[[DataFrame], DataFrame], options: argparse.Namespace
) -> list[float]:
    """Milliseconds from the broker's taking a row until it takes its answer."""
    topics = [f"{name}-{uuid.uuid4().hex}" for name in ("rows", "answers")]
    admin = KafkaAdminClient(bootstrap_servers=BROKER)
    noted = {"message.timestamp.type": "LogAppendTime"}
    admin.create_topics([NewTopic(t, 1, 1, topic_configs=noted) for t in topics])
    admin.close()
    with tempfile.TemporaryDirectory() as scratch:
        running = _start(query(_rows(spark, topics[0])), topics[1], scratch)
        producer = KafkaProducer(bootstrap_servers=BROKER)
        begin = time.monotonic()
        count = int((WARM_UP + options.seconds) * options.rate)
        for number in range(count):
            producer.send(topics[0], f"{number % KEYS},{number}".encode())
            time.sleep(max(0.0, begin + (number + 1) / options.rate - time.monotonic()))
        producer.flush()
        time.sleep(3)
        running.stop()
        if running.exception() is not None:
            raise RuntimeError(str(running.exception()))
    answers = _source(spark.read, topics[1]).load()
    sent = F.split(F.col("value").cast("string"), ",")[0].cast("bigint")
    rows = answers.select(sent.alias("sent"), F.unix_millis("timestamp").alias("came")).collect()
    found = [row.came - row.sent for row in sorted(rows) if row.sent is not None]
    counted = found[WARM_UP * options.rate :]
    if len(counted) < 0.9 * options.seconds * options.rate:
        raise RuntimeError(f"only {len(found)} of {count} rows were answered")
    return counted


def _source(reader: Any, topic: str) -> Any:
    options = {"kafka.bootstrap.servers": BROKER, "subscribe": topic}
    return reader.format("kafka").options(**options, startingOffsets="earliest")


def _rows(spark: SparkSession, topic: str) -> DataFrame:
    """When the broker took a row, its key, an event time and a value."""
    fields = F.split(F.col("value").cast("string"), ",")
    return (
        _source(spark.readStream, topic)
        .load()
        .select(
            F.unix_millis("timestamp").alias("sent"),
            fields[0].cast("int").alias("k"),
            F.col("timestamp").alias("t"),
            fields[1].cast("int").alias("x"),
        )
        .withWatermark("t", "1 minute")
    )


def _start(answers: DataFrame, topic: str, scratch: str) -> StreamingQuery:
    value = F.concat_ws(",", "sent", answers.columns[-1]).alias("value")
    writer = answers.select(value).writeStream.format("kafka").outputMode("update")
    writer = writer.option("kafka.bootstrap.servers", BROKER).option("topic", topic)
    writer = writer.option("checkpointLocation", f"{scratch}/checkpoint")
    return writer.trigger(realTime="5 minutes").start()


def main() -> None:
    """Measure each query in turns, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60, help="of each measured run")
    parser.add_argument("--rate", type=int, default=25, help="rows a second")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--jars", default="", help="Spark's Kafka source, separated by commas")
    options = parser.parse_args()
    # all tasks of a query run at once
    builder = SparkSession.builder.master("local[4]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "1").config(
        "spark.jars", options.jars
    )
    spark = sash.configure(builder.config("spark.log.level", "ERROR")).getOrCreate()
    spark.conf.set("spark.sash.stream.buckets", "4")
    found: dict[str, list[list[float]]] = {name: [] for name in QUERIES}
    progress = Progress(options.runs * len(QUERIES))
    for _ in range(options.runs):
        for name, query in QUERIES.items():
            found[name].append(latencies(spark, query, options))
            progress.advance(1, name)
    about = machine.about(Spark=spark.version)
    spark.stop()
    OUT.write_text(page(about, found, options), encoding="utf-8")
    print(OUT)


def page(
    about: dict[str, Any], found: dict[str, list[list[float]]], options: argparse.Namespace
) -> str:
    """The page: the middle run of each query, by its median."""
    lines = [
        "# Latency in real-time mode",
        "",
        machine.sentence(about),
        "",
        "Milliseconds from when a Kafka broker has a row until it has the answer. "
        f"{options.rate} rows a second, {KEYS} keys, {options.seconds} seconds after a "
        f"warm-up. Of {options.runs} runs in turns the middle one. `make bench-real-time` "
        "writes this page.",
        "",
        "| query, update mode | median | 99 of 100 |",
        "|---|--:|--:|",
    ]
    for name, runs in found.items():
        run = sorted(runs, key=statistics.median)[len(runs) // 2]
        p99 = statistics.quantiles(run, n=100)[98]
        lines.append(f"| {name} | {statistics.median(run):.1f} | {p99:.1f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
