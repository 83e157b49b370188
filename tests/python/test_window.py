"""Kinds of windows from Python, against windows that are made here row by row."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pyspark.errors import AnalysisException, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

import sash
from sash.plan import explanation

BY_TS = sash.SlidingWindow.partitionBy("k").orderBy("ts")


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    # every time once in a partition, so that answers do not depend on how ties come
    return spark.range(240).selectExpr(
        "id % 3 AS k",
        "id * id % 1009 AS ts",
        "IF(id % 11 = 0, NULL, CAST(id * 7 % 13 AS INT)) AS x",
        "id % 17 = 4 AS reset",
        "timestamp_seconds(id * id % 1009 * 60) AS at",
    )


def last_while(holds):
    """Windows that lose their oldest rows until something holds."""

    def windows(rows):
        window = []
        for row in rows:
            window.append(row)
            while window and not holds(window):
                window.pop(0)
            yield list(window)

    return windows


def delta(rows):
    window = []
    for row in rows:
        if row.x is not None:
            while window and (window[0].x is None or window[0].x < row.x - 4):
                window.pop(0)
        window.append(row)
        yield list(window)


def since(begins):
    """Windows that begin anew where a row and the one before it say so."""

    def windows(rows):
        window = []
        for row in rows:
            if window and begins(window[-1], row):
                window = []
            window.append(row)
            yield list(window)

    return windows


def total(window):
    values = [row.x for row in window if row.x is not None]
    return sum(values) if values else None


def within(total_of):
    return lambda window: total_of(window) is not None and total_of(window) <= 30


SPREAD = sash.Monoid(
    lift=lambda x: F.struct(x.alias("lo"), x.alias("hi")),
    combine=lambda a, b: F.struct(
        F.least(a.lo, b.lo).alias("lo"), F.greatest(a.hi, b.hi).alias("hi")
    ),
    lower=lambda a: a.hi - a.lo,
)


def spread(window):
    values = [row.x for row in window if row.x is not None]
    return max(values) - min(values) if values else None


KINDS = {
    "count": (BY_TS.count(5), last_while(lambda w: len(w) <= 5)),
    "time": (BY_TS.time(90), last_while(lambda w: w[0].ts >= w[-1].ts - 90)),
    "time by a timedelta": (
        sash.SlidingWindow.partitionBy("k").orderBy("at").time(timedelta(hours=1, minutes=30)),
        last_while(lambda w: w[0].ts >= w[-1].ts - 90),
    ),
    "time by an interval": (
        sash.SlidingWindow.partitionBy("k").orderBy("at").time("90 minutes"),
        last_while(lambda w: w[0].ts >= w[-1].ts - 90),
    ),
    "delta": (BY_TS.delta("x", 4), delta),
    "punctuation": (BY_TS.punctuation("reset"), since(lambda a, b: b.reset)),
    "session": (BY_TS.session(30), since(lambda a, b: b.ts - a.ts >= 30)),
    "session by an interval": (
        sash.SlidingWindow.partitionBy("k").orderBy("at").session("30 minutes"),
        since(lambda a, b: b.ts - a.ts >= 30),
    ),
    "predicate": (BY_TS.predicate(lambda t: t <= 30), last_while(within(total))),
    "predicate of another": (
        BY_TS.predicate(lambda n: n < 4, "count", "x"),
        last_while(lambda w: sum(row.x is not None for row in w) < 4),
    ),
    "predicate of a range": (
        BY_TS.predicate(lambda s: (s < 6) | s.isNull(), "value_range", "x"),
        last_while(lambda w: spread(w) is None or spread(w) < 6),
    ),
    "groups": (BY_TS.groups(2), last_while(lambda w: len(w) <= 3)),
}


def expected(df: DataFrame, windows, answer) -> set[tuple]:
    rows: dict[int, list[Row]] = {}
    for row in sorted(df.collect(), key=lambda row: row.ts):
        rows.setdefault(row.k, []).append(row)
    return {
        (row.k, row.ts, answer(window))
        for partition in rows.values()
        for row, window in zip(partition, windows(partition), strict=True)
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_holds_the_rows_that_it_says(df, kind):
    window, windows = KINDS[kind]
    distinct = df.dropDuplicates(["k", "ts"]).cache()
    query = distinct.select("k", "ts", sash.sliding_agg("x", "sum", window).alias("answer"))
    assert "SlidingWindow" in explanation(query)
    assert {tuple(row) for row in query.collect()} == expected(distinct, windows, total)


def test_any_monoid_takes_any_kind(df):
    distinct = df.dropDuplicates(["k", "ts"]).cache()
    for name in ["delta", "session", "predicate of another"]:
        window, windows = KINDS[name]
        query = distinct.select("k", "ts", sash.sliding_agg("x", SPREAD, window).alias("answer"))
        assert {tuple(row) for row in query.collect()} == expected(distinct, windows, spread)
        median = distinct.select("k", "ts", sash.sliding_agg("x", F.median, window))
        assert median.count() == distinct.count()


def test_a_step_leaves_its_beginning_as_it_was(df):
    by_k = sash.SlidingWindow.partitionBy("k")
    by_k.orderBy("ts").count(3)
    assert by_k.order == ()
    swapped = sash.SlidingWindow.orderBy("ts").partitionBy("k").count(5)
    rows = df.select(
        sash.sliding_agg("x", "sum", swapped).alias("a"),
        sash.sliding_agg("x", "sum", BY_TS.count(5)).alias("b"),
    )
    assert all(row.a == row.b for row in rows.dropDuplicates().collect())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BY_TS.count("3"), "`size` should be an int, got str"),
        (lambda: BY_TS.count(True), "`size` should be an int, got bool"),
        (lambda: BY_TS.time(None), "`size` should be a number, a timedelta"),
        (lambda: BY_TS.session([]), "`gap` should be a number, a timedelta"),
        (lambda: BY_TS.groups(1, 0.5), "`following` should be an int, got float"),
        (lambda: BY_TS.predicate("x < 3"), "`condition` should be a function"),
        (lambda: BY_TS.predicate(lambda t: t < 3, F.sum), "`monoid` should be the name"),
    ],
)
def test_an_argument_of_the_wrong_type(make, message):
    with pytest.raises(PySparkTypeError, match=message):
        make()


@pytest.mark.parametrize(
    ("window", "monoid", "message"),
    [
        (BY_TS, "sum", "has no kind"),
        (sash.SlidingWindow.partitionBy("k").count(3), "sum", "has no order"),
        (BY_TS.predicate(lambda t: t < 3), F.sum, "pass `monoid`"),
        (BY_TS.predicate(lambda t: t < 3), SPREAD, "pass `monoid`"),
    ],
)
def test_a_window_that_is_not_whole(spark, window, monoid, message):
    with pytest.raises(PySparkValueError, match=message):
        sash.sliding_agg("x", monoid, window)


def test_a_second_kind():
    with pytest.raises(PySparkValueError, match="cannot have two"):
        BY_TS.count(3).count(4)


@pytest.mark.parametrize(
    ("window", "message"),
    [
        (BY_TS.count(0), "`size`"),
        (BY_TS.time(-1), "`size`"),
        (BY_TS.delta("reset", 1), "subtracted"),
        (BY_TS.punctuation("x"), "`punctuation`"),
        (BY_TS.predicate(lambda t: t + 1), "not a BOOLEAN"),
        (BY_TS.session("1 hour"), "cannot be added to"),
    ],
)
def test_what_the_analyzer_refuses(df, window, message):
    with pytest.raises(AnalysisException, match=message):
        df.select(sash.sliding_agg("x", "sum", window)).collect()
