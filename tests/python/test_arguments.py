"""Each argument of each public function, wrong in each way: an error of Spark's that names it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import sash
import signatures

NAN = float("nan")
W = sash.SlidingWindow.partitionBy("k").orderBy("id")
BY_TIME = sash.SlidingWindow.orderBy("ts")


def _over(spec: Callable[..., Any]) -> Callable[..., Column]:
    return lambda *args: sash.sliding_agg("x", "sum", spec(*args))


def add(a: Column, b: Column) -> Column:
    return a + b


def _monoid(**wrong: Any) -> Column:
    return sash.Monoid(**{"lift": lambda x: x, "combine": add, **wrong})("id")


WRONG_TYPES = [3, None, 2.5, ["x"], {"x": 1}, True, np.int64(3), pd.DataFrame({"x": [1]})]
NO_COUNTS = [None, "3", 2.5, True, 0, -1, 2**31, 2**63, np.float64(2), np.bool_(True), F.col]
NO_EXTENTS = [None, True, [3], NAN, -1, 0, "abc", "1 hour", timedelta(hours=1), F.col]
NO_SHARES = [None, True, [3], NAN, -1, 0, 1.5, "a", F.col]
# wrong arguments of each type that a signature names
WRONG = {
    "ColumnOrName": WRONG_TYPES,
    "int": NO_COUNTS,
    "Extent": NO_EXTENTS,
    "float": NO_SHARES,
}
# aggregates whose time may be a string
ANY_TIME = ("m4", "longest_increasing_run")
# the function of the one argument that is wrong, the argument's name, and the wrong values
CASES: list[tuple[str, Callable[[Any], Any], str, list[Any]]] = [
    ("sliding_agg", lambda v: sash.sliding_agg(v, "sum", W.count(3)), "col", WRONG_TYPES),
    (
        "sliding_agg",
        lambda v: sash.sliding_agg("x", v, W.count(3)),
        "monoid",
        [*WRONG_TYPES, "summ", "upper", "", add, lambda x: 3],
    ),
    (
        "sliding_agg",
        lambda v: sash.sliding_agg("x", "sum", v),
        "window",
        [*WRONG_TYPES, "w", Window, sash.SlidingWindow],
    ),
    ("count", _over(W.count), "size", [None, "3", 2.5, True, 0, -1, 2**31, 2**63, F.col]),
    ("groups", _over(W.groups), "preceding", [None, "3", 2.5, True, -1, 2**31, 2**63]),
    (
        "groups",
        _over(lambda v: W.groups(1, v)),
        "following",
        [None, "3", 2.5, True, -1, 2**31, 2**63],
    ),
    ("time", _over(W.time), "size", [None, True, [3], NAN, -1, "abc"]),
    ("time", _over(lambda v: W.time(2, v)), "closed", [None, 3, True, ["left"], "inside"]),
    ("time", _over(lambda v: W.time(2, center=v)), "center", [None, 3, "x", F.col]),
    ("time", _over(lambda v: W.time(2, hop=v)), "hop", [True, [3], NAN, 0, -1, "abc"]),
    (
        "min_periods",
        _over(lambda v: W.count(3).min_periods(v)),
        "n",
        [None, "3", 2.5, True, -1, 2**31, 2**63, F.col],
    ),
    ("time", _over(BY_TIME.time), "size", ["-1 hour", timedelta(hours=-1), "column"]),
    ("delta", _over(lambda v: W.delta(v, 1)), "attribute", WRONG_TYPES),
    ("delta", _over(lambda v: W.delta("x", v)), "delta", [None, True, [3], NAN, -1, "abc"]),
    ("punctuation", _over(W.punctuation), "punctuation", [*WRONG_TYPES, "id"]),
    ("session", _over(W.session), "gap", [None, True, [3], NAN, 0, -1, "abc"]),
    ("session", _over(BY_TIME.session), "gap", ["-1 hour", "0 hours", timedelta(0)]),
    ("session", _over(lambda v: W.session(2, v)), "longest", [True, [3], NAN, 0, -1, "abc"]),
    ("rows", _over(W.rows), "preceding", [None, 2.5, True, [3], "x", "s"]),
    ("range", _over(W.range), "preceding", [None, True, [3], "s"]),
    *(
        (
            name,
            _over(partial(getattr(W, name), *given)),
            "following",
            [None, "off", 1, 0.5, False],
        )
        for name in ("rows", "range")
        for given in ((1,), ("id",))
    ),
    ("rows", lambda v: W.rows(following=v), "following", ["off", 3, F.col]),
    ("range", lambda v: W.range(following=v), "following", ["off", timedelta(days=1), F.col]),
    ("spec", lambda v: W.count(3).spec(aggregated=v), "aggregated", [3, "x", ["x"]]),
    ("spec", lambda v: W.count(3).spec(aggregate=v), "aggregate", [3, "sum", F.sum]),
    ("exclude", _over(lambda v: W.count(3).exclude(v)), "rows", [None, 3, "row", ["ties"]]),
    (
        "slide",
        _over(lambda v: W.count(3).slide(v)),
        "every",
        [None, True, 2.5, 0, -1, 2**31, 2**63, "abc", [3], F.col],
    ),
    ("predicate", _over(W.predicate), "condition", [None, 3, "x", add, lambda s: 3]),
    ("predicate", _over(lambda v: W.predicate(v, lambda s: s > 3)), "monoid", [3, None, add]),
    (
        "predicate",
        _over(lambda v: W.predicate("sum", lambda s: s > 3, v)),
        "col",
        [3, ["x"], 2.5],
    ),
    (
        "predicate",
        _over(lambda v: W.predicate(F.sum("x"), lambda s: s > 3, v)),
        "col",
        ["x", 3],
    ),
    ("predicate", _over(lambda v: W.predicate(lambda s: s > 3, col=v)), "col", ["x"]),
    ("partitionBy", sash.SlidingWindow.partitionBy, "cols", [3, None, 2.5, {"x": 1}]),
    ("orderBy", sash.SlidingWindow.orderBy, "cols", [3, None, 2.5, {"x": 1}]),
    ("Monoid", lambda v: _monoid(lift=v), "lift", [5, None, "x", add, F.lit, lambda x: 3][:4]),
    ("Monoid", lambda v: _monoid(lift=v), "lift", [lambda x: 3, lambda x: None]),
    ("Monoid", lambda v: _monoid(combine=v), "combine", [5, None, lambda a: a, lambda a, b: 3]),
    ("Monoid", lambda v: _monoid(lower=v), "lower", [5, "x", add, lambda a: 3]),
    ("Monoid", lambda v: _monoid(inverse=v), "inverse", [5, lambda a: a, lambda a, b: None]),
    ("Monoid", lambda v: _monoid(selective=v), "selective", [5, None, lambda a: a, "x"]),
    (
        "Monoid",
        lambda v: _monoid(identity=v),
        "identity",
        [{"a": 1}, (1, 2), {1}, add, object(), "x", F.col],
    ),
    ("explain", sash.explain, "df", [None, 3, "SELECT 1", pd.DataFrame({"x": [1]}), F.col]),
    ("is_active", sash.is_active, "spark", [None, 3, SparkSession]),
    ("inactive_reason", sash.inactive_reason, "spark", [None, 3, SparkSession.builder]),
    ("configure", sash.configure, "builder", [None, 3, "local[2]", SparkSession]),
    (
        "configure",
        lambda v: sash.configure(SparkSession.builder, streaming=v),
        "streaming",
        [None, 3, "yes"],
    ),
    ("rowsBetween", lambda v: W.rowsBetween(v, 0), "start", [None, "3", 2.5, True]),
    ("rangeBetween", lambda v: W.rangeBetween(0, v), "end", [None, "1 hour", 2.5, True]),
    (
        "check_monoid",
        lambda v: sash.testing.check_monoid(v, sash.Monoid(lambda x: x, add)),
        "df",
        [None, 5, "t", pd.DataFrame({"x": [1]})],
    ),
]


def _aggregates() -> Iterator[tuple[str, Callable[[Any], Any], str, list[Any]]]:
    for name, types in signatures.aggregates():
        for at, (argument, of) in enumerate(types.items()):

            def call(wrong: Any, name: str = name, types: Any = types, at: int = at) -> Column:
                arguments = [signatures.RIGHT[right] for right in types.values()]
                arguments[at] = wrong
                if name == "funnel":
                    arguments = ["id", *arguments]  # a list alone is its columns
                return getattr(sash.functions, name)(*arguments)

            text = ["s"] if argument == "ts" and name not in ANY_TIME else []
            yield name, call, argument, [*WRONG[of], *text]


def _cases() -> Iterator[Any]:
    for function, call, argument, wrong in [*CASES, *_aggregates()]:
        for value in wrong:
            named = getattr(value, "__name__", repr(value).replace("\n", " "))
            yield pytest.param(call, argument, value, id=f"{function}-{argument}-{named}")


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return spark.range(9).selectExpr(
        "id", "id % 2 AS k", "double(id) AS x", "string(id) AS s", "timestamp_seconds(id) AS ts"
    )


def assert_says(caught: pytest.ExceptionInfo[PySparkException], argument: str) -> None:
    """The error is Spark's, names the argument, and tells nothing of the inside."""
    error = caught.value
    # Spark's plan comes below
    text, *_ = str(error).split(";\n")
    assert error.getCondition(), text
    assert re.search(rf"\b{argument}\b", text), text
    assert not re.search(r"io\.sash|\bnull\b|\tat |Traceback|Exception:", text), text


@pytest.mark.parametrize(("call", "argument", "value"), list(_cases()))
def test_a_wrong_argument_is_named(df, call, argument, value):
    # F.col stands for an argument that is no constant
    given = F.col("id") if value is F.col else value

    def analyzed() -> None:
        made = call(given)
        if isinstance(made, Column):
            df.select(made)

    with pytest.raises(PySparkException) as caught:
        analyzed()
    assert_says(caught, argument)


def test_each_argument_of_a_window_is_tried():
    tried = {(function, argument) for function, _, argument, _ in CASES}
    of_frames = {("rowsBetween", "end"), ("rangeBetween", "start")}
    spec = type(W.count(3))
    for name, method in inspect.getmembers(spec, inspect.isfunction):
        if name.startswith("_") or not method.__module__.startswith("sash."):
            continue
        for argument in [*inspect.signature(method).parameters][1:]:
            assert (name, argument) in tried | of_frames


@pytest.mark.parametrize("kind", ["rows", "range"])
def test_rows_that_come_later_are_those_before_in_descending_order(df, kind):
    with pytest.raises(PySparkException, match=rf"orderBy\(F.desc\('ts'\)\).{kind}\(prec"):
        getattr(W, kind)("id", following="off")
    later = getattr(sash.SlidingWindow.orderBy(F.desc("id")), kind)(F.lit(2))
    rows = df.select("id", F.collect_set("id").over(later).alias("ids")).collect()
    assert {row.id: sorted(row.ids) for row in rows} == {
        n: [m for m in range(9) if n <= m <= n + 2] for n in range(9)
    }


DAYS = sash.SlidingWindow.orderBy("d")
TWO_DAYS = timedelta(days=2)


@pytest.mark.parametrize(
    ("window", "counts"),
    [
        (lambda d: DAYS.time(d), [1, 1, 2, 2, 1]),
        (lambda d: DAYS.time(d, "left"), [0, 0, 1, 1, 0]),
        (lambda d: DAYS.time(d, hop=d), [1, 1, 2, 2, 1]),
        (lambda d: DAYS.session(d), [1, 1, 1, 2, 1]),
        (lambda d: DAYS.session(d, d), [1, 1, 1, 2, 1]),
        (lambda d: DAYS.range(d), [1, 1, 2, 2, 1]),
        (lambda d: DAYS.delta("d", d), [1, 1, 2, 2, 1]),
        (lambda d: DAYS.count(9).slide(d), [1, 2, 3, 4, 5]),
    ],
)
@pytest.mark.parametrize("days", [TWO_DAYS, "2 days", "48 hours"], ids=str)
def test_days_fit_a_date_however_they_are_written(spark, window, counts, days):
    moved = spark.createDataFrame([(d,) for d in (0, 10, 12, 13, 30)], ["n"]).selectExpr(
        "date_add(DATE'2026-01-02', int(n)) AS d"
    )
    rows = moved.select("d", F.count("*").over(window(days)).alias("c")).orderBy("d").collect()
    assert [row.c for row in rows] == counts


def test_check_monoid_wants_rows(df):
    monoid = sash.Monoid(lambda x: x, add)
    with pytest.raises(PySparkException, match="`df` should be a DataFrame with an input"):
        sash.testing.check_monoid(df.select("x").where("x < 0"), monoid)
    with pytest.raises(PySparkException, match="`df` should be a DataFrame of one column"):
        sash.testing.check_monoid(df.select(), monoid)


@pytest.mark.parametrize("monoid", [5, None, "sum", add])
def test_check_monoid_wants_a_monoid(df, monoid):
    with pytest.raises(PySparkException) as caught:
        sash.testing.check_monoid(df, monoid)
    assert_says(caught, "monoid")


@pytest.mark.parametrize(
    "wrong",
    [
        {"rows": None},
        {"rows": 0},
        {"rows": -1},
        {"rows": 2.5},
        {"rows": 2**31},
        {"tolerance": None},
        {"tolerance": -1},
        {"tolerance": NAN},
        {"tolerance": "0"},
        {"rows": np.float64(3)},
        {"tolerance": np.bool_(True)},
    ],
    ids=str,
)
def test_check_monoid_looks_at_its_options(df, wrong):
    with pytest.raises(PySparkException) as caught:
        sash.testing.check_monoid(df, sash.Monoid(lambda x: x, add), **wrong)
    assert_says(caught, *wrong)


@pytest.mark.parametrize(
    "call",
    [
        lambda: sash.sliding_agg("x"),
        lambda: sash.functions.geometric_mean(),
        lambda: sash.functions.m4("ts"),
        lambda: W.count(),
        lambda: W.delta("x"),
        lambda: sash.Monoid(lambda x: x),
    ],
)
def test_a_missing_argument_is_pythons_own_error(call):
    with pytest.raises(TypeError, match=r"missing \d required"):
        call()


def test_an_interval_may_be_a_string(df):
    counts = [
        sash.sliding_agg("id", "count", window).alias(f"c{i}")
        for i, window in enumerate(
            [
                BY_TIME.time("2 seconds"),
                BY_TIME.delta("ts", "2 seconds"),
                BY_TIME.session("2 seconds"),
                BY_TIME.range("2 seconds"),
                BY_TIME.range(timedelta(seconds=2)),
                BY_TIME.count(9).slide("2 seconds"),
            ]
        )
    ]
    rows = df.select("id", *counts).orderBy("id").collect()
    assert [tuple(row)[1:] for row in rows[:4]] == [
        (1, 1, 1, 1, 1, 1),
        (2, 2, 2, 2, 2, None),
        (3, 3, 3, 3, 3, 3),
        (3, 3, 4, 3, 3, None),
    ]


def test_columns_may_be_names_and_lists(df):
    given = sash.SlidingWindow.partitionBy(["k"]).orderBy(["id"]).count(2)
    named = sash.SlidingWindow.partitionBy(F.col("k")).orderBy("id").count(2)
    columns = [sash.sliding_agg(F.col("id"), F.sum, window) for window in (given, named)]
    assert all(row[0] == row[1] for row in df.select(*columns).collect())
