"""One long series without keys: rolling, expanding, cumsum, shift, ffill and rank by pandas' API.

    spark-submit --jars $(python -m sash jar) examples/one_long_series.py

The readings of a glucose sensor, one every five minutes for half a year, come from PyPI's
``bokeh-sampledata``. The pandas API on Spark writes each of these calls as ``OVER (ORDER BY …)``
without PARTITION BY. Spark moves all rows to one task and warns of it. Sash divides the window
among tasks. The example says how many tasks have answered each call, with Sash's jar and without,
and checks each answer against pandas.

Half a year is a small table, so the example lowers ``spark.sash.window.splitThreshold``.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence

import pandas as pd
from pyspark.sql import SparkSession

from helpers.session import options, session
from helpers.timing import step

CALLS: dict[str, Callable] = {
    "rolling(288, 1).mean()": lambda x: x.rolling(288, 1).mean(),
    "expanding(1).sum()": lambda x: x.expanding(1).sum(),
    "cumsum()": lambda x: x.cumsum(),
    "shift(12)": lambda x: x.shift(12),
    "ffill()": lambda x: x.ffill(),
    "ffill().rank('first')": lambda x: x.ffill().rank(method="first"),
}


def read(readings: int | None) -> pd.Series:
    """The first readings, or all; every tenth one is missing."""
    from bokeh_sampledata.glucose import data

    glucose = data.glucose.reset_index(drop=True).astype("float64")[:readings]
    return glucose.where(glucose.index % 10 != 3)


def answered(spark: SparkSession, series: pd.Series, call: Callable) -> tuple[pd.Series, int]:
    """A call's answers in the order of the series, and the number of tasks that gave them."""
    import pyspark.pandas as ps

    answers = call(ps.from_pandas(series)).to_frame("answer")
    tasks = answers.to_spark().rdd.getNumPartitions()
    return answers.to_pandas()["answer"].sort_index(), tasks


def main(spark: SparkSession, arguments: Sequence[str] = ()) -> None:
    """Answer each call with Sash on and off, and compare both with pandas."""
    parser = options(__doc__)
    parser.add_argument("--readings", type=int, help="only the first ones")
    series = read(parser.parse_args(arguments).readings)
    spark.conf.set("spark.sash.window.splitThreshold", "0")
    warnings.simplefilter("ignore")  # the API's advice about windows without partitions
    print(f"{len(series):,} readings\n\n{'call':22}{'tasks with Sash':>16}{'without':>9}")
    for name, call in CALLS.items():
        expected = call(series).rename("answer")
        tasks = {}
        for enabled in ("true", "false"):
            spark.conf.set("spark.sash.enabled", enabled)
            answers, tasks[enabled] = answered(spark, series, call)
            pd.testing.assert_series_equal(answers, expected, check_index_type=False)
        print(f"{name:22}{tasks['true']:16}{tasks['false']:9}")
    spark.conf.unset("spark.sash.enabled")
    spark.conf.unset("spark.sash.window.splitThreshold")
    print("\nEach answer is that of pandas.")


if __name__ == "__main__":
    with step("starting Spark"):
        started = session("one long series")
    main(started, sys.argv[1:])
    started.stop()
