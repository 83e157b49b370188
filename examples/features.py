"""Features of the last 7, 30 and 90 days for each flight, as a model would be trained on.

    spark-submit --jars $(python -m sash jar) examples/features.py

Six statistics of a carrier's earlier flights, for each of three spans and each of 336,776
flights: how many, how many cancelled, mean, standard deviation and median of the delay, and to
how many destinations. A flight itself, and those that are due at the same minute, are left out of
its features, or the model would be told what it is to predict.

It is plain PySpark. Spark refuses the median over a frame that moves, and DISTINCT over any
window; with Sash both run, and a row costs the same over 90 days as over 7.

Seen are the features of some flights, and a chart of one carrier's year. The features of some
flights are computed again in pandas.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from helpers.charts import BLUE, GREY, ORANGE, chart
from helpers.nycflights import register_tables
from helpers.session import options, session
from helpers.timing import step

SPANS = [7, 30, 90]
DAY = 24 * 60 * 60
CHECKED = 30


def features(flights: DataFrame) -> DataFrame:
    """Each flight with its carrier's last 7, 30 and 90 days; columns end in the span."""
    due = F.unix_timestamp("scheduled")
    columns: dict[str, Column] = {}
    for days in SPANS:
        span = Window.partitionBy("carrier").orderBy(due).rangeBetween(-days * DAY, -1)
        columns |= {
            f"flights_{days}d": F.count("*").over(span),
            f"cancelled_{days}d": F.count_if(F.isnull("dep_delay")).over(span),
            f"mean_{days}d": F.avg("dep_delay").over(span),
            f"stddev_{days}d": F.stddev("dep_delay").over(span),
            f"median_{days}d": F.median("dep_delay").over(span),
            f"destinations_{days}d": F.count_distinct("dest").over(span),
        }
    return flights.withColumns(columns)


def check(flights: pd.DataFrame, rows: pd.DataFrame) -> None:
    """Compare the features of some flights with those of pandas; ``due`` is in seconds."""
    for row in rows.to_dict("records"):
        age = row["due"] - flights.due
        for days in SPANS:
            span = flights[(flights.carrier == row["carrier"]) & age.between(1, days * DAY)]
            theirs = {
                "flights": len(span),
                "cancelled": span.dep_delay.isna().sum(),
                "mean": span.dep_delay.mean(),
                "stddev": span.dep_delay.std(),
                "median": span.dep_delay.median(),
                "destinations": span.dest.nunique(),
            }
            ours = [row[f"{name}_{days}d"] for name in theirs]
            np.testing.assert_allclose(
                np.array(ours, float), np.array([*theirs.values()], float), rtol=1e-9
            )


def draw(rows: pd.DataFrame, carrier: str, path: Path) -> None:
    """One carrier's mean and median delay over the three spans."""
    with chart(path, f"Departure delays of {carrier}", (1, 1)) as axes:
        for panel, name in zip(axes, ("mean", "median"), strict=True):
            for days, colour, width in zip(SPANS, (GREY, ORANGE, BLUE), (1, 2, 3), strict=True):
                line = rows[f"{name}_{days}d"]
                panel.plot(rows.scheduled, line, color=colour, lw=width, label=f"{days} days")
            panel.set_ylabel(f"{name} in minutes")


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Make features, check, show, draw."""
    parser = options(__doc__, "features.png")
    parser.add_argument("--carriers", nargs="+", help="these only, by their codes")
    given = parser.parse_args(arguments)

    with tempfile.TemporaryDirectory() as scratch:
        with step("Reading flights"):
            register_tables(spark, Path(scratch))
        flights = spark.table("flights")
        if given.carriers:
            flights = flights.where(F.col("carrier").isin(given.carriers))
        with step(f"18 features of each of {flights.count():,} flights"):
            made = features(flights).cache()
            made.count()
        some = made.orderBy(F.xxhash64("scheduled", "carrier", "flight")).limit(CHECKED).cache()
        due = {"due": F.unix_timestamp("scheduled")}
        check(flights.withColumns(due).toPandas(), some.withColumns(due).toPandas())
        print(f"The features of {CHECKED} flights agree with pandas.\n")
        names = [name for name in made.columns if name.endswith("_30d")]
        some.select("carrier", "scheduled", *(F.round(n, 1).alias(n) for n in names)).show(8)
        drawn = given.carriers[0] if given.carriers else "UA"
        rows = made.where(F.col("carrier") == drawn).orderBy("scheduled").toPandas()
        draw(rows, drawn, given.chart)


if __name__ == "__main__":
    main(session("features", "America/New_York"), sys.argv[1:])
