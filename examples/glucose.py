"""A glucose sensor: time in range over moving windows, the gaps, and a chart of few points.

    spark-submit --jars $(python -m sash jar) examples/glucose.py

The readings of half a year, one every five minutes, come from PyPI's ``bokeh-sampledata``.

1. Time in range, 70 to 180 mg/dL, is the share of readings in that range: the average of a
   boolean as a number, over the last 24 hours and the last 7 days. It is asked for in SQL.
2. Where the sensor gave nothing for half an hour or more it was off. A session window holds the
   readings since then, so that its first one says how long the sensor has been on.
3. A chart 1,200 pixels wide needs four readings of each column of pixels, the first, last, least
   and greatest, and ``m4`` in GROUP BY picks them. Drawn over all readings they hide them.

Each is computed again in pandas.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from helpers.charts import BLUE, GREEN, GREY, RED, chart
from helpers.session import options, session
from helpers.timing import step

COLUMNS = 1_200
OFF = "30 minutes"


def read(spark: SparkSession, days: int | None) -> DataFrame:
    """The readings of the first days, or all, as ``ts`` and ``glucose``."""
    from bokeh_sampledata.glucose import data

    readings = data.glucose.rename_axis("ts").reset_index()
    if days is not None:
        readings = readings[readings.ts < readings.ts.min() + pd.Timedelta(days=days)]
    return spark.createDataFrame(readings)


def time_in_range(readings: DataFrame) -> DataFrame:
    """Each reading with the share of readings in range, of its last 24 hours and 7 days."""
    return readings.sparkSession.sql(
        """
        SELECT ts, glucose,
               avg(int(glucose BETWEEN 70 AND 180)) OVER (
                 ORDER BY ts
                 RANGE BETWEEN INTERVAL 24 HOURS PRECEDING AND CURRENT ROW) AS day,
               avg(int(glucose BETWEEN 70 AND 180)) OVER (
                 ORDER BY ts
                 RANGE BETWEEN INTERVAL 7 DAYS PRECEDING AND CURRENT ROW) AS week
        FROM {readings}""",
        readings=readings,
    )


def sensor_on_since(readings: DataFrame) -> DataFrame:
    """Each reading with the first one since the sensor was last off."""
    since_gap = sash.SlidingWindow.orderBy("ts").session(OFF)
    return readings.select("*", sash.sliding_agg("ts", "min", since_gap).alias("since"))


def few_points(readings: DataFrame, columns: int = COLUMNS) -> DataFrame:
    """At most four readings of each column of pixels, in order."""
    seconds = F.unix_timestamp("ts")
    first, last = readings.select(F.min(seconds), F.max(seconds)).head()
    column = F.width_bucket(seconds, F.lit(first), F.lit(last + 1), F.lit(columns))
    m4 = readings.groupBy(column.alias("column")).agg(
        sash.functions.m4("glucose", "ts").alias("m4")
    )
    points = F.array(*(F.col(f"m4.{which}") for which in ("first", "min", "max", "last")))
    return m4.select(F.inline(points)).distinct().orderBy("time")


def check(readings: pd.DataFrame, points: pd.Series) -> None:
    """Compare all three with pandas."""
    ts = readings.ts
    # RANGE takes in all readings of one time, and pandas those before: the last has them all
    last = ~ts.duplicated(keep="last")
    in_range = readings.glucose.between(70, 180).astype(float).set_axis(ts)
    for ours, length in (("day", "24h"), ("week", "7D")):
        theirs = in_range.rolling(length, closed="both").mean()
        np.testing.assert_allclose(readings[ours][last], theirs[last.to_numpy()], rtol=1e-9)

    begins = ts.diff() >= pd.Timedelta(OFF)
    theirs = ts.groupby(begins.cumsum()).transform("min")
    pd.testing.assert_series_equal(readings.since, theirs, check_names=False)

    width = (ts.max() - ts.min() + pd.Timedelta("1s")) / COLUMNS
    columns = readings.groupby((ts - ts.min()) // width)
    needed = [columns.ts.min(), columns.ts.max()]
    needed += [ts[columns.glucose.idxmin()], ts[columns.glucose.idxmax()]]
    assert set(points.index) == set(pd.concat(needed)), "other points than those of pandas"


def gaps(readings: pd.DataFrame) -> pd.DataFrame:
    """When the sensor was off, and for how long."""
    first = readings.since != readings.since.shift()
    off = pd.DataFrame({"off": readings.ts.shift(), "on": readings.since})[first].iloc[1:]
    return off.assign(hours=(off.on - off.off) / pd.Timedelta("1h"))


def draw(readings: pd.DataFrame, points: pd.Series, path: Path) -> None:
    """Readings below their M4 points, and the time in range below both."""
    with chart(path, "Glucose, and time in range", heights=(3, 2)) as [line, share]:
        line.axhspan(70, 180, color=GREEN, alpha=0.12, lw=0)
        for rows, colour in ((readings.set_index("ts").glucose, RED), (points, BLUE)):
            line.plot(rows, color=colour, lw=0.8, label=f"{len(rows):,} points")
        line.set_ylabel("mg/dL")
        share.plot(readings.ts, 100 * readings.day, color=GREY, lw=0.8, label="24 hours")
        share.plot(readings.ts, 100 * readings.week, color=BLUE, lw=2.5, label="7 days")
        off = gaps(readings).query("hours >= 6")
        share.vlines(
            off.off, 0, 100, color=RED, alpha=0.6, label="sensor off for 6 hours or more"
        )
        share.set(ylabel="% in range", ylim=(0, 100))


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Answer, check, show, draw."""
    parser = options(__doc__, "glucose.png")
    parser.add_argument("--days", type=int, help="read the first days only")
    given = parser.parse_args(arguments)

    with step("Reading"):
        readings = read(spark, given.days).cache()
        readings.count()
    with step("Time in range, and since when the sensor has been on"):
        answers = sensor_on_since(time_in_range(readings)).orderBy("ts").toPandas()
    with step(f"The points of {COLUMNS:,} columns"):
        points = few_points(readings).toPandas().set_index("time").value
    check(answers, points)
    print(f"{len(answers):,} answers and {len(points):,} points agree with pandas.\n")
    print("When the sensor was off for longest")
    print(gaps(answers).nlargest(8, "hours").to_string(index=False, float_format="%.1f"))
    draw(answers, points, given.chart)


if __name__ == "__main__":
    main(session("glucose"), sys.argv[1:])
