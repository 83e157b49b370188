"""Aggregators in Python over moving windows, against a loop over each window's rows."""

from __future__ import annotations

import random
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.errors import (
    AnalysisException,
    PySparkTypeError,
    PySparkValueError,
    PythonException,
)
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import sash
from sash import sliding as worker
from sash.sliding import (
    BACK,
    GROWS,
    HOLES,
    STAYS,
    Folding,
    Function,
    Levels,
    OutOfOrderError,
    TwoStacksLite,
)
from sash.sliding_arrays import ArrayFunction, Arrays
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


class Product:
    """A product of matrices over arrays, by lift and merge alone: a partial is a matrix."""

    vectorized = True

    def lift(self, value):
        one = np.ones_like(value)
        return np.stack([one, value % 5, value % 3, one], axis=1).reshape(-1, 2, 2)

    def merge(self, left, right):
        return left @ right % 1_000_003

    def finish(self, partials):
        return [f"{a} {b} {c} {d}" for a, b, c, d in partials.reshape(-1, 4).tolist()]


class Joined:
    """Strings over arrays of objects, with zero and reduce."""

    vectorized = True

    def zero(self):
        return np.array("", object)

    def reduce(self, buffer, value):
        return buffer + np.array([f"{v}," for v in value.tolist()], object)

    def merge(self, left, right):
        return left + right

    def finish(self, partials):
        return partials


class Spread:
    """A structured array, and a row without an answer."""

    vectorized = True
    partial = "i8,i8"

    def lift(self, value):
        lifted = np.empty(len(value), self.partial)
        lifted["f0"] = lifted["f1"] = value
        return lifted

    def merge(self, left, right):
        merged = np.empty(len(left), self.partial)
        merged["f0"] = np.minimum(left["f0"], right["f0"])
        merged["f1"] = np.maximum(left["f1"], right["f1"])
        return merged

    def finish(self, partials):
        spread = partials["f1"] - partials["f0"]
        return np.ma.masked_array(spread, spread == 0)


def product(values: list[int]) -> str | None:
    """The answers of loops, over the values that are not NULL."""
    a, b, c, d = 1, 0, 0, 1
    for n in values:
        e, f, g, h = 1, n % 5, n % 3, 1
        m = 1_000_003
        a, b, c, d = (
            (a * e + b * g) % m,
            (a * f + b * h) % m,
            (c * e + d * g) % m,
            (c * f + d * h) % m,
        )
    return f"{a} {b} {c} {d}" if values else None


def joined(values: list[int]) -> str:
    return "".join(f"{v}," for v in values)


def spread(values: list[int]) -> int | None:
    return (max(values) - min(values) or None) if values else None


VECTORIZED: dict[str, tuple[type, str, Callable[[list[int]], Any]]] = {
    "product": (Product, "string", product),
    "joined": (Joined, "string", joined),
    "spread": (Spread, "int", spread),
}


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
            "CASE WHEN id % 7 = 0 THEN NULL ELSE id * id % 50 END AS n",
            "id * 3 % 8 AS w",
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
    "own rows": lambda: sliding().rows(preceding="w"),
    "own range": lambda: sliding().range(preceding="w"),
    "own within": lambda: sliding().session(3) & sliding().rows(preceding="w"),
    "without itself": lambda: sliding().time(6).exclude("current row"),
    "without group": lambda: sliding().groups(2, 1).exclude("group"),
    "without ties": lambda: sliding().session(2).exclude("ties"),
    "own without ties": lambda: sliding().range(preceding="w").exclude("ties"),
}


def windows_of(df: DataFrame, window: Any, of: str = "s") -> dict[int, list[tuple[Any, ...]]]:
    """Each row's window, by Sash's or Spark's list of its rows."""
    rows = sash.sliding_agg(of, lambda s: F.collect_list(F.struct(s.alias("s"))), window)
    return {r.id: [(e.s,) for e in r.w] for r in df.select("id", rows.alias("w")).collect()}


@contextmanager
def setting(spark: SparkSession, key: str, value: str) -> Iterator[None]:
    before = spark.conf.get(key)
    spark.conf.set(key, value)
    try:
        yield
    finally:
        spark.conf.set(key, before)


def batches_of(spark: SparkSession, rows: int) -> AbstractContextManager[None]:
    return setting(spark, "spark.sql.execution.arrow.maxRecordsPerBatch", str(rows))


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
    with batches_of(spark, batch):
        got = {r.id: r.a for r in df.select("id", of("s").over(window).alias("a")).collect()}
    assert got == {row: answer(AGGREGATORS[name](), rows) for row, rows in expected.items()}


@pytest.mark.parametrize("frame", [*FRAMES, *KINDS])
def test_arrays_over_each_frame_against_a_loop(
    spark: SparkSession, df: DataFrame, frame: str
) -> None:
    window = {**FRAMES, **KINDS}[frame]()
    expected = windows_of(df, window, "n")
    for batch in (1, 10_000):
        with batches_of(spark, batch):
            answers = [
                sash.sliding_agg("n", sash.udaf(of(), kind), window).alias(name)
                for name, (of, kind, _) in VECTORIZED.items()
            ]
            got = {r.id: r for r in df.select("id", *answers).collect()}
        assert got.keys() == expected.keys()
        for row, rows in expected.items():
            values = [n for (n,) in rows if n is not None]
            for name, (_, _, loop) in VECTORIZED.items():
                if frame != "no order" or name == "spread":
                    assert got[row][name] == loop(values), (row, name, batch)


def test_arrays_in_groups_and_without_sash(spark: SparkSession, df: DataFrame) -> None:
    of = {name: sash.udaf(of(), kind) for name, (of, kind, _) in VECTORIZED.items()}
    ordered = df.coalesce(1).orderBy("id")
    groups = ordered.groupBy("k").agg(*(f("n").alias(name) for name, f in of.items())).collect()
    for r in groups:
        values = [i * i % 50 for i in range(60) if i % 3 == r.k and i % 7]
        assert r.spread == spread(values)
        assert sorted(r.joined.split(",")) == sorted(joined(values).split(","))
    names = [name for name in FRAMES if name != "no order"]
    expected = {name: windows_of(df, FRAMES[name](), "n") for name in names}
    with setting(spark, "spark.sash.enabled", "false"):
        for name in names:
            columns = [f("n").over(FRAMES[name]()).alias(of_) for of_, f in of.items()]
            for r in df.select("id", *columns).collect():
                values = [n for (n,) in expected[name][r.id] if n is not None]
                for of_, (_, _, loop) in VECTORIZED.items():
                    assert r[of_] == loop(values), (name, of_)


@pytest.mark.parametrize("rows", [1, 2, 3, 64, 100, 1_000])
def test_windows_of_arrays(rows: int) -> None:
    rng = random.Random(rows)  # noqa: S311
    steps = Arrays(Joined())
    values = [rng.randrange(10) for _ in range(rows)]
    partials = steps.lifted([pa.array(values)])
    assert steps.total(partials)[0] == joined(values)
    for width in {1, 2, 3, 7, 32, rows // 2 or 1, rows}:
        if width > rows:
            continue
        begins = np.arange(rows - width + 1)
        # mostly of one length
        ends = begins + width
        ends[: len(ends) // 3] = begins[: len(ends) // 3] + 1
        windows = steps.windows(partials, begins, ends)
        assert windows.tolist() == [
            joined(values[b:e]) for b, e in zip(begins, ends, strict=True)
        ]
    begins = np.array([rng.randrange(rows) for _ in range(200)])
    ends = np.array([rng.randrange(b, rows) + 1 for b in begins])
    windows = steps.windows(partials, begins, ends)
    assert windows.tolist() == [joined(values[b:e]) for b, e in zip(begins, ends, strict=True)]


def test_arrays_are_merged_a_constant_number_of_times() -> None:
    class Counted:
        merged = 0
        calls = 0

        def lift(self, value):
            return value

        def merge(self, left, right):
            Counted.merged += len(left)
            Counted.calls += 1
            return left + right

    steps, rows = Arrays(Counted()), 60_000
    for width in (10, 1_000, 20_000):
        Counted.merged = Counted.calls = 0
        begins = np.arange(rows - width + 1)
        windows = steps.windows(np.ones(rows), begins, begins + width)
        assert (windows == width).all()
        assert Counted.merged <= 4 * rows
        assert Counted.calls <= 6 * 17


SHAPES = {
    "moves": 0,
    "grows": GROWS,
    "moves back": BACK,
    "has holes": HOLES,
    "without ties": HOLES | STAYS,
    "moves back without ties": BACK | HOLES | STAYS,
}


def key_of(rng: random.Random, shape: int, rows: int) -> list[tuple[Any, ...]]:
    """Windows of a key, as the operator sends them: begin, end, and the hole."""
    windows = []
    begin = end = 1
    ahead = rng.choice([0, 0, 3, rows])
    for row in range(1, rows + 1):
        if shape & BACK:
            begin, end = rng.randint(1, rows), rng.randint(1, rows)
        else:
            begin = 1 if shape & GROWS else min(rows, begin + rng.choice([0, 1, 1, 2]))
            end = min(rows, max(end + rng.choice([0, 0, 1, 2]), begin, row + ahead - 4))
        there = end >= begin and rng.random() < 0.95
        first = rng.randint(max(1, row - 2), row)
        hole = (first, rng.randint(row, min(rows, row + 2))) if shape & HOLES else (None, None)
        windows.append((begin if there else None, end if there else None, *hole))
    return windows


def window_of(shape: int, row: int, window: tuple[Any, ...]) -> list[int]:
    begin, end, first, last = window
    if begin is None:
        return []
    places = range(begin, end + 1)
    if not shape & HOLES:
        return [*places]
    return [p for p in places if not first <= p <= last or (shape & STAYS and p == row)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("of", [Text, Mutated, Matrix, Joined, Product])
def test_random_windows_in_random_batches(shape: str, of: type) -> None:
    bits = SHAPES[shape]
    rng = random.Random(f"{shape} {of.__name__}")  # noqa: S311
    is_of_arrays = hasattr(of, "vectorized")
    loop = {Joined: joined, Product: product}.get(of)
    for _ in range(40):
        rows: list[tuple[Any, ...]] = []
        want: list[Any] = []
        for key in range(rng.choice([1, 2, 20])):
            size = rng.choice([1, 2, 9, 60])
            values = [rng.choice([None, *range(9)]) for _ in range(size)]
            if not is_of_arrays:
                values = [None if v is None else "abcdefghi"[v] for v in values]
            counts = [rng.random() < 0.9 for _ in range(size)]
            for row, window in enumerate(key_of(rng, bits, size), 1):
                name = {"1 k": key} if row == 1 else None
                begin, end, *hole = window
                rows.append(
                    (values[row - 1], *hole, counts[row - 1], name, bits, row, begin, end)
                )
                held = [values[p - 1] for p in window_of(bits, row, window) if counts[p - 1]]
                if loop is None:
                    want.append(answer(of(), [(v,) for v in held]))
                else:
                    want.append(loop([v for v in held if v is not None]))
        number = pa.int64()
        types = [number if is_of_arrays else pa.string(), number, number, pa.bool_()]
        types += [pa.struct([("1 k", number)]), pa.int32(), number, number, number]
        batches = []
        while rows:
            size = rng.choice([1, 3, 50, 500])
            part, rows = rows[:size], rows[size:]
            columns = [
                pa.array(c, t) for c, t in zip(zip(*part, strict=True), types, strict=True)
            ]
            batches.append(columns if bits & HOLES else [columns[0], *columns[3:]])
        function = (ArrayFunction if is_of_arrays else Function)(of(), "f", pa.string())
        got = [a for answers in function(iter(batches)) for a in answers.to_pylist()]
        assert got == want


def test_levels_answer_any_range() -> None:
    rng = random.Random(5)  # noqa: S311
    for drops in (False, True):
        levels, values, first = Levels(Folding(Text())), [], 0
        for i in range(300):
            values.append(rng.choice("abc"))
            levels.insert((values[-1],))
            begin = rng.randint(first, i)
            end = rng.randint(begin, i) + 1
            assert levels.buffer(begin, end) == "".join(values[begin:end])
            if drops:
                first = max(first, begin - 20)
                levels.drop(first)
        if drops:
            assert sum(map(len, levels._levels)) < 300


def test_the_rows_pass_through_python_once(df: DataFrame) -> None:
    asked = df.select(sash.udaf(Text(), "string")("s").over(by().rowsBetween(-2, 0)))
    plan = asked._jdf.queryExecution().executedPlan().toString()
    assert "ArrowEvalPython" in plan
    assert "SlidingWindow" in plan
    assert "ArrowWindowPython" not in plan


@pytest.mark.parametrize("frame", ["rows", "grows", "peers"])
@pytest.mark.parametrize("of", [Text, Joined])
def test_rows_keep_their_order_over_a_window_of_a_longer_key(
    df: DataFrame, of: type, frame: str
) -> None:
    """Spark moves windows below such a window, if they read none of its answers."""
    of_arrays = of is Joined
    lagged = F.lag("n" if of_arrays else "s").over(Window.partitionBy("k", "w").orderBy("t"))
    rows, window = df.withColumn("before", lagged), FRAMES[frame]()
    asked = rows.select("id", sash.udaf(of(), "string")("before").over(window).alias("a"))
    got = {r.id: r.a for r in asked.collect()}
    for row, held in windows_of(rows, window, "before").items():
        values = [value for (value,) in held if value is not None]
        assert got[row] == (joined(values) if of_arrays else answer(Text(), held)), row


@pytest.mark.parametrize("of", [Text, Joined])
def test_rows_out_of_order_are_refused(of: type) -> None:
    function = (ArrayFunction if of is Joined else Function)(of(), "f", pa.string())
    kind = pa.int64() if of is Joined else pa.string()
    keys = pa.nulls(2, pa.struct([("1 k", pa.int64())]))

    def batch(*places: int) -> list[pa.Array]:
        ones, bits = pa.array([1, 1]), pa.array([GROWS, GROWS], pa.int32())
        values, wanted = pa.nulls(2, kind), pa.array([True, True])
        return [values, wanted, keys, bits, pa.array(places), ones, pa.array(places)]

    for places in ([(1, 3)], [(1, 2), (4, 5)], [(2, 3)]):
        with pytest.raises(OutOfOrderError):
            list(function(batch(*two) for two in places))
    assert len(list(function(batch(*two) for two in [(1, 2), (3, 1), (2, 3)]))) > 0


def test_two_keys_of_one_name(df: DataFrame) -> None:
    class Broken(Text):
        def finish(self, buffer):
            raise KeyError

    others = df.selectExpr("id AS other", "w AS k").alias("b")
    both = df.alias("a").join(others, F.col("id") == F.col("other"))
    window = Window.partitionBy("a.k", "b.k").orderBy("t", "id").rowsBetween(-2, 0)
    asked = both.select("id", sash.udaf(Text(), "string")("s").over(window).alias("a"))
    got = {r.id: r.a for r in asked.collect()}
    expected = windows_of(both.select("id", "a.k", "b.k", "t", "s"), window)
    assert got == {row: answer(Text(), rows) for row, rows in expected.items()}
    with pytest.raises(
        PythonException, match=r"Broken.finish failed at k = \d, k = \d: KeyError"
    ):
        both.select(sash.udaf(Broken(), "string")("s").over(window)).collect()


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


@pytest.mark.parametrize("of", [Joined, Product, Spread])
def test_slices_of_one_array_slide_over_arrays(of: type) -> None:
    loops = {Joined: joined, Product: product, Spread: spread}
    function = ArrayFunction(of(), "f", pa.int64() if of is Spread else pa.string())
    rng = random.Random(of.__name__)  # noqa: S311
    for rows in (1, 2, 3, 50, 200):
        values = [rng.choice([None, *range(9)]) for _ in range(rows)]
        array = pa.array(values, pa.int64())
        begin = end = 0
        while end < rows:
            end = min(rows, end + rng.choice([0, 1, 1, 2, 30]))
            begin = min(end, begin + rng.choice([0, 1, 1, 2]))
            held = [v for v in values[begin:end] if v is not None]
            assert function(array.slice(begin, end - begin)) == loops[of](held)
            if rng.random() < 0.02:  # another key
                assert function(pa.array([3, 4])) == loops[of]([3, 4])


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


class Deque:
    """A buffer that is an answer of a type that no list is made of."""

    def zero(self):
        return deque(maxlen=3)

    def reduce(self, buffer, value):
        buffer.append(value)
        return buffer

    def merge(self, left, right):
        return deque([*left, *right], maxlen=3)

    def finish(self, buffer):
        return buffer


def test_an_answer_of_any_mutable_type_is_not_the_buffer(spark: SparkSession) -> None:
    last_three = sash.udaf(Deque(), "array<bigint>")
    for first in (FIRST, -2):
        window = Window.orderBy("id").rowsBetween(first, 0)
        rows = spark.range(5).select("id", last_three("id").over(window).alias("a")).collect()
        assert {r.id: r.a for r in rows} == {i: list(range(i + 1))[-3:] for i in range(5)}


def test_a_row_that_is_left_out_has_no_copy() -> None:
    """Rows of lists are copied, and a row that FILTER leaves out stays one."""

    class Lengths:
        def zero(self):
            return 0

        def reduce(self, buffer, value):
            return buffer + len(value)

        def merge(self, left, right):
            return left + right

        def finish(self, buffer):
            return {"of": buffer}.values()

    window = TwoStacksLite(Folding(Lengths()), grows=False, keeps_copies=True)
    left_out = worker._LEFT_OUT
    found = []
    for row in ([[1, 2]], left_out, [[3]], left_out, [[4]], [[5, 6]]):
        window.insert(row if row is left_out else tuple(row))
        if window.end - window.first > 3:
            window.evict()
        found.append(window.query())
    assert found == [[2], [2], [3], [1], [2], [3]]


class Masked:
    """Answers of two numbers, one of which a mask hides."""

    def merge(self, left, right):
        return left + right


class MaskedArrays(Masked):
    vectorized = True

    def lift(self, value):
        return np.stack((value, value * 0), axis=1)

    def finish(self, partials):
        return np.ma.masked_array(partials, partials == 0)


class MaskedRows(Masked):
    def lift(self, value):
        return np.array((value, 0.0))

    def finish(self, buffer):
        return np.ma.masked_array(buffer, buffer == 0)


@pytest.mark.parametrize("of", [MaskedArrays, MaskedRows])
def test_masked_elements_of_an_answer_are_null(spark: SparkSession, of: type) -> None:
    window = Window.orderBy("id").rowsBetween(-1, 0)
    rows = spark.range(3).selectExpr("id", "id + 5D AS x")
    answers = sash.udaf(of(), "array<double>")("x").over(window).alias("a")
    found = {r.id: r.a for r in rows.select("id", answers).collect()}
    assert found == {0: [5.0, None], 1: [11.0, None], 2: [13.0, None]}


class Lifted(sash.Aggregator):
    """It has no zero of its own."""

    def lift(self, value):
        return value

    def merge(self, left, right):
        return left + right


class LiftedArrays(Lifted):
    vectorized = True


@pytest.mark.parametrize("of", [Lifted, LiftedArrays])
def test_the_base_class_has_no_zero(spark: SparkSession, of: type) -> None:
    rows = spark.sql("SELECT * FROM VALUES (1, 7L), (2, 5L), (3, 4L) AS v(id, x)")
    total = sash.udaf(of(), "bigint")
    before = Window.orderBy("id").rowsBetween(-2, -1)
    found = rows.select("id", total("x").over(before).alias("a")).collect()
    assert {r.id: r.a for r in found} == {1: None, 2: 7, 3: 12}
    sash.testing.check_aggregator(of(), [1, 2, 3])


def test_workers_need_numpy_for_arrays_alone(spark: SparkSession) -> None:
    sash.udaf(Text(), "string")  # which has workers unpickle the modules by value
    text, product = (of(None, "f", pa.string()) for of in (Function, ArrayFunction))
    assert b"numpy" not in cloudpickle.dumps(text)
    assert b"numpy" in cloudpickle.dumps(product)


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
        (lambda: sliding().session(2).slide(2), "window_slide"),
        (lambda: sliding().count(2).slide(2), "window_slide"),
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


def test_a_method_that_returns_none_and_partials_that_are_no_array(df: DataFrame) -> None:
    class Lost(Text):
        def merge(self, left, right):
            return None

    class LostRow(Text):
        def reduce(self, buffer, value):
            return None

    class Scalar(Spread):
        def lift(self, value):
            return 1

    class Wider(Spread):
        def merge(self, left, right):
            return np.zeros((len(left), 2))

    class Short(Spread):
        def finish(self, partials):
            return [1]

    window = by().rowsBetween(-2, 0)
    none = "returned None, and must return a buffer"
    wrong = "must return a NumPy array of one partial for each"
    for of, column, text in (
        (Lost, "s", rf"Lost.merge failed at k = \d: it {none}"),
        (LostRow, "s", rf"LostRow.reduce failed at k = \d: it {none}"),
        (Scalar, "n", rf"Scalar.lift failed in the rows from k = \d to k = \d: .*{wrong}"),
        (Wider, "n", r"Wider.merge failed .*k = \d: it returned partials of type float64 and sh"),
        (Short, "n", r"Short.finish failed .*: it returned a list for .*one answer for each"),
    ):
        with pytest.raises(PythonException, match=text):
            df.coalesce(1).select(sash.udaf(of(), "int")(column).over(window)).collect()
    with pytest.raises(PythonException, match=r"Product.finish returned '.*', which is no int32"):
        df.select(sash.udaf(Product(), "int")("n").over(window)).collect()


def test_rows_that_reduce_changes(df: DataFrame) -> None:
    class Extends:
        def zero(self):
            return None

        def reduce(self, buffer, value):
            if buffer is None:
                return value  # the row's own list
            buffer.extend(value)
            return buffer

        def merge(self, left, right):
            return (left or []) + (right or [])

        def finish(self, buffer):
            return buffer

    window = by().rowsBetween(-4, 0)
    lists = df.select("*", F.array(F.coalesce("s", F.lit("-")), F.lit("|")).alias("l"))
    got = lists.select("id", sash.udaf(Extends(), "array<string>")("l").over(window).alias("a"))
    expected = windows_of(df, window)
    assert {r.id: "".join(r.a) for r in got.collect()} == {
        i: "".join(f"{s or '-'}|" for (s,) in rows) for i, rows in expected.items()
    }


def test_a_buffer_of_none_is_a_buffer(df: DataFrame) -> None:
    class Last:
        def zero(self):
            return None

        def reduce(self, buffer, value):
            return value or buffer

        def merge(self, left, right):
            return right or left

        def finish(self, buffer):
            return buffer

    window = by().rowsBetween(-2, 0)
    expected = windows_of(df, window)
    got = df.select("id", sash.udaf(Last(), "string")("s").over(window).alias("a")).collect()
    for r in got:
        assert r.a == next((s for (s,) in reversed(expected[r.id]) if s), None)


LABELS_OF = {"text": (Text, "s", "string"), "joined": (Joined, "n", "string")}


@pytest.mark.parametrize("name", LABELS_OF)
def test_features_of_labels(spark: SparkSession, df: DataFrame, name: str) -> None:
    of, column, kind = LABELS_OF[name]
    f = sash.udaf(of(), kind)
    seconds = F.timestamp_seconds("t")
    events = df.withColumn("at", seconds)
    labels = events.select(F.col("id").alias("label"), "k", "t", "at", "w").where("label % 2 = 0")
    rows = {r.label: r for r in labels.collect()}
    of_k = df.orderBy("t", "id").collect()
    loops = {"text": lambda vs: answer(Text(), [(v,) for v in vs]), "joined": joined}
    for by_, wide, windows in (
        ("at", "7 seconds", {"a": "7 seconds", "b": ("-3 seconds", "4 seconds")}),
        ("t", 7, {"a": 7, "b": (-3, 4), "own": "w"}),
    ):
        features = {feature: (f(column), window) for feature, window in windows.items()}
        asked = sash.window_join(
            labels, events, on="k", by=by_, n=(F.count("*"), wide), **features
        )
        plan = sash.explanation(asked)
        assert "left to Spark" not in plan, plan
        got = asked.collect()
        assert len(got) == len(rows)
        ends = {"a": lambda r: (r.t - 7, r.t), "b": lambda r: (r.t - 3, r.t + 4)}
        ends["own"] = lambda r: (r.t - r.w, r.t)
        for r in got:
            for feature in windows:
                low, high = ends[feature](rows[r.label])
                values = [e[column] for e in of_k if e.k == r.k and low <= e.t < high]
                if name == "joined":
                    values = [v for v in values if v is not None]
                # events of one time come in any order
                want = loops[name](values)
                assert sorted(r[feature]) == sorted(want), (r.label, feature)


def test_lateral_leaves_no_python_aggregator_to_spark(spark: SparkSession, df: DataFrame) -> None:
    text = sash.udaf(Text(), "string")
    df.createOrReplaceTempView("udaf_events")
    events = spark.table("udaf_events").alias("e")
    outer = F.col("l.t").outer()
    of_label = events.where(
        (F.col("e.k") == F.col("l.k").outer())
        & (F.col("e.t") >= outer - 3)
        & (F.col("e.t") <= outer)
    ).select(text("s").alias("a"), F.count("*").alias("n"))
    asked = df.alias("l").select("id", "k", "t").alias("l").lateralJoin(of_label)
    assert "left to Spark" not in sash.explanation(asked)
    rows = {r.id: r for r in asked.collect()}
    for i, of in windows_of(df, by_t().rangeBetween(-3, 0)).items():
        assert sorted(rows[i].a) == sorted(answer(Text(), of))
        assert rows[i].n == len(of)


@pytest.mark.parametrize("of", [Text, Joined])
def test_many_rows_that_wait_for_a_later_one(spark: SparkSession, of: type) -> None:
    rows = spark.range(3_000).selectExpr(
        "id", "id % 2 AS k", "id % 9 AS n", "repeat('x', 99) AS s"
    )
    window = Window.partitionBy("k").orderBy("id").rowsBetween(0, 2_000)
    column = "n" if of is Joined else F.col("n").cast("string")
    with setting(spark, "spark.sql.execution.arrow.maxRecordsPerBatch", "50"):
        asked = rows.select("id", "s", sash.udaf(of(), "string")(column).over(window).alias("a"))
        got = {r.id: r.a for r in asked.collect()}
    assert len(got) == 3_000
    for i in (0, 1, 1_234, 2_999):
        values = [j % 9 for j in range(i, 3_000, 2)][:2_001]
        assert got[i] == (joined(values) if of is Joined else "".join(map(str, values)))


KILLED = """
import os, signal, sys
import sash
from pyspark.sql import SparkSession, Window, functions as F
marker = sys.argv[1]

class Dies:
    def lift(self, value):
        if value == 700 and not os.path.exists(marker):
            open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return value
    def merge(self, left, right):
        return left + right

class Arrays(Dies):
    vectorized = True
    def lift(self, value):
        if 700 in value and not os.path.exists(marker):
            super().lift(700)
        return value

builder = SparkSession.builder.master("local[2,2]").config("spark.ui.enabled", "false")
builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.log.level", "OFF")
spark = sash.configure(builder).getOrCreate()
spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
df = spark.range(2000).selectExpr("id", "id % 4 AS k")
window = Window.partitionBy("k").orderBy("id").rowsBetween(-9, 0)
for of in (Dies(), Arrays()):
    ours = sash.udaf(of, "bigint")("id").over(window)
    asked = df.select(ours.alias("a"), F.sum("id").over(window))
    rows = asked.collect()
    assert len(rows) == 2000
    assert all(ours == theirs for ours, theirs in rows)
    assert os.path.exists(marker)
    os.unlink(marker)
print("answered")
"""


@pytest.mark.slow
def test_a_worker_that_is_killed(run_python: Callable[..., Any], tmp_path: Any) -> None:
    done = run_python("-c", KILLED, str(tmp_path / "died"))
    assert "answered" in done.stdout, done.stderr


CONNECT = """
import sash
from pyspark.sql import SparkSession, Window, functions as F

class Text:
    def zero(self):
        return ""
    def reduce(self, buffer, value):
        return buffer + value
    def merge(self, left, right):
        return left + right
    def finish(self, buffer):
        return buffer

class Sum:
    vectorized = True
    def lift(self, value):
        return value
    def merge(self, left, right):
        return left + right

builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
spark = sash.configure(builder).getOrCreate()
df = spark.range(50).selectExpr("id", "id % 3 AS k", "char(97 + id % 26) AS s")
for window in (Window.partitionBy("k").orderBy("id").rowsBetween(-2, 0),
               sash.SlidingWindow.partitionBy("k").orderBy("id").session(4)):
    asked = df.select("id",
        sash.sliding_agg("s", sash.udaf(Text(), "string"), window).alias("t"),
        sash.sliding_agg("s", "collect_list", window).alias("want"),
        sash.sliding_agg("id", sash.udaf(Sum(), "bigint"), window).alias("n"),
        sash.sliding_agg("id", "sum", window).alias("sum"))
    rows = asked.collect()
    assert len(rows) == 50
    assert all(r.t == "".join(r.want) and r.n == r.sum for r in rows)
assert "ArrowEvalPython" in asked._explain_string()
print("answered")
"""


@pytest.mark.slow
def test_a_connect_session(run_python: Callable[..., Any]) -> None:
    done = run_python("-c", CONNECT)
    assert "answered" in done.stdout, done.stderr


def test_an_aggregator_is_no_monoid_and_may_be_no_pickle(df: DataFrame) -> None:
    with pytest.raises(PySparkTypeError, match=r"monoid.*sash.udaf\(aggregator"):
        sash.sliding_agg("s", Text(), by().rowsBetween(-2, 0))

    class Locked(Text):
        def __init__(self):
            self.lock = threading.Lock()

    with pytest.raises(PySparkValueError, match=r"aggregator.*can be pickled.*cannot pickle"):
        sash.udaf(Locked(), "string")


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


@law("an array's elements depend on each other")
class Cumulates(Joined):
    def finish(self, partials):
        return np.add.accumulate(partials)


@law("merge differs from reduce")
class Backwards(Joined):
    def merge(self, left, right):
        return right + left


@law("merge changes an argument")
class AddsInPlace(Joined):
    def merge(self, left, right):
        left += right
        return left


@pytest.mark.parametrize("name", LAWS)
def test_a_broken_law_is_found(name: str) -> None:
    of, message = LAWS[name]
    with pytest.raises(AssertionError, match=message):
        check_aggregator(of(), ["a", "b", None])


@pytest.mark.parametrize("name", AGGREGATORS)
def test_laws_that_hold(name: str) -> None:
    check_aggregator(AGGREGATORS[name](), ["a", "b", None, "z"])


@pytest.mark.parametrize("name", VECTORIZED)
def test_laws_that_hold_over_arrays(name: str) -> None:
    check_aggregator(VECTORIZED[name][0](), [3, 1, None, 4])
