"""Centred windows of each size, by each type of order, against pandas' ``rolling``."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from sash.plan import explanation

# the places of the rows, some of them apart and one twice
PLACES = [0, 1, 2, 3, 4, 5, 8, 9, 9, 13, 14, 16, 20, 27]
SIZES = range(1, 10)
# the order, a size's unit for Sash and for pandas, and the unit of a place
ORDERS = {
    "whole": ("", "D", "D"),
    "day": (" days", "D", "D"),
    "half": (" seconds", "s", 0.5),
    "local": (" seconds", "s", 0.5),
    "micro": (" microseconds", "us", 1e-6),
}


@pytest.fixture(scope="module")
def placed(spark: SparkSession) -> DataFrame:
    rows = [(place, float(2**i)) for i, place in enumerate(PLACES)]
    return spark.createDataFrame(rows, "whole int, x double").selectExpr(
        "*",
        "date_add(DATE'2026-03-27', whole) AS day",
        "timestamp_millis(whole * 500) AS half",
        "timestamp_ntz'2026-03-27' + make_dt_interval(0, 0, 0, whole * 0.5) AS local",
        "timestamp_micros(whole) AS micro",
    )


def of_pandas(order: str, size: int, closed: str) -> list[float]:
    _, unit, of_place = ORDERS[order]
    step = pd.Timedelta(1, "D") if of_place == "D" else pd.Timedelta(of_place, "s")
    index = pd.DatetimeIndex([pd.Timestamp(0) + step * place for place in PLACES])
    values = pd.Series([float(2**i) for i in range(len(PLACES))], index.astype("datetime64[ns]"))
    sums = values.rolling(f"{size}{unit}", center=True, closed=closed, min_periods=1).sum()
    # of rows at one place, the last one has the window that SQL gives to each of them
    return list(sums.groupby(level=0).transform("last"))


@pytest.mark.parametrize("closed", ["both", "right", "left", "neither"])
def test_centred_windows_are_those_of_pandas(placed: DataFrame, closed: str):
    def window(order: str, size: int) -> sash.SlidingWindowSpec:
        unit = ORDERS[order][0]
        extent = f"{size}{unit}" if unit else size
        return sash.SlidingWindow.orderBy(order).time(extent, closed, center=True)

    asked = {
        f"{order} {size}": F.sum("x").over(window(order, size))
        for order in ORDERS
        for size in SIZES
    }
    sums = placed.select("whole", "x", *(call.alias(name) for name, call in asked.items()))
    assert "SlidingWindow" in explanation(sums)
    rows = sums.orderBy("whole", "x").collect()
    for order in ORDERS:
        for size in SIZES:
            given = [row[f"{order} {size}"] for row in rows]
            expected = [None if math.isnan(x) else x for x in of_pandas(order, size, closed)]
            assert given == expected, f"{order} {size}"


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (lambda w: w.time("1 hour"), "as a number, or order by a timestamp"),
        (lambda w: w.time("1 hour", "left"), "as a number, or order by a timestamp"),
        (lambda w: w.session("1 hour"), "as a number, or order by a timestamp"),
        (lambda w: w.range(F.expr("INTERVAL 1 HOUR")), "as a number, or order by a timestamp"),
        (lambda w: w.count(3).slide("1 hour"), "slide by a number of rows"),
    ],
)
def test_an_interval_is_no_distance_of_numbers(placed: DataFrame, kind, says: str):
    window = kind(sash.SlidingWindow.orderBy("whole"))
    with pytest.raises(AnalysisException, match=says):
        placed.select(F.sum("x").over(window)).collect()
