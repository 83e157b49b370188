"""Alerts on a stream: the glucose has been high for two hours without a break.

    spark-submit --jars $(python -m sash jar) examples/alerts.py

The window has no length. It is the longest run of most recent readings of which each, and so
the least, is above 180 mg/dL: ``predicate("min", lambda least: least > 180)``. The time of its
oldest reading is the time since which the glucose has been high. Spark has no such window, and
refuses ``OVER`` on a stream.

The readings of PyPI's ``bokeh-sampledata`` come as a stream, some of them late. Each batch
prints the alerts that it raises, one for each time that the glucose stays high. A loop in plain
Python over all readings, in order, raises the same.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from glucose import read
from helpers.replay import keep_state, read_stream, run, write_arrivals
from helpers.session import options, session

HIGH = 180
HOURS = 2


def high_since(readings: DataFrame) -> DataFrame:
    """Each reading with the time since which the glucose has been high; NULL if it is not."""
    high = sash.SlidingWindow.orderBy("ts").predicate(
        "min", lambda least: least > HIGH, col="glucose"
    )
    return readings.select("*", sash.sliding_agg("ts", "min", high).alias("since"))


def alerts(readings: DataFrame) -> DataFrame:
    """The readings that have been high for long enough."""
    long_enough = F.col("ts") >= F.col("since") + F.expr(f"INTERVAL {HOURS} HOURS")
    return high_since(readings).where(long_enough)


def by_loop(readings: pd.DataFrame) -> Iterator[tuple[pd.Timestamp, pd.Timestamp]]:
    """The same in plain Python: since when, and when the alert is raised."""
    since = raised = None
    for ts, glucose in readings.sort_values("ts")[["ts", "glucose"]].itertuples(index=False):
        if glucose <= HIGH:
            since = raised = None
            continue
        since = since or ts
        if raised is None and ts >= since + pd.Timedelta(hours=HOURS):
            raised = ts
            yield since, raised


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Replay the readings, raise alerts, check."""
    parser = options(__doc__)
    parser.add_argument("--days", type=int, default=60, help="the first days only")
    given = parser.parse_args(arguments)

    keep_state(spark)
    readings = read(spark, given.days).toPandas()
    late = np.random.default_rng(2010).exponential(10, len(readings)).clip(0, 60)
    raised: dict[pd.Timestamp, pd.Timestamp] = {}

    def report(batch: DataFrame, number: int) -> None:
        first = batch.groupBy("since").agg(F.min("ts").alias("raised")).orderBy("since")
        for since, at in first.toPandas().itertuples(index=False):
            if since not in raised:
                raised[since] = at
                print(f"batch {number:>2}: {at:%d %b %H:%M}, high since {since:%H:%M}")

    with tempfile.TemporaryDirectory() as folder:
        arrivals, checkpoint = Path(folder) / "arrivals", Path(folder) / "checkpoint"
        write_arrivals(
            spark, readings, readings.ts + pd.to_timedelta(late, unit="min"), 12, arrivals
        )
        stream = read_stream(spark, arrivals).withWatermark("ts", "1 hour")
        run(alerts(stream).writeStream.foreachBatch(report), checkpoint)

    # the readings of the last hour wait for those that may still come
    answered = readings[readings.ts <= readings.ts.max() - pd.Timedelta(hours=1)]
    assert sorted(raised.items()) == list(by_loop(answered))
    print(f"{len(raised)} alerts, the same that a loop in Python raises.")


if __name__ == "__main__":
    main(session("alerts"), sys.argv[1:])
