"""A stream of features whose query changes twice on one checkpoint.

    spark-submit --jars $(python -m sash jar) examples/upgrade_features.py

The flights of December 2013 come as a stream. Each flight gets features of its carrier. The query
has three versions, one for each ten days:

1. the mean delay of the last 100 flights, and how many of them were late;
2. the mean delay of the last 50 flights alone. The state of the first version has them;
3. besides, the longest delay of three days. The state has no trace of it, so that the query
   begins again with a table of all flights until then (``sash.warm_start``).

Each flight is answered once, by the version that runs when the watermark passes it, with the
features of the batch query over all flights.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.window import WindowSpec

import sash
from helpers.nycflights import register_tables
from helpers.replay import keep_state, run
from helpers.session import options, session
from helpers.timing import step

KEY = ["scheduled", "carrier", "flight", "origin"]
BEGIN, END = "2013-12-01 00:00:00", "2013-12-31 00:00:00"
CHANGES = ["2013-12-11 00:00:00", "2013-12-21 00:00:00"]


def last(flights: int) -> WindowSpec:
    """The last flights of the carrier before a flight."""
    return Window.partitionBy("carrier").orderBy("scheduled").rowsBetween(-flights, -1)


def first(flights: DataFrame) -> DataFrame:
    """Two features of the last 100 flights."""
    late = F.count_if(F.col("dep_delay") > 15).over(last(100)).alias("late")
    mean = F.avg("dep_delay").over(last(100)).alias("mean_delay")
    return flights.select(*KEY, mean, late)


def second(flights: DataFrame) -> DataFrame:
    """One of them, of the last 50."""
    return flights.select(*KEY, F.avg("dep_delay").over(last(50)).alias("mean_delay"))


def third(flights: DataFrame) -> DataFrame:
    """The same, and one of three days."""
    three_days = sash.SlidingWindow.partitionBy("carrier").orderBy("scheduled").time("3 days")
    return flights.select(
        *KEY,
        F.avg("dep_delay").over(last(50)).alias("mean_delay"),
        F.max("dep_delay").over(three_days).alias("longest"),
    )


def compare(answers: DataFrame, expected: DataFrame) -> int:
    """The number of answers, which are the batch query's."""
    wrong = answers.exceptAll(expected.join(answers.select(*KEY), KEY, "left_semi")).count()
    if wrong:
        raise SystemExit(f"{wrong} answers differ from those of the batch query.")
    return answers.count()


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Run three versions of a query, one after the other."""
    options(__doc__).parse_args(arguments)
    keep_state(spark)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        register_tables(spark, folder)
        # one flight for each carrier and time: ROWS tells flights of one time apart
        flights = (
            spark.table("flights")
            .where(F.col("scheduled").between(BEGIN, END) & F.col("dep_delay").isNotNull())
            .select(*KEY, "dep_delay")
            .dropDuplicates(["carrier", "scheduled"])
            .cache()
        )
        times = [BEGIN, *CHANGES, END]
        out = str(folder / "out")

        def answered(number: int, columns: list[str]) -> DataFrame:
            answers = spark.read.option("mergeSchema", True).parquet(out)
            return answers.where(F.col("version") == number).select(*columns).drop("version")

        def version(number: int, features: Callable[[DataFrame], DataFrame], past: bool) -> None:
            begin, end = times[number - 1], times[number]
            day = (F.col("scheduled") >= begin) & (F.col("scheduled") < end)
            flights.where(day).coalesce(1).write.mode("append").parquet(str(folder / "live"))
            schema = flights.schema
            rows = spark.readStream.schema(schema).parquet(str(folder / "live"))
            rows = rows.withWatermark("scheduled", "1 hour")
            if past:  # the table has all flights before the change
                table = flights.where(F.col("scheduled") < begin)
                rows = sash.warm_start(rows, table, by="scheduled", until=begin)
            answers = features(rows).withColumn("version", F.lit(number))
            with step(f"Version {number}, until {end[:10]}"):
                writer = answers.writeStream.format("parquet").option("path", out)
                run(writer, folder / "checkpoint")
            count = compare(answered(number, answers.columns), features(flights))
            print(f"Version {number} has answered {count:,} flights as the batch query does.")

        version(1, first, past=False)
        version(2, second, past=False)
        version(3, third, past=True)
        last_version = answered(3, [*KEY, "mean_delay", "longest", "version"])
        last_version.orderBy(*KEY).show(5, truncate=False)


if __name__ == "__main__":
    main(session("upgrade_features", "America/New_York"), sys.argv[1:])
