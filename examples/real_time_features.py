r"""Features of a card's payments within milliseconds: OVER in the real-time mode of Spark 4.3.

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.3.0 \
        --master 'local[8]' --jars $(python -m sash jar) examples/real_time_features.py \
        --bootstrap localhost:9092

Payments come from a topic of Kafka, and each leaves for another topic with the card's last 20
payments (a ROWS window) and with its last ten minutes (a RANGE window). A second query counts
payments in hops, by Spark's own operator: Sash leaves hops to Spark in this mode. All tasks of
both queries run at once, so the session needs a slot for each.

The payments are made up, and are sent a few at a time while the queries run. Printed are the
times from when a payment was sent until its features were sent, and what the queries tell of
their state. Spark 4.3 has no percentiles of latency in its progress, and in this mode it takes no
operator that could tell Sash's counts. At the end the features are compared with those that the
batch makes of the same payments.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

from helpers.replay import keep_state
from helpers.session import options, session

PAYMENT = "id BIGINT, card STRING, micros BIGINT, amount INT"
CARDS = 20
AT_ONCE = 5
PATIENCE = 300
"""Seconds to wait for rows."""


def features(payments: DataFrame) -> DataFrame:
    """Each payment with the card's last 20 payments, and with its last ten minutes."""
    last_20 = Window.partitionBy("card").orderBy("at").rowsBetween(-19, 0)
    ten_minutes = "PARTITION BY card ORDER BY at RANGE INTERVAL 10 MINUTES PRECEDING"
    return payments.select(
        "id",
        "card",
        F.avg("amount").over(last_20).alias("mean_of_20"),
        F.max("amount").over(last_20).alias("most_of_20"),
        F.expr(f"count(*) OVER ({ten_minutes})").alias("payments"),
        F.expr(f"sum(amount) OVER ({ten_minutes})").alias("spent"),
    )


def hops(payments: DataFrame) -> DataFrame:
    """Payments of each three minutes, by the minute."""
    counted = payments.groupBy(F.window("at", "3 minutes", "1 minute")).count()
    return counted.select(F.col("window.start").alias("start"), "count")


def made_up(count: int) -> Iterator[list[tuple[int, str, int, int]]]:
    """Some payments at a time, with the time of now."""
    rng = np.random.default_rng(1)
    for first in range(0, count, AT_ONCE):
        yield [
            (
                i,
                f"card {rng.integers(CARDS)}",
                time.time_ns() // 1000 + i,
                int(rng.integers(1, 200)),
            )
            for i in range(first, first + AT_ONCE)
        ]


def with_time(rows: DataFrame) -> DataFrame:
    """A payment has its time in microseconds, so that no two have the same."""
    return rows.select("id", "card", F.timestamp_micros("micros").alias("at"), "amount")


class Kafka:
    """The topics of a broker."""

    def __init__(self, spark: SparkSession, address: str) -> None:
        self._spark = spark
        self._address = {"kafka.bootstrap.servers": address}

    def send(self, payments: list[tuple[int, str, int, int]], topic: str) -> None:
        """Send payments as JSON, each card's in order."""
        rows = self._spark.createDataFrame(payments, PAYMENT).coalesce(1)
        value = F.to_json(F.struct(*rows.columns)).alias("value")
        records = rows.select(F.col("card").alias("key"), value).write.format("kafka")
        records.options(**self._address, topic=topic).save()

    def receive(self, topic: str) -> DataFrame:
        """The topic as a stream of payments."""
        source = self._spark.readStream.format("kafka").options(**self._address, subscribe=topic)
        rows = source.option("startingOffsets", "earliest").load()
        payment = F.from_json(F.col("value").cast("string"), PAYMENT).alias("payment")
        payments = with_time(rows.select(payment).select("payment.*"))
        return payments.withWatermark("at", "1 minute")

    def start(self, answers: DataFrame, key: str, topic: str, folder: str) -> StreamingQuery:
        """Send the answers of a query to a topic, row by row, and those of a key in order.

        Progress, and the state, are written at the end of each five seconds.
        """
        value = F.to_json(F.struct(*answers.columns)).alias("value")
        records = answers.select(F.col(key).cast("string").alias("key"), value)
        writer = records.writeStream.format("kafka").outputMode("update")
        writer = writer.options(**self._address, topic=topic).queryName(topic)
        writer = writer.option("checkpointLocation", f"{folder}/{topic}")
        return writer.trigger(realTime="5 seconds").start()

    def sent(self, topic: str, schema: str) -> DataFrame:
        """What a topic has, and when it was sent."""
        rows = self._spark.read.format("kafka").options(**self._address, subscribe=topic).load()
        value = F.from_json(F.col("value").cast("string"), schema).alias("value")
        millis = F.unix_millis("timestamp").alias("millis")
        return rows.select(millis, "offset", value).select("millis", "offset", "value.*")


def wait_for(queries: list[StreamingQuery], payments: int) -> None:
    """Wait until the progress of each query has so many payments."""
    until = time.monotonic() + PATIENCE
    for query in queries:
        while sum(batch["numInputRows"] for batch in query.recentProgress) < payments:
            if (error := query.exception()) is not None:
                raise error
            if time.monotonic() > until:
                raise TimeoutError(f"{query.name} has read too few payments")
            time.sleep(0.1)


def show_latency(payments: DataFrame, answers: DataFrame) -> None:
    """Milliseconds from a payment until its first features."""
    first = answers.groupBy("id").agg(F.min("millis").alias("answered"))
    took = (
        payments.join(first, "id").where(f"id >= {AT_ONCE}").select(F.expr("answered - millis"))
    )
    found = np.array([row[0] for row in took.collect()])
    shown = ", ".join(f"{q} of 100 within {np.percentile(found, q):.0f}" for q in (50, 95, 99))
    print(f"{len(found)} payments, milliseconds until their features: {shown}\n")


def show_progress(query: StreamingQuery) -> None:
    """What a query tells of each five seconds."""
    print(f"query {query.name}: rows; state: operator, rows, rows updated, KiB, ms of commits")
    progress: list[Any] = [p for p in query.recentProgress if p["numInputRows"] > 0]
    for batch in progress:
        for of in batch["stateOperators"]:
            print(
                f"  {batch['numInputRows']:>5}; {of['operatorName']}, {of['numRowsTotal']}, "
                f"{of['numRowsUpdated']}, {of['memoryUsedBytes'] // 1024}, {of['commitTimeMs']}"
            )


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Start both queries, send payments, measure, compare."""
    parser = options(__doc__)
    parser.add_argument("--bootstrap", default=os.environ.get("KAFKA_BOOTSTRAP"))
    parser.add_argument("--payments", type=int, default=500)
    given = parser.parse_args(arguments)
    if given.bootstrap is None:
        parser.error("--bootstrap names a broker of Kafka")
    if tuple(map(int, spark.version.split(".")[:2])) < (4, 3):
        parser.error("real-time mode keeps state since Spark 4.3")

    keep_state(spark, buckets=4)
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    kafka = Kafka(spark, given.bootstrap)
    batches = made_up(given.payments)
    kafka.send(next(batches), "payments")  # the topic is there
    payments = kafka.receive("payments")
    with tempfile.TemporaryDirectory() as folder:
        queries = [
            kafka.start(features(payments), "card", "features", folder),
            kafka.start(hops(payments), "start", "hops", folder),
        ]
        wait_for(queries, AT_ONCE)
        for some in batches:
            kafka.send(some, "payments")
        wait_for(queries, given.payments)
        # tasks that never end are cut off by a stop, each with an error in the log
        spark.sparkContext.setLogLevel("OFF")
        for query in queries:
            show_progress(query)
            query.stop()

    sent = kafka.sent("payments", PAYMENT)
    batch = features(with_time(sent.select("id", "card", "micros", "amount")))
    answers = kafka.sent("features", batch.schema.simpleString())
    show_latency(sent, answers)
    last = Window.partitionBy("id").orderBy(F.desc("offset"))
    newest = answers.withColumn("back", F.row_number().over(last)).where("back = 1")
    assert newest.select(batch.columns).exceptAll(batch).isEmpty()
    assert newest.count() == batch.count()
    print(f"{newest.count()} payments have the features that they have in batch.")


if __name__ == "__main__":
    main(session("real_time_features"), sys.argv[1:])
