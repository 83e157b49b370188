"""A stream of features that begins with a year of history, instead of replaying it.

    spark-submit --jars $(python -m sash jar) examples/warm_start.py

The flights of 2013 until a hand-over lie in a table, and those of the last days come as a stream.
Each flight gets features of its carrier: the mean delay of the last 100 flights, and how many of
them were late. The batch query has answered the table's flights; the stream goes on.

The stream runs twice: it replays all flights from the first one on, and it starts from the table
(``sash.warm_start``). Both give each flight after the hand-over the features of the batch query.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import sash
from helpers.nycflights import register_tables
from helpers.replay import keep_state, run
from helpers.session import options, session
from helpers.timing import step

HAND_OVER = "2013-12-24 00:00:00"
KEY = ["scheduled", "carrier", "flight", "origin"]


def features(flights: DataFrame) -> DataFrame:
    """The same function for the table, the replay and the stream that starts warm."""
    carrier = Window.partitionBy("carrier").orderBy("scheduled", "flight", "origin")
    last_100 = carrier.rowsBetween(-100, -1)
    return flights.select(
        *KEY,
        F.avg("dep_delay").over(last_100).alias("mean_delay"),
        F.count_if(F.col("dep_delay") > 15).over(last_100).alias("late"),
    )


def stream_of(spark: SparkSession, folder: Path) -> DataFrame:
    """The files of a folder as a stream, in one batch."""
    schema = spark.read.parquet(str(folder)).schema
    stream = spark.readStream.schema(schema).parquet(str(folder))
    return stream.withWatermark("scheduled", "1 hour")


def answers(spark: SparkSession, stream: DataFrame, folder: Path) -> DataFrame:
    """Run a stream to its end; its answers after the hand-over."""
    out = str(folder / "out")
    run(features(stream).writeStream.format("parquet").option("path", out), folder / "checkpoint")
    return spark.read.parquet(out).where(F.col("scheduled") > HAND_OVER)


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Replay, start warm, compare."""
    options(__doc__).parse_args(arguments)
    keep_state(spark)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        register_tables(spark, folder)
        flights = spark.table("flights").where("dep_delay IS NOT NULL").select(*KEY, "dep_delay")
        is_past = F.col("scheduled") <= HAND_OVER
        flights.where(is_past).write.parquet(str(folder / "past"))
        flights.where(~is_past).coalesce(1).write.parquet(str(folder / "live"))
        flights.write.parquet(str(folder / "all"))

        past = spark.read.parquet(str(folder / "past"))
        with step(f"Replay of {spark.read.parquet(str(folder / 'all')).count():,} flights"):
            replayed = answers(spark, stream_of(spark, folder / "all"), folder / "replayed")
        with step(f"Start from a table of {past.count():,} flights"):
            live = stream_of(spark, folder / "live")
            begun = sash.warm_start(live, past, by="scheduled", until=HAND_OVER)
            warm = answers(spark, begun, folder / "warm")

        batch = features(spark.read.parquet(str(folder / "all")))
        expected = batch.join(warm.select(*KEY), KEY, "left_semi")
        if warm.exceptAll(expected).count() or warm.exceptAll(replayed).count():
            raise SystemExit("The stream's features differ from those of the batch query.")
        print(f"{warm.count():,} flights after {HAND_OVER} have the features of the batch query:")
        warm.orderBy(*KEY).show(5, truncate=False)


if __name__ == "__main__":
    main(session("warm_start", "America/New_York"), sys.argv[1:])
