"""A stream of features, and a new version of it that begins beside it.

    spark-submit --jars $(python -m sash jar) examples/upgrade_features.py

The flights of December 2013 come as a stream. Each flight gets features of its carrier.

1. The first version has the mean delay of the last 100 flights.
2. After ten days the second version begins. It has besides the longest delay of three days. No
   state of the first version has that, so it begins with a table of all flights until then
   (``sash.warm_start``), on a checkpoint of its own.
3. Both run for ten days, and the last ten days the second version runs alone.

Up to the border readers take the answers of the first version, and behind it those of the second.
Each flight has one answer, with the features of the batch query over all flights.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import sash
from helpers.nycflights import register_tables
from helpers.replay import keep_state, run
from helpers.session import options, session
from helpers.timing import step

KEY = ["scheduled", "carrier", "flight", "origin"]
TIMES = [f"2013-12-{day} 00:00:00" for day in ("01", "11", "21", "31")]
BORDER = TIMES[1]
LAST_100 = Window.partitionBy("carrier").orderBy("scheduled").rowsBetween(-100, -1)


def first(flights: DataFrame) -> DataFrame:
    """A feature of the last 100 flights."""
    return flights.select(*KEY, F.avg("dep_delay").over(LAST_100).alias("mean_delay"))


def second(flights: DataFrame) -> DataFrame:
    """The same, and one of three days."""
    three_days = sash.SlidingWindow.partitionBy("carrier").orderBy("scheduled").time("3 days")
    return flights.select(
        *KEY,
        F.avg("dep_delay").over(LAST_100).alias("mean_delay"),
        F.max("dep_delay").over(three_days).alias("longest"),
    )


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Run two versions of a query, one beside the other."""
    options(__doc__).parse_args(arguments)
    keep_state(spark)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        register_tables(spark, folder)
        # one flight for each carrier and time: ROWS tells flights of one time apart
        flights = (
            spark.table("flights")
            .where(F.col("scheduled").between(TIMES[0], TIMES[-1]))
            .where("dep_delay IS NOT NULL")
            .select(*KEY, "dep_delay")
            .dropDuplicates(["carrier", "scheduled"])
            .cache()
        )

        def live() -> DataFrame:
            rows = spark.readStream.schema(flights.schema).parquet(str(folder / "live"))
            return rows.withWatermark("scheduled", "1 hour")

        def begun() -> DataFrame:
            table = flights.where(F.col("scheduled") <= BORDER)
            return sash.warm_start(live(), table, by="scheduled", until=BORDER)

        def go_on(features: Callable[[DataFrame], DataFrame], rows: DataFrame) -> None:
            name = features.__name__
            with step(f"The {name} version"):
                writer = features(rows).writeStream.format("parquet")
                run(writer.option("path", str(folder / name)), folder / f"{name}-checkpoint")

        for ten_days, (begin, end) in enumerate(pairwise(TIMES)):
            come = flights.where((F.col("scheduled") >= begin) & (F.col("scheduled") < end))
            come.coalesce(1).write.mode("append").parquet(str(folder / "live"))
            if ten_days < 2:
                go_on(first, live())
            if ten_days > 0:
                go_on(second, begun())

        old, new = (spark.read.parquet(str(folder / name)) for name in ("first", "second"))
        up_to = F.col("scheduled") <= BORDER
        for answers, expected in ((old, first(flights)), (new, second(flights))):
            wrong = answers.exceptAll(expected.join(answers, KEY, "left_semi")).count()
            if wrong:
                raise SystemExit(f"{wrong} answers differ from those of the batch query.")
        assert new.where(up_to).isEmpty()
        print(f"The first version has answered {old.where(up_to).count():,} flights up to the")
        print(f"border, and the second one {new.count():,} behind it, as the batch query does.")
        new.orderBy(*KEY).show(5, truncate=False)


if __name__ == "__main__":
    main(session("upgrade_features", "America/New_York"), sys.argv[1:])
