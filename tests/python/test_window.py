"""Kinds of windows from Python, against windows that are made here row by row."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import numpy as np
import pytest
from pyspark.errors import AnalysisException, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, Row, SparkSession, Window
from pyspark.sql import functions as F

import sash
from sash.plan import explanation
from versions import since

# an OVER clause with FILTER is an error of Spark's before 4.2
HAS_FILTER = since(4, 2, "Spark has FILTER over windows since 4.2")
BY_TS = sash.SlidingWindow.partitionBy("k").orderBy("ts")


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    # every time once in a partition, so that answers do not depend on how ties come
    return (
        spark.range(240)
        .selectExpr(
            "id % 3 AS k",
            "id * id % 1009 AS ts",
            "IF(id % 11 = 0, NULL, CAST(id * 7 % 13 AS INT)) AS x",
            "id % 17 = 4 AS reset",
            "timestamp_seconds(id * id % 1009 * 60) AS at",
        )
        .selectExpr("*", "x * 10 AS tens", "make_dt_interval(0, 0, 10 * x, 0) AS wide")
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


def both(first, second):
    """The shorter of two windows that end at the row."""

    def windows(rows):
        for a, b in zip(first(rows), second(rows), strict=True):
            yield min(a, b, key=len)

    return windows


def either(first, second):
    """The longer of two windows that end at the row."""

    def windows(rows):
        for a, b in zip(first(rows), second(rows), strict=True):
            yield max(a, b, key=len)

    return windows


def each(window_of):
    """Windows that do not depend on the row before."""

    def windows(rows):
        for i, row in enumerate(rows):
            yield window_of(rows, i, row)

    return windows


def own_rows(rows, i, row):
    return [] if row.x is None else rows[max(0, i - row.x) : i + 1]


def own_range(rows, i, row):
    return [] if row.x is None else [r for r in rows[: i + 1] if r.ts >= row.ts - 10 * row.x]


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


def bounded_sessions(rows):
    """Sessions with gaps of less than 30 that last less than 100."""
    window = []
    for row in rows:
        if window and (row.ts - window[-1].ts >= 30 or row.ts - window[0].ts >= 100):
            window = []
        window.append(row)
        yield list(window)


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
    "session of a longest duration": (BY_TS.session(30, 100), bounded_sessions),
    "session and count": (
        BY_TS.session(30) & BY_TS.count(3),
        both(since(lambda a, b: b.ts - a.ts >= 30), last_while(lambda w: len(w) <= 3)),
    ),
    "punctuation or time": (
        BY_TS.punctuation("reset") | BY_TS.time(90),
        either(since(lambda a, b: b.reset), last_while(lambda w: w[0].ts >= w[-1].ts - 90)),
    ),
    "session by an interval": (
        sash.SlidingWindow.partitionBy("k").orderBy("at").session("30 minutes"),
        since(lambda a, b: b.ts - a.ts >= 30),
    ),
    "predicate": (BY_TS.predicate(lambda t: t <= 30), last_while(within(total))),
    "predicate of another": (
        BY_TS.predicate("count", lambda n: n < 4, "x"),
        last_while(lambda w: sum(row.x is not None for row in w) < 4),
    ),
    "predicate of a range": (
        BY_TS.predicate("value_range", lambda s: (s < 6) | s.isNull(), "x"),
        last_while(lambda w: spread(w) is None or spread(w) < 6),
    ),
    "predicate of an own monoid": (
        BY_TS.predicate(SPREAD, lambda s: (s < 6) | s.isNull(), "x"),
        last_while(lambda w: spread(w) is None or spread(w) < 6),
    ),
    "predicate of a function": (
        BY_TS.predicate(lambda x: F.sum(2 * x), lambda t: t <= 60, col="x"),
        last_while(within(total)),
    ),
    "groups": (BY_TS.groups(2), last_while(lambda w: len(w) <= 3)),
    "own rows": (BY_TS.rows(preceding="x"), each(own_rows)),
    "own rows, one number for all": (BY_TS.rows(4), last_while(lambda w: len(w) <= 5)),
    "own range": (BY_TS.range(preceding="tens"), each(own_range)),
    "own range by an interval": (
        sash.SlidingWindow.partitionBy("k").orderBy("at").range(preceding="wide"),
        each(own_range),
    ),
    "own range, one width for all": (
        sash.SlidingWindow.partitionBy("k").orderBy("at").range(timedelta(minutes=90)),
        last_while(lambda w: w[0].ts >= w[-1].ts - 90),
    ),
    "without the current row": (
        BY_TS.groups(2, 1).exclude("current row"),
        each(lambda rows, i, row: rows[max(0, i - 2) : i] + rows[i + 1 : i + 2]),
    ),
    "without peers": (BY_TS.delta("x", 4).exclude("ties"), delta),
    "without all of the group": (
        BY_TS.count(5).exclude("group"),
        each(lambda rows, i, row: rows[max(0, i - 4) : i]),
    ),
}


def first_of_hour(rows, i):
    return i == 0 or rows[i - 1].ts // 60 != rows[i].ts // 60


BY_AT = sash.SlidingWindow.partitionBy("k").orderBy("at")
SLIDES = {
    "by rows": (BY_TS.count(5).slide(3), lambda rows, i: i % 3 == 2),
    "by time": (BY_AT.count(5).slide("1 hour"), first_of_hour),
    "by a timedelta": (BY_AT.count(5).slide(timedelta(hours=1)), first_of_hour),
    "by time, said before the kind": (BY_AT.slide("1 hour").count(5), first_of_hour),
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


def test_every_kind_is_a_window_spec(df):
    distinct = df.dropDuplicates(["k", "ts"]).cache()
    # this one alone has to be told the aggregate
    windows = {name: window for name, (window, _) in KINDS.items() if name != "predicate"}
    windows |= {name: window for name, (window, _) in SLIDES.items()}
    windows["predicate of a column"] = BY_TS.predicate(F.sum("x"), lambda t: t <= 30)
    for name, window in windows.items():
        assert isinstance(window, type(Window.orderBy("ts"))), name
        query = distinct.select(
            F.max("x").over(window).alias("over"),
            sash.sliding_agg("x", "max", window).alias("named"),
        )
        rows = query.collect()
        assert all(row.over == row.named for row in rows), name
        assert any(row.over is not None for row in rows), name


def test_a_predicate_may_be_of_an_aggregate(df):
    window = BY_TS.predicate(F.sum("x"), lambda t: t <= 30)
    distinct = df.dropDuplicates(["k", "ts"]).cache()
    query = distinct.select("k", "ts", F.sum("x").over(window).alias("answer"))
    windows = last_while(within(total))
    assert {tuple(row) for row in query.collect()} == expected(distinct, windows, total)


def test_a_frame_in_the_place_of_a_kind(df):
    own = Window.partitionBy("k").orderBy("ts")
    pairs = [
        (BY_TS.rowsBetween(-2, 1), own.rowsBetween(-2, 1)),
        (BY_TS.rowsBetween(float("-inf"), 0), own.rowsBetween(float("-inf"), 0)),
        (BY_TS.rowsBetween(-(2**70), 2**70), own.rowsBetween(-(2**70), 2**70)),
        (BY_TS.rangeBetween(-90, 0), own.rangeBetween(-90, 0)),
    ]
    for ours, sparks in pairs:
        rows = df.select(F.sum("x").over(ours).alias("a"), F.sum("x").over(sparks).alias("b"))
        assert all(row.a == row.b for row in rows.collect())
    with pytest.raises(PySparkValueError, match="cannot have a frame, too"):
        BY_TS.count(3).rowsBetween(-2, 0)


def test_a_frame_keeps_the_changes_before_it(df):
    changes = [
        ("exclude", "current row", "window_exclude('current row')"),
        ("slide", 2, "window_slide(2)"),
        ("min_periods", 3, "window_min_periods(3)"),
    ]
    ours, sql = BY_TS, ["k"]
    for name, value, call in changes:  # by itself, and with those before it
        ours = getattr(ours, name)(value)
        sql.append(call)
        for window, keys in ((getattr(BY_TS, name)(value), ["k", call]), (ours, sql)):
            over = f"OVER (PARTITION BY {', '.join(keys)} ORDER BY ts {{}} 5 PRECEDING)"
            rows = df.select(
                F.sum("x").over(window.rowsBetween(-5, 0)).alias("rows"),
                F.sum("x").over(window.rangeBetween(-5, 0)).alias("range"),
                F.expr(f"sum(x) {over.format('ROWS')}").alias("sql_rows"),
                F.expr(f"sum(x) {over.format('RANGE')}").alias("sql_range"),
                F.sum("x").over(BY_TS.rowsBetween(-5, 0)).alias("plain"),
            ).collect()
            assert all((r.rows, r.range) == (r.sql_rows, r.sql_range) for r in rows), name
            assert any(r.rows != r.plain for r in rows), name


@pytest.mark.parametrize(
    ("window", "message"),
    [
        (BY_TS, "has no kind"),
        (sash.SlidingWindow.partitionBy("k").count(3), "has no order"),
        (BY_TS.predicate(lambda t: t <= 30), "predicate\\(F.sum\\('cost'\\), condition\\)"),
        (BY_TS.predicate("sum", lambda t: t <= 30), "or use sliding_agg"),
    ],
)
def test_over_says_what_a_window_lacks(spark, window, message):
    with pytest.raises(PySparkValueError, match=message):
        F.sum("x").over(window)


@pytest.mark.parametrize("slide", SLIDES)
def test_a_window_answers_where_it_slides(df, slide):
    window, slides_at = SLIDES[slide]
    distinct = df.dropDuplicates(["k", "ts"]).cache()
    query = distinct.select("k", "ts", sash.sliding_agg("x", "count", window).alias("answer"))

    def windows(rows):
        for i in range(len(rows)):
            yield rows[max(0, i - 4) : i + 1] if slides_at(rows, i) else None

    def count(window):
        return None if window is None else sum(row.x is not None for row in window)

    assert {tuple(row) for row in query.collect()} == expected(distinct, windows, count)


def test_any_monoid_takes_any_kind(df):
    distinct = df.dropDuplicates(["k", "ts"]).cache()
    for name in ["delta", "session", "predicate of another", "own range"]:
        window, windows = KINDS[name]
        query = distinct.select("k", "ts", sash.sliding_agg("x", SPREAD, window).alias("answer"))
        assert {tuple(row) for row in query.collect()} == expected(distinct, windows, spread)
        median = distinct.select("k", "ts", sash.sliding_agg("x", F.median, window))
        assert median.count() == distinct.count()


def test_the_aggregate_that_is_asked_for_may_bound_its_own_window(df):
    distinct = df.dropDuplicates(["k", "ts"]).cache()
    window = BY_TS.predicate(lambda s: (s < 6) | s.isNull())
    windows = last_while(lambda w: spread(w) is None or spread(w) < 6)
    for monoid in [SPREAD, "value_range", sash.functions.value_range]:
        query = distinct.select("k", "ts", sash.sliding_agg("x", monoid, window).alias("answer"))
        assert {tuple(row) for row in query.collect()} == expected(distinct, windows, spread)


def test_joined_windows_may_name_the_same_order_twice(df):
    def by(order):
        return sash.SlidingWindow.partitionBy(F.col("k")).orderBy(order)

    joined = by(F.desc("ts")).count(2) & by(F.desc("ts")).session(1000)
    rows = df.select(F.count("*").over(joined).alias("n")).collect()
    assert {row.n for row in rows} == {1, 2}
    with pytest.raises(PySparkValueError, match="the same partitions and order"):
        by(F.desc("ts")).count(2) & by(F.asc("ts")).session(5)


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
        (lambda: BY_TS.time(None), "`size` should be a number, a datetime.timedelta"),
        (lambda: BY_TS.session([]), "`gap` should be a number, a datetime.timedelta"),
        (lambda: BY_TS.groups(1, 0.5), "`following` should be an int, got float"),
        (lambda: BY_TS.rows(0.5), "`preceding` should be a column"),
        (lambda: BY_TS.range(None), "`preceding` should be a column"),
        (lambda: BY_TS.exclude(1), "`rows` should be 'current row'"),
        (lambda: BY_TS.slide(0.5), "`every` should be a number of rows"),
        (lambda: BY_TS.predicate("x < 3"), "`condition` should be a function"),
        (lambda: BY_TS.predicate("sum"), "`condition` should be a function"),
        (lambda: BY_TS.predicate(SPREAD), "`condition` should be a function"),
        (lambda: BY_TS.predicate("sum", "x < 3"), "`condition` should be a function"),
        (lambda: BY_TS.count(3) & 4, "`other` should be a sliding window with a kind"),
        (lambda: BY_TS.count(3) | BY_TS.rowsBetween(-3, 0), "`other` should be a sliding window"),
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
    ],
)
def test_a_window_that_is_not_whole(spark, window, monoid, message):
    with pytest.raises(PySparkValueError, match=message):
        sash.sliding_agg("x", monoid, window)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: BY_TS.count(0), "`size` should be an int from 1 to 2147483647, got 0"),
        (lambda: BY_TS.groups(-1), "`preceding` should be an int from 0 to"),
        (lambda: BY_TS.rows(-1), "`preceding` should be an int from 0 to"),
        (lambda: BY_TS.time(-1), "`size` should be 0 or more, got -1"),
        (lambda: BY_TS.time("-1 hour"), "`size` should be 0 or more, got '-1 hour'"),
        (lambda: BY_TS.time("0 hours", "left"), "`size` should be more than 0, got '0 hours'"),
        (lambda: BY_TS.time("1 day", "lefft"), "'both', 'right', 'left' or 'neither', got 'le"),
        (lambda: BY_TS.session(timedelta(0)), "`gap` should be more than 0"),
        (lambda: BY_TS.session(timedelta.max), "`gap` should be at most 106751991 days"),
        (lambda: BY_TS.time(Decimal("Infinity")), "`size` should be a number, finite and of 38"),
        (lambda: BY_TS.time(Decimal("sNaN")), "`size` should be a number, finite and of 38"),
        (lambda: BY_TS.time(Decimal("1E+38")), "`size` should be a number, finite and of 38"),
        (lambda: BY_TS.session(3, "0 days"), "`longest` should be more than 0, got '0 days'"),
        (lambda: BY_TS.delta("x", Decimal("-0.5")), "`delta` should be 0 or more"),
        (lambda: BY_TS.range("-1 hour"), "`preceding` should be 0 or more, got '-1 hour'"),
        (lambda: BY_TS.range(float("nan")), "`preceding` should be a number"),
        (
            lambda: BY_TS.count(3).exclude("peers"),
            "'current row', 'group' or 'ties', got 'peers'",
        ),
        (lambda: BY_TS.count(3).slide(0), "`every` should be an int from 1 to"),
        (lambda: BY_TS.count(3).slide("-1 hour"), "`every` should be more than 0"),
        (lambda: BY_TS.count(3).min_periods(-1), "`n` should be an int from 0 to"),
        (lambda: sash.functions.ema("x", "at", "0 hours"), "`half_life` should be more than 0"),
        (lambda: sash.functions.first_n("x", 0), "`n` should be an int from 1 to"),
        (
            lambda: sash.functions.ewm_mean_by_rows("x", 1.5),
            "`alpha` should be a number more than 0 and at most 1, got 1.5",
        ),
    ],
)
def test_a_size_that_is_none_needs_no_query(make, message):
    with pytest.raises(PySparkValueError, match=message):
        make()


def test_numbers_of_numpy_are_sizes(df):
    windows = [
        (BY_TS.count(np.int64(5)), BY_TS.count(5)),
        (BY_TS.time(np.int32(90)), BY_TS.time(90)),
        (BY_TS.session(np.float32(30)), BY_TS.session(30.0)),
        (BY_TS.groups(np.int8(2), np.uint8(1)), BY_TS.groups(2, 1)),
        (BY_TS.rows(np.int64(4)), BY_TS.rows(4)),
        (BY_TS.range(np.float64(20)), BY_TS.range(20.0)),
        (BY_TS.delta("x", np.int64(4)), BY_TS.delta("x", 4)),
        (BY_TS.count(5).slide(np.int64(3)), BY_TS.count(5).slide(3)),
        (BY_TS.count(5).min_periods(np.int64(3)), BY_TS.count(5).min_periods(3)),
        (BY_TS.rowsBetween(np.int64(-2), 0), BY_TS.rowsBetween(-2, 0)),
    ]
    for theirs, ours in windows:
        rows = df.select(F.sum("x").over(theirs).alias("a"), F.sum("x").over(ours).alias("b"))
        assert all(row.a == row.b for row in rows.collect()), theirs
    last = df.agg(sash.functions.max_n("x", np.int64(2)), sash.functions.max_n("x", 2)).head()
    assert last[0] == last[1]
    for size in (np.float64(5), np.bool_(True), np.timedelta64(5, "s")):
        with pytest.raises(PySparkTypeError, match=f"an int, got numpy.{type(size).__name__}"):
            BY_TS.count(size)
    with pytest.raises(PySparkTypeError, match=r"got numpy\.timedelta64"):
        BY_AT.time(np.timedelta64(5, "ns"))


@pytest.mark.parametrize(
    "make",
    [
        lambda: BY_TS.session("1 hour") and BY_TS.count(100),
        lambda: BY_TS.session("1 hour") or BY_TS.count(100),
        lambda: not BY_TS.count(100),
    ],
    ids=["and", "or", "not"],
)
def test_a_window_is_no_bool(make):
    with pytest.raises(PySparkValueError, match=r"'&' for 'and', '\|' for 'or'") as caught:
        make()
    # as a Column
    assert caught.value.getCondition() == "CANNOT_CONVERT_COLUMN_INTO_BOOL"


def test_changes_of_one_part_of_a_joined_window():
    changed = {
        "min_periods": BY_TS.count(2).min_periods(2),
        "slide": BY_TS.count(2).slide(2),
        "exclude": BY_TS.count(2).exclude("ties"),
    }
    for name, window in changed.items():
        for join in (lambda w: BY_TS.count(3) & w, lambda w: w & BY_TS.count(3)):
            with pytest.raises(PySparkValueError, match=rf"\(first & second\)\.{name}\(…\)"):
                join(window)
        with pytest.raises(PySparkValueError, match=rf"\(first \| second\)\.{name}\(…\)"):
            window | BY_TS.count(3)


def test_a_window_shows_the_python_that_makes_it(spark):
    beginning = "SlidingWindow.partitionBy('k').orderBy('ts')"
    budget = BY_TS.predicate(F.sum("x"), lambda s: s < 3)
    windows = {
        BY_TS: "",
        BY_TS.count(3): ".count(3)",
        BY_TS.time("1 hour"): ".time('1 hour')",
        BY_TS.time(2, "left"): ".time(2, closed='left', center=False)",
        BY_TS.time(7, hop=2): ".time(7, closed='both', hop=2)",
        BY_TS.session(timedelta(1), 9): ".session(datetime.timedelta(days=1), 9)",
        BY_TS.delta("x", 1).slide(2).exclude("ties"): ".delta('x', 1).exclude('ties').slide(2)",
        BY_TS.groups(1).min_periods(3): ".groups(1, 0).min_periods(3)",
        BY_TS.rows("x"): ".rows('x')",
        budget: ".predicate(Column<'sum(x)'>, <function <lambda>>)",
    }
    for window, text in windows.items():
        assert repr(window) == beginning + text
    both = (BY_TS.count(3) & BY_TS.session(5)).slide(2)
    assert repr(both) == f"({beginning}.count(3) & {beginning}.session(5)).slide(2)"
    assert repr(SPREAD).startswith("Monoid(lift=<function <lambda>>, combine=<function <lambda>>")


def test_a_window_begins_at_a_multiple_of_a_hop(spark):
    rows = spark.createDataFrame(
        [(t, f"2026-03-02 00:{t:02}:30") for t in range(30)], ["t", "at"]
    )
    timed = rows.select("t", F.to_timestamp("at").alias("ts"))
    by_time, by_number = (sash.SlidingWindow.orderBy(o) for o in ("ts", "t"))
    found = timed.select(
        "t",
        F.count("*").over(by_time.time("7 minutes", hop="5 minutes")),
        F.count("*").over(by_time.time("7 minutes", "left", hop="5 minutes")),
        F.count("*").over(by_number.time(7, hop=5)),
    ).collect()
    for t, by_minutes, before, by_numbers in found:
        begin = max(0, (t - 7) // 5 * 5)
        assert (by_minutes, before, by_numbers) == (t - begin + 1, t - begin, t - begin + 1)
    with pytest.raises(PySparkValueError, match="`center` should be False beside `hop`"):
        by_time.time(7, center=True, hop=2)


def test_own_widths_within_a_bound(spark):
    rows = spark.createDataFrame([(t, t % 7 - 1) for t in range(30)], "t BIGINT, n BIGINT")
    w = sash.SlidingWindow.orderBy("t")
    found = rows.select("t", "n", F.count("*").over(w.rows("n") & w.count(4))).collect()
    assert all(count == max(0, min(n, 3, t) + 1) for t, n, count in found)


def test_a_kind_before_the_order_names_the_order():
    for name in ("time", "count", "slide", "rowsBetween"):
        with pytest.raises(AttributeError, match=rf"orderBy\('ts'\)\.{name}\(…\)"):
            getattr(sash.SlidingWindow, name)
    with pytest.raises(AttributeError, match="has no attribute 'ordrBy'"):
        sash.SlidingWindow.ordrBy  # noqa: B018


def test_a_second_kind():
    with pytest.raises(PySparkValueError, match="cannot have two"):
        BY_TS.count(3).count(4)
    with pytest.raises(PySparkValueError, match="cannot do so twice"):
        BY_TS.count(3).slide(4).slide(5)
    with pytest.raises(PySparkValueError, match="has no kind"):
        BY_TS & BY_TS.count(3)
    with pytest.raises(PySparkValueError, match="the same partitions and order"):
        BY_TS.count(3) & BY_AT.count(3)
    with pytest.raises(PySparkValueError, match="cannot do so twice"):
        BY_TS.count(3).exclude("ties").exclude("group")


@pytest.mark.parametrize(
    ("window", "message"),
    [
        (BY_TS.delta("reset", 1), "subtracted"),
        (BY_TS.punctuation("x"), "`punctuation`"),
        (BY_TS.predicate(lambda t: t + 1), "not a BOOLEAN"),
        (BY_TS.session("1 hour"), "cannot be added to"),
        (BY_TS.rows("reset"), "`preceding`"),
        (BY_TS.range("at"), "`preceding`"),
        (BY_TS.count(3).slide("1 hour"), "no panes"),
    ],
)
def test_what_the_analyzer_refuses(df, window, message):
    with pytest.raises(AnalysisException, match=message):
        df.select(sash.sliding_agg("x", "sum", window)).collect()


ENDS = "(VALUES (1, DATE'0001-01-01'), (2, DATE'1970-01-01'), (3, DATE'9999-12-31')) v(id, d)"
ITEMS = (
    "(SELECT id, cast(id % 3 AS int) k, cast(id % 5 AS int) vi, cast(id % 4 AS int) vh"
    " FROM range(12))"
)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            f"count(*) OVER (PARTITION BY range_window(2147483647) ORDER BY d) FROM {ENDS}",
            [1, 2, 3],
        ),
        (
            "count(*) OVER (PARTITION BY range_window(w) ORDER BY o) FROM VALUES"
            " (1, double('nan'), -1D), (2, double('nan'), 1D), (3, double('inf'), -1D),"
            " (4, double('inf'), 0D), (5, double('-inf'), -1D), (6, 1e300D, -1D),"
            " (7, 1e300D, 1D) AS v(id, o, w)",
            [0, 2, 0, 2, 0, 0, 2],
        ),
        pytest.param(
            f"sum(vi) FILTER (WHERE false) OVER (PARTITION BY k, delta_window(vi, 1) ORDER BY id)"
            f" FROM {ITEMS}",
            [None] * 12,
            marks=HAS_FILTER,
        ),
        pytest.param(
            f"count(*) FILTER (WHERE false) OVER (PARTITION BY k ORDER BY id) FROM {ITEMS}",
            [0] * 12,
            marks=HAS_FILTER,
        ),
        (
            "count(*) OVER (PARTITION BY k, predicate_window(percentile(vi, 0.5), m -> m >= 0)"
            f" ORDER BY id) FROM {ITEMS}",
            [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4],
        ),
        (
            "count(*) OVER (PARTITION BY k, predicate_window(collect_list(vh),"
            f" l -> exists(l, e -> e = 3)) ORDER BY id) FROM {ITEMS}",
            [0, 0, 0, 1, 0, 0, 2, 1, 0, 3, 2, 1],
        ),
    ],
)
def test_corners(spark: SparkSession, query: str, expected: list[int | None]) -> None:
    rows = spark.sql(f"SELECT id, {query}").collect()
    assert [r[1] for r in sorted(rows, key=lambda r: r[0])] == expected


def test_nothing_to_aggregate(spark: SparkSession) -> None:
    monoid = "monoid_agg(v, x -> cast(x AS bigint), (a, b) -> a + b, a -> a, 0L)"
    spark.range(3).selectExpr("id AS v").createOrReplaceTempView("some")
    beside = f"SELECT {monoid}, count(DISTINCT v), count(DISTINCT -v) FROM some WHERE v < 0"
    assert list(spark.sql(beside).first()) == [0, 0, 0]
    inner = f"SELECT (SELECT {monoid} FROM some s WHERE s.v = o.id) FROM VALUES (99) o(id)"
    assert spark.sql(inner).first()[0] == 0


def test_a_column_without_a_name_has_the_kind_in_it(df: DataFrame):
    spec = sash.SlidingWindow.orderBy("ts")
    ordered = "ORDER BY ts ASC NULLS FIRST"
    named = {
        f"count(1) OVER (PARTITION BY gap_window(2) {ordered})": spec.session(2),
        f"count(1) OVER (PARTITION BY count_window(3) {ordered})": spec.count(3),
        f"count(1) OVER (PARTITION BY window_and(gap_window(2), count_window(3)) {ordered})": (
            spec.session(2) & spec.count(3)
        ),
    }
    rows = df.select(*(F.count("*").over(window) for window in named.values()))
    assert rows.columns == list(named)


def test_a_rank_over_a_kind_says_what_to_write(df: DataFrame):
    with pytest.raises(
        AnalysisException, match=r"row_number\(\) is none.*; write count\(\*\), or"
    ):
        df.select(F.row_number().over(BY_TS.session(2)))
