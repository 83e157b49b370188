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

import sash
from helpers.nycflights import register_tables
from helpers.replay import keep_state, run
from helpers.session import options, session
from helpers.timing import step

KEY = ["scheduled", "carrier", "flight", "origin"]
BEGIN, END = "2013-12-01 00:00:00", "2013-12-31 00:00:00"
CHANGES = ["2013-12-11 00:00:00", "2013-12-21 00:00:00"]

CARRIER = Window.partitionBy("carrier").orderBy("scheduled")
DELAY = F.col("dep_delay")


def first(flights: DataFrame) -> DataFrame:
    """Two features of the last 100 flights."""
    last_100 = CARRIER.rowsBetween(-100, -1)
    late = F.count_if(DELAY > 15).over(last_100).alias("late")
    return flights.select(*KEY, F.avg(DELAY).over(last_100).alias("mean_delay"), late)


def second(flights: DataFrame) -> DataFrame:
    """One of them, of the last 50."""
    last_50 = CARRIER.rowsBetween(-50, -1)
    return flights.select(*KEY, F.avg(DELAY).over(last_50).alias("mean_delay"))


def third(flights: DataFrame) -> DataFrame:
    """The same, and one of three days."""
    last_50 = CARRIER.rowsBetween(-50, -1)
    three_days = sash.SlidingWindow.partitionBy("carrier").orderBy("scheduled").time("3 days")
    return flights.select(
        *KEY,
        F.avg(DELAY).over(last_50).alias("mean_delay"),
        F.max(DELAY).over(three_days).alias("longest"),
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
            .where(F.col("scheduled").between(BEGIN, END) & DELAY.isNotNull())
            .select(*KEY, "dep_delay")
            .dropDuplicates(["carrier", "scheduled"])
            .cache()
        )
        times = [BEGIN, *CHANGES, END]

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
            out = str(folder / f"version={number}")
            with step(f"Version {number}, until {end[:10]}"):
                writer = features(rows).writeStream.format("parquet").option("path", out)
                run(writer, folder / "checkpoint")
            count = compare(spark.read.parquet(out), features(flights))
            print(f"Version {number} has answered {count:,} flights as the batch query does.")

        version(1, first, past=False)
        version(2, second, past=False)
        version(3, third, past=True)
        spark.read.parquet(str(folder / "version=3")).orderBy(*KEY).show(5, truncate=False)


if __name__ == "__main__":
    main(session("upgrade_features", "America/New_York"), sys.argv[1:])
