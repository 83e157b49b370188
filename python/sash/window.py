"""Windows that Spark's frames have no words for, said as a WindowSpec is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache
from importlib import import_module
from math import isinf
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from pyspark.errors import PySparkValueError
from pyspark.sql import Column, Window, WindowSpec
from pyspark.sql import functions as F
from pyspark.sql.utils import is_remote

from sash.arguments import columns, extent, literal, plain, require_choice, whole
from sash.errors import shown, type_error
from sash.kinds import Kind, Kinds
from sash.loaded import call

if TYPE_CHECKING:
    from pyspark.sql._typing import ColumnOrName

Excluded = Literal["current row", "group", "ties"]
_EVERY = "a number of rows, a datetime.timedelta, or an interval as in '1 minute'"


class _Beginning(type):
    """The class of ``SlidingWindow``, which says how a window begins that has no order yet."""

    def __getattr__(cls, name: str) -> NoReturn:
        """Name the order that is missing where a kind is asked for first."""
        own = cls.__name__
        if not name.startswith("_") and hasattr(SlidingWindowSpec, name):
            hint = f"write {own}.orderBy('ts').{name}(…)"
            raise AttributeError(f"{own} has no order yet, and {name} needs one: {hint}")
        raise AttributeError(f"{own} has no attribute {name!r}")


class SlidingWindow(metaclass=_Beginning):
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
        return SlidingWindowSpec(keys=columns(cols))

    @staticmethod
    def orderBy(*cols: ColumnOrName) -> SlidingWindowSpec:  # noqa: N802
        """Begin with the order of the rows, all of one partition."""
        return SlidingWindowSpec(order=columns(cols))


@dataclass(frozen=True, eq=False, repr=False)
class SlidingWindowSpec(Kinds, WindowSpec):
    """Partitions, an order, and the kind of window: a WindowSpec, see ``SlidingWindow``.

    Every method returns a new one. A kind can be named once; it costs a constant number of
    combines a row, amortised, unless it says otherwise.

    Raises:
        PySparkTypeError: an argument is of the wrong type.
        PySparkValueError: a size that is negative, or zero where it holds no row; a second kind;
            or none, or no order, where ``over`` or ``sliding_agg`` takes it.
        AnalysisException: where the query is analyzed: a size that does not fit the order, an
            attribute from which no ``delta`` can be subtracted, a condition that is no boolean.
            The message names the argument.
    """

    keys: tuple[ColumnOrName, ...] = ()
    order: tuple[ColumnOrName, ...] = ()
    _kind: Kind | None = None
    _excluded: Excluded | None = None
    _every: int | str | timedelta | Column | None = None
    _least: int | None = None

    def __new__(cls, *_: object, **__: object) -> SlidingWindowSpec:
        """Make it a WindowSpec of the session's own kind, classic or Connect."""
        own: type = cls
        made: SlidingWindowSpec = object.__new__(_of_session(own, remote=is_remote()))
        return made

    def __getattr__(self, name: str) -> Any:
        """The attributes of a WindowSpec that PySpark reads in ``over``."""
        # columns are made when they are used: a window may be named before there is a session
        if name in ("_jspec", "_partitionSpec", "_orderSpec", "_frame"):
            return getattr(self.spec(), name)
        raise AttributeError(f"a sliding window has no attribute {name!r}")

    def __bool__(self) -> NoReturn:
        """Refuse ``and``, ``or`` and ``not``, which would drop one of two windows."""
        raise PySparkValueError(
            "Cannot convert a window into bool: please use '&' for 'and', '|' for 'or', as in "
            "window.session('1 hour') & window.count(100)",
            errorClass="CANNOT_CONVERT_COLUMN_INTO_BOOL",
            messageParameters={},
        )

    def __repr__(self) -> str:
        """The Python that makes it."""
        text = SlidingWindow.__name__
        if self.keys:
            text += f".partitionBy({', '.join(map(shown, self.keys))})"
        if self.order:
            text += f".orderBy({', '.join(map(shown, self.order))})"
        if self._kind is not None:
            text = self._kind.written(text)
        for name, value in self._changes().items():
            text += f".{name}({shown(value)})"
        return text

    def _changes(self) -> dict[str, object]:
        """The methods beside the kind that were called, with their arguments."""
        changes = {
            "exclude": self._excluded,
            "slide": self._every,
            "min_periods": self._least,
        }
        return {name: value for name, value in changes.items() if value is not None}

    def rowsBetween(self, start: int, end: int) -> WindowSpec:  # noqa: N802
        """Name a frame instead of a kind, as ``pyspark.sql.Window`` has it.

        It comes behind ``exclude``, ``slide`` and ``min_periods``, since it makes PySpark's own
        WindowSpec, which lacks these methods.
        """
        return self._framed().rowsBetween(*_bounds(start, end))

    def rangeBetween(self, start: int, end: int) -> WindowSpec:  # noqa: N802
        """Name a frame instead of a kind, as ``pyspark.sql.Window`` has it.

        As ``rowsBetween``, it comes behind the other methods.
        """
        return self._framed().rangeBetween(*_bounds(start, end))

    def _framed(self) -> WindowSpec:
        if self._kind is not None:
            raise PySparkValueError("the window has a kind, and cannot have a frame, too")
        return self._window(self.keys)

    def _window(self, keys: Iterable[ColumnOrName]) -> WindowSpec:
        """PySpark's own window of such keys, with the changes among its partitions."""
        of = list(keys)
        if self._excluded is not None:
            of.append(call("window_exclude", F.lit(self._excluded)))
        if self._every is not None:
            of.append(call("window_slide", literal(self._every)))
        if self._least is not None:
            of.append(call("window_min_periods", F.lit(self._least)))
        return Window.partitionBy(*of).orderBy(*self.order)

    def partitionBy(  # type: ignore[override]  # noqa: N802
        self, *cols: ColumnOrName
    ) -> SlidingWindowSpec:
        """Name the columns in which the rows of a partition are equal."""
        return replace(self, keys=columns(cols))

    def orderBy(  # type: ignore[override]  # noqa: N802
        self, *cols: ColumnOrName
    ) -> SlidingWindowSpec:
        """Name the order of the rows within a partition."""
        return replace(self, order=columns(cols))

    def _with(self, kind: Kind) -> SlidingWindowSpec:
        if self._kind is not None:
            raise PySparkValueError("the window has a kind already, and cannot have two")
        return replace(self, _kind=kind)

    def __and__(self, other: SlidingWindowSpec) -> SlidingWindowSpec:
        """Hold the rows that are in both windows, which have the same partitions and order.

        One of them may have each row's own width (``rows``, ``range``), and the other bounds it.
        A predicate cannot be joined. A stream runs joined kinds that end at the current row, but
        no delta, and no time beside groups.

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
        return self._joined("window_and", "&", other)

    def __or__(self, other: SlidingWindowSpec) -> SlidingWindowSpec:
        """Hold the rows from the first row of either window until the last row of either.

        A time window that ends before its row (``closed``) has no place here, since it may have
        no rows, nor has each row's own width.
        """
        return self._joined("window_or", "|", other)

    def _joined(self, name: str, sign: str, other: SlidingWindowSpec) -> SlidingWindowSpec:
        if not isinstance(other, SlidingWindowSpec):
            raise type_error("other", "a sliding window with a kind", other)
        mine, theirs = self._kind, other._kind
        if mine is None or theirs is None:
            raise PySparkValueError("a window has no kind; name one, as in window.count(100)")
        if not (_same(self.keys, other.keys) and _same(self.order, other.order)):
            raise PySparkValueError("the two windows have to have the same partitions and order")
        for change in (*self._changes(), *other._changes()):
            raise PySparkValueError(
                f"{change} belongs to the joined window, and to none of its two parts; write it "
                f"behind the parentheses, as in (first {sign} second).{change}(…)"
            )
        return replace(
            self,
            _kind=Kind(
                lambda *of: call(name, mine.column(*of), theirs.column(*of)),
                lambda window: f"({mine.written(window)} {sign} {theirs.written(window)})",
            ),
        )

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
        require_choice("rows", rows, Excluded)
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
        given = plain(every)
        if isinstance(given, bool) or not isinstance(given, (int, str, timedelta, Column)):
            raise type_error("every", _EVERY, every)
        given = whole("every", given, 1) if isinstance(given, int) else extent("every", given)
        if self._every is not None:
            raise PySparkValueError("the window slides already, and cannot do so twice")
        return replace(self, _every=given)

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
        n = whole("n", n, 0)
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
        for argument, given in (("aggregated", aggregated), ("aggregate", aggregate)):
            if given is not None and not isinstance(given, Column):
                raise type_error(argument, "a Column", given)
        if self._kind is None:
            raise PySparkValueError("the window has no kind; name one, as in window.count(100)")
        if not self.order:
            raise PySparkValueError("the window has no order; name it by orderBy")
        return self._window([*self.keys, self._kind.column(aggregated, aggregate)])


@cache
def _of_session(spec: type, *, remote: bool) -> type:
    """The class of the windows of a session: ``over`` wants a WindowSpec of its own kind."""
    own = import_module(f"pyspark.sql.{'connect' if remote else 'classic'}.window").WindowSpec
    return spec if issubclass(spec, own) else type(spec.__name__, (spec, own), {})


def _same(cols: tuple[ColumnOrName, ...], others: tuple[ColumnOrName, ...]) -> bool:
    """Whether the columns are the same; Connect tells the same objects and names alone."""

    def own(col: ColumnOrName) -> object:
        # Column has no equality in Python, but in the JVM
        return getattr(col, "_jc", id(col)) if isinstance(col, Column) else col

    return [*map(own, cols)] == [*map(own, others)]


def _bounds(start: object, end: object) -> tuple[int, int]:
    """The bounds of a frame, as PySpark takes them."""
    return _bound("start", start), _bound("end", end)


def _bound(argument: str, value: object) -> int:
    """A bound, which is unbounded beyond the range of a BIGINT and at an infinity."""
    least, most = -(2**63), 2**63 - 1
    if isinstance(value, float) and isinf(value):
        return most if value > 0 else least
    return min(max(whole(argument, value, -(2**200), 2**200), least), most)
