"""A training set: will a flight be late? Decided hours ahead, from flights known by then.

    spark-submit --jars $(python -m sash jar) examples/training_set.py

Each of 336,776 flights is a label: its departure delay is to be told 24 hours ahead. The features
are the delays of earlier flights, of the same carrier, the same airport and the same flight
number. The delay of a flight is known once it has left, and no earlier. So the time of an event
is the actual departure, and the label looks from the time of the decision.

Some rows of the training set are shown, and computed again in pandas. A chart tells how well the
mean delay of an airport's last three hours goes with a flight's delay, by hours ahead. Beside it
stands the same mean with a leak: it is taken over the hours up to the scheduled departure, known
or not, with the flight itself in it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from helpers.charts import BLUE, RED, chart
from helpers.nycflights import register_tables
from helpers.session import options, session
from helpers.timing import step

AHEAD = 24
"""Hours from the decision to the scheduled departure."""
HOURS_AHEAD = [0, 1, 2, 4, 8, 16, 24]
CHECKED = 30
LATE = 15


def labels_of(flights: DataFrame, ahead: int) -> DataFrame:
    """Each flight, with the time at which its delay is to be told."""
    hours = F.expr(f"make_dt_interval(0, {ahead})")
    return flights.withColumn("decided", F.col("scheduled") - hours)


def events_of(flights: DataFrame) -> DataFrame:
    """Each flight, with the time from which its delay is known; a cancelled one has no delay."""
    delay = F.expr("make_dt_interval(0, 0, coalesce(dep_delay, 0))")
    return flights.withColumn("known", F.col("scheduled") + delay)


def training_set(flights: DataFrame, ahead: int) -> DataFrame:
    """Each flight with the features that were known when its delay had to be told."""
    events = events_of(flights)
    times = {"decided": "known"}
    late = F.avg(F.expr(f"double(dep_delay > {LATE})"))
    by_carrier = sash.window_join(
        labels_of(flights, ahead),
        events,
        on="carrier",
        by=times,
        carrier_flights_7d=(F.count("*"), "7 days"),
        carrier_median_7d=(F.median("dep_delay"), "7 days"),
        carrier_cancelled_30d=(F.count_if(F.isnull("dep_delay")), "30 days"),
    )
    by_airport = sash.window_join(
        by_carrier,
        events,
        on="origin",
        by=times,
        airport_mean_3h=(F.avg("dep_delay"), "3 hours"),
        airport_late_1d=(late, "1 day"),
    )
    flown = events.where("dep_delay IS NOT NULL")
    # of flights that left in one minute the one that was scheduled last
    by_flight = sash.as_of(
        by_airport,
        flown,
        on="origin",
        by={"decided": ("known", "scheduled", "carrier", "flight")},
        allow_exact_matches=False,
        airport_last_delay="dep_delay",
    )
    # the last flight by its schedule whose delay was known
    return sash.as_of(
        by_flight,
        flown,
        on=["carrier", "flight", "origin"],
        by={"decided": "scheduled"},
        known="known",
        allow_exact_matches=False,
        last_delay="dep_delay",
    )


def with_leak(flights: DataFrame) -> DataFrame:
    """The mean of the airport's three hours up to the scheduled departure, itself included."""
    return sash.window_join(
        flights,
        flights,
        on="origin",
        by="scheduled",
        closed="both",
        airport_mean_3h=(F.avg("dep_delay"), "3 hours"),
    )


def correlations(flights: DataFrame) -> dict[str, float]:
    """How the airport's mean goes with the delay: with the leak, then by hours ahead."""
    events = events_of(flights)
    sets = {"with a leak": with_leak(flights)}
    for ahead in HOURS_AHEAD:
        sets[f"{ahead} h ahead"] = sash.window_join(
            labels_of(flights, ahead),
            events,
            on="origin",
            by={"decided": "known"},
            airport_mean_3h=(F.avg("dep_delay"), "3 hours"),
        )
    # a night without flights has no mean
    return {
        name: df.dropna().select(F.corr("airport_mean_3h", "dep_delay")).head()[0]
        for name, df in sets.items()
    }


def check(flights: pd.DataFrame, rows: pd.DataFrame) -> None:
    """Compare the features of some labels with pandas' own; ``flights`` are events."""
    for row in rows.to_dict("records"):
        before = flights[flights.known < row["decided"]]
        before = before.assign(hours=(row["decided"] - before.known) / pd.Timedelta(hours=1))
        carrier = before[before.carrier == row["carrier"]]
        airport = before[before.origin == row["origin"]]
        week, month = (carrier[carrier.hours <= 24 * days] for days in (7, 30))
        three_hours, day = (airport[airport.hours <= hours] for hours in (3, 24))
        flown = airport.dropna(subset="dep_delay")
        last = flown.sort_values(["known", "scheduled", "carrier", "flight"]).dep_delay.tail(1)
        same = flown[(flown.carrier == row["carrier"]) & (flown.flight == row["flight"])]
        same = same[same.scheduled < row["decided"]].sort_values(["scheduled", "known"])
        theirs = {
            "carrier_flights_7d": len(week),
            "carrier_median_7d": week.dep_delay.median(),
            "carrier_cancelled_30d": month.dep_delay.isna().sum(),
            "airport_mean_3h": three_hours.dep_delay.mean(),
            "airport_late_1d": (day.dep_delay.dropna() > LATE).mean(),
            "airport_last_delay": last.iloc[0] if len(last) else np.nan,
            "last_delay": same.dep_delay.iloc[-1] if len(same) else np.nan,
        }
        ours = [row[name] for name in theirs]
        np.testing.assert_allclose(
            np.array(ours, float), np.array([*theirs.values()], float), rtol=1e-9
        )


def draw(found: dict[str, float], path: Path) -> None:
    """A bar for each correlation."""
    title = "The airport's last 3 hours and the flight's delay: correlation"
    with chart(path, title) as (panel,):
        colours = [RED if name == "with a leak" else BLUE for name in found]
        panel.bar([*found], [*found.values()], color=colours)
        panel.set_ylabel("correlation")


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Make the training set, check, show, draw."""
    parser = options(__doc__, "training_set.png")
    parser.add_argument("--days", type=int, default=366, help="the first of the year only")
    given = parser.parse_args(arguments)

    with tempfile.TemporaryDirectory() as scratch:
        with step("Reading flights"):
            register_tables(spark, Path(scratch))
        first = F.lit("2013-01-01").cast("timestamp")
        until = first + F.expr(f"make_dt_interval({given.days})")
        columns = ["scheduled", "carrier", "flight", "origin", "dep_delay"]
        flights = spark.table("flights").where(F.col("scheduled") < until).select(*columns)
        made = training_set(flights, AHEAD).cache()
        with step(f"A training set of {flights.count():,} flights"):
            made.count()
        some = made.orderBy(F.xxhash64("scheduled", "carrier", "flight")).limit(CHECKED)
        checked = some.cache().toPandas()
        check(events_of(flights).toPandas(), checked)
        print(f"The features of {CHECKED} flights agree with pandas.\n")
        rounded = {name: F.round(name, 2) for name, kind in some.dtypes if kind == "double"}
        some.drop("scheduled", "flight").withColumns(rounded).show(8)
        with step("The same mean with a leak, and by hours ahead"):
            found = correlations(flights)
        for name, value in found.items():
            print(f"{name:12} {value:.2f}")
        draw(found, given.chart)


if __name__ == "__main__":
    main(session("training_set"), sys.argv[1:])
