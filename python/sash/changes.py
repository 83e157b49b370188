"""Windows over time that are answered when a row comes, and when rows leave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Literal, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    DataType,
    DateType,
    IntegralType,
    LongType,
    StructField,
    TimestampNTZType,
    TimestampType,
)

from sash.arguments import extent, require_choice, require_frame, whole
from sash.ends import length_of
from sash.errors import type_error, value_error
from sash.label_columns import column, is_among, key_names, named_columns, require_name
from sash.loaded import call
from sash.spans import checked
from sash.window import SlidingWindow, SlidingWindowSpec

Length = int | str | timedelta
Closed = Literal["right", "both"]
_AGGREGATE = "an aggregate, as in F.sum('amount') or 'sum(amount)'"
_FIXED = "an interval of a fixed length, in weeks, days or less, since months have several"
_LEAVING = "rows that leave have no values of df['amount']"
_MICROS_A_DAY = 24 * 3600 * 10**6
_MICROS_AN_HOUR = 3600 * 10**6


def on_change(
    df: DataFrame,
    /,
    *,
    partition_by: str | Iterable[str],
    order_by: str,
    window: Length,
    closed: Closed = "right",
    change: str = "change",
    **aggregates: Column | str,
) -> DataFrame:
    """Answer a window over time for each row that comes, and again when rows leave it.

    ``OVER`` has an answer for each row. So the last answer for a key stays as it is when its rows
    grow old. This function adds a row for each time at which rows leave the window of a key, with
    the aggregates over the rows that are left.

    Args:
        df: The rows, in any order. On a stream, with a watermark on ``order_by``.
        partition_by: The key column, or a list of them; an empty list for one window of all rows.
        order_by: The time column: timestamps, dates or whole numbers.
        window: The length of the window, which is ``(time - window, time]``: an interval as in
            "1 hour" or a timedelta, or a whole number if times are numbers. A day has 24 hours,
            in each time zone. Months have no fixed length.
        closed: "right", or "both" for ``[time - window, time]``. There a row leaves one
            microsecond later, or one day, or 1.
        change: The name of the column that says why there is a row.
        aggregates: The new columns by name, all over the one window: an aggregate as a Column
            that names its columns, as in ``F.sum("amount")``, or as SQL, as in "sum(amount)".

    Returns:
        The columns of ``df``, then ``change``, then the aggregates, in no promised order. Rows of
        ``df`` have "enter" as their change. A row with the change "leave" has the key and the
        time at which rows leave, and NULL in the other columns of ``df``. If several rows of a
        key leave at one time, there is one such row. There is none if a row of the key comes at
        that time, since its own answer says the same. If no row is left, the aggregate decides: a
        count is 0, a sum is NULL.
        A row whose time is NULL never leaves, as a row whose leaving time is beyond its type.
        A stream in append mode gives the same rows, each when the watermark has passed its time.
        Rows that come late have no answer, neither when they come nor when they would leave.

    Cost:
        One shuffle and one order of twice the rows; each costs a constant number of combines,
        amortized, as in ``OVER``. On a stream, a row waits in the state until it leaves: its key
        and its time, without its other columns.

    Raises:
        PySparkTypeError: an argument is of the wrong type; the message names the right one.
        PySparkValueError: a column that ``df`` lacks, a time of another type, a window that does
            not fit the time or has months, no aggregate, or a name that is taken.
        AnalysisException: an aggregate reads a column that ``df`` lacks, or is none. When the
            query starts: it is in update mode.
        PySparkRuntimeError: the session has no jar of Sash. The message has the remedy.

    Example:
        >>> logins = spark.createDataFrame([("Ann", 1), ("Ann", 4), ("Bo", 4)], ["who", "at"])
        >>> n = sash.on_change(
        ...     logins, partition_by="who", order_by="at", window=10, n=F.count("*"))
        >>> n.orderBy("who", "at").show()
        +---+---+------+---+
        |who| at|change|  n|
        +---+---+------+---+
        |Ann|  1| enter|  1|
        |Ann|  4| enter|  2|
        |Ann| 11| leave|  1|
        |Ann| 14| leave|  0|
        | Bo|  4| enter|  1|
        | Bo| 14| leave|  0|
        +---+---+------+---+
        <BLANKLINE>
    """
    require_frame("df", df)
    keys = key_names("partition_by", partition_by)
    for key in keys:
        require_name("partition_by", df, key)
    require_name("order_by", df, order_by)
    if is_among(df, order_by, keys):
        raise value_error("order_by", "a column that is no key", order_by)
    require_choice("closed", closed, Closed)
    _require_new(df, change, aggregates)
    kind = df.select(column(order_by)).schema[0].dataType
    units = _units(window, order_by, kind) + (closed == "both")
    with named_columns("aggregates", _LEAVING):
        return _Changes(df, keys, order_by, kind, units).answers(change, aggregates)


class _Changes(NamedTuple):
    """Rows that come and rows that leave, in one order."""

    df: DataFrame
    keys: list[str]
    time: str
    kind: DataType
    units: int
    """So many units of the time lie between the time of a row and the time when it leaves."""

    def answers(self, change: str, aggregates: Mapping[str, Column | str]) -> DataFrame:
        """The answers of the rows that come, and one for each key and time with rows that leave.

        All rows of a key that leave at one time have come at one time. So the first row of them
        is as good as any other, also where some of them come late.
        """
        after, until, until_gone, now, place = self._unused([change, *aggregates])
        came = column(after) == 0
        # where `after` is 0, and with the length, which the state of a stream then names
        of_length = column(after).between(-self.units, 0)
        rows = self._window(call("window_where", of_length))
        window = rows.time(self._length(self.units), closed="right")
        both = self._window()
        # the last two rows, if they have one time: no key is kept for good
        peers = both.count(2) & both.time(self._length(1), closed="right")
        counts = {
            until: F.count("*").over(window),
            until_gone: F.count("*").over(rows.time(self._length(self.units))),
            now: F.count("*").over(rows.time(self._length(1), closed="right")),
            place: F.count("*").over(peers),
        }
        asked = {name: _column(a).over(window) for name, a in aggregates.items()}
        answered = self._rows(after).select(
            "*", *(answer.alias(name) for name, answer in [*asked.items(), *counts.items()])
        )
        # a row that came late has not come, and so it does not leave
        leaves = column(until_gone) > column(until)
        is_first = (column(now) == 0) & (column(place) == 1)
        return answered.where(came | (leaves & is_first)).select(
            *map(column, self.df.columns),
            F.when(came, "enter").otherwise("leave").alias(change),
            *map(column, aggregates),
        )

    def _rows(self, after: str) -> DataFrame:
        """Each row, and once more at the time when it leaves, with its key alone."""
        moves = F.array(*(F.lit(units).cast("bigint") for units in (0, self.units)))
        came = column(after) == 0

        def moved(field: StructField) -> Column:
            of = column(field.name)
            if self._is(field.name, self.time):
                return call("leaving_time", of, column(after))
            is_key = any(self._is(field.name, key) for key in self.keys)
            return of if is_key else F.when(came, of)

        twice = self.df.select("*", F.explode(moves).alias(after)).select(
            # the metadata have the watermark
            *(
                moved(field).alias(field.name, metadata=field.metadata)
                for field in self.df.schema
            ),
            after,
        )
        return twice.where(came | column(self.time).isNotNull())

    def _window(self, *modifiers: Column) -> SlidingWindowSpec:
        keys = [*map(column, self.keys), *modifiers]
        return SlidingWindow.partitionBy(*keys).orderBy(self._order())

    def _order(self) -> Column:
        # a window may be longer than a small type
        is_small = isinstance(self.kind, IntegralType) and not isinstance(self.kind, LongType)
        return column(self.time).cast("bigint") if is_small else column(self.time)

    def _length(self, units: int) -> Column:
        """A distance of so many units, which is the same in each time zone."""
        if isinstance(self.kind, (DateType, IntegralType)):
            return F.lit(units)
        hours, micros = divmod(units, _MICROS_AN_HOUR)
        seconds = f"{micros // 10**6}.{micros % 10**6:06}"
        return F.expr(f"make_interval(0, 0, 0, 0, {hours}, 0, {seconds})")

    def _is(self, name: str, other: str) -> bool:
        return is_among(self.df, name, [other])

    def _unused(self, new: list[str]) -> list[str]:
        """Names of columns that nobody else has."""
        names = ["after", "until", "until_gone", "now", "place"]
        while any(is_among(self.df, name, [*self.df.columns, *new]) for name in names):
            names = [f"{name}_" for name in names]
        return names


def _column(aggregate: Column | str) -> Column:
    return F.expr(aggregate) if isinstance(aggregate, str) else aggregate


def _require_new(df: DataFrame, change: object, aggregates: Mapping[str, object]) -> None:
    """Refuse names that are taken, and all but aggregates."""
    if not isinstance(change, str):
        raise type_error("change", "the name of a new column", change)
    if not aggregates:
        raise value_error("aggregates", f"named aggregates, as in n={_AGGREGATE}", None)
    taken: list[str] = []
    for name in [*df.columns, change, *aggregates]:
        if is_among(df, name, taken):
            raise value_error(name, "a name that no other column has", name)
        taken.append(name)
    for name, aggregate in aggregates.items():
        if not isinstance(aggregate, (str, Column)):
            raise type_error(name, _AGGREGATE, aggregate)


def _units(window: object, time: str, kind: DataType) -> int:
    """The length of a window in the units of its time: microseconds, days or 1."""
    if not isinstance(kind, (DateType, IntegralType, TimestampNTZType, TimestampType)):
        expected = "a column of timestamps, dates or whole numbers"
        raise value_error("order_by", expected, f"{time} of type {kind.simpleString()}")
    typed = f"{time} is {kind.simpleString()}"
    if isinstance(kind, IntegralType):
        return whole("window", window, 1, 2**62)
    if not isinstance(window, (str, timedelta)):
        raise type_error("window", f"an interval as in '1 hour', since {typed}", window)
    extent("window", window)  # more than nothing
    length = checked("window", window, typed, numbers=False, labels=[])
    months, seconds = length_of(length)
    micros = int(seconds * 10**6)
    if months:
        raise value_error("window", _FIXED, window)
    if micros >= 2**62:
        raise value_error("window", "less than 100,000 years", window)
    if isinstance(kind, DateType):
        if micros % _MICROS_A_DAY:
            raise value_error("window", f"whole days, since {typed}", window)
        return micros // _MICROS_A_DAY
    return micros
