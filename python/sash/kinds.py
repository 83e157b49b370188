"""The kinds of windows: which rows the window of each row holds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeVar, overload

from pyspark.errors import PySparkValueError
from pyspark.sql import Column
from pyspark.sql import functions as F

from sash.arguments import (
    INTERVAL,
    NUMBERS,
    Extent,
    extent,
    literal,
    plain,
    require_choice,
    require_column,
    require_flag,
    whole,
)
from sash.errors import shown, type_error, value_error
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

    from sash.window import SlidingWindowSpec

Condition = Callable[[Column], Column]
Closed = Literal["both", "right", "left", "neither"]
_CONDITION = "a function from one Column to a Column, as in lambda total: total <= 100"
_COLUMNS = "a column, or its name,"
_WIDTH = "one number, datetime.timedelta or interval"
T = TypeVar("T")


class Kind(NamedTuple):
    """A kind of window, once it has its arguments."""

    column: Callable[[Column | None, Column | None], Column]
    """The column in PARTITION BY. It is made of the column that is aggregated and its aggregate,
    if they are known."""
    written: Callable[[str], str]
    """The Python that names the kind of a window, whose own Python is given."""

    @staticmethod
    def of(
        column: Callable[[Column | None, Column | None], Column],
        name: str,
        *arguments: object,
        **named: object,
    ) -> Kind:
        """A kind that a method of that name makes."""
        given = [shown(argument) for argument in arguments]
        given += [f"{key}={shown(value)}" for key, value in named.items()]
        return Kind(column, lambda window: f"{window}.{name}({', '.join(given)})")


class Kinds:
    """The methods that name a window's kind."""

    @abstractmethod
    def _with(self, kind: Kind) -> SlidingWindowSpec:
        """The window with a kind."""

    def count(self, size: int) -> SlidingWindowSpec:
        """Hold the last ``size`` rows, 1 or more, the current one among them.

        The same as ``rowsBetween(1 - size, 0)``.
        """
        size = whole("size", size, 1)
        return self._with(Kind.of(lambda *_: call("count_window", F.lit(size)), "count", size))

    def time(
        self,
        size: Extent,
        closed: Closed = "both",
        *,
        center: bool = False,
        hop: Extent | None = None,
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
            hop: If given, the window begins at a multiple of it: the last one that is at least
                ``size`` before the current row. So its begin moves in hops, and it is between
                ``size`` and ``size + hop`` long: a sawtooth window. Multiples are counted from 0,
                or from 1970-01-01 00:00:00 UTC. It wants such an order, too, and no ``center``.

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
        require_choice("closed", closed, Closed)
        require_flag("center", center)
        is_plain = closed == "both" and not center
        size = extent("size", size, zero=is_plain)
        if hop is not None:
            return self._sawtooth(size, closed, center, extent("hop", hop))
        if is_plain:
            plain = Kind.of(lambda *_: call("time_window", literal(size)), "time", size)
            return self._with(plain)
        ends = F.lit(closed), F.lit(center)
        return self._with(
            Kind.of(
                lambda *_: call("time_window", literal(size), *ends),
                "time",
                size,
                closed=closed,
                center=center,
            )
        )

    def _sawtooth(
        self, size: Extent, closed: Closed, center: bool, hop: Extent
    ) -> SlidingWindowSpec:
        if center:
            raise value_error("center", "False beside `hop`", center)
        ends = F.lit(closed), F.lit(False)
        return self._with(
            Kind.of(
                lambda *_: call("time_window", literal(size), *ends, literal(hop)),
                "time",
                size,
                closed=closed,
                hop=hop,
            )
        )

    def delta(self, attribute: ColumnOrName, delta: Extent) -> SlidingWindowSpec:
        """Hold the youngest rows, until the attribute rises above the oldest by over ``delta``.

        When a row comes, the oldest leave while their ``attribute`` is less than the row's by
        more than ``delta``. A row that has left never returns, even if the attribute falls. A
        NULL is less than every number, and no row leaves because of one whose attribute is NULL.

        Paper: General Incremental Sliding-Window Aggregation, section 2.2.
        """
        delta = extent("delta", delta, zero=True)
        require_column("attribute", attribute)
        return self._with(
            Kind.of(
                lambda *_: call("delta_window", to_column(attribute), literal(delta)),
                "delta",
                attribute,
                delta,
            )
        )

    def punctuation(self, punctuation: ColumnOrName) -> SlidingWindowSpec:
        """Hold the rows from the last one on whose ``punctuation``, a boolean, is true.

        That row is the first of its window; NULL is not true. Before the first punctuation the
        window begins with the partition.

        Paper: General Incremental Sliding-Window Aggregation, section 2.2.
        """
        require_column("punctuation", punctuation)
        return self._with(
            Kind.of(
                lambda *_: call("punctuation_window", to_column(punctuation)),
                "punctuation",
                punctuation,
            )
        )

    def session(self, gap: Extent, longest: Extent | None = None) -> SlidingWindowSpec:
        """Hold the rows since the order last moved by ``gap`` or more from one row to the next.

        The order is by one column. Rows whose place in it is NULL are a session of their own. A
        row at the distance of ``longest`` or more from its session's first row begins another
        session; by default sessions have no longest duration.
        """
        extents = [extent("gap", gap)]
        if longest is not None:
            extents.append(extent("longest", longest))
        return self._with(
            Kind.of(lambda *_: call("gap_window", *map(literal, extents)), "session", *extents)
        )

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
        own = condition is None
        holds = monoid if own else condition
        if isinstance(holds, (str, Monoid, Column)) or not callable(holds):
            raise type_error("condition", _CONDITION, holds)
        require_function("condition", holds, 1, _CONDITION)
        if not own and not isinstance(monoid, (str, Column)) and not callable(monoid):
            raise type_error("monoid", MONOID, monoid)
        if col is not None:
            require_column("col", col)
            if own or isinstance(monoid, Column):
                expected = "left out, since the aggregate has its column already"
                raise value_error("col", expected, col)

        def column(aggregated: Column | None, aggregate: Column | None) -> Column:
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

        given = [value for value in (monoid, condition, col) if value is not None]
        return self._with(Kind.of(column, "predicate", *given))

    def groups(self, preceding: int, following: int = 0) -> SlidingWindowSpec:
        """Hold the current row's peers, and whole groups of peers before and after them.

        GROUPS BETWEEN ``preceding`` PRECEDING AND ``following`` FOLLOWING, as SQL:2011 has it.
        """
        sizes = whole("preceding", preceding, 0), whole("following", following, 0)
        return self._with(
            Kind.of(lambda *_: call("groups_window", *map(F.lit, sizes)), "groups", *sizes)
        )

    def rows(
        self, preceding: ColumnOrName | int | None = None, following: Literal[0] = 0
    ) -> SlidingWindowSpec:
        """Hold as many rows before the current one as that row says, and itself.

        In descending order (``orderBy(F.desc("ts"))``) the window looks ahead: the rows before
        the current one are then those that come later in time.

        A row whose ``preceding`` is NULL or negative has a window without rows. A row costs
        O(log n) combines of an aggregate that merges, or 2 if it counts or sums integers.
        DISTINCT, percentiles and modes cost as much as the window is long. The rows of a
        partition are held until it ends.

        Args:
            preceding: A column of integers, or its name; or one number for all.
            following: 0. To look ahead, order downwards.

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
        _require_no_following("rows", following)
        if isinstance(preceding, (str, Column)):
            return self._own("rows", to_column, preceding)
        size = plain(preceding)
        if isinstance(size, bool) or not isinstance(size, int):
            raise type_error("preceding", f"{_COLUMNS} or one number for all", preceding)
        return self._own("rows", F.lit, whole("preceding", size, 0, most=2**63 - 1))

    def range(
        self, preceding: ColumnOrName | Extent | None = None, following: Literal[0] = 0
    ) -> SlidingWindowSpec:
        """Hold the rows at most as far before the current one in the order as that row says.

        In descending order the window looks ahead, as in ``rows``.

        Both ends are included, and so are the current row's peers. The order is by one column. A
        row whose ``preceding`` is NULL, NaN or negative has no rows in its window; rows whose
        place is NULL are each other's window. A row costs O(log n) combines and comparisons, and
        the rows of a partition are held until it ends; for DISTINCT, percentiles and modes see
        ``rows``.

        Args:
            preceding: A column of numbers or intervals, or its name; or one width for all, a
                number, a timedelta or an interval as in "90 minutes".
            following: 0. To look ahead, order downwards.
        """
        _require_no_following("range", following)
        is_interval = isinstance(preceding, str) and INTERVAL.match(preceding)
        if isinstance(preceding, (str, Column)) and not is_interval:
            return self._own("range", to_column, preceding)
        size = plain(preceding)
        if isinstance(size, bool) or not isinstance(size, (*NUMBERS, str, timedelta)):
            raise type_error("preceding", f"{_COLUMNS} or {_WIDTH} for all", preceding)
        return self._own("range", F.lit, extent("preceding", size, zero=True))

    def _own(self, name: str, column: Callable[[T], Column], preceding: T) -> SlidingWindowSpec:
        """The window of a width that each row says, or of one width for all."""
        of = Kind.of(lambda *_: call(f"{name}_window", column(preceding)), name, preceding)
        return self._with(of)


def _require_no_following(kind: str, following: object) -> None:
    """Refuse rows after the current one, and say how a window of own width holds them."""
    if isinstance(following, bool) or not isinstance(plain(following), int) or following:
        raise value_error(
            "following",
            "0, since each row's own width looks back",
            following,
            f"To look ahead, order downwards, as in orderBy(F.desc('ts')).{kind}(preceding=…).",
        )
