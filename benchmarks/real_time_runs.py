"""A run of a query in real-time mode: what its rows take from a broker back to it."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import uuid
from typing import Any

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

from real_time_queries import Query

KEYS = 10
BROKER = os.environ.get("KAFKA_BOOTSTRAP", "")
PATIENCE = 300
"""Seconds to wait for the first answer."""
WARM_UP = 10
"""Seconds whose rows do not count."""
SLOW = 1
"""Rows a second of a query whose rows cost the whole window."""


def latencies(spark: SparkSession, query: Query, options: argparse.Namespace) -> list[float]:
    """Milliseconds from the broker's taking a row until it takes its answer."""
    rate = min(SLOW, options.rate) if query.slow else options.rate
    topics = [f"{name}-{uuid.uuid4().hex}" for name in ("rows", "answers")]
    admin = KafkaAdminClient(bootstrap_servers=BROKER)
    noted = {"message.timestamp.type": "LogAppendTime"}
    admin.create_topics([NewTopic(t, 1, 1, topic_configs=noted) for t in topics])
    admin.close()
    with tempfile.TemporaryDirectory() as scratch:
        answers = query.make(_rows(spark, topics[0]))
        _fill(spark, answers, query.window, topics[0], scratch)
        running = _to_topic(answers, topics[1], scratch).trigger(realTime="5 minutes").start()
        producer = KafkaProducer(bootstrap_servers=BROKER)
        _send(producer, topics[0], 0)
        _wait_for_answer(running, topics[1])
        begin, since = time.monotonic(), 1000 * (time.time() + WARM_UP)
        for number in range(int((WARM_UP + options.seconds) * rate)):
            _send(producer, topics[0], number)
            time.sleep(max(0.0, begin + (number + 1) / rate - time.monotonic()))
        producer.flush()
        time.sleep(3)
        running.stop()
        if (error := running.exception()) is not None:
            raise error
    came = _source(spark.read, topics[1]).load()
    sent = F.split(F.col("value").cast("string"), ",")[0].cast("bigint")
    rows = came.select(sent.alias("sent"), F.unix_millis("timestamp").alias("came")).collect()
    found = [row.came - row.sent for row in rows if row.sent is not None and row.sent > since]
    if len(found) < 0.9 * options.seconds * rate:
        raise RuntimeError(f"{query}: only {len(found)} rows were answered")
    return found


def _send(producer: KafkaProducer, topic: str, number: int) -> None:
    value = f"{number % KEYS},{number},{1_000_000 * time.time():.0f}"
    producer.send(topic, value.encode())


def _wait_for_answer(query: StreamingQuery, topic: str) -> None:
    """Wait until all tasks of the query run."""
    consumer = KafkaConsumer(topic, bootstrap_servers=BROKER, auto_offset_reset="earliest")
    until = time.monotonic() + PATIENCE
    while not consumer.poll(500):
        if (error := query.exception()) is not None:
            raise error
        if time.monotonic() > until:
            raise TimeoutError(f"the first row has no answer: {query.status}")
    consumer.close()


def _fill(spark: SparkSession, answers: DataFrame, window: int, topic: str, scratch: str) -> None:
    """Fill the window of each key with rows of an hour ago, in ordinary batches.

    A second one has later rows, so that the watermark has passed those that fill.
    """
    for rows, minutes in (window, 120), (1, 30):
        if window:
            micros = F.unix_micros(F.now()) - minutes * 60_000_000 + F.col("id")
            value = F.concat_ws(",", F.col("id") % KEYS, F.lit(1), micros).alias("value")
            filling = spark.range(rows * KEYS).coalesce(1).select(value).write.format("kafka")
            filling.option("kafka.bootstrap.servers", BROKER).option("topic", topic).save()
            writer = _with_checkpoint(answers.writeStream.format("noop"), scratch)
            writer.trigger(availableNow=True).start().awaitTermination()


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
            F.timestamp_micros(fields[2].cast("bigint")).alias("t"),
            fields[1].cast("int").alias("x"),
        )
        .withWatermark("t", "1 minute")
    )


def _to_topic(answers: DataFrame, topic: str, scratch: str) -> DataStreamWriter:
    value = F.concat_ws(",", "sent", answers.columns[-1]).alias("value")
    writer = answers.select(value).writeStream.format("kafka")
    writer = writer.option("kafka.bootstrap.servers", BROKER).option("topic", topic)
    return _with_checkpoint(writer, scratch)


def _with_checkpoint(writer: DataStreamWriter, scratch: str) -> DataStreamWriter:
    return writer.outputMode("update").option("checkpointLocation", f"{scratch}/checkpoint")
