"""The arguments of `window_join` and `as_of`, one by one, on tables that one sees through."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from sash.plan import explanation
from test_arguments import assert_says
from windows import setting


@pytest.fixture(scope="module")
def days(spark: SparkSession) -> Callable[..., DataFrame]:
    """Makes a table whose times are days of March, written as numbers."""

    def table(columns: str, *rows: tuple[Any, ...]) -> DataFrame:
        df = spark.createDataFrame(rows, columns)
        times = [name for name in ("ts", "created", "until", "start") if name in df.columns]
        day = "timestamp_ntz'2026-02-28' + make_dt_interval({})"
        return df.withColumns({name: F.expr(day.format(name)) for name in times})

    return table


def found(df: DataFrame, *columns: str) -> list[Any]:
    """The new columns of the labels, in order of the labels' id."""
    rows = df.orderBy("id").select(*columns).collect()
    return [row[0] if len(columns) == 1 else tuple(row) for row in rows]


def assert_windows(df: DataFrame, joins: int = 0) -> None:
    """Sash runs all windows, after so many joins of labels with events."""
    told = explanation(df)
    assert "SlidingWindow" in told, told
    assert "left to Spark" not in told, told
    plan = df._jdf.queryExecution().optimizedPlan().toString()
    assert plan.count("Join ") == joins, plan


def test_further_columns_choose_among_events_of_one_time(days):
    labels = days("id INT, ts INT", (1, 5), (2, 6), (3, 2))
    events = days(
        "ts INT, seq INT, x INT", (5, 1, 10), (5, 3, 30), (5, 2, 20), (5, None, 0), (9, 2, 90)
    )
    for by in (("ts", "seq"), {"ts": ["ts", "seq"]}):
        last = sash.as_of(labels, events, on=[], by=by, x="x")
        assert found(last, "x") == [30, 30, None]
        assert_windows(last)
    first = sash.as_of(labels, events, on=[], by=("ts", "seq"), direction="forward", x="x")
    assert found(first, "x") == [0, 90, 0]
    near = sash.as_of(labels, events, on=[], by=("ts", "seq"), direction="nearest", x="x")
    assert found(near, "x") == [30, 30, 0]


def test_a_column_of_the_label_has_one_name_in_any_case(days):
    labels = days("k INT, ts INT", (1, 5), (1, 9))
    events = days("k INT, ts INT, x INT", (1, 3, 7), (1, 6, 8))
    above = (lambda label: F.count_if(F.col("x") > label("K")), None)
    joined = sash.window_join(labels, events, on="k", by="ts", n=above)
    assert sorted(row.n for row in joined.collect()) == [1, 2]


def test_events_count_once_they_are_known(days):
    labels = days("id INT, ts INT", (1, 5), (2, 6), (3, 8), (4, 20))
    # the reading of day 4 was corrected on day 7, and the reading of day 5 came on day 8
    events = days(
        "ts INT, created INT, x INT", (4, 4, 1), (4, 7, 2), (5, 8, 3), (3, 9, 4), (9, None, 9)
    )
    last = sash.as_of(labels, events, on=[], by="ts", known="created", x="x")
    assert found(last, "x") == [1, 1, 3, 3]
    assert_windows(last)
    near = sash.as_of(labels, events, on=[], by="ts", known="created", tolerance="1 day", x="x")
    assert found(near, "x") == [1, None, None, None]
    assert_windows(near)
    before = sash.as_of(
        labels, events, on=[], by="ts", known="created", allow_exact_matches=False, x="x"
    )
    assert found(before, "x") == [1, 1, 2, 3]
    sums = {
        closed: sash.window_join(
            labels,
            events,
            on=[],
            by="ts",
            known="created",
            closed=closed,
            xs=(F.sort_array(F.collect_list("x")), "5 days"),
            last=(F.last("x"), None),
        )
        for closed in ("left", "right")
    }
    assert found(sums["left"], "xs", "last") == [([1], 1), ([1], 1), ([1, 2], 2), ([], 3)]
    assert found(sums["right"], "xs") == [[1], [1], [1, 2, 3], []]
    assert_windows(sums["left"], joins=1)


def test_a_row_holds_until_it_ends(days):
    labels = days("id INT, ts INT", (1, 1), (2, 4), (3, 6), (4, 8))
    # the price is 10, with an offer of 7 from day 3 to day 6
    prices = days("ts INT, until INT, p INT", (1, None, 10), (3, 6, 7), (0, 1, 5))
    held = sash.as_of(labels, prices, on=[], by="ts", valid_to="until", p="p")
    assert found(held, "p") == [10, 7, 10, 10]
    assert_windows(held, joins=1)
    of_age = {"tolerance": "4 days", "allow_exact_matches": False}
    near = sash.as_of(labels, prices, on=[], by="ts", valid_to="until", **of_age, p="p")
    assert found(near, "p") == [None, 7, None, None]


def test_null_may_equal_null(spark):
    labels = spark.sql("SELECT * FROM VALUES (1, 'a', 5), (2, NULL, 5) AS l(id, k, ts)")
    events = spark.sql("SELECT * FROM VALUES ('a', 1, 3), (NULL, 2, 4) AS e(k, ts, x)")
    for nulls_equal, expected in ((False, [3, None]), (True, [3, 4])):
        of = {"on": "k", "by": "ts", "nulls_equal": nulls_equal}
        last = sash.as_of(labels, events, **of, x="x")
        summed = sash.window_join(labels, events, **of, x=(F.sum("x"), None))
        assert found(last, "x") == found(summed, "x") == expected
        for df in (last, summed):
            assert_windows(df)


def test_a_feature_may_read_its_label(days):
    labels = days(
        "id INT, ts INT, amount INT", (1, 5, 10), (2, 5, 20), (3, 9, None), (3, 9, None)
    )
    events = days("ts INT, amount INT", (4, 11), (3, 15), (3, 25), (5, 99))
    above = sash.window_join(
        labels,
        events,
        on=[],
        by="ts",
        above=(lambda label: F.count_if(F.col("amount") > label("amount")), "7 days"),
        ids=(lambda label: F.sum(label("id")), None),
        n=(F.count("*"), "1 day"),
    )
    assert found(above, "above", "ids", "n") == [(3, 3, 1), (1, 6, 1), (0, 12, 0), (0, 12, 0)]
    assert_windows(above, joins=1)


def test_a_window_may_lie_anywhere(days):
    labels = days(
        "id INT, ts INT, start INT, w INT", (1, 10, 3, 2), (2, 20, 20, -2), (3, 30, None, None)
    )
    labels = labels.withColumn("w", F.expr("make_dt_interval(w)"))
    events = days("ts INT", *((n,) for n in range(1, 31)))
    windows = {
        "past": (("-8 days", "-1 day"), [[2, 8], [12, 18], [22, 28]]),
        "outcome": (("1 day", "8 days"), [[11, 17], [21, 27], []]),
        "later": (("- 2 days", None), [[8, 30], [18, 30], [28, 30]]),
        "interval": (("INTERVAL -2 days", None), [[8, 30], [18, 30], [28, 30]]),
        "until": ((None, timedelta(1)), [[1, 10], [1, 20], [1, 30]]),
        "own": ("start", [[3, 9], [], []]),
        "pair": (("start", 0), [[3, 9], [], []]),
        "wide": ((0, "w"), [[10, 11], [], []]),
        "turned": (("w", "0 days"), [[], [18, 19], []]),
        "month": (("-1 month", timedelta(0)), [[1, 9], [1, 19], [1, 29]]),
    }
    ends = F.array_compact(F.array(F.day(F.min("ts")), F.day(F.max("ts"))))
    features = {name: (ends, window) for name, (window, _) in windows.items()}
    joined = sash.window_join(labels, events, on=[], by="ts", **features)
    answers = zip(*found(joined, *windows), strict=True)
    for name, answer in zip(windows, answers, strict=True):
        assert list(answer) == windows[name][1], name
    assert_windows(joined)
    right = sash.window_join(labels, events, on=[], by="ts", closed="right", **features)
    assert found(right, "outcome")[0] == [12, 18]


def test_times_of_two_types_are_windows(spark):
    def table(kind: str) -> DataFrame:
        value = "'2026-03-05'" if kind.startswith(("DATE", "TIME")) else "1"
        return spark.sql(f"SELECT 1 AS k, CAST({value} AS {kind}) AS t, 2 AS a")

    for of_label, of_event, span in (
        ("TIMESTAMP", "TIMESTAMP_NTZ", "36 hours"),
        ("TIMESTAMP_NTZ", "TIMESTAMP", "1 month"),
        ("TIMESTAMP", "DATE", "36 hours"),
        ("DATE", "TIMESTAMP_NTZ", "2 days"),
        ("DATE", "TIMESTAMP_NTZ", "1 month"),
        ("DOUBLE", "BIGINT", 3),
        ("INT", "FLOAT", 1.5),
        ("FLOAT", "FLOAT", 3),
        ("BIGINT", "INT", 1.5),
        ("DECIMAL(10,2)", "INT", 1.5),
        ("BIGINT", "DECIMAL(10,2)", 1e17),
    ):
        labels, events = table(of_label), table(of_event)
        of = {"on": "k", "by": "t"}
        near = {"direction": "nearest", "tolerance": span}
        assert_windows(sash.as_of(labels, events, **of, **near, x="a"))
        assert_windows(sash.window_join(labels, events, **of, x=(F.sum("a"), span)))


def test_times_of_two_types_are_compared_as_they_are(spark):
    labels = spark.sql("SELECT 1 AS id, DATE'2026-03-05' AS t")
    hours = "id * INTERVAL 1 HOUR"
    local = spark.sql(f"SELECT TIMESTAMP_NTZ'2026-03-01' + {hours} AS t FROM range(200)")
    summed = sash.window_join(labels, local, on=[], by="t", n=(F.count("*"), "36 hours"))
    assert found(summed, "n") == [36]
    numbers = spark.sql("SELECT 1 AS id, 2L * 9007199254740993 AS t")
    near = spark.sql("SELECT 2L * 9007199254740993 - id AS t FROM range(9)")
    for span in (1.5, Decimal("1.5")):
        summed = sash.window_join(numbers, near, on=[], by="t", n=(F.count("*"), span))
        assert found(summed, "n") == [1], span
        assert_windows(summed)


def test_labels_that_are_the_events_are_joined_with_themselves(days):
    rows = days(
        "id INT, k STRING, ts INT, created INT, until INT, x INT",
        (1, "a", 1, 3, None, 1),
        (2, "a", 2, 2, 4, 2),
        (3, "a", 4, 4, None, 3),
        (4, None, 5, 5, None, 4),
    )
    of = {"on": "k", "by": "ts"}
    summed = sash.window_join(
        rows,
        rows,
        **of,
        known="created",
        n=(F.count("*"), None),
        less=(lambda label: F.count_if(F.col("x") < label("x")), "9 days"),
    )
    assert found(summed, "n", "less") == [(0, 0), (0, 0), (2, 2), (0, 0)]
    last = sash.as_of(
        rows, rows, **of, allow_exact_matches=False, known="created", valid_to="until", last="x"
    )
    assert found(last, "last") == [None, None, 1, None]
    others = rows.where("x < 3")
    bound = sash.window_join(rows, others, **of, known="created", n=(F.sum("x"), None))
    assert found(bound, "n") == [None, None, 3, None]


def test_bound_columns_and_names_with_dots(days):
    labels = days("id INT, ts INT, x INT", (1, 5, 2)).withColumnRenamed("x", "a.b")
    events = days("ts INT, created INT, x INT", (4, 4, 1), (3, 5, 9), (2, 3, 3))
    joined = sash.window_join(
        labels,
        events,
        on=[],
        by="ts",
        known="created",
        n=(lambda label: F.count_if(events["x"] > label("A.b")), None),
        x=(F.max(events["x"]), None),
    )
    assert found(joined, "n", "x") == [(1, 3)]


def test_features_that_the_page_lists(days):
    payments = days(
        "id INT, sender STRING, receiver STRING, ts INT, x INT, email STRING",
        (1, "a", "b", 1, 10, "a@"),
        (2, "b", "a", 2, 20, None),
        (3, "a", "b", 3, 30, None),
        (4, None, "b", 4, 40, None),
    )
    by_receiver = {"receiver": "sender"}
    paid = sash.window_join(payments, payments, on=by_receiver, by="ts", n=(F.sum("x"), None))
    assert found(paid, "n") == [None, 10, 20, 20]
    last = {"of_x": (F.last("x", True), None), "of_email": (F.last("email", True), None)}
    known = sash.window_join(paid, payments, on="sender", by="ts", closed="right", **last)
    assert found(known, "n", "of_x", "of_email")[2:] == [(20, 30, "a@"), (20, None, None)]
    stays = days("id INT, start INT, ts INT", (1, 1, 3), (2, 2, 5)).withColumnRenamed("ts", "end")
    within = {"pair": (F.sum("x"), ("start", "end")), "span": (F.sum("x"), "start")}
    summed = sash.window_join(stays, payments, on=[], by={"end": "ts"}, **within)
    assert found(summed, "pair", "span") == [(30, 30), (90, 90)]
    for df in (paid, known, summed):
        assert_windows(df)


def test_without_sash_the_answers_are_the_same(days):
    labels = days("id INT, ts INT, x INT", (1, 5, 2), (2, 8, 1))
    events = days("ts INT, created INT, x INT", (4, 4, 1), (3, 5, 9), (7, 7, 3))

    def answers() -> list[Any]:
        last = sash.as_of(labels, events, on=[], by=("ts", "x"), known="created", y="x")
        above = (lambda label: F.count_if(F.col("x") > label("x")), ("-4 days", 0))
        joined = sash.window_join(last, events, on=[], by="ts", known="created", n=above)
        assert ("SlidingWindow" in explanation(joined)) == enabled
        return found(joined, "y", "n")

    enabled = True
    assert answers() == [(1, 0), (3, 1)]
    enabled = False
    with setting(labels.sparkSession, "spark.sash.lateral.enabled", "false"):
        assert answers() == [(1, 0), (3, 1)]


def _join(
    span: Any = None, made: Any = None, **given: Any
) -> Callable[[DataFrame, DataFrame], DataFrame]:
    of = {"on": "k", "by": "ts", **given}
    return lambda labels, events: sash.window_join(
        labels, events, **of, n=(F.count("*") if made is None else made, span)
    )


def _as_of(**given: Any) -> Callable[[DataFrame, DataFrame], DataFrame]:
    return lambda labels, events: sash.as_of(
        labels, events, **{"on": "k", "by": "ts", "x": "x"} | given
    )


WRONG: list[tuple[Callable[[DataFrame, DataFrame], DataFrame], str, str]] = [
    (_join(by=("ts", "x")), "by", "sash.as_of takes further columns"),
    (_join(by={"ts": ("ts", "x")}), "by", "sash.as_of takes further columns"),
    (_as_of(by=("ts", "seq")), "by", "a column of the events (k, ts, created, x)"),
    (_as_of(by={"ts": ("ts", 3)}), "by", "further names of the events' columns"),
    (_as_of(by={"ts": []}), "by", "further names of the events' columns"),
    (_as_of(by={"ts": "ts", "x": "x"}), "by", "further names of the events' columns"),
    (_as_of(by=()), "by", "further names of the events' columns"),
    *((f(nulls_equal=1), "nulls_equal", "a bool") for f in (_join, _as_of)),
    *((f(known="seen"), "known", "a column of the events") for f in (_join, _as_of)),
    *((f(known=3), "known", "the name of a column of the events") for f in (_join, _as_of)),
    *((f(known="x"), "known", "or two of dates or timestamps") for f in (_join, _as_of)),
    (_as_of(valid_to="k"), "valid_to", "a column of dates, timestamps or numbers"),
    (
        _as_of(valid_to="created", direction="forward"),
        "valid_to",
        "None unless direction is 'backward'",
    ),
    (
        _as_of(known="created", direction="nearest"),
        "known",
        "None unless direction is 'backward'",
    ),
    *(
        (_join(window), "n", "a pair of the window's two ends")
        for window in ((), ("1 day",), (None, None), ("1 day", "2 days", "3 days"))
    ),
    *(
        (_join(window), "n", "a pair whose first end is before its second one")
        for window in (
            ("8 days", "1 day"),
            ("-1 day", "-8 days"),
            (timedelta(1), 0),
            ("1 month", "-2 days"),
            (0, "-0.5 seconds"),
        )
    ),
    (_join(("--1 day", 0)), "n", "a positive length"),
    (_join(("+1 day", "+8 days")), "n", "whose numbers have no signs"),
    (_join("1 day -2 hours"), "n", "whose numbers have no signs"),
    *((_join("0 apples", closed=c), "n", "an interval in years,") for c in ("left", "both")),
    (_join("\u0663 days"), "n", "an interval as in '7 days'"),
    (_join("99999999999999999999 days"), "n", "at most 200000 years"),
    (_join(("-9999999999 hours", 0)), "n", "at most 200000 years"),
    (_join(timedelta.max), "n", "at most 106751991 days"),
    *((f(by={"ts": {"seen": "ts"}}), "by", "a dict from the labels'") for f in (_join, _as_of)),
    (_join((3, 4)), "n", "an interval as in '7 days', since ts is timestamp"),
    (_join(("1 fortnight", None)), "n", "an interval in years, months,"),
    (_join(("1 month", True)), "n", "an interval as in '7 days'"),
    (_join(("k", 0)), "n", "a column of intervals or times"),
    (_join(made=lambda label: label("k")), "n", "an aggregate over the events"),
    (_join(made=lambda label: 3), "n", "a function that returns a Column"),
    (_join(made=lambda label: F.sum(label("seen"))), "label", "a column of the labels (k"),
    (_join(made=lambda label: F.sum(label(3))), "label", "the name of a column"),
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: f"{wrong[1]}: {wrong[2]}")
def test_a_wrong_argument_is_named(days, wrong):
    call, argument, text = wrong
    labels = days("k STRING, ts INT", ("a", 1))
    events = days("k STRING, ts INT, created INT, x INT", ("a", 1, 1, 1))
    with pytest.raises(PySparkException) as caught:
        call(labels, events)
    assert_says(caught, argument)
    assert text in str(caught.value)
