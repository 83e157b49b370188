"""The longest calls of the last 24 hours, each minute: how long, how many, whose.

    spark-submit --jars $(python -m sash jar) examples/call_centre.py

The query is the example of the paper General Incremental Sliding-Window Aggregation (section
2.1): Max, MaxCount and ArgMax over the calls of 24 hours, which slide by a minute: the first call
of each minute that has one is answered. None of the three can be undone when a
call leaves the window, and ArgMax is not even commutative: of several callers it names the first.

The calls are made up. They are cut off after 45 minutes, so that now and then several share the
first place. Seen are the moments at which the answer changes, and a chart of a week. Some of the
answers are computed again in plain Python.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.dates import DateFormatter
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import sash
from helpers.charts import BLUE, GREY, RED, chart
from helpers.session import options, session
from helpers.timing import step

MONDAY = np.datetime64("2026-03-02T00:00:00", "us")
DAYS = 7
CUT_OFF = 45
CHECKED = 200


def made_up_calls(number: int, seed: int = 2015) -> pd.DataFrame:
    """Calls by the time at which they end, between 8 and 20 o'clock; ``len`` in minutes."""
    random = np.random.default_rng(seed)
    hours = 24 * random.integers(0, DAYS, number) + 8 + 12 * random.beta(2, 2, number)
    return pd.DataFrame(
        {
            "ts": MONDAY + np.sort((hours * 3_600_000_000).astype("timedelta64[us]")),
            "caller": [f"555-{extension:04d}" for extension in random.integers(0, 5000, number)],
            "len": np.ceil(np.minimum(random.lognormal(1.3, 0.75, number), CUT_OFF)).astype(int),
        }
    )


def longest(calls: DataFrame) -> DataFrame:
    """The longest length of 24 hours, how often it was, and whose first, at most once a minute.

    In the paper: SELECT Max(len) AS mxl, MaxCount(len) AS num, ArgMax(len, caller) AS who.
    """
    last_24_hours = sash.SlidingWindow.orderBy("ts").time("24 hours").slide("1 minute")
    answers = calls.select(
        "*",
        sash.sliding_agg("len", "max", last_24_hours).alias("mxl"),
        sash.sliding_agg("len", "max_count", last_24_hours).alias("num"),
        sash.sliding_agg(
            "len", lambda length: sash.functions.arg_max("caller", length), last_24_hours
        ).alias("who"),
    )
    return answers.where("mxl IS NOT NULL")  # elsewhere the window does not slide


def changes(answers: DataFrame) -> DataFrame:
    """The answers that differ from the one before: the paper's IStream."""
    answer = F.struct("mxl", "num", "who")
    before = F.lag(answer).over(Window.orderBy("ts"))
    return (
        answers.withColumn("before", before)
        .where(~answer.eqNullSafe(F.col("before")))
        .drop("before")
    )


def check(calls: pd.DataFrame, answers: pd.DataFrame) -> None:
    """Compare some of the answers with those of a loop over their window's calls."""
    for row in answers.sample(min(CHECKED, len(answers)), random_state=0).itertuples():
        begins = row.ts - pd.Timedelta("24 hours")
        window = calls[calls.ts.between(begins, row.ts)]
        mxl = max(window.len)
        callers = list(window.caller[window.len == mxl])
        assert (row.mxl, row.num, row.who) == (mxl, len(callers), callers[0]), row


def draw(calls: pd.DataFrame, answers: pd.DataFrame, path: Path) -> None:
    """All calls, and the longest of the last 24 hours above them."""
    with chart(path, "Calls, and the longest of the last 24 hours") as [axes]:
        axes.plot(calls.ts, calls.len, ".", color=GREY, ms=3, alpha=0.5)
        axes.step(answers.ts, answers.mxl, where="post", color=BLUE, lw=2.5, label="one call")
        shared = answers.mxl.where(answers.num > 1)
        axes.step(answers.ts, shared, where="post", color=RED, lw=2.5, label="several")
        axes.set(ylabel="minutes", ylim=(0, None))
        axes.xaxis.set_major_formatter(DateFormatter("%a"))


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Answer, check, show, draw."""
    parser = options(__doc__, "call_centre.png")
    parser.add_argument("--calls", type=int, default=10_000, help="how many calls to make up")
    given = parser.parse_args(arguments)

    with step(f"Making up {given.calls:,} calls"):
        made = made_up_calls(given.calls)
        calls = spark.createDataFrame(made)
    with step("Max, MaxCount and ArgMax of the last 24 hours, each minute"):
        answers = longest(calls).orderBy("ts").cache()
        rows = answers.toPandas()
    check(made, rows)
    print(f"{min(CHECKED, len(rows))} answers agree with a loop in Python over their calls.\n")
    print("The first times that the answer changes")
    changes(answers).select(
        F.date_format("ts", "EEE HH:mm:ss").alias("at"), "mxl", "num", "who"
    ).show(15)
    draw(made, rows, given.chart)


if __name__ == "__main__":
    main(session("call_centre"), sys.argv[1:])
