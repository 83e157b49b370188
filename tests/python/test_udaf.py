"""Aggregators in Python over moving windows, against a loop over each window's rows."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.errors import AnalysisException, PySparkTypeError, PythonException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import sash
from sash.sliding import Folding, Function, TwoStacksLite
from sash.testing import check_aggregator

# a worker has no module of the tests
cloudpickle.register_pickle_by_value(sys.modules[__name__])
pytestmark = pytest.mark.skipif(
    not hasattr(F, "arrow_udf"), reason="PySpark 4.0 passes no Arrow arrays to a UDF"
)


class Text:
    """Not commutative; a NULL counts."""

    def zero(self):
        return ""

    def reduce(self, buffer, value):
        return buffer + (value or "-")

    def merge(self, left, right):
        return left + right

    def finish(self, buffer):
        return buffer


class Mutated:
    """``reduce`` changes its buffer, and keeps the row in it."""

    def zero(self):
        return []

    def reduce(self, buffer, value):
        buffer.append(value or "-")
        return buffer

    def merge(self, left, right):
        return left + right

    def finish(self, buffer):
        return "".join(buffer)


class Matrix:
    """A product of matrices, by lift and merge alone."""

    def lift(self, value):
        n = ord(value or "-")
        return ((1, n % 5), (n % 3, 1))

    def merge(self, left, right):
        (a, b), (c, d) = left
        (e, f), (g, h) = right
        m = 1_000_003
        return (
            ((a * e + b * g) % m, (a * f + b * h) % m),
            ((c * e + d * g) % m, (c * f + d * h) % m),
        )

    def finish(self, buffer):
        return str(buffer)


AGGREGATORS = {"text": Text, "mutated": Mutated, "matrix": Matrix}


def answer(of: Any, rows: list[tuple[Any, ...]]) -> Any:
    """The answer of a loop."""
    steps = Folding(of)
    buffer = steps.zero()
    for row in rows:
        buffer = steps.reduce(buffer, *row)
    return steps.finish(buffer)


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return (
        spark.range(60)
        .selectExpr(
            "id",
            "id % 3 AS k",
            "id * 7 % 20 AS t",
            "CASE WHEN id % 5 = 0 THEN NULL ELSE char(97 + id % 26) END AS s",
        )
        .repartition(3)
    )


FIRST, LAST = Window.unboundedPreceding, Window.unboundedFollowing


def by() -> Any:
    return Window.partitionBy("k").orderBy("t", "id")


def by_t() -> Any:
    return Window.partitionBy("k").orderBy("t")


def sliding() -> Any:
    return sash.SlidingWindow.partitionBy("k").orderBy("t")


FRAMES: dict[str, Callable[[], Any]] = {
    "rows": lambda: by().rowsBetween(-2, 0),
    "before": lambda: by().rowsBetween(-4, -2),
    "ahead": lambda: by().rowsBetween(-1, 3),
    "after": lambda: by().rowsBetween(1, 2),
    "grows": lambda: by().rowsBetween(FIRST, 0),
    "peers": by_t,
    "range": lambda: by_t().rangeBetween(-5, 0),
    "wide range": lambda: by_t().rangeBetween(-3, 4),
    "shrinks": lambda: by().rowsBetween(0, LAST),
    "all": lambda: by().rowsBetween(FIRST, LAST),
    "one key": lambda: Window.orderBy("id").rowsBetween(-3, 0),
    "no order": lambda: Window.partitionBy("k"),
}
KINDS: dict[str, Callable[[], Any]] = {
    "session": lambda: sliding().session(2),
    "delta": lambda: sliding().delta("t", 6),
    "left": lambda: sliding().time(4, "left"),
    "groups": lambda: sliding().groups(1, 1),
}


def windows_of(df: DataFrame, window: Any) -> dict[int, list[tuple[Any, ...]]]:
    """Each row's window, by Sash's or Spark's list of its rows."""
    rows = sash.sliding_agg("s", lambda s: F.collect_list(F.struct(s.alias("s"))), window)
    return {r.id: [(e.s,) for e in r.w] for r in df.select("id", rows.alias("w")).collect()}


@pytest.mark.parametrize("frame", [*FRAMES, *KINDS])
def test_each_frame_against_a_loop(df: DataFrame, frame: str) -> None:
    window = {**FRAMES, **KINDS}[frame]()
    expected = windows_of(df, window)
    # the lists are in the window's order; ties may be in any
    text = sash.udaf(Text(), "string")
    asked = df.select("id", sash.sliding_agg("s", text, window).alias("a"))
    plan = sash.explanation(asked)
    assert frame == "no order" or "left to Spark" not in plan, plan
    got = {r.id: r.a for r in asked.collect()}
    assert got.keys() == expected.keys()
    for row, rows in expected.items():
        want = answer(Text(), rows)
        if frame == "no order":
            assert sorted(got[row]) == sorted(want)
        else:
            assert got[row] == want, row


@pytest.mark.parametrize("name", AGGREGATORS)
@pytest.mark.parametrize("batch", [1, 7, 10_000])
def test_aggregators_in_batches(
    spark: SparkSession, df: DataFrame, name: str, batch: int
) -> None:
    window = by().rowsBetween(-4, 1)
    expected = windows_of(df, window)
    of = sash.udaf(AGGREGATORS[name](), "string")
    key = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = spark.conf.get(key)
    spark.conf.set(key, batch)
    try:
        got = {r.id: r.a for r in df.select("id", of("s").over(window).alias("a")).collect()}
    finally:
        spark.conf.set(key, before)
    assert got == {row: answer(AGGREGATORS[name](), rows) for row, rows in expected.items()}


def test_the_rows_pass_through_python_once(df: DataFrame) -> None:
    asked = df.select(sash.udaf(Text(), "string")("s").over(by().rowsBetween(-2, 0)))
    plan = asked._jdf.queryExecution().executedPlan().toString()
    assert "ArrowEvalPython" in plan
    assert "SlidingWindow" in plan
    assert "ArrowWindowPython" not in plan


def test_several_columns_several_answers_and_a_condition_above(df: DataFrame) -> None:
    class Pairs(Text):
        def reduce(self, buffer, value, number):
            return f"{buffer}{value or '-'}{number}"

    window = by().rowsBetween(-1, 0)
    pairs, text = sash.udaf(Pairs(), "string"), sash.udaf(Text(), "string")
    asked = df.select(
        "id",
        "k",
        pairs("s", F.col("id") + 1).over(window).alias("p"),
        text("s").over(by().rowsBetween(-2, 0)).alias("t"),
        F.sum("id").over(window).alias("n"),
    )
    every = {r.id: r for r in asked.collect()}
    assert len(every) == 60
    assert every[0].p == "-1" if every[0].n == 0 else True
    # a condition above sees the answers of all rows
    assert {r.id: r for r in asked.where("id % 7 = 1").collect()} == {
        i: r for i, r in every.items() if i % 7 == 1
    }
    assert [r.id for r in asked.where("k = 1").limit(100).orderBy("id").collect()] == list(
        range(1, 60, 3)
    )


def test_groups_and_windows_without_sash(spark: SparkSession, df: DataFrame) -> None:
    text = sash.udaf(Text(), "string")
    groups = {r.k: r.a for r in df.groupBy("k").agg(text("s").alias("a")).collect()}
    assert {k: sorted(a) for k, a in groups.items()} == {
        k: sorted("-" if i % 5 == 0 else chr(97 + i % 26) for i in range(60) if i % 3 == k)
        for k in range(3)
    }
    names = [name for name in FRAMES if name != "no order"]
    expected = {name: windows_of(df, FRAMES[name]()) for name in names}
    spark.conf.set("spark.sash.enabled", "false")
    try:
        for name in names:
            asked = df.select("id", text("s").over(FRAMES[name]()).alias("a"))
            got = {r.id: r.a for r in asked.collect()}
            assert got == {i: answer(Text(), rows) for i, rows in expected[name].items()}, name
    finally:
        spark.conf.set("spark.sash.enabled", "true")


def test_slices_of_one_array_slide() -> None:
    merges = []

    class Counted(Text):
        def merge(self, left, right):
            merges.append(1)
            return left + right

    function = Function(Counted(), "text", pa.string())
    choice = random.Random(7).choice  # noqa: S311
    for rows in (0, 1, 2, 50, 400):
        values = [choice("abc") for _ in range(rows)]
        array = pa.array(values, pa.string())
        begin = end = 0
        while end < rows:
            end = min(rows, end + choice([0, 1, 1, 2]))
            begin = min(end, begin + choice([0, 1, 1, 2]))
            assert function(array.slice(begin, end - begin)) == "".join(values[begin:end])
        merges.clear()
    long = pa.array(["a"] * 5_000)
    for i in range(4_000):
        function(long.slice(i, 1_000))
    assert len(merges) <= 3 * 4_000


@pytest.mark.parametrize("sash_on", ["true", "false"])
def test_an_answer_is_not_the_buffer_that_a_later_row_changes(
    spark: SparkSession, df: DataFrame, sash_on: str
) -> None:
    class Listed(Mutated):
        def finish(self, buffer):
            return buffer

    window = by().rowsBetween(-4, 0)
    expected = {i: [s or "-" for (s,) in rows] for i, rows in windows_of(df, window).items()}
    listed = sash.udaf(Listed(), "array<string>")
    spark.conf.set("spark.sash.enabled", sash_on)
    try:
        got = {r.id: r.a for r in df.select("id", listed("s").over(window).alias("a")).collect()}
    finally:
        spark.conf.set("spark.sash.enabled", "true")
    assert got == expected


def test_a_window_merges_a_constant_number_of_times() -> None:
    class Sum:
        merges = 0

        def lift(self, value):
            return value

        def merge(self, left, right):
            Sum.merges += 1
            return left + right

    for width in (2, 10, 1_000):
        Sum.merges = 0
        window = TwoStacksLite(Folding(Sum()), grows=False)
        for i in range(5_000):
            window.insert((i,))
            if i >= width:
                window.evict()
            assert window.query() == sum(range(max(0, i - width + 1), i + 1))
        assert Sum.merges <= 3 * 5_000


@pytest.mark.parametrize(
    ("window", "word"),
    [
        (lambda: sliding().rows(preceding="k"), "rows_window"),
        (lambda: sliding().session(2).exclude("current row"), "window_exclude"),
        (lambda: sliding().session(2).slide(2), "window_slide"),
    ],
)
def test_windows_that_are_refused(df: DataFrame, window: Any, word: str) -> None:
    text = sash.udaf(Text(), "string")
    with pytest.raises(AnalysisException, match=rf"sash.udaf\(Text\).*{word}.*sash.Monoid"):
        df.select(sash.sliding_agg("s", text, window())).collect()


def test_fewer_rows_with_a_value_than_asked_for_give_null(df: DataFrame) -> None:
    window = sliding().delta("t", 6)
    text = sash.udaf(Text(), "string")
    asked = df.select("id", sash.sliding_agg("s", text, window.min_periods(3)).alias("a"))
    got = {r.id: r.a for r in asked.collect()}
    assert got == {
        row: answer(Text(), rows) if sum(s is not None for (s,) in rows) >= 3 else None
        for row, rows in windows_of(df, window).items()
    }


def test_errors_of_methods_name_the_class_the_method_and_the_keys(df: DataFrame) -> None:
    class Broken(Text):
        def merge(self, left, right):
            raise KeyError("lost")

    with pytest.raises(PythonException, match=r"Broken.merge failed at k = \d: KeyError: 'lost'"):
        df.select(sash.udaf(Broken(), "string")("s").over(by().rowsBetween(-2, 0))).collect()
    number = sash.udaf(Text(), "int")
    with pytest.raises(PythonException, match=r"Text.finish returned '.+', which is no int32"):
        df.select(number("s").over(by().rowsBetween(-2, 0))).collect()


@pytest.mark.parametrize("wrong", [Text, object(), max, None])
def test_what_is_no_aggregator(wrong: Any) -> None:
    with pytest.raises(PySparkTypeError, match="aggregator"):
        sash.udaf(wrong, "string")
    with pytest.raises(PySparkTypeError, match="return_type"):
        sash.udaf(Text(), 5)


LAWS: dict[str, tuple[type, str]] = {}


def law(message: str) -> Callable[[type], type]:
    def keep(of: type) -> type:
        LAWS[of.__name__] = (of, message)
        return of

    return keep


@law("merge changes an argument")
class MergesInPlace(Mutated):
    def merge(self, left, right):
        left.extend(right)
        return left


@law("merge differs from reduce")
class Reversed(Text):
    def merge(self, left, right):
        return right + left


@law("finish changes its argument")
class FinishesInPlace(Mutated):
    def finish(self, buffer):
        buffer.append("!")
        return len(buffer)


@law("zero is not neutral")
class StartsAtOne(Text):
    def zero(self):
        return "0"


@pytest.mark.parametrize("name", LAWS)
def test_a_broken_law_is_found(name: str) -> None:
    of, message = LAWS[name]
    with pytest.raises(AssertionError, match=message):
        check_aggregator(of(), ["a", "b", None])


@pytest.mark.parametrize("name", AGGREGATORS)
def test_laws_that_hold(name: str) -> None:
    check_aggregator(AGGREGATORS[name](), ["a", "b", None, "z"])
