"""Does a monoid or an aggregator of your own keep the laws on data of your own?"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

with suppress(ImportError):  # only aggregators over arrays need it
    import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, DoubleType, FloatType, MapType, StructType

from sash.arguments import plain, require_frame, whole
from sash.errors import type_error, value_error
from sash.label_columns import column
from sash.monoid import Monoid, identity_column
from sash.sliding import Folding
from sash.sliding_arrays import Arrays

if TYPE_CHECKING:
    from pyspark.sql import Column, Row

__all__ = ["check_aggregator", "check_monoid"]

# the name of a law, its operands, and the two sides that have to be the same
_Law = tuple[str, str, str, str, Callable[..., "Column"], Callable[..., "Column"]]


def check_monoid(
    df: DataFrame, monoid: Monoid, *, rows: int = 8, tolerance: float = 1e-9
) -> None:
    """Look for data that break the laws of a monoid.

    The first law is that ``combine`` is associative. A monoid with ``identity``, ``inverse`` or
    ``selective`` has three more: ``identity`` is neutral, ``inverse`` leaves the rest, and
    ``combine`` picks the operand that ``selective`` says. They are tried on the partials of
    single rows and of pairs, in queries over the functions as columns: the JVM does the work.
    Finding nothing proves the laws for the rows that were tried, no others.

    Args:
        df: The inputs: its only column, or a struct of its columns.
        monoid: The monoid.
        rows: How many inputs to try, the shortest and the longest ones when written out. All
            triples of them are tried, and pairs of them in place of one.
        tolerance: By how much floats may differ, relative to the larger; for integers and all
            else equal is equal. NaN equals NaN.

    Returns:
        None, if no law is broken.

    Raises:
        AssertionError: a law is broken. The message has the smallest counterexample to each law:
            of the fewest rows, then the shortest.
        AnalysisException: the types do not close.
        PySparkTypeError: an argument is of the wrong type.
        PySparkValueError: ``rows`` is less than 1, ``tolerance`` less than 0 or NaN, or ``df``
            has no input to try; or ``lift`` reads other columns.

    Example:
        >>> from pyspark.sql import functions as F
        >>> df = spark.createDataFrame([(1,), (2,), (3,)], ["x"])
        >>> total = sash.Monoid(lambda x: x, lambda a, b: a + b, identity=0)
        >>> sash.testing.check_monoid(df, total)
        >>> difference = sash.Monoid(lambda x: x, lambda a, b: a - b)
        >>> sash.testing.check_monoid(df, difference)
        Traceback (most recent call last):
        ...
        AssertionError: combine is not associative:
          a = 1, of 1
          b = 1, of 1
          c = 1, of 1
          combine(combine(a, b), c) = -1
          combine(a, combine(b, c)) = 1
    """
    require_frame("df", df)
    if not df.columns:
        raise value_error("df", "a DataFrame of one column or more", df)
    if not isinstance(monoid, Monoid):
        raise type_error("monoid", "a sash.Monoid", monoid)
    rows, tolerance = whole("rows", rows, 1), plain(tolerance)
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)):
        raise type_error("tolerance", "a float", tolerance)
    if not tolerance >= 0:
        raise value_error("tolerance", "0 or more", tolerance)
    value = column(df.columns[0]) if len(df.columns) == 1 else F.struct("*")
    # types that do not close are an error of the aggregate, which says more than a join's
    _ = df.agg(monoid(value)).schema
    sample = _sample(df.select(value.alias("input")), rows)
    try:
        partials = _partials(sample, monoid).cache()
    except AnalysisException as error:  # of a column, since the aggregate has the types
        expected = "a monoid whose lift reads its input alone, as in lambda row: row.x + row.y"
        raise value_error("monoid", expected, monoid) from error
    try:
        if partials.isEmpty():
            raise value_error("df", "a DataFrame with an input that is not NULL", df)
        found = [_counterexample(partials, law, tolerance) for law in _laws(monoid)]
    finally:
        partials.unpersist()
    broken = [text for text in found if text is not None]
    if broken:
        raise AssertionError("\n".join(broken))


def _sample(inputs: DataFrame, rows: int) -> DataFrame:
    """Return the shortest and the longest inputs, written out, each as an array of one."""
    text = F.col("input").cast("string")
    known = _distinct(inputs.where(F.col("input").isNotNull()))
    by_size = known.select("input", F.length(text).alias("size"), text.alias("text"))
    few = by_size.orderBy("size", "text").limit(rows - rows // 2)
    many = by_size.orderBy(F.desc("size"), F.desc("text")).limit(rows // 2)
    return _distinct(few.union(many))


def _distinct(inputs: DataFrame) -> DataFrame:
    # GROUP BY takes maps, which DISTINCT does not
    return inputs.groupBy("input").count().select("input")


def _partials(sample: DataFrame, monoid: Monoid) -> DataFrame:
    """Return the partials of single inputs and of pairs, with the inputs, fewest first."""
    ones = sample.select(
        F.array("input").alias("of"), monoid.lift(F.col("input")).alias("partial")
    )
    left, right = (ones.select(F.struct("*").alias(side)) for side in ("l", "r"))
    twos = left.crossJoin(right).select(
        F.concat("l.of", "r.of").alias("of"),
        monoid.combine(F.col("l.partial"), F.col("r.partial")).alias("partial"),
    )
    return ones.union(twos)


def _laws(monoid: Monoid) -> Iterator[_Law]:
    combine, inverse, selective = monoid.combine, monoid.inverse, monoid.selective
    yield (
        "combine is not associative",
        "abc",
        "combine(combine(a, b), c)",
        "combine(a, combine(b, c))",
        lambda a, b, c: combine(combine(a, b), c),
        lambda a, b, c: combine(a, combine(b, c)),
    )
    if monoid.identity is not None:
        neutral = identity_column(monoid.identity)
        yield (
            "identity is not neutral",
            "a",
            "combine(identity, a)",
            "a",
            lambda a: combine(neutral, a),
            lambda a: a,
        )
        yield (
            "identity is not neutral",
            "a",
            "combine(a, identity)",
            "a",
            lambda a: combine(a, neutral),
            lambda a: a,
        )
    if inverse is not None:
        yield (
            "inverse does not leave the rest",
            "ab",
            "inverse(combine(a, b), a)",
            "b",
            lambda a, b: inverse(combine(a, b), a),
            lambda a, b: b,
        )
    if selective is True:
        yield (
            "combine does not pick an operand",
            "ab",
            "combine(a, b)",
            "a or b",
            combine,
            lambda a, b: F.when(combine(a, b).eqNullSafe(a), a).otherwise(b),
        )
    elif callable(selective):
        yield (
            "combine does not pick the operand that selective says",
            "ab",
            "combine(a, b)",
            "b if selective(a, b) else a",
            combine,
            lambda a, b: F.when(selective(a, b), b).otherwise(a),
        )


def _counterexample(partials: DataFrame, law: _Law, tolerance: float) -> str | None:
    failure, operands, one, other, left, right = law
    all_of = None
    for operand in operands:
        side = partials.select(F.struct("of", "partial").alias(operand))
        all_of = side if all_of is None else all_of.crossJoin(side)
    assert all_of is not None
    columns = [F.col(f"{operand}.partial") for operand in operands]
    inputs = [F.col(f"{operand}.of") for operand in operands]
    size = sum((F.size(i) for i in inputs[1:]), F.size(inputs[0]))
    text = F.concat_ws(" ", *(i.cast("string") for i in inputs))
    sides = all_of.where(size <= len(operands) + 1).select(
        *operands,
        left(*columns).alias("one"),
        right(*columns).alias("other"),
        size.alias("rows"),
        text.alias("text"),
    )
    partial = partials.schema["partial"].dataType
    differing = sides.where(~_same(F.col("one"), F.col("other"), partial, tolerance))
    found = differing.orderBy("rows", F.length("text"), "text").head()
    if found is None:
        return None
    lines = [f"{failure}:"]
    for operand in operands:
        lines.append(f"  {operand} = {found[operand].partial!r}, of {_listed(found[operand])}")
    lines += [f"  {one} = {found.one!r}", f"  {other} = {found.other!r}"]
    return "\n".join(lines)


def _listed(operand: Row) -> str:
    return ", ".join(repr(value) for value in operand.of)


def _same(a: Column, b: Column, of: DataType, tolerance: float) -> Column:
    """Whether two values are the same, both being NULL included; never NULL."""
    missing = a.isNull() & b.isNull()
    if isinstance(of, FloatType | DoubleType):
        near = F.abs(a - b) <= tolerance * F.greatest(F.abs(a), F.abs(b))
        return a.eqNullSafe(b) | F.coalesce(near, F.lit(False))
    if isinstance(of, StructType):
        fields = [_same(a[f.name], b[f.name], f.dataType, tolerance) for f in of.fields]
        there = a.isNotNull() & b.isNotNull()
        for field in fields:
            there = there & field
        return missing | there
    if isinstance(of, ArrayType):
        element = of.elementType
        each = F.zip_with(a, b, lambda x, y: _same(x, y, element, tolerance))
        there = (F.size(a) == F.size(b)) & F.forall(each, lambda same: same)
        return missing | F.coalesce(there, F.lit(False))
    if isinstance(of, MapType):
        entry = StructType().add("key", of.keyType).add("value", of.valueType)
        entries = [F.array_sort(F.map_entries(m)) for m in (a, b)]
        return _same(entries[0], entries[1], ArrayType(entry), tolerance)
    return a.eqNullSafe(b)


def check_aggregator(
    aggregator: Any, rows: Iterable[Any], *, limit: int = 6, tolerance: float = 1e-9
) -> None:
    """Look for rows that break the laws of an aggregator in Python, without Spark.

    ``merge`` is associative, and gives the same as ``reduce`` row by row; ``zero`` is neutral;
    ``merge`` and ``finish`` change none of their arguments. Answers are compared, so buffers may
    differ. Methods over arrays also have to do with an array what they do with each of its
    elements; rows with a None are not tried, since they are left out. Finding nothing proves the
    laws for the rows that were tried, no others.

    Args:
        aggregator: The aggregator, as in ``sash.udaf``.
        rows: Values of its argument, or tuples of several arguments.
        limit: How many of the rows to try. All sequences of three of them are tried.
        tolerance: By how much floats may differ, relative to the larger. NaN equals NaN.

    Returns:
        None, if no law is broken.

    Raises:
        AssertionError: a law is broken; the message has a counterexample.
        PySparkValueError: there is no row.

    Example:
        >>> class Mean:
        ...     def zero(self):
        ...         return (0.0, 0)
        ...     def reduce(self, buffer, value):
        ...         return (buffer[0] + value, buffer[1] + 1)
        ...     def merge(self, left, right):
        ...         return (left[0] + right[0], left[1] + right[1])
        ...     def finish(self, buffer):
        ...         return buffer[0] / buffer[1] if buffer[1] else None
        >>> sash.testing.check_aggregator(Mean(), [1.0, 2.5, 4.0])
        >>> class Wrong(Mean):
        ...     def merge(self, left, right):
        ...         return ((left[0] + right[0]) / 2, left[1] + right[1])
        >>> sash.testing.check_aggregator(Wrong(), [1.0, 2.5, 4.0])
        Traceback (most recent call last):
        ...
        AssertionError: zero is not neutral:
          rows = (1.0)
          finish(merge(zero, rows)) = 0.5
          finish(rows) = 1.0
    """
    tried = [row if isinstance(row, tuple) else (row,) for row in itertools.islice(rows, limit)]
    steps = Folding(aggregator)
    if getattr(aggregator, "vectorized", False):
        tried = [row for row in tried if None not in row]
        one_by_one = _OneByOne(aggregator)
        steps = Folding(one_by_one)
        for text in one_by_one.broken(tried, tolerance):
            raise AssertionError(text)
    if not tried:
        raise value_error("rows", "one row or more", [])
    for size in (1, 2, 3):
        for of in itertools.product(tried, repeat=size):
            for text in _broken(steps, of, tolerance):
                raise AssertionError(text)


class _OneByOne:
    """An aggregator over arrays as one over single rows, each in an array of one."""

    def __init__(self, aggregator: Any) -> None:
        self._steps = Arrays(aggregator)
        self.merge = self._steps.merge
        if self._steps.has_zero:
            self.zero = lambda: self._steps.zeros(1)
        if hasattr(aggregator, "lift"):
            self.lift = lambda *values: self._lifted([values])
        else:
            self.reduce = lambda buffer, *values: aggregator.reduce(
                self._steps.opened(buffer),
                *(column.to_numpy(zero_copy_only=False) for column in _columns([values])),
            )

    def _lifted(self, rows: list[tuple[Any, ...]]) -> Any:
        return self._steps.lifted(_columns(rows))

    def _answers(self, partials: Any) -> list[Any]:
        answers = self._steps.finish(partials)
        return list(answers.tolist() if hasattr(answers, "tolist") else answers)

    def finish(self, partial: Any) -> Any:
        """The answer of a partial."""
        return self._answers(partial)[0]

    def broken(self, rows: list[tuple[Any, ...]], tolerance: float) -> Iterator[str]:
        """Whether an array's elements have to do with each other."""
        if not rows:
            return
        ones, all_rows = [self._lifted([row]) for row in rows], self._lifted(rows)
        twos = [self.merge(a.copy(), b.copy()) for a, b in zip(ones, ones[::-1], strict=True)]
        merged = self.merge(all_rows.copy(), all_rows[::-1].copy())
        for name, batch, single in (
            ("finish(of the rows)", all_rows, ones),
            ("finish(merge(rows, rows in reverse))", merged, twos),
        ):
            answers, by_row = self._answers(batch), [self.finish(one) for one in single]
            if not _alike(answers, by_row, tolerance):
                yield (
                    f"an array's elements depend on each other:\n  rows = {rows!r}\n"
                    f"  {name} = {answers!r}\n  row by row = {by_row!r}"
                )


def _columns(rows: list[tuple[Any, ...]]) -> list[Any]:
    return [pa.array(column) for column in zip(*rows, strict=True)]


def _broken(steps: Folding, rows: tuple[tuple[Any, ...], ...], tolerance: float) -> Iterator[str]:
    def reduced(of: Iterable[tuple[Any, ...]]) -> Any:
        buffer = steps.zero()
        for row in of:
            buffer = steps.reduce(buffer, *row)
        return buffer

    def merged(left: Any, right: Any) -> Any:
        before = copy.deepcopy((left, right))
        both = steps.merge(left, right)
        if not _alike(before, (left, right), 0.0):
            changed.append(f"merge changes an argument: {before!r} became {(left, right)!r}")
        return both

    changed: list[str] = []
    shown = ", ".join(repr(row[0] if len(row) == 1 else row) for row in rows)
    ones = [reduced([row]) for row in rows]
    whole = reduced(rows)
    expected = steps.finish(copy.deepcopy(whole))
    sides: list[tuple[str, str, Any]] = []
    if steps.has_zero:
        neutral = "zero is not neutral"
        sides += [
            (neutral, "finish(merge(zero, rows))", merged(steps.zero(), reduced(rows))),
            (neutral, "finish(merge(rows, zero))", merged(reduced(rows), steps.zero())),
        ]
    for split in range(1, len(rows)):
        parts = (reduced(rows[:split]), reduced(rows[split:]))
        sides.append(
            ("merge differs from reduce", f"finish(merge(first {split}, rest))", merged(*parts))
        )
    if len(rows) == 3:
        a, b, c = ones
        law = "merge is not associative"
        sides.append((law, "finish(merge(merge(a, b), c))", merged(merged(a, b), c)))
        sides.append((law, "finish(merge(a, merge(b, c)))", merged(a, merged(b, c))))
    for text in changed:
        yield f"{text}\n  rows = ({shown})"
    before = copy.deepcopy(whole)
    steps.finish(whole)
    if not _alike(before, whole, 0.0):
        yield f"finish changes its argument: {before!r} became {whole!r}\n  rows = ({shown})"
    for law, name, buffer in sides:
        answer = steps.finish(buffer)
        if not _alike(answer, expected, tolerance):
            both = f"  {name} = {answer!r}\n  finish(rows) = {expected!r}"
            yield f"{law}:\n  rows = ({shown})\n{both}"


def _alike(one: Any, other: Any, tolerance: float) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        close = math.isclose(one, other, rel_tol=tolerance, abs_tol=0.0)
        return close or (math.isnan(one) and math.isnan(other))
    if isinstance(one, (list, tuple)) and type(one) is type(other):
        return len(one) == len(other) and all(map(_alike, one, other, [tolerance] * len(one)))
    if isinstance(one, dict) and isinstance(other, dict):
        alike = (_alike(one[k], other.get(k), tolerance) for k in one)
        return one.keys() == other.keys() and all(alike)
    if hasattr(one, "tolist") and hasattr(other, "tolist"):  # of NumPy
        return _alike(one.tolist(), other.tolist(), tolerance)
    is_plain = hasattr(one, "__dict__") and "__eq__" not in type(one).__dict__
    if is_plain and type(one) is type(other):
        return _alike(vars(one), vars(other), tolerance)
    return bool(one == other)
