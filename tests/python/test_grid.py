"""A grid of times for each key, and the two ways to fill it, against pandas."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from typing import Any

import pandas as pd
import pytest
from pyspark.errors import PySparkException, PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    drawn = random.Random(7)  # noqa: S311
    times = pd.Timestamp("2026-03-01") + pd.to_timedelta(
        drawn.sample(range(90_000), 60), unit="s"
    )
    values = [float(drawn.randint(0, 40)) for _ in times]
    return pd.DataFrame({"k": [drawn.choice("ab") for _ in times], "ts": times, "x": values})


@pytest.fixture(scope="module")
def events(spark: SparkSession, rows: pd.DataFrame) -> DataFrame:
    records = [(k, ts.to_pydatetime(), x) for k, ts, x in rows.itertuples(index=False)]
    return spark.createDataFrame(records, "k STRING, ts TIMESTAMP, x DOUBLE")


def test_fills_are_those_of_pandas(events, rows):
    grid = sash.grid(events, on="k", by="ts", every="20 minutes")
    filled = sash.as_of(grid, events, on="k", by="ts", x0="x", t0="ts")
    filled = sash.as_of(filled, events, on="k", by="ts", direction="forward", x1="x", t1="ts")
    t, t0, t1 = (F.unix_micros(name) for name in ("ts", "t0", "t1"))
    share = F.coalesce(F.try_divide(t - t0, t1 - t0), F.lit(0.0))
    line = F.col("x0") + (F.col("x1") - F.col("x0")) * share
    answers = filled.select("k", "ts", "x0", line.alias("line")).orderBy("k", "ts").toPandas()
    expected = []
    for k, key in rows.groupby("k"):
        series = key.set_index("ts")["x"].sort_index()
        at = pd.date_range(series.index[0], series.index[-1], freq="20min")
        lines = series.reindex(series.index.union(at)).interpolate(method="time").reindex(at)
        held = series.reindex(at, method="ffill")
        expected.append(pd.DataFrame({"k": k, "ts": at, "x0": held, "line": lines}))
    pd.testing.assert_frame_equal(
        answers, pd.concat(expected, ignore_index=True), check_dtype=False, rtol=1e-9
    )
    assert len(answers) > 100


def days(*of: int) -> list[date]:
    return [date(2026, 3, day) for day in of]


def clock(*minutes: int) -> list[datetime]:
    return [datetime(2026, 3, 1) + timedelta(minutes=m) for m in minutes]


@pytest.mark.parametrize(
    ("kind", "times", "every", "expected"),
    [
        ("BIGINT", [3, 9], 2, [3, 5, 7, 9]),
        ("TINYINT", [-100, 100], 150, [-100, 50]),
        ("INT", [4], 3, [4]),
        ("DATE", days(1, 20), "1 week", days(1, 8, 15)),
        ("DATE", days(1, 6), timedelta(days=2), days(1, 3, 5)),
        ("DATE", days(1, 6), "1 day 24 hours", days(1, 3, 5)),
        ("TIMESTAMP", clock(0, 50), timedelta(minutes=20), clock(0, 20, 40)),
        ("TIMESTAMP_NTZ", clock(5, 70), "interval 30 minutes", clock(5, 35, 65)),
        ("TIMESTAMP", clock(0, 40 * 1440), "1 month", [*clock(0), datetime(2026, 4, 1)]),
    ],
)
def test_times_of_each_type(spark, kind, times, every, expected):
    df = spark.createDataFrame([(t,) for t in [*times, None]], f"`a.t` {kind}")
    made = sash.grid(df, on=[], by="a.t", every=every)
    assert made.schema["a.t"].dataType == df.schema["a.t"].dataType
    assert [row[0] for row in made.orderBy("`a.t`").collect()] == expected


def test_keys(spark):
    rows = [("a", None, 1), ("a", None, 2), (None, 2, 9), ("b", 1, None)]
    df = spark.createDataFrame(rows, "`first` STRING, `k.2` INT, t INT")
    made = sash.grid(df, on=["first", "k.2"], by="t", every=1)
    assert sorted(map(str, map(tuple, made.collect()))) == [
        "('a', None, 1)",
        "('a', None, 2)",
        "(None, 2, 9)",
    ]
    assert made.columns == df.columns


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"on": 3}, "`on`"),
        ({"on": ["k", 3]}, "`on`"),
        ({"on": "other"}, "a column of df"),
        ({"by": None}, "`by`"),
        ({"by": "x"}, "timestamps, dates or whole numbers"),
        ({"by": "k"}, r"`by` should be a column beside the keys \(k\)"),
        ({"every": 3}, "since ts is timestamp"),
        ({"every": "0 hours"}, "more than 0"),
        ({"every": timedelta(days=-1)}, "more than 0"),
        ({"every": "hourly"}, "an interval as in"),
        ({"every": "1 fortnight"}, "an interval in years"),
        ({"every": "1 month 2 days"}, "not of both"),
        ({"every": "+1 day"}, "whose numbers have no signs"),
        ({"every": "99999999999999999999 days"}, "at most 200000 years"),
        ({"every": timedelta.max}, "at most 106751991 days"),
        ({"every": None}, "`every`"),
    ],
    ids=str,
)
def test_a_wrong_argument_is_named(events, wrong: dict[str, Any], named):
    with pytest.raises(PySparkException, match=named):
        sash.grid(events, **{"on": "k", "by": "ts", "every": "1 hour", **wrong})


@pytest.mark.parametrize(
    "every", ["1 hour", "36 hours", "1 day 1 second", timedelta(hours=36)], ids=str
)
def test_a_step_of_dates_is_whole_days(spark, every):
    df = spark.createDataFrame([(day,) for day in days(1, 9)], "d DATE")
    with pytest.raises(PySparkValueError, match=r"`every` should be whole days .* d is date"):
        sash.grid(df, on=[], by="d", every=every)


def test_the_frame_is_sparks(rows):
    with pytest.raises(PySparkException, match=r"spark\.createDataFrame\(df\)"):
        sash.grid(rows, on="k", by="ts", every="1 hour")
