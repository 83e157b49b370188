"""Windows that Spark's frames have no words for, said as a WindowSpec is."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, overload

from pyspark.errors import PySparkValueError
from pyspark.sql import Column, Window, WindowSpec
from pyspark.sql import functions as F
from pyspark.sql.utils import is_remote

from sash.errors import type_error, value_error
from sash.loaded import call
from sash.monoid import (
    MONOID,
    Monoid,
    aggregate_of,
    lambda_column,
    require_function,
    to_column,
)

if TYPE_CHECKING:
    from pyspark.sql._typing import ColumnOrName

Condition = Callable[[Column], Column]
Excluded = Literal["current row", "group", "ties"]
# of the column that is aggregated and its aggregate, if they are known
Kind = Callable[[Column | None, Column | None], Column]
_EXTENT = "a number, a timedelta, an interval as in '1 hour', or a Column of a constant"
# a name of a column has no number and unit
_INTERVAL = re.compile(r"\s*(interval\s+)?[+-]?\s*\d+(\.\d+)?\s+[a-z]+\b", re.IGNORECASE)
Extent = int | float | str | timedelta | Column


class SlidingWindow:
    """Where a sliding window begins, as ``pyspark.sql.Window`` is where a WindowSpec begins.

    Name partitions and an order, then one of the kinds of window. The kind says which rows the
    window of each row holds. The result is a WindowSpec, for ``over`` and for ``sliding_agg``:

    ========================== =======================================================
    ``count(100)``             the last 100 rows
    ``time("1 hour")``         the rows of the last hour
    ``delta("celsius", 5.0)``  the youngest rows: older ones left at a rise of over 5.0
    ``punctuation("reset")``   the rows since the last punctuation
    ``session("30 minutes")``  the rows since the last gap
    ``predicate(condition)``   the youngest rows whose aggregate meets the condition
    ``groups(2, 0)``           whole groups of peers
    ``rows(preceding="n")``    each row's own number of rows
    ``range(preceding="w")``   each row's own width of the order
    ========================== =======================================================

    Two kinds over the same partitions and order are joined by ``&``, the rows in both windows,
    and by ``|``, the rows from the first of either on: ``w.session("1 hour") & w.count(100)``.

    ``exclude("ties")`` then leaves rows out of each window, ``slide("1 minute")`` lets the window
    slide by more than a row, and ``min_periods(3)`` wants so many values.

    A row's window never holds rows of another partition. Rows that are equal in the order come in
    any order, which may differ from run to run. ``time`` and ``groups`` hold all of them; the
    others count or look at single rows. In SQL a kind is a function among the expressions of
    PARTITION BY:
    ``max(x) OVER (PARTITION BY k, delta_window(x, 5.0) ORDER BY ts)``.

    Example:
        >>> df = spark.createDataFrame(
        ...     [(1, 20.0, False), (2, 20.5, False), (4, 23.0, True), (9, 23.5, False)],
        ...     ["ts", "celsius", "reset"],
        ... )
        >>> w = sash.SlidingWindow.orderBy("ts")
        >>> df.select(
        ...     "ts",
        ...     F.count("ts").over(w.count(3)).alias("count"),
        ...     F.count("ts").over(w.time(3)).alias("time"),
        ...     F.min("celsius").over(w.delta("celsius", 1)).alias("delta"),
        ...     F.count("ts").over(w.punctuation("reset")).alias("reset"),
        ...     F.count("ts").over(w.session(5)).alias("session"),
        ...     sash.sliding_agg("celsius", "sum", w.predicate(lambda s: s < 45)).alias("budget"),
        ... ).show()
        +---+-----+----+-----+-----+-------+------+
        | ts|count|time|delta|reset|session|budget|
        +---+-----+----+-----+-----+-------+------+
        |  1|    1|   1| 20.0|    1|      1|  20.0|
        |  2|    2|   2| 20.0|    2|      2|  40.5|
        |  4|    3|   3| 23.0|    1|      3|  43.5|
        |  9|    3|   1| 23.0|    2|      1|  23.5|
        +---+-----+----+-----+-----+-------+------+
        <BLANKLINE>
    """

    @staticmethod
    def partitionBy(*cols: ColumnOrName) -> SlidingWindowSpec:  # noqa: N802
        """Begin with the columns in which the rows of a partition are equal."""
        return SlidingWindowSpec(keys=_columns(cols))

    @staticmethod
    def orderBy(*cols: ColumnOrName) -> SlidingWindowSpec:  # noqa: N802
        """Begin with the order of the rows, all of one partition."""
        return SlidingWindowSpec(order=_columns(cols))


@dataclass(frozen=True, eq=False)
class SlidingWindowSpec(WindowSpec):
    """Partitions, an order, and the kind of window: a WindowSpec, see ``SlidingWindow``.

    Every method returns a new one. A kind can be named once; it costs a constant number of
    combines a row, amortised, unless it says otherwise.

    Raises:
        PySparkTypeError: an argument is of the wrong type.
        PySparkValueError: a second kind; or none, or no order, where ``over`` or ``sliding_agg``
            takes it.
        AnalysisException: where the query is analyzed: a size that is negative or zero, an
            attribute from which no ``delta`` can be subtracted, a condition that is no boolean.
            The message names the argument.
    """

    keys: tuple[ColumnOrName, ...] = ()
    order: tuple[ColumnOrName, ...] = ()
    _kind: Kind | None = None
    _excluded: str | None = None
    _every: int | str | timedelta | Column | None = None
    _least: int | None = None

    def __new__(cls, *_: object, **__: object) -> SlidingWindowSpec:
        """Make it a WindowSpec of the session's own kind, classic or Connect."""
        own: type = cls
        made: SlidingWindowSpec = object.__new__(_of_session(own, remote=is_remote()))
        return made

    def __getattr__(self, name: str) -> Any:
        """What PySpark reads of a WindowSpec where ``over`` takes it."""
        # columns are made when they are used: a window may be named before there is a session
        if name in ("_jspec", "_partitionSpec", "_orderSpec", "_frame"):
            return getattr(self.spec(), name)
        raise AttributeError(f"a sliding window has no attribute {name!r}")

    def rowsBetween(self, start: int, end: int) -> WindowSpec:  # noqa: N802
        """Name a frame instead of a kind, as ``pyspark.sql.Window`` has it."""
        return self._framed().rowsBetween(start, end)

    def rangeBetween(self, start: int, end: int) -> WindowSpec:  # noqa: N802
        """Name a frame instead of a kind, as ``pyspark.sql.Window`` has it."""
        return self._framed().rangeBetween(start, end)

    def _framed(self) -> WindowSpec:
        if self._kind is not None:
            raise PySparkValueError("the window has a kind, and cannot have a frame, too")
        return Window.partitionBy(*self.keys).orderBy(*self.order)

    def partitionBy(  # type: ignore[override]  # noqa: N802
        self, *cols: ColumnOrName
    ) -> SlidingWindowSpec:
        """Name the columns in which the rows of a partition are equal."""
        return replace(self, keys=_columns(cols))

    def orderBy(  # type: ignore[override]  # noqa: N802
        self, *cols: ColumnOrName
    ) -> SlidingWindowSpec:
        """Name the order of the rows within a partition."""
        return replace(self, order=_columns(cols))

    def count(self, size: int) -> SlidingWindowSpec:
        """Hold the last ``size`` rows, 1 or more, the current one among them.

        The same as ``rowsBetween(1 - size, 0)``.
        """
        _require("size", size, int)
        return self._of(lambda *_: call("count_window", F.lit(size)))

    def time(
        self, size: Extent, closed: str = "both", *, center: bool = False
    ) -> SlidingWindowSpec:
        """Hold the rows whose place in the order lies at most ``size`` before the current row's.

        Unless ``closed`` or ``center`` says otherwise, both ends are included, and so are the
        current row's peers: RANGE BETWEEN ``size`` PRECEDING AND CURRENT ROW. Rows whose place is
        NULL are each other's window.

        Args:
            size: A number for an order by a number. For an order by time a timedelta or an
                interval as a string, as in "90 minutes". Or a Column of a constant.
            closed: The ends that belong to the window, as in pandas: "both", "right", "left" (not
                the current row and its peers) or "neither". Other than "both" it wants an order
                by integers, dates or timestamps.
            center: Whether the current row is in the middle, with half of ``size`` before and
                after it. It wants such an order, too.

        Example:
            >>> df = spark.createDataFrame([(1,), (2,), (4,)], ["ts"])
            >>> before = sash.SlidingWindow.orderBy("ts").time(2, closed="left")
            >>> df.select("ts", F.sum("ts").over(before).alias("sum")).show()
            +---+----+
            | ts| sum|
            +---+----+
            |  1|NULL|
            |  2|   1|
            |  4|   2|
            +---+----+
            <BLANKLINE>
        """
        _require_extent("size", size)
        if not isinstance(closed, str):
            raise type_error("closed", "'both', 'right', 'left' or 'neither'", closed)
        if not isinstance(center, bool):
            raise type_error("center", "a bool", center)
        more = [F.lit(closed), F.lit(center)] if center or closed != "both" else []
        return self._of(lambda *_: call("time_window", _constant(size), *more))

    def delta(self, attribute: ColumnOrName, delta: Extent) -> SlidingWindowSpec:
        """Hold the youngest rows, until the attribute rises above the oldest by over ``delta``.

        When a row comes, the oldest leave while their ``attribute`` is less than the row's by
        more than ``delta``. A row that has left never returns, even if the attribute falls. A
        NULL is less than every number, and no row leaves because of one whose attribute is NULL.

        Paper: General Incremental Sliding-Window Aggregation, section 2.2.
        """
        _require_extent("delta", delta)
        _require_column("attribute", attribute)
        return self._of(lambda *_: call("delta_window", to_column(attribute), _constant(delta)))

    def punctuation(self, punctuation: ColumnOrName) -> SlidingWindowSpec:
        """Hold the rows from the last one on whose ``punctuation``, a boolean, is true.

        That row is the first of its window; NULL is not true. Before the first punctuation the
        window begins with the partition.

        Paper: General Incremental Sliding-Window Aggregation, section 2.2.
        """
        _require_column("punctuation", punctuation)
        return self._of(lambda *_: call("punctuation_window", to_column(punctuation)))

    def session(self, gap: Extent, longest: Extent | None = None) -> SlidingWindowSpec:
        """Hold the rows since the order last moved by ``gap`` or more from one row to the next.

        The order is by one column. Rows whose place in it is NULL are a session of their own. A
        row at the distance of ``longest`` or more from its session's first row begins another
        session; by default sessions have no longest duration.
        """
        _require_extent("gap", gap)
        if longest is None:
            return self._of(lambda *_: call("gap_window", _constant(gap)))
        _require_extent("longest", longest)
        return self._of(lambda *_: call("gap_window", _constant(gap), _constant(longest)))

    @overload
    def predicate(self, condition: Condition, /) -> SlidingWindowSpec: ...

    @overload
    def predicate(
        self,
        monoid: str | Monoid | Condition | Column,
        condition: Condition,
        col: ColumnOrName | None = None,
    ) -> SlidingWindowSpec: ...

    def predicate(
        self,
        monoid: str | Monoid | Condition | Column,
        condition: Condition | None = None,
        col: ColumnOrName | None = None,
    ) -> SlidingWindowSpec:
        """Hold the youngest rows whose aggregate meets a condition.

        ``predicate(F.sum("cost"), condition)`` looks at that aggregate, and so does
        ``predicate("sum", condition, "cost")``. In ``sliding_agg``, ``predicate(condition)``
        looks at the aggregate that is asked for.

        When a row comes, the oldest leave until ``condition`` is true of the aggregate of the
        remaining rows, or no row is left. A row that has left never returns. NULL is not true.
        Some conditions that hold for a window hold for all its younger parts, too, as a sum of at
        most 100 over values that are not negative. The window is then the longest that ends here
        and meets the condition.

        Paper: Constant-Time Sliding Window Framework, section 3.2 (window slide policy).

        Args:
            monoid: The aggregate to look at: a Column; or, said as in ``sliding_agg``, a name, a
                ``sash.Monoid``, or a function that makes an aggregate of the column.
            condition: From the aggregate to a boolean, a function from Column to Column. It is
                called once, when the query is built, and compiled by Catalyst.
            col: The column for ``monoid``; in ``sliding_agg`` by default the column that is asked
                for. ``over`` needs it, if ``monoid`` is no Column; a Column has its own.

        Example:
            >>> df = spark.createDataFrame([(1, 40), (2, 50), (3, 20), (4, 70)], ["ts", "cost"])
            >>> w = sash.SlidingWindow.orderBy("ts")
            >>> budget = w.predicate(F.sum("cost"), lambda s: s <= 100)
            >>> df.select("ts", F.count("*").over(budget).alias("n")).show()
            +---+---+
            | ts|  n|
            +---+---+
            |  1|  1|
            |  2|  2|
            |  3|  2|
            |  4|  2|
            +---+---+
            <BLANKLINE>
        """
        if col is not None:
            _require_column("col", col)
        own = condition is None
        holds = monoid if own else condition
        if isinstance(holds, (str, Monoid)) or not callable(holds):
            raise type_error("condition", "a function from Column to Column", holds)
        require_function("condition", holds, 1)
        if not own and not isinstance(monoid, (str, Column)) and not callable(monoid):
            raise type_error("monoid", MONOID, monoid)
        if col is not None and (own or isinstance(monoid, Column)):
            raise value_error("col", "left out, since the aggregate has its column already", col)

        def kind(aggregated: Column | None, aggregate: Column | None) -> Column:
            if isinstance(monoid, Column):
                of: Column | None = monoid
            elif own:
                of = aggregate
            else:
                over = aggregated if col is None else to_column(col)
                of = None if over is None else aggregate_of(over, monoid)
            if of is None:
                raise PySparkValueError(
                    "over does not tell the predicate at which aggregate it looks; name it, as "
                    "in predicate(F.sum('cost'), condition), or use sliding_agg"
                )
            return call("predicate_window", of, lambda_column("condition", holds))

        return self._of(kind)

    def groups(self, preceding: int, following: int = 0) -> SlidingWindowSpec:
        """Hold the current row's peers, and whole groups of peers before and after them.

        GROUPS BETWEEN ``preceding`` PRECEDING AND ``following`` FOLLOWING, as SQL:2011 has it.
        """
        _require("preceding", preceding, int)
        _require("following", following, int)
        return self._of(lambda *_: call("groups_window", F.lit(preceding), F.lit(following)))

    def rows(self, preceding: ColumnOrName | int) -> SlidingWindowSpec:
        """Hold as many rows before the current one as that row says, and itself.

        A row whose ``preceding`` is NULL or negative has a window without rows. A row costs
        O(log n) combines of an aggregate that merges, or 2 if it counts or sums integers.
        DISTINCT, percentiles and modes cost as much as the window is long. The rows of a
        partition are held until it ends.

        Args:
            preceding: A column of integers, or its name; or one number for all.

        Example:
            >>> df = spark.createDataFrame([(1, 0), (2, 1), (3, 0), (4, 9)], ["ts", "n"])
            >>> own = sash.SlidingWindow.orderBy("ts").rows(preceding="n")
            >>> df.select("ts", sash.sliding_agg("ts", "sum", own).alias("sum")).show()
            +---+---+
            | ts|sum|
            +---+---+
            |  1|  1|
            |  2|  3|
            |  3|  3|
            |  4| 10|
            +---+---+
            <BLANKLINE>
        """
        width = _width(preceding, (int,))
        return self._of(lambda *_: call("rows_window", width()))

    def range(self, preceding: ColumnOrName | int | float | timedelta) -> SlidingWindowSpec:
        """Hold the rows at most as far before the current one in the order as that row says.

        Both ends are included, and so are the current row's peers. The order is by one column. A
        row whose ``preceding`` is NULL, NaN or negative has no rows in its window; rows whose
        place is NULL are each other's window. A row costs O(log n) combines and comparisons, and
        the rows of a partition are held until it ends; for DISTINCT, percentiles and modes see
        ``rows``.

        Args:
            preceding: A column of numbers or intervals, or its name; or one width for all, a
                number, a timedelta or an interval as in "90 minutes".
        """
        if isinstance(preceding, str) and _INTERVAL.match(preceding):
            interval = preceding
            return self._of(lambda *_: call("range_window", F.lit(interval)))
        width = _width(preceding, (int, float, timedelta))
        return self._of(lambda *_: call("range_window", width()))

    def __and__(self, other: SlidingWindowSpec) -> SlidingWindowSpec:
        """Hold the rows that are in both windows, which have the same partitions and order.

        Both kinds move forwards only: no ``rows``, no ``range``. A predicate cannot be joined.
        A stream runs joined kinds that end at the current row, but no delta, and no time beside
        groups.

        Example:
            >>> df = spark.createDataFrame([(1,), (2,), (3,), (9,)], ["ts"])
            >>> w = sash.SlidingWindow.orderBy("ts")
            >>> df.select(
            ...     "ts",
            ...     F.count("*").over(w.session(5) & w.count(2)).alias("both"),
            ...     F.count("*").over(w.session(5) | w.count(2)).alias("either"),
            ... ).show()
            +---+----+------+
            | ts|both|either|
            +---+----+------+
            |  1|   1|     1|
            |  2|   2|     2|
            |  3|   2|     3|
            |  9|   1|     2|
            +---+----+------+
            <BLANKLINE>
        """
        return self._joined("window_and", other)

    def __or__(self, other: SlidingWindowSpec) -> SlidingWindowSpec:
        """Hold the rows from the first row of either window until the last row of either.

        A time window that ends before its row (``closed``) has no place here, since it may have
        no rows.
        """
        return self._joined("window_or", other)

    def _joined(self, name: str, other: SlidingWindowSpec) -> SlidingWindowSpec:
        if not isinstance(other, SlidingWindowSpec):
            raise type_error("other", "a sliding window with a kind", other)
        mine, theirs = self._kind, other._kind
        if mine is None or theirs is None:
            raise PySparkValueError("a window has no kind; name one, as in window.count(100)")
        if not (_same(self.keys, other.keys) and _same(self.order, other.order)):
            raise PySparkValueError("the two windows have to have the same partitions and order")
        if any(m is not None for m in (other._excluded, other._every, other._least)):
            raise PySparkValueError(
                "exclude, slide and min_periods belong to the joined window; name them behind it"
            )
        return replace(self, _kind=lambda *of: call(name, mine(*of), theirs(*of)))

    def exclude(self, rows: Excluded) -> SlidingWindowSpec:
        """Leave rows out of each row's window, as SQL:2011's EXCLUDE does.

        They are in the windows of other rows all the same. A row costs O(log W) combines of an
        aggregate that merges; DISTINCT, percentiles and modes cost as much as the window is long.

        Args:
            rows: ``"current row"``; ``"group"``, the row and its peers; or ``"ties"``, its peers
                alone.

        Example:
            >>> df = spark.createDataFrame([(1, 10.0), (2, 20.0), (3, 60.0)], ["ts", "x"])
            >>> others = sash.SlidingWindow.orderBy("ts").groups(1, 1).exclude("current row")
            >>> df.select("ts", sash.sliding_agg("x", "avg", others).alias("avg")).show()
            +---+----+
            | ts| avg|
            +---+----+
            |  1|20.0|
            |  2|35.0|
            |  3|20.0|
            +---+----+
            <BLANKLINE>
        """
        if not isinstance(rows, str):
            raise type_error("rows", "'current row', 'group' or 'ties'", rows)
        if self._excluded is not None:
            raise PySparkValueError("the window excludes rows already, and cannot do so twice")
        return replace(self, _excluded=rows)

    def slide(self, every: int | str | timedelta | Column) -> SlidingWindowSpec:
        """Let the window slide by ``every``: rows at which it does not slide have NULL.

        A slide changes no answer, and leaves some out. A slide by a number answers at every row
        whose number in its partition, from 1, is a multiple of it. A slide by time answers at the
        first row of each pane. Panes begin at multiples of ``every`` since 1970-01-01 00:00:00
        UTC, as in Spark's ``window``, or at beginnings of months.

        Paper: General Incremental Sliding-Window Aggregation, section 2 (slide granularity).

        Args:
            every: A number of rows; or for an order by time a timedelta, an interval as a string,
                or a Column of a constant interval.

        Example:
            >>> df = spark.range(1, 7).withColumnRenamed("id", "ts")
            >>> by_two = sash.SlidingWindow.orderBy("ts").count(3).slide(2)
            >>> df.select("ts", sash.sliding_agg("ts", "sum", by_two).alias("sum")).show()
            +---+----+
            | ts| sum|
            +---+----+
            |  1|NULL|
            |  2|   3|
            |  3|NULL|
            |  4|   9|
            |  5|NULL|
            |  6|  15|
            +---+----+
            <BLANKLINE>
        """
        if isinstance(every, bool) or not isinstance(every, (int, str, timedelta, Column)):
            expected = "a number of rows, a timedelta, or an interval as in '1 minute'"
            raise type_error("every", expected, every)
        _require_bits("every", every)
        if self._every is not None:
            raise PySparkValueError("the window slides already, and cannot do so twice")
        return replace(self, _every=every)

    def min_periods(self, n: int) -> SlidingWindowSpec:
        """Give NULL where fewer than ``n`` rows of the window have a value, as pandas does.

        A row has a value if no argument of the aggregate is NULL.

        Args:
            n: How many, 0 or more.

        Example:
            >>> df = spark.createDataFrame([(1, 5.0), (2, None), (3, 2.0)], ["ts", "x"])
            >>> two_of_three = sash.SlidingWindow.orderBy("ts").count(3).min_periods(2)
            >>> df.select("ts", F.sum("x").over(two_of_three).alias("sum")).show()
            +---+----+
            | ts| sum|
            +---+----+
            |  1|NULL|
            |  2|NULL|
            |  3| 7.0|
            +---+----+
            <BLANKLINE>
        """
        _require("n", n, int)
        if self._least is not None:
            raise PySparkValueError("the window has min_periods already, and cannot have two")
        return replace(self, _least=n)

    def spec(
        self, aggregated: Column | None = None, aggregate: Column | None = None
    ) -> WindowSpec:
        """Return PySpark's own WindowSpec, with the kind among its partitions.

        Args:
            aggregated: The column that is aggregated, for a predicate that names none.
            aggregate: The aggregate of it that is asked for, likewise.
        """
        if self._kind is None:
            raise PySparkValueError("the window has no kind; name one, as in window.count(100)")
        if not self.order:
            raise PySparkValueError("the window has no order; name it by orderBy")
        keys = [*self.keys, self._kind(aggregated, aggregate)]
        if self._excluded is not None:
            keys.append(call("window_exclude", F.lit(self._excluded)))
        if self._every is not None:
            keys.append(call("window_slide", _constant(self._every)))
        if self._least is not None:
            keys.append(call("window_min_periods", F.lit(self._least)))
        return Window.partitionBy(*keys).orderBy(*self.order)

    def _of(self, kind: Kind) -> SlidingWindowSpec:
        if self._kind is not None:
            raise PySparkValueError("the window has a kind already, and cannot have two")
        return replace(self, _kind=kind)


@cache
def _of_session(spec: type, *, remote: bool) -> type:
    """The class of the windows of a session: ``over`` wants a WindowSpec of its own kind."""
    own = import_module(f"pyspark.sql.{'connect' if remote else 'classic'}.window").WindowSpec
    return spec if issubclass(spec, own) else type(spec.__name__, (spec, own), {})


def constant(name: str, extent: Extent) -> Column:
    """Return the column of a constant distance in an order, or fail with the argument's name."""
    _require_extent(name, extent)
    return _constant(extent)


def _constant(extent: Extent) -> Column:
    # a string is an interval, which Spark reads
    return extent if isinstance(extent, Column) else F.lit(extent)


def _width(preceding: object, constants: tuple[type, ...]) -> Callable[[], Column]:
    """Return a function that makes the column of the rows' own widths, given a session."""
    if isinstance(preceding, Column):
        return lambda: preceding
    if isinstance(preceding, str):
        return lambda: F.col(preceding)
    if isinstance(preceding, bool) or not isinstance(preceding, constants):
        raise type_error("preceding", "a column, or its name, or one width for all", preceding)
    _require_bits("preceding", preceding)
    return lambda: F.lit(preceding)


def _columns(cols: tuple[Any, ...]) -> tuple[ColumnOrName, ...]:
    """The columns, which may be given as one list, as ``pyspark.sql.Window`` takes them."""
    given = tuple(cols[0]) if len(cols) == 1 and isinstance(cols[0], list) else cols
    for col in given:
        _require_column("cols", col)
    return given


def _same(cols: tuple[ColumnOrName, ...], others: tuple[ColumnOrName, ...]) -> bool:
    """Whether the columns are the same objects or names; a Column has no equality of its own."""
    return len(cols) == len(others) and all(
        a is b or (isinstance(a, str) and isinstance(b, str) and a == b)
        for a, b in zip(cols, others, strict=True)
    )


def _require_column(name: str, col: object) -> None:
    if not isinstance(col, (str, Column)):
        raise type_error(name, "a Column or the name of one", col)


def _require_extent(name: str, extent: object) -> None:
    if isinstance(extent, bool) or not isinstance(extent, (int, float, str, timedelta, Column)):
        raise type_error(name, _EXTENT, extent)
    if isinstance(extent, float) and math.isnan(extent):
        raise value_error(name, _EXTENT, extent)
    _require_bits(name, extent)


def _require(name: str, value: object, kind: type) -> None:
    if isinstance(value, bool) or not isinstance(value, kind):
        raise type_error(name, f"an {kind.__name__}", value)
    _require_bits(name, value)


def _require_bits(name: str, value: object) -> None:
    """Refuse a number beyond BIGINT, before PySpark fails on it."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise value_error(name, "a number of 64 bits at most", value)
