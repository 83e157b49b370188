"""Rolling windows over the flights of 2013: Sash's answers, checked against Spark's own.

    spark-submit --jars $(python -m sash jar) examples/rolling_flights.py

Three questions, each a plain OVER clause:

1. How late were a carrier's last 1,000 flights, and how widely did they vary?
2. The same over the last 7 days.
3. How hard did the wind gust at each airport in the last 24 hours?

Each is answered twice, with Sash and with ``spark.sash.enabled=false``, and the answers are
compared row by row. A chart then shows the time of one query as its window grows.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from helpers.compare import differences
from helpers.nycflights import register_tables
from helpers.session import session
from helpers.timing import SASH, SPARK, Settings, repeated, settings, step
from helpers.window_sweep import draw, sweep

CHART = Path(tempfile.gettempdir()) / "sash" / "rolling_flights.png"


class Question(NamedTuple):
    """A query, and its title."""

    title: str
    query: Callable[[SparkSession], DataFrame]


def last_thousand_flights(spark: SparkSession) -> DataFrame:
    """Each flight with the delays of its carrier's last 1,000 flights, itself included."""
    last = (
        Window.partitionBy("carrier")
        .orderBy("scheduled", "flight")
        .rowsBetween(-999, Window.currentRow)
    )
    return spark.table("flights").select(
        "carrier",
        "scheduled",
        "flight",
        F.count("*").over(last).alias("flights"),
        F.count_if(F.isnull("dep_delay")).over(last).alias("cancelled"),
        F.avg("dep_delay").over(last).alias("mean_delay"),
        F.stddev("dep_delay").over(last).alias("stddev_delay"),
    )


def last_seven_days(spark: SparkSession) -> DataFrame:
    """Each flight with its carrier's delays of the 7 days up to its scheduled departure."""
    return spark.sql("""
        SELECT carrier, scheduled, flight,
               count(*) OVER week AS flights,
               count_if(dep_delay IS NULL) OVER week AS cancelled,
               avg(dep_delay) OVER week AS mean_delay,
               stddev(dep_delay) OVER week AS stddev_delay
        FROM flights
        WINDOW week AS (
          PARTITION BY carrier ORDER BY scheduled
          RANGE BETWEEN INTERVAL 7 DAYS PRECEDING AND CURRENT ROW)""")


def gusts(spark: SparkSession) -> DataFrame:
    """Each departure with the hardest gust at its airport in the 24 hours before it."""
    rolling = spark.sql("""
        SELECT origin, time_hour,
               max(wind_gust) OVER (
                 PARTITION BY origin ORDER BY time_hour
                 RANGE BETWEEN INTERVAL 24 HOURS PRECEDING AND CURRENT ROW) AS gust_24h
        FROM weather""")
    return spark.table("flights").join(rolling, ["origin", "time_hour"])


KEY = ["carrier", "scheduled", "flight"]
QUESTIONS = [
    Question("A carrier's last 1,000 flights", last_thousand_flights),
    Question("A carrier's last 7 days", last_seven_days),
    Question("Hardest gust of the last 24 hours, joined to flights", gusts),
]


def delays_by_gust(gusty: DataFrame) -> DataFrame:
    """Do gusts delay flights? Departures grouped by the hardest gust of the day before."""
    band = F.coalesce(F.floor(F.col("gust_24h") / 10) * 10, F.lit(0))
    return (
        gusty.groupBy(band.alias("gust of at least (mph)"))
        .agg(
            F.count("*").alias("departures"),
            F.round(F.avg("dep_delay"), 1).alias("mean delay (min)"),
            F.round(F.avg(F.isnull("dep_delay").cast("int")) * 100, 1).alias("cancelled (%)"),
        )
        .orderBy(band)
    )


def worst_moments(spark: SparkSession, rolling: DataFrame) -> DataFrame:
    """When each carrier's rolling mean delay peaked, the worst carriers first."""
    peak = (
        rolling.where("flights >= 500")
        .groupBy("carrier")
        .agg(F.max_by(F.struct(*rolling.columns[1:]), "mean_delay").alias("peak"))
    )
    return (
        peak.join(spark.table("airlines"), "carrier")
        .select(
            "name",
            F.date_format("peak.scheduled", "yyyy-MM-dd HH:mm").alias("until"),
            "peak.flights",
            "peak.cancelled",
            F.round("peak.mean_delay", 1).alias("mean delay"),
            F.round("peak.stddev_delay", 1).alias("stddev"),
        )
        .orderBy(F.desc("mean delay"))
        .limit(8)
    )


def explain_lines(df: DataFrame) -> list[str]:
    """The SlidingWindow lines of EXPLAIN; none when Spark runs the windows itself."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        df.explain()
    return [line.strip() for line in text.getvalue().splitlines() if "SlidingWindow" in line]


def answer(spark: SparkSession, question: Question) -> DataFrame:
    """Run a question both ways, print plan and times, and return the answer, once it agrees."""
    with settings(spark, SASH):
        plan = explain_lines(question.query(spark))
    if not plan:
        raise SystemExit(
            "Sash is not active: EXPLAIN shows no SlidingWindow. Start the session with\n"
            "  spark-submit --jars $(python -m sash jar) examples/rolling_flights.py"
        )
    print("\n".join(plan))
    with settings(spark, SPARK):
        if explain_lines(question.query(spark)):
            raise SystemExit("spark.sash.enabled=false did not switch Sash off")
    ours = run(spark, "Sash", SASH, question)
    theirs = run(spark, "Spark", SPARK, question)
    check(ours, theirs)
    print(f"  All {ours.count():,} rows agree with Spark's own.")
    return ours


def run(spark: SparkSession, name: str, engine: Settings, question: Question) -> DataFrame:
    """Return an engine's answer, and print the seconds of its best run."""
    print(f"  {name} … ", end="", flush=True)
    with settings(spark, engine):
        start = time.perf_counter()
        rows = question.query(spark).localCheckpoint()
        first = time.perf_counter() - start
        seconds = repeated(lambda: question.query(spark), first)
    runs = "one run" if len(seconds) == 1 else f"the best of {len(seconds)} runs"
    print(f"{min(seconds):.2f} s ({runs})", flush=True)
    return rows


def check(ours: DataFrame, theirs: DataFrame) -> None:
    """Stop where an answer differs from Spark's."""
    wrong = differences(ours, theirs, KEY)
    if count := wrong.count():
        wrong.show(20, truncate=False)
        raise SystemExit(f"{count:,} rows differ from Spark's own; the first are above")


def main() -> int:
    """Answer, check, time, draw."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--chart", type=Path, default=CHART, help="where the PNG goes")
    arguments.add_argument("--budget", type=float, default=60, help="seconds a run may take")
    options = arguments.parse_args()

    spark = session("rolling_flights", "America/New_York")
    with tempfile.TemporaryDirectory() as scratch:
        with step("\n1 of 5: flights and weather are read"):
            register_tables(spark, Path(scratch))
        for number, question in enumerate(QUESTIONS, 2):
            print(f"\n{number} of 5: {question.title}")
            show(spark, question, answer(spark, question))

        print("\n5 of 5: the time of one query over all flights, as its window grows")
        options.chart.parent.mkdir(parents=True, exist_ok=True)
        draw(sweep(spark, options.budget), spark.table("flights").count(), options.chart)
        print(f"Chart: {options.chart}")
    spark.stop()
    return 0


def show(spark: SparkSession, question: Question, rows: DataFrame) -> None:
    """Print what an answer says."""
    if question.query is gusts:
        print("Departures by the hardest gust of the 24 hours before")
        delays_by_gust(rows).show()
    else:
        print("The carriers that did worst, each at its worst, by mean delay in minutes")
        worst_moments(spark, rows).show(truncate=False)


if __name__ == "__main__":
    sys.exit(main())
