"""The stream that test_kafka.py kills: windows from a topic of Kafka to Parquet.

Run as `killed.py FOLDER ADDRESS TOPIC ROWS [--finish]`, with at most ROWS rows a batch.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import fetch
import sash
from kills import stream

VALUE = "id BIGINT, k INT, micros BIGINT, x INT"
DELAY = "30 seconds"


def features(rows: DataFrame) -> DataFrame:
    """Frames of rows and of time, distinct counts, a budget; no two rows of one time."""
    by_rows = Window.partitionBy("k").orderBy("ts").rowsBetween(-49, 0)
    by_time = (
        "{} OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL {} SECONDS PRECEDING "
        "AND CURRENT ROW)"
    )
    sliding = sash.SlidingWindow.partitionBy("k").orderBy("ts")
    budget = sliding.predicate("sum", lambda total: total <= 500, col="x")
    return rows.select(
        "id",
        "k",
        "ts",
        F.sum("x").over(by_rows).alias("sum"),
        F.count_distinct("x").over(by_rows).alias("distinct"),
        F.lag("id").over(Window.partitionBy("k").orderBy("ts")).alias("before"),
        F.expr(by_time.format("max(x)", 10)).alias("max_10s"),
        F.expr(by_time.format("count(*)", 120)).alias("count_2m"),
        F.expr(by_time.format("avg(x)", 120)).alias("avg_2m"),
        sash.sliding_agg("x", "count", budget).alias("budget"),
    )


def with_time(rows: DataFrame) -> DataFrame:
    return rows.select("id", "k", F.timestamp_micros("micros").alias("ts"), "x")


def answers(spark: SparkSession, _: Path, address: str, topic: str, rows: str) -> DataFrame:
    source = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", address)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", rows)
        .load()
    )
    value = F.from_json(F.col("value").cast("string"), VALUE).alias("value")
    return features(with_time(source.select(value).select("value.*")).withWatermark("ts", DELAY))


if __name__ == "__main__":
    stream(answers, {"spark.jars": ",".join(map(str, fetch.kafka_source()))})
