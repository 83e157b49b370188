"""`window_join` and `as_of`, beside a loop over all events of each label, and pandas."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.errors import (
    AnalysisException,
    PySparkException,
    PySparkRuntimeError,
    PySparkValueError,
)
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import sash
from sash.plan import explanation
from test_arguments import assert_says
from windows import setting

MIDNIGHT = datetime(2026, 3, 2)
KEYS = ["a", "b", "c", None]
Time = Any
CLOSED: dict[str, Callable[[Time, Time, Time], bool]] = {
    "left": lambda first, at, last: first <= at < last,
    "right": lambda first, at, last: first < at <= last,
    "both": lambda first, at, last: first <= at <= last,
    "neither": lambda first, at, last: first < at < last,
}
# a type of Spark, a time from a number, and spans: as an argument and as a distance of times
KINDS: dict[str, tuple[str, Callable[[int], Time], list[tuple[Any, Any]]]] = {
    "a number": ("BIGINT", int, [(4, 4), (9, 9), (None, None)]),
    "a fraction": ("DOUBLE", lambda n: n / 2, [(1.5, 1.5), (4, 4), (None, None)]),
    "a date": (
        "DATE",
        lambda n: date(2026, 3, 2) + timedelta(days=n),
        [("4 days", timedelta(4)), ("1 week 2 days", timedelta(9)), (None, None)],
    ),
    "a timestamp": (
        "TIMESTAMP",
        lambda n: MIDNIGHT + timedelta(hours=n),
        [
            ("4 hours", timedelta(hours=4)),
            ("interval 1 hour 30 minutes", timedelta(hours=1.5)),
            (timedelta(hours=9), timedelta(hours=9)),
            (None, None),
        ],
    ),
    "a local time": (
        "TIMESTAMP_NTZ",
        lambda n: MIDNIGHT + timedelta(seconds=n),
        [("4.5 seconds", timedelta(seconds=4.5)), ("9 SECONDS", timedelta(seconds=9))],
    ),
}


@pytest.fixture(scope="module")
def utc(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    return session


Rows = list[tuple[Any, ...]]


def made(at: Callable[[int], Time], seed: int) -> tuple[Rows, Rows]:
    """Labels and events of few times and keys, so that many are equal; some are NULL."""
    rng = random.Random(seed)  # noqa: S311

    def time() -> Time:
        return None if rng.random() < 0.1 else at(rng.randrange(30))

    labels = [(n, rng.choice([*KEYS, "nobody"]), time()) for n in range(60)]
    events = [
        (rng.choice(KEYS), time(), rng.choice([None, *range(9)]), f"e{n}") for n in range(150)
    ]
    return labels + labels[:5], events + events[:9]


def tables(spark: SparkSession, kind: str, labels: Rows, events: Rows) -> tuple[DataFrame, ...]:
    return (
        spark.createDataFrame(labels, f"id INT, k STRING, t {kind}").repartition(3),
        spark.createDataFrame(events, f"k STRING, t {kind}, x INT, tag STRING").repartition(3),
    )


def of_label(label: tuple[Any, ...], events: Rows, distance: Any, closed: str) -> Rows:
    """The label's events, one by one."""
    _, key, time = label

    def is_within(at: Time) -> bool:
        if distance is None:
            return at < time or (at == time and closed in ("right", "both"))
        return CLOSED[closed](time - distance, at, time)

    return [
        event
        for event in events
        if None not in (key, time, event[1]) and event[0] == key and is_within(event[1])
    ]


def answers(events: Rows) -> list[Any]:
    known = [x for _, _, x, _ in events if x is not None]
    tags = sorted(tag for *_, tag in events)
    return [len(events), sum(known) if known else None, len(set(known)), tags]


def asked(n: int, span: Any) -> dict[str, tuple[Column, Any]]:
    return {
        f"n{n}": (F.count("*"), span),
        f"sum{n}": (F.sum("x"), span),
        f"distinct{n}": (F.count_distinct("x"), span),
        f"tags{n}": (F.sort_array(F.collect_list("tag")), span),
    }


def in_order(rows: list[Any]) -> list[Any]:
    return sorted((tuple(row) for row in rows), key=repr)


def assert_one_pass(df: DataFrame) -> None:
    """The plan has one window over one shuffle of labels and events, and no join of both."""
    plan = df._jdf.queryExecution().executedPlan().toString()
    # a query that has run has its plan twice
    plan = plan.rpartition("== Initial Plan ==")[2]
    assert plan.count("SlidingWindow") == 1, plan
    assert plan.count("Exchange hashpartitioning") == 1, plan
    assert "Join" not in plan, plan


@pytest.mark.parametrize(
    ("kind", "closed"),
    [
        (kind, closed)
        for n, kind in enumerate(KINDS)
        for closed in [*CLOSED, *CLOSED][n % 4 :][:2]
    ],
)
def test_each_label_has_the_aggregates_of_its_events(utc, kind, closed):
    spark_type, at, spans = KINDS[kind]
    labels, events = made(at, seed=len(kind) + len(closed))
    features: dict[str, Any] = {}
    for n, (span, _) in enumerate(spans):
        features |= asked(n, span)
    joined = sash.window_join(
        *tables(utc, spark_type, labels, events), on="k", by="t", closed=closed, **features
    )
    assert joined.columns == ["id", "k", "t", *features]
    expected = []
    for label in labels:
        row = list(label)
        for _, distance in spans:
            row += answers(of_label(label, events, distance, closed))
        expected.append(row)
    assert in_order(joined.collect()) == in_order(expected)
    assert_one_pass(joined)


def test_the_default_leaves_out_the_labels_own_time(utc):
    labels, events = made(int, seed=1)
    df = tables(utc, "BIGINT", labels, events)
    n = (F.count("*"), 4)
    by_default = sash.window_join(*df, on="k", by="t", n=n).collect()
    for closed in CLOSED:
        rows = sash.window_join(*df, on="k", by="t", closed=closed, n=n).collect()
        assert (in_order(rows) == in_order(by_default)) == (closed == "left")


def test_months_are_months(utc):
    labels = utc.sql("SELECT 1 AS k, TIMESTAMP '2026-03-31 12:00:00' AS t")
    events = utc.sql(
        "SELECT 1 AS k, TIMESTAMP '2026-03-31 12:00:00' - make_dt_interval(id, 1) AS t "
        "FROM range(60)"
    )
    joined = sash.window_join(
        labels, events, on="k", by="t", n=(F.count("*"), "1 month"), m=(F.count("*"), "1 YEAR")
    )
    # to 28 February at noon: the event of that day came at eleven
    assert [(row.n, row.m) for row in joined.collect()] == [(31, 60)]
    assert_one_pass(joined)


def test_each_label_may_have_a_span_of_its_own(utc):
    labels, events = made(int, seed=2)
    df, of = tables(utc, "BIGINT", labels, events)
    # of the labels some have no span, and some a span of nothing
    own = df.withColumn("w", F.expr("CASE WHEN id % 7 > 0 THEN bigint(id % 5) END"))
    joined = sash.window_join(own, of, on="k", by="t", n=(F.count("*"), "w"))
    expected = []
    for label in labels:
        w = label[0] % 5 if label[0] % 7 else None
        found = of_label(label, events, w, "left") if w is not None else []
        expected.append((*label, w, len(found)))
    assert in_order(joined.collect()) == in_order(expected)
    assert_one_pass(joined)


def test_names_may_differ_and_keys_may_be_several_or_none(utc):
    labels, events = made(int, seed=3)
    df, of = tables(utc, "BIGINT", labels, events)
    plain = sash.window_join(df, of, on="k", by="t", n=(F.count("*"), 4))
    renamed = sash.window_join(
        df.withColumnsRenamed({"t": "asked.at", "k": "who `is`"}),
        of.withColumnRenamed("t", "T2"),
        on={"who `is`": "K"},
        by={"asked.at": "t2"},
        n=(F.count("*"), 4),
    )
    assert renamed.columns == ["id", "who `is`", "asked.at", "n"]
    assert in_order(renamed.collect()) == in_order(plain.collect())

    twice = [d.withColumn("k2", F.lower("k")) for d in (df, of)]
    both = sash.window_join(*twice, on=["k", "k2"], by="t", n=(F.count("*"), 4)).drop("k2")
    assert in_order(both.collect()) == in_order(plain.collect())

    of_all = sash.window_join(df, of, on=[], by="t", n=(F.count("*"), 4))
    times = [t for _, t, *_ in events if t is not None]
    expected = [
        (*label, sum(label[2] is not None and label[2] - 4 <= t < label[2] for t in times))
        for label in labels
    ]
    assert in_order(of_all.collect()) == in_order(expected)


def test_labels_may_be_the_events_themselves(utc):
    _, events = made(int, seed=4)
    _, df = tables(utc, "BIGINT", [], events)
    own = sash.window_join(df, df, on="k", by="t", n=(F.count("*"), 4), m=(F.sum("x"), None))
    expected = []
    for k, t, x, tag in events:
        before = of_label((0, k, t), events, 4, "left")
        total = answers(of_label((0, k, t), events, None, "left"))[1]
        expected.append((k, t, x, tag, len(before), total))
    assert in_order(own.collect()) == in_order(expected)
    assert_one_pass(own)


def test_bound_columns_of_events_that_are_the_labels_are_named(utc):
    df = utc.sql("SELECT * FROM VALUES ('a', 1, 5), ('a', 3, 6) AS r(k, t, x)")
    for call in (
        lambda: sash.window_join(df.where("x > 5"), df, on="k", by="t", n=(F.sum(df["x"]), 4)),
        lambda: sash.as_of(df, df.where("x > 5"), on="k", by="t", n=df["x"]),
        lambda: sash.as_of(df, df, on="k", by="t", direction="nearest", n=df["x"]),
    ):
        with pytest.raises(PySparkValueError) as caught:
            call()
        assert_says(caught, "(features|columns)")
        assert "by name, as in F.sum('amount')" in str(caught.value)
    other = utc.sql("SELECT 1 AS x")
    with pytest.raises(AnalysisException, match="MISSING_ATTRIBUTES"):
        sash.window_join(df, df, on="k", by="t", n=(F.sum(other["x"]), 4))


def test_a_constant_is_one_row_as_well(utc):
    labels, events = made(int, seed=5)
    df = tables(utc, "BIGINT", labels, events)
    joined = sash.window_join(*df, on="k", by="t", three=(F.lit(3), 4))
    assert [row.three for row in joined.collect()] == [3] * len(labels)


def test_conditions_and_filters_are_the_events(utc):
    labels, events = made(int, seed=6)
    df, of = tables(utc, "BIGINT", labels, events)
    joined = sash.window_join(
        df,
        of.alias("e").where("x > 3"),
        on="k",
        by="t",
        n=(F.count("e.x"), 9),
        few=(F.expr("count(*) FILTER (WHERE x < 6)"), 9),
    )
    expected = []
    for label in labels:
        xs = [x for _, _, x, _ in of_label(label, events, 9, "left") if x is not None and x > 3]
        expected.append((*label, len(xs), sum(x < 6 for x in xs)))
    assert in_order(joined.collect()) == in_order(expected)


def test_without_sash_the_answers_are_the_same(utc):
    labels, events = made(int, seed=7)
    df = tables(utc, "BIGINT", labels, events)

    def joined() -> DataFrame:
        return sash.window_join(*df, on="k", by="t", n=(F.count("*"), 4), s=(F.sum("x"), None))

    with setting(utc, "spark.sash.lateral.enabled", "false"):
        theirs = joined()
        assert "SlidingWindow" not in explanation(theirs)
        rows = theirs.collect()
    assert in_order(joined().collect()) == in_order(rows)


@pytest.mark.parametrize("tolerance", [None, 3])
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
def test_as_of_is_merge_asof(utc, tolerance, exact, direction):
    labels, events = made(int, seed=8)
    # of events at one time any may be found
    events = [*{(k, t): (k, t, x, tag) for k, t, x, tag in events}.values()]
    joined = sash.as_of(
        *tables(utc, "BIGINT", labels, events),
        on="k",
        by="t",
        tolerance=tolerance,
        allow_exact_matches=exact,
        direction=direction,
        tag="tag",
        double=F.col("x") * 2,
        at="t",
    )
    assert joined.columns == ["id", "k", "t", "tag", "double", "at"]

    def known(rows: Rows, names: list[str]) -> pd.DataFrame:
        frame = pd.DataFrame(rows, columns=names).dropna(subset=["k", "t"])
        return frame.astype({"t": "int64"}).sort_values("t")

    right = known(events, ["k", "t", "x", "tag"])
    theirs = pd.merge_asof(
        known(labels, ["id", "k", "t"]),
        right.assign(double=right.x * 2, at=right.t),
        on="t",
        by="k",
        tolerance=tolerance,
        allow_exact_matches=exact,
        direction=direction,
    )
    found = {
        row.id: tuple(None if pd.isna(v) else v for v in (row.tag, row.double, row.at))
        for row in theirs.itertuples()
    }
    expected = [(*label, *found.get(label[0], (None, None, None))) for label in labels]
    assert in_order(joined.collect()) == in_order(expected)
    assert sum(row.tag is not None for row in joined.collect()) > 9
    assert_one_pass(joined)


def test_words_that_depend_on_the_order_are_features(spark):
    labels = spark.createDataFrame([("a", 7), ("b", 5)], "k STRING, t INT")
    events = spark.createDataFrame(
        [("a", 1, 1.0), ("a", 4, 2.0), ("a", 6, 1.5)], "k STRING, t INT, p DOUBLE"
    )
    f = sash.functions
    asked = {
        "last": (f.last_n("p", 2), [2.0, 1.5]),
        "first": (f.first_n("p", 2), [1.0, 2.0]),
        "distinct": (f.last_distinct_n("p", 2), [2.0, 1.5]),
        "ema": (f.ema("p", "t", 1e9), pytest.approx(1.0)),
        "ewm": (f.ewm_mean_by_rows("p", 1.0), 1.5),
        "cusum": (f.cusum(F.col("p") - 1.5), pytest.approx(0.5)),
        "increase": (f.counter_increase("p"), 2.5),
        "rate": (f.counter_rate("p", "t"), 0.5),
        "held": (f.time_weighted_avg("p", "t"), 1.4),
        "run": (f.longest_increasing_run("p", "t"), (1, 4, 2)),
    }
    features = {name: (word, None) for name, (word, _) in asked.items()}
    joined = sash.window_join(labels, events, on="k", by="t", **features)
    assert_one_pass(joined)
    row = next(row for row in joined.collect() if row.k == "a")
    for name, (_, expected) in asked.items():
        assert row[name] == expected, name


@pytest.fixture
def steps(spark):
    """Values that hold until the next one, with the value before each row."""
    rows = [(0, 10.0), (2, 50.0), (8, 0.0), (12, 6.0), (14, 9.0), (21, None)]
    before = Window.orderBy("t").rowsBetween(Window.unboundedPreceding, -1)
    return spark.createDataFrame(rows, "t INT, x DOUBLE").withColumn(
        "b", F.last("x", True).over(before)
    )


def test_the_last_value_holds_until_the_row(steps):
    f = sash.functions
    by_time = sash.SlidingWindow.orderBy("t")
    held = f.time_weighted_avg("x", "t", "b", 10)
    windows = {
        "range": Window.orderBy("t").rangeBetween(-10, 0),
        "before": Window.orderBy("t").rangeBetween(-10, -1),
        "left": by_time.time(10, "left"),
    }
    answers = steps.select("t", *(held.over(w).alias(name) for name, w in windows.items()))
    found = {row.t: row for row in answers.collect()}
    assert found[21][1:] == (7.5, 7.5, 7.5)
    # 50 from 2 to 8, and 0 until 12
    assert found[12].left == found[12].before == 30.0


def test_ages_are_counted_and_values_hold_until_the_label(spark, steps):
    f = sash.functions
    labels = spark.createDataFrame([(21,), (None,), (90,)], "t INT")
    features = {
        "held": (f.time_weighted_avg("x", "t", "b", 10), 10),
        "decayed": (f.decayed_sum("x", "t", 5), 10),
        "count": (f.decayed_count("t", 5), 10),
        "line": (f.linear_weighted_sum("x", "t", 10), 10),
        "mean": (f.linear_weighted_avg("x", "t", 10), 10),
        "ewm": (f.ewm_mean("x", "t", 5), 10),
        "ema": (f.ema("x", "t", 5), 10),
        "earlier": (f.decayed_sum("x", "t", 5), (-20, -6)),
    }
    joined = sash.window_join(labels, steps, on=[], by="t", **features)
    found = {row.t: row for row in joined.collect()}
    ages = {6.0: 9, 9.0: 7}
    weights = {x: 2 ** (-age / 5) for x, age in ages.items()}
    decayed = sum(x * w for x, w in weights.items())
    expected = {
        "held": 7.5,
        "decayed": decayed,  # 5.13
        "count": sum(weights.values()),
        "line": sum(x * (10 - age) / 10 for x, age in ages.items()),
        "mean": sum(x * (10 - age) for x, age in ages.items()) / 4,
        "ewm": decayed / sum(weights.values()),
        "ema": 9 - 3 * 2 ** (-2 / 5),
        # until 15, where the window ends: of the rows at 2, 8, 12 and 14
        "earlier": sum(x * 2 ** (-(15 - t) / 5) for t, x in [(2, 50), (12, 6), (14, 9)]),
    }
    assert found[21].asDict() == pytest.approx({"t": 21, **expected})
    for none in (None, 90):
        assert found[none][1:] == (None, None, 0.0, None, None, None, None, None)
    known = steps.withColumn("known", F.col("t") + 8)
    late = sash.window_join(
        labels.where("t = 21"),
        known,
        on=[],
        by="t",
        known="known",
        decayed=(f.decayed_sum("x", "t", 5), 10),
    )
    assert late.head()[1] == pytest.approx(6 * weights[6.0])


def test_the_nearest_of_events_of_other_types(utc):
    labels = utc.sql("SELECT TIMESTAMP'2026-03-05 14:00:00' AS t")
    for kind in ("DATE", "TIMESTAMP_NTZ"):
        events = utc.sql(
            f"SELECT CAST(d AS {kind}) AS t, p "
            "FROM VALUES ('2026-03-05', 1), ('2026-03-06', 2) AS e(d, p)"
        )
        found = sash.as_of(labels, events, on=[], by="t", direction="nearest", p="p")
        assert [row.p for row in found.collect()] == [2], kind
    with setting(utc, "spark.sql.session.timeZone", "Europe/Berlin"):
        # clocks go from 2:00 to 3:00: by the clock on the wall the second event is nearer
        labels = utc.sql("SELECT TIMESTAMP_NTZ'2026-03-29 03:30:00' AS t")
        events = utc.sql(
            "SELECT * FROM VALUES (TIMESTAMP'2026-03-29 00:40:00Z', 1), "
            "(TIMESTAMP'2026-03-29 02:40:00Z', 2) AS e(t, p)"
        )
        found = sash.as_of(labels, events, on=[], by="t", direction="nearest", p="p")
        assert [row.p for row in found.collect()] == [1]
    far = utc.sql("SELECT 1700000000 AS t")
    events = utc.sql("SELECT * FROM VALUES (-1000000000, 1), (1700000005, 2) AS e(t, p)")
    found = sash.as_of(far, events, on=[], by="t", direction="nearest", p="p")
    assert [row.p for row in found.collect()] == [2]


def test_as_of_takes_its_columns_from_one_event(utc):
    labels, events = made(int, seed=9)
    joined = sash.as_of(
        *tables(utc, "BIGINT", labels, events), on="k", by="t", at="t", x="x", tag="tag"
    )
    several = 0
    for id_, key, time, *event in joined.collect():
        before = of_label((id_, key, time), events, None, "both")
        last = max((t for _, t, *_ in before), default=None)
        youngest = {(t, x, tag) for _, t, x, tag in before if t == last}
        several += len(youngest) > 1
        assert tuple(event) in (youngest or {(None, None, None)})
    assert several > 9


def test_as_of_over_intervals(utc):
    labels, events = made(KINDS["a timestamp"][1], seed=10)
    df = tables(utc, "TIMESTAMP", labels, events)
    joined = sash.as_of(*df, on="k", by="t", tolerance="90 minutes", at="t")
    for id_, key, time, at in joined.collect():
        before = of_label((id_, key, time), events, timedelta(minutes=90), "both")
        assert at == max((t for _, t, *_ in before), default=None)


def _join(**wrong: Any) -> Callable[[DataFrame, DataFrame], DataFrame]:
    given = {"on": "k", "by": "t", "n": 4, **wrong}

    def call(labels: DataFrame, events: DataFrame) -> DataFrame:
        feature = given.pop("n")
        n = (
            (F.count("*"), feature)
            if isinstance(feature, (int, float, str, timedelta))
            else feature
        )
        return sash.window_join(labels, events, **given, n=n)

    return call


def _as_of(**wrong: Any) -> Callable[[DataFrame, DataFrame], DataFrame]:
    return lambda labels, events: sash.as_of(
        labels, events, **{"on": "k", "by": "t", "x": "x"} | wrong
    )


WRONG: list[tuple[str, Callable[[DataFrame, DataFrame], DataFrame], str]] = [
    ("labels", lambda _, events: _join()(3, events), "labels"),
    ("events", lambda labels, _: _join()(labels, "events"), "events"),
    *(
        (f"on {v!r}", _join(on=v), "on")
        for v in (None, 3, "key", ["k", 3], {"k": None}, {"k": "j"})
    ),
    *(
        (f"by {v!r}", _join(by=v), "by")
        for v in (None, 3, "ts", ["t", "k"], {}, {"t": "x2"}, "k")
    ),
    *((f"closed {v!r}", _join(closed=v), "closed") for v in (None, True, "Left", "")),
    *(
        (f"span {v!r}", _join(n=v), "n")
        for v in (0, -1, True, float("nan"), float("inf"), 2**63, "7", "7 days", timedelta(7), "")
    ),
    *((f"feature {v!r}", _join(n=v), "n") for v in (None, [], (), (4, "x"), (None, 4))),
    ("feature without a span", lambda *df: _join(n=(F.count("*"),))(*df), "n"),
    ("feature with a wrong span", lambda *df: _join(n=(F.count("*"), [4]))(*df), "n"),
    ("a label's column", lambda *df: _join(T=(F.count("*"), 4))(*df), "T"),
    ("no feature", lambda *df: sash.window_join(*df, on="k", by="t"), "features"),
    *((f"tolerance {v!r}", _as_of(tolerance=v), "tolerance") for v in (-1, "1 day", [3], False)),
    *((f"exact {v!r}", _as_of(allow_exact_matches=v), "allow_exact_matches") for v in (1, None)),
    *((f"direction {v!r}", _as_of(direction=v), "direction") for v in (1, None, "sideways")),
    *((f"column {v!r}", _as_of(x=v), "x") for v in (3, None, ["x"])),
    ("no column", lambda *df: sash.as_of(*df, on="k", by="t"), "columns"),
    ("a column that the events lack", _as_of(tolerence="1 day"), "tolerence"),
    ("as_of on", _as_of(on="key"), "on"),
]


@pytest.mark.parametrize(("call", "argument"), [pytest.param(*w[1:], id=w[0]) for w in WRONG])
def test_a_wrong_argument_is_named(utc, call, argument):
    df = tables(utc, "BIGINT", *made(int, seed=0))
    with pytest.raises(PySparkException) as caught:
        call(*df)
    assert_says(caught, argument)


@pytest.mark.parametrize(
    "interval",
    ["1 hr", "1.5 days", "1 month 2 days", "7days", "-7 days", "1 00:00:00", "x", 7],
)
def test_a_wrong_interval_is_named(utc, interval):
    df = tables(utc, "TIMESTAMP", *made(KINDS["a timestamp"][1], seed=0))
    for call in (_join(n=(F.lit(1), interval)), _as_of(tolerance=interval)):
        with pytest.raises(PySparkException, match=r"interval|length") as caught:
            call(*df)
        assert repr(interval) in str(caught.value)


@pytest.mark.parametrize(
    ("call", "condition"),
    [
        (lambda *df: _join(n=(F.sum("id"), 4))(*df), "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
        (lambda *df: _as_of(x=F.col("id"))(*df), "UNRESOLVED_COLUMN.WITH_SUGGESTION"),
    ],
)
def test_an_expression_is_one_over_the_events(utc, call, condition):
    df = tables(utc, "BIGINT", *made(int, seed=0))
    with pytest.raises(AnalysisException) as caught:
        call(*df)
    assert caught.value.getCondition() == condition


IN_ONE_WORD = "should be an aggregate over the events, as in F.sum('amount'), with no OVER"
TEXTS: list[tuple[str, Callable[[DataFrame, DataFrame], DataFrame], str]] = [
    (
        "pandas as labels",
        lambda _, events: _join()(pd.DataFrame({"k": [1]}), events),
        "`labels` should be a Spark DataFrame, got pandas.DataFrame. "
        "Write spark.createDataFrame(labels).",
    ),
    (
        "pandas as events",
        lambda labels, _: _as_of()(labels, pd.DataFrame({"k": [1]})),
        "`events` should be a Spark DataFrame, got pandas.DataFrame. "
        "Write spark.createDataFrame(events).",
    ),
    ("a column", lambda *df: _join(n=(F.col("x"), "7 days"))(*df), f"`n` {IN_ONE_WORD}"),
    (
        "a column beside an aggregate",
        lambda *df: _join(n=(F.sum("x") + F.col("x"), "7 days"))(*df),
        f"`n` {IN_ONE_WORD}",
    ),
    (
        "a window",
        lambda *df: _join(n=(F.sum("x").over(Window.orderBy("x")), "7 days"))(*df),
        f"`n` {IN_ONE_WORD}",
    ),
    (
        "one of two",
        lambda *df: sash.window_join(
            *df, on="k", by="t", a=(F.sum("x"), "7 days"), b=(F.col("x"), "7 days")
        ),
        f"`b` {IN_ONE_WORD}",
    ),
    (
        "an aggregate",
        lambda *df: _as_of(x=F.sum("x"))(*df),
        "`x` should be a column of one event, and no aggregate or window of many, got "
        "Column<'sum(x)'>. sash.window_join takes aggregates.",
    ),
    (
        "an aggregate with OVER",
        lambda *df: _as_of(x=F.sum("x").over(Window.orderBy("t")))(*df),
        "`x` should be a column of one event, and no aggregate or window of many, got ",
    ),
    (
        "no columns",
        lambda *df: sash.as_of(*df, on="k", by="t"),
        "`columns` should be one or more new columns, each the name of a column of the events",
    ),
    (
        "an unknown argument",
        lambda *df: _as_of(tolerence="1 day")(*df),
        "`tolerence` should be a column of the events (k, t, x, tag), got '1 day'",
    ),
    (
        "times of two kinds",
        lambda *df: _join(by={"t": "x"}, n="7 days")(*df),
        "`by` should be two columns of numbers, two of times of day, or two of dates or "
        "timestamps, got 't timestamp of the labels, x int of the events'",
    ),
    (
        "keys of two kinds",
        lambda labels, events: _join(on={"b": "x"})(labels.withColumn("b", F.lit(True)), events),
        "`on` should be columns that can be compared, got "
        "'b boolean of the labels, x int of the events'",
    ),
    (
        "keys that are maps",
        lambda labels, events: _join(on="m")(
            *(df.withColumn("m", F.create_map("k", "t")) for df in (labels, events))
        ),
        "`on` should be columns that can be compared, got",
    ),
    (
        "a span from a string",
        lambda *df: _join(n="k")(*df),
        "`n` should be a column of intervals or times, since t is timestamp, got 'k string'",
    ),
    (
        "a tolerance from a number",
        lambda *df: _as_of(tolerance="id")(*df),
        "`tolerance` should be a column of intervals or times, since t is timestamp, got "
        "'id int'",
    ),
    (
        "-7 days",
        lambda *df: _join(n="-7 days")(*df),
        "`n` should be a positive length, since it is how far from the label's time the events "
        "may be, got '-7 days'",
    ),
    (
        "0 days",
        lambda *df: _join(n="0 days")(*df),
        "closed='both' takes 0, for the events at the label's own time.",
    ),
    (
        "months and days",
        lambda *df: _join(n="1 month 2 days")(*df),
        "`n` should be an interval of months and years, or of weeks, days and times, but not of "
        "both, since a month has no fixed number of days, got '1 month 2 days'",
    ),
    (
        "an unknown unit",
        lambda *df: _join(n="1 hr")(*df),
        "`n` should be an interval in years, months, weeks, days, hours, minutes, seconds,",
    ),
    (
        "a fraction",
        lambda *df: _join(n="1.5 days")(*df),
        "`n` should be an interval of whole numbers, where seconds alone have a fraction, as in "
        "'36 hours', got '1.5 days'",
    ),
    (
        "no space",
        lambda *df: _join(n="7days")(*df),
        "`n` should be an interval of numbers with units, as in '7 days' or",
    ),
    (
        "an unknown column",
        lambda *df: _join(n="width")(*df),
        "`n` should be an interval as in '7 days', or a column of the labels, got 'width'. The "
        "labels' columns are id, k, t.",
    ),
    (
        "a span of numpy",
        lambda *df: _join(n=(F.count("*"), np.timedelta64(7, "D")))(*df),
        "a datetime.timedelta, a number if times are numbers, the name of a column of the "
        "labels, or None for no limit, got numpy.timedelta64",
    ),
    (
        "a function",
        lambda *df: _join(n=(F.sum, "7 days"))(*df),
        "as in (F.sum('amount'), '7 days'), got (<function sum>, '7 days')",
    ),
]


@pytest.mark.parametrize(("call", "text"), [pytest.param(*t[1:], id=t[0]) for t in TEXTS])
def test_a_text_says_why(utc, call, text):
    df = tables(utc, "TIMESTAMP", *made(KINDS["a timestamp"][1], seed=0))
    with pytest.raises(PySparkException) as caught:
        call(*df)
    assert text in str(caught.value)


def test_other_forms_of_arguments_are_the_same(utc):
    df = tables(utc, "BIGINT", *made(int, seed=11))
    plain = in_order(sash.window_join(*df, on="k", by="t", n=(F.count("*"), 4)).collect())
    for on, span in (
        (("k",), np.int64(4)),
        (iter(["k"]), np.float32(4)),
        (np.array(["k"]), Decimal(4)),
    ):
        rows = sash.window_join(*df, on=on, by=("t",), n=(F.count("*"), span)).collect()
        assert in_order(rows) == plain


def test_the_explanation_has_the_words_of_each_call(spark):
    labels = spark.sql("SELECT 1 AS k, TIMESTAMP'2026-03-05' AS t")
    events = spark.sql("SELECT 1 AS k, TIMESTAMP'2026-03-01' AS t, 2 AS x")
    week, always = (F.sum("x"), "7 days"), (F.max("x"), None)
    said = explanation(sash.window_join(labels, events, on="k", by="t", week=week, always=always))
    node = "SlidingWindow [k], [t ASC NULLS FIRST], for each label"
    ordering = "ordering: hash + adaptive"
    assert said.splitlines() == [
        node,
        "slides: window_join (SELECT week …): SlickDeque (Inv)",
        "slides: window_join (SELECT always …): Growing window",
        ordering,
    ]
    near = sash.as_of(
        labels, events, on="k", by="t", y="x", direction="nearest", tolerance="1 day"
    )
    assert explanation(near).splitlines() == [
        node,
        "slides: as_of (SELECT y …): SlickDeque (Non-Inv)",
        ordering,
    ]


def test_without_the_jar_the_remedy_is_named(utc, monkeypatch):
    df = tables(utc, "BIGINT", *made(int, seed=0))
    monkeypatch.setattr("sash.loaded.is_loaded", lambda spark: False)
    monkeypatch.setattr("sash.label_tables.is_loaded", lambda spark: False)
    monkeypatch.setattr("sash.loaded.has_jar", lambda: False)
    for call in (_join(), _as_of()):
        with pytest.raises(PySparkRuntimeError, match=r"sash\.configure"):
            call(*df)


def test_the_last_event_by_a_key_that_is_computed(utc):
    """Spark alone loses events here (differences-from-spark.md)."""
    labels = "VALUES (1, 'x', 5), (NULL, 'x', 5) AS l(k, ks, s)"
    utc.sql(
        "SELECT * FROM VALUES (1, 'x', 3), (0, 'x', 4) AS e(k, ks, s)"
    ).createOrReplaceTempView("e")
    df = utc.sql(
        f"SELECT l.k, (SELECT e.s FROM e WHERE e.k = coalesce(l.k, 0) AND e.ks = l.ks "
        f"AND e.s <= l.s ORDER BY e.s DESC LIMIT 1) AS s FROM {labels}"
    )
    assert {row.k: row.s for row in df.collect()} == {1: 3, None: 4}
    assert_one_pass(df)


def test_the_result_of_a_join_is_a_table_as_any_other(spark):
    labels = spark.sql("SELECT * FROM VALUES (1, 10), (2, 10) AS l(k, t)")
    events = spark.sql("SELECT * FROM VALUES (1, 5, 7), (1, 20, 100), (2, 5, 1) AS e(k, t, x)")
    prices = spark.sql("SELECT * FROM VALUES (1, 1, 3), (2, 1, 4) AS p(k, t, p)")
    priced = sash.as_of(events, prices, on="k", by="t", p="p")
    for rows in (priced, priced.where("x < 1000"), priced.alias("labels")):
        summed = sash.window_join(labels, rows, on="k", by="t", z=(F.sum("x"), None))
        assert sorted(summed.collect()) == [(1, 10, 7), (2, 10, 1)]
        last = sash.as_of(labels, rows, on="k", by="t", z="x", p="p")
        assert sorted(last.collect()) == [(1, 10, 7, 3), (2, 10, 1, 4)]
        again = sash.window_join(summed, rows, on="k", by="t", y=(F.count("*"), 5))
        assert sorted(again.collect()) == [(1, 10, 7, 1), (2, 10, 1, 1)]


def test_two_new_columns_of_one_name(spark):
    rows = spark.sql("SELECT 1 AS k, 2 AS t, 3 AS x")
    with pytest.raises(PySparkException, match="no other new column has"):
        sash.window_join(rows, rows, on="k", by="t", a=(F.sum("x"), None), A=(F.max("x"), None))


def test_dates_with_spans_of_hours(spark):
    labels = spark.sql("SELECT 1 AS k, DATE'2026-03-05' AS t")
    events = spark.sql("SELECT 1 AS k, DATE'2026-03-05' - INTERVAL 1 DAY * id AS t FROM range(9)")
    spans = {f"h{hours}": (F.count("*"), f"{hours} hours") for hours in (5, 24, 36, 120)}
    answers = sash.window_join(labels, events, on="k", by="t", **spans).collect()
    assert [row[2:] for row in answers] == [(0, 1, 1, 5)]


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP_NTZ"])
def test_hours_are_hours_where_the_clocks_change(spark, kind):
    """In Berlin the day of March 29, 2026 has 23 hours."""
    with setting(spark, "spark.sql.session.timeZone", "Europe/Berlin"):
        labels = spark.sql(f"SELECT {kind} '2026-03-30 12:00:00' AS t")
        events = spark.sql(f"SELECT {kind} '2026-03-28 11:30:00' AS t")
        span = {
            "hours": (F.count("*"), "48 hours"),
            "minutes": (F.count("*"), "interval 47 hours 60 minutes"),
            "few": (F.count("*"), "23 hours"),
            "days": (F.count("*"), "2 days"),
        }
        (row,) = sash.window_join(labels, events, on=[], by="t", **span).collect()
        hours = int(kind == "TIMESTAMP")
        assert (row.hours, row.minutes, row.few, row.days) == (hours, hours, 0, 0)
