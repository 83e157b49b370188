"""The stream that test_kafka.py kills: windows from a topic of Kafka to Parquet.

Run as `killed.py ADDRESS TOPIC FOLDER ROWS [--finish]`, it goes on from the checkpoint in FOLDER,
by at most ROWS rows a batch; with `--finish` only to the end of what is there.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import fetch
import sash
from kills import KILLED
from streaming import CONF, to_parquet

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


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("topic")
    parser.add_argument("folder", type=Path)
    parser.add_argument("rows", type=int)
    parser.add_argument("--finish", action="store_true")
    given = parser.parse_args()

    jars = ",".join(str(jar) for jar in fetch.kafka_source())
    builder = SparkSession.builder.master("local[2]").config(
        map={**CONF, **KILLED, "spark.jars": jars}
    )
    spark = sash.configure(builder).getOrCreate()
    source = (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", given.address)
        .option("subscribe", given.topic)
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", given.rows)
        .load()
    )
    value = F.from_json(F.col("value").cast("string"), VALUE).alias("value")
    rows = with_time(source.select(value).select("value.*")).withWatermark("ts", DELAY)
    trigger = {"availableNow": True} if given.finish else {}
    query = to_parquet(features(rows), given.folder, **trigger)
    query.awaitTermination()
    progress = query.lastProgress
    assert progress is not None
    operators = [operator["operatorName"] for operator in progress["stateOperators"]]
    (given.folder / "operators.json").write_text(json.dumps(operators))


if __name__ == "__main__":
    main()
