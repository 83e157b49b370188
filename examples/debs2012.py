"""Query 2 of the DEBS 2012 Grand Challenge: where a machine's power varies too much.

    spark-submit --jars $(python -m sash jar) examples/debs2012.py [--file allData.txt]

A machine reports the electrical power of its three phases a hundred times a second. At each
reading: the mean and the relative variation, (max - min) / max, of each phase over the last
second. Where a phase varies by more than 30%, the raw readings are to be recorded, from 20
seconds before to 70 seconds after. Said as a window, that is a frame that looks ahead: a reading
is recorded if there is a violation in the 70 seconds before it or in the 20 seconds after it. (In
the challenge the seconds tumble; here they slide, as in the benchmarks of In-Order Sliding-Window
Aggregation in Worst-Case Constant Time.)

Without ``--file`` the readings are made up, with the jitter and the jumps of such a machine.
``--file`` is the challenge's data set: lines separated by tabs, without a header, of

    ts                       2012-02-22T16:46:28.9670320+00:00
    index                    the number of the message
    mf01, mf02, mf03         electrical power of the main phases 1 to 3, integers
    pc13, pc14, ...          further sensors, which this query does not read

Seen are the recordings, and a chart. The first answers are computed again in pandas.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import reduce
from operator import or_
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.dates import DateFormatter
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from helpers.charts import BLUE, GREEN, ORANGE, RED, chart
from helpers.session import options, session
from helpers.timing import step

PHASES = ["mf01", "mf02", "mf03"]
SCHEMA = "ts STRING, index LONG, mf01 INT, mf02 INT, mf03 INT"
THRESHOLD = 0.3
CHECKED = 5_000
DRAWN = 200_000


def load(spark: SparkSession, file: Path) -> DataFrame:
    """The challenge's file; Spark leaves out the columns that the schema does not name."""
    lines = spark.read.csv(file.absolute().as_uri(), schema=SCHEMA, sep="\t")
    return lines.withColumn("ts", F.col("ts").cast("timestamp"))


def made_up(seconds: int, seed: int = 2012) -> pd.DataFrame:
    """Readings of the same columns: a level for each phase, noise, and now and then a jump."""
    random = np.random.default_rng(seed)
    n = 100 * seconds
    # 10 ms apart, more or less
    ts = np.cumsum(random.gamma(25, 10_000 / 25, n)).astype("timedelta64[us]")
    columns = {"ts": np.datetime64("2012-02-22T16:46:28", "us") + ts, "index": np.arange(n)}
    for phase, level in zip(PHASES, (14_000, 13_000, 15_000), strict=True):
        power = level * (1 + 0.02 * np.sin(np.arange(n) / 4_000))
        power += random.normal(0, 0.01 * level, n)
        for start in random.integers(0, n, max(1, seconds // 400)):
            power[start : start + random.integers(20, 200)] *= random.uniform(0.5, 0.85)
        columns[phase] = power.astype(np.int32)
    return pd.DataFrame(columns)


def last_second(readings: DataFrame) -> DataFrame:
    """Operators 1 to 3: each reading with mean and variation of each phase's last second."""
    second = sash.SlidingWindow.orderBy("ts").time("1 second")
    answers = [
        sash.sliding_agg(phase, aggregate, second).alias(f"{name}_{phase}")
        for phase in PHASES
        for name, aggregate in (("avg", "avg"), ("rng", "relative_variation"))
    ]
    return readings.select("*", *answers)


def recorded(answers: DataFrame) -> DataFrame:
    """Operator 4: whether a reading lies around a violation."""
    violations = (F.col(f"rng_{phase}") > THRESHOLD for phase in PHASES)
    return answers.withColumn("violation", reduce(or_, violations)).withColumn(
        "recorded",
        F.expr("""
            any(violation) OVER (
              ORDER BY ts
              RANGE BETWEEN INTERVAL 70 SECONDS PRECEDING AND INTERVAL 20 SECONDS FOLLOWING)"""),
    )


def recordings(answers: DataFrame) -> DataFrame:
    """Begin and end of each recording, which is a session of recorded readings."""
    since_gap = sash.SlidingWindow.orderBy("ts").session("1 second")
    return (
        answers.where("recorded")
        .withColumn("begins", sash.sliding_agg("ts", "min", since_gap))
        .groupBy("begins")
        .agg(
            F.max("ts").alias("ends"),
            F.count_if("violation").alias("violations"),
            F.round(F.max(F.greatest(*(f"rng_{phase}" for phase in PHASES))), 2).alias("worst"),
        )
        .orderBy("begins")
    )


def check(answers: pd.DataFrame) -> None:
    """Compare answers, the first of all, with those of pandas."""
    last = ~answers.ts.duplicated(keep="last").to_numpy()
    for phase in PHASES:
        window = answers.set_index("ts")[phase].rolling("1s", closed="both")
        highest = window.max()
        for name, theirs in (
            ("avg", window.mean()),
            ("rng", (highest - window.min()) / highest),
        ):
            ours = answers[f"{name}_{phase}"].to_numpy()
            np.testing.assert_allclose(ours[last], theirs.to_numpy()[last], rtol=1e-9)


def draw(answers: pd.DataFrame, path: Path) -> None:
    """The power of the phases, the variation of the one that varies most, what is recorded."""
    title = "Power of three phases, and variation within a second"
    with chart(path, title, (1, 1)) as [power, variation]:
        for phase, colour in zip(PHASES, (BLUE, GREEN, ORANGE), strict=True):
            power.plot(answers.ts, answers[phase], color=colour, lw=0.5, label=phase)
        power.set(ylabel="power", ylim=(0, None))
        worst = 100 * answers[[f"rng_{phase}" for phase in PHASES]].max(axis=1)
        variation.plot(answers.ts, worst, color=BLUE, lw=1, label="worst phase")
        variation.axhline(100 * THRESHOLD, color=RED, lw=1, ls="--", label="threshold")
        variation.fill_between(
            answers.ts,
            0,
            100,
            where=answers.recorded,
            color=RED,
            alpha=0.15,
            lw=0,
            label="recorded",
        )
        variation.set(ylabel="variation in %", ylim=(0, 100))
        variation.xaxis.set_major_formatter(DateFormatter("%H:%M"))


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Answer, check, show, draw."""
    parser = options(__doc__, "debs2012.png")
    parser.add_argument("--file", type=Path, help="the challenge's data set")
    parser.add_argument("--seconds", type=int, default=1_800, help="how many to make up")
    given = parser.parse_args(arguments)

    with step("Reading" if given.file else f"Making up {100 * given.seconds:,} readings"):
        made = given.file is None
        readings = (
            spark.createDataFrame(made_up(given.seconds)) if made else load(spark, given.file)
        ).cache()
        number = readings.count()
    with step(f"Mean and variation of the last second, at each of {number:,} readings"):
        answers = recorded(last_second(readings)).cache()
        first = answers.orderBy("ts").limit(DRAWN).toPandas()
    check(first[:CHECKED])
    print(f"The answers of {len(first[:CHECKED]):,} readings agree with pandas.\n")
    print("To be recorded")
    recordings(answers).show(truncate=False)
    draw(first, given.chart)


if __name__ == "__main__":
    main(session("debs2012"), sys.argv[1:])
