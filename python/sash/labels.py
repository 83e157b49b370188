"""Training sets: for each label the aggregates of the events before it, or the last event.

Both functions write the standard form, a lateral subquery over a range, in PySpark's own words.
Sash runs it as one window over the union of both tables (docs/training-sets.md).
"""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from operator import ge, gt, le, lt
from typing import Literal, NamedTuple, get_args

from pyspark.errors import AnalysisException, PySparkRuntimeError
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    DataType,
    DateType,
    IntegralType,
    NumericType,
    TimestampNTZType,
    TimestampType,
)

from sash.errors import type_error, value_error
from sash.loaded import is_loaded, missing

Keys = str | Iterable[str] | Mapping[str, str]
Span = str | int | float | timedelta | None
Feature = tuple[Column, Span]
Comparison = Callable[[Column, Column], Column]
Direction = Literal["backward", "forward", "nearest"]

_CLOSED = {"left": (ge, lt), "right": (gt, le), "both": (ge, le), "neither": (gt, lt)}
_ON = "the name of a column, a list of names, or a dict from the labels' names to the events'"
_BY = "the name of a column, or a dict from the labels' name to the events'"
_FEATURE = "an aggregate and its span, as in (F.sum('amount'), '7 days')"
_SPAN = (
    "an interval as in '7 days', a timedelta, a number for a time that is a number, the name of "
    "a column of the labels, or None for all earlier events"
)
_UNIT = r"(?:year|month|week|day|hour|minute|second|millisecond|microsecond)s?"
_INTERVAL = re.compile(rf"(?:interval\s+)?((?:\d+\s+{_UNIT}|\d+\.\d+\s+seconds?)(?:\s+(?!$)|$))+")
_MONTHS = re.compile(r"year|month")


def window_join(
    labels: DataFrame,
    events: DataFrame,
    /,
    *,
    on: Keys,
    by: str | Mapping[str, str],
    closed: str = "left",
    **features: Feature,
) -> DataFrame:
    """Add to each label the aggregates of its events in the time before it.

    By default a window is ``[label - span, label)``: no label sees an event of its own time or of
    the future. In SQL the same is ``labels l, LATERAL (SELECT agg(x) FROM events e WHERE e.key =
    l.key AND e.ts >= l.ts - span AND e.ts < l.ts)``. Features of all spans come from one pass.

    Args:
        labels: The rows to which features are added, each a key and a time. On a stream, labels
            and events are both streams with a watermark on their time, times are timestamps, and
            spans are fixed: no months, and no days in a session time zone with summer time.
        events: The rows that are aggregated. ``events.where(…)`` leaves some out.
        on: The names of the key columns, in both tables: one name, a list of names, or a dict
            ``{"the labels' name": "the events' name"}``. With an empty list all labels share all
            events.
        by: The name of the time column in both tables, or a dict of the two names. Times are
            dates, timestamps or numbers.
        closed: Which ends belong to the window, as in pandas' ``rolling``: "left" is
            ``[label - span, label)``, "right" is ``(label - span, label]``, and there are "both"
            and "neither".
        features: For each new column an aggregate over the events and its span. The aggregate is
            any that Spark has, and names its columns as in ``F.sum("amount")``. The span is an
            interval as in "7 days" or "3 months", a timedelta, or a number if times are
            numbers. None stands for all earlier events. The name of a column of the labels
            stands for each label's own span.

    Returns:
        The labels' columns, then the features in the order given; one row for each label, in no
        promised order. The aggregate decides about a feature's type and about NULLs among its
        inputs. A label without events has the aggregate's answer for no rows: 0 for a count,
        else mostly NULL. A label whose key, time or own span is NULL has no events, and an event
        whose key or time is NULL belongs to no label.

    Cost:
        One shuffle and one order of labels and events together. Each row then costs a constant
        number of combines, amortized, whatever the span. With times that are numbers, spans of
        months and own spans a label costs O(log n) combines, and DISTINCT, medians and modes
        cost as much as the window is long.

    Raises:
        PySparkTypeError: an argument is of the wrong type; the message names the right one.
        PySparkValueError: an unknown column, side or interval, a span that does not fit the
            time, a feature with the name of a column of the labels, or no feature.
            In a classic session, a feature over ``events["x"]`` where labels and events are
            read from one DataFrame; ``"x"`` by its name will do.
        AnalysisException: a feature is no aggregate, or reads a column that the events lack.
        PySparkRuntimeError: the session has no jar of Sash. The message has the remedy.

    Example:
        >>> labels = spark.createDataFrame([("Ann", 10), ("Ann", 30), ("Bo", 30)], ["who", "t"])
        >>> events = spark.createDataFrame(
        ...     [("Ann", 4, 5.0), ("Ann", 9, 7.0), ("Ann", 30, 9.0)], ["who", "t", "amount"])
        >>> sash.window_join(
        ...     labels, events, on="who", by="t",
        ...     spend_5=(F.sum("amount"), 5),
        ...     visits=(F.count("*"), None),
        ... ).orderBy("who", "t").show()
        +---+---+-------+------+
        |who|  t|spend_5|visits|
        +---+---+-------+------+
        |Ann| 10|    7.0|     2|
        |Ann| 30|   NULL|     2|
        | Bo| 30|   NULL|     0|
        +---+---+-------+------+
        <BLANKLINE>
    """
    tables = _Tables.of(labels, events, on, by)
    if not isinstance(closed, str):
        raise type_error("closed", "a string", closed)
    if closed not in _CLOSED:
        raise value_error("closed", "'left', 'right', 'both' or 'neither'", closed)
    tables.require_new(features, _FEATURE)
    groups: dict[Span, list[Column]] = {}
    for name, feature in features.items():
        if not isinstance(feature, tuple):
            raise type_error(name, _FEATURE, feature)
        if len(feature) != 2 or not isinstance(feature[0], Column):
            raise value_error(name, _FEATURE, feature)
        tables.require_span(name, feature[1])
        groups.setdefault(feature[1], []).append(feature[0].alias(name))
    # a name that the events lack would be looked for among the labels
    aggregates = [aggregate for group in groups.values() for aggregate in group]
    _ = events.agg(*aggregates).schema
    with _named_columns():
        if labels.isStreaming:
            # one operator for all features: each call of lateralJoin would plan one of its own
            return tables.named().select(
                f"{tables.alias}.*",
                *(
                    tables.before(span, *_CLOSED[closed]).select(aggregate).scalar().alias(name)
                    for name, (aggregate, span) in features.items()
                ),
            )
        joined = tables.named()
        for number, (span, group) in enumerate(groups.items()):
            # a count makes an aggregate of constants, too; Spark drops a column that nobody reads
            counted = F.count("*").alias(f"{tables.alias}_{number}")
            rows = tables.before(span, *_CLOSED[closed])
            joined = joined.lateralJoin(rows.select(*group, counted))
        return joined.select(f"{tables.alias}.*", *map(_column, features))


def as_of(
    labels: DataFrame,
    events: DataFrame,
    /,
    *,
    on: Keys,
    by: str | Mapping[str, str],
    tolerance: Span = None,
    allow_exact_matches: bool = True,
    direction: Direction = "backward",
    **columns: str | Column,
) -> DataFrame:
    """Add to each label columns of its last event, at its own time or before.

    It is pandas' ``merge_asof(labels, events, …)``, and in SQL ``labels l LEFT JOIN LATERAL
    (SELECT … FROM events e WHERE e.key = l.key AND e.ts <= l.ts ORDER BY e.ts DESC LIMIT 1) ON
    true``.

    Args:
        labels: The rows to which columns are added, each a key and a time. Streams are as in
            ``window_join``.
        events: The rows that are looked up, in any order.
        on: The key columns, as in ``window_join``.
        by: The time column, as in ``window_join``.
        tolerance: How far from the label the event may be at most, a span as in
            ``window_join``; by default any distance.
        allow_exact_matches: Whether an event at the label's own time counts.
        direction: Where the event lies: "backward" is the last one before the label, "forward"
            the first one after it, and "nearest" the nearer of the two; if both are equally
            near, the one before. A label sees the future unless the direction is backward.
        columns: For each new column the name of a column of the events, or an expression over
            them.

    Returns:
        The labels' columns, then the new ones; one row for each label, in no promised order. A
        label without an event has NULLs. So has a label whose key or time is NULL, and an event
        whose key or time is NULL belongs to no label. All columns of a label come from one event.
        If several events share the last time, it is any of them.

    Cost:
        One shuffle and one order of labels and events together.

    Raises:
        PySparkTypeError: an argument is of the wrong type; the message names the right one.
        PySparkValueError: an unknown column or interval, a tolerance that does not fit the time,
            a new column with the name of a column of the labels, or no new column. Columns of
            ``events["x"]`` as in ``window_join``.
        AnalysisException: a new column is an aggregate, or reads a column that the events lack.
        PySparkRuntimeError: the session has no jar of Sash. The message has the remedy.

    Example:
        >>> trades = spark.createDataFrame([("A", 10), ("A", 3), ("B", 9)], ["share", "t"])
        >>> quotes = spark.createDataFrame(
        ...     [("A", 5, 1.5), ("A", 10, 2.5), ("B", 20, 9.0)], ["share", "t", "price"])
        >>> sash.as_of(
        ...     trades, quotes, on="share", by="t", price="price", quoted="t"
        ... ).orderBy("share", "t").show()
        +-----+---+-----+------+
        |share|  t|price|quoted|
        +-----+---+-----+------+
        |    A|  3| NULL|  NULL|
        |    A| 10|  2.5|    10|
        |    B|  9| NULL|  NULL|
        +-----+---+-----+------+
        <BLANKLINE>
    """
    tables = _Tables.of(labels, events, on, by)
    if not isinstance(allow_exact_matches, bool):
        raise type_error("allow_exact_matches", "a bool", allow_exact_matches)
    if not isinstance(direction, str):
        raise type_error("direction", "a string", direction)
    if direction not in get_args(Direction):
        raise value_error("direction", "'backward', 'forward' or 'nearest'", direction)
    expected = "the name of a column of the events, or an expression over them"
    tables.require_new(columns, expected)
    for name, column in columns.items():
        if not isinstance(column, (str, Column)):
            raise type_error(name, expected, column)
    tables.require_span("tolerance", tolerance)
    found = [
        (_column(column) if isinstance(column, str) else column).alias(name)
        for name, column in columns.items()
    ]
    # beside the time, so that an aggregate is an error
    _ = events.select(_column(tables.time[1]), *found).schema
    with _named_columns():
        if direction == "nearest":
            return _nearest(tables, tolerance, allow_exact_matches, found, list(columns))
        one = tables.one(direction == "forward", tolerance, allow_exact_matches, found)
        joined = tables.named().lateralJoin(one, how="left")
        return joined.select(f"{tables.alias}.*", *map(_column, columns))


def _nearest(
    tables: _Tables, tolerance: Span, exact: bool, found: list[Column], names: list[str]
) -> DataFrame:
    """The labels with the columns found in the nearer of two events."""
    at = _column(tables.time[1])
    event = F.struct(at.alias("at"), F.struct(*found).alias("found"))
    sides = [f"{tables.alias}_before", f"{tables.alias}_after"]
    joined = tables.named()
    for side in sides:
        one = tables.one(side == sides[1], tolerance, exact, [event.alias(side)])
        joined = joined.lateralJoin(one, how="left")
    label = F.col(f"{tables.alias}.{_quoted(tables.time[0])}")
    before, after = (F.col(side) for side in sides)
    is_before = tables.distance(before["at"], label) <= tables.distance(label, after["at"])
    nearest = F.when(after.isNull() | is_before, before["found"]).otherwise(after["found"])
    return joined.select(f"{tables.alias}.*", *(nearest[name].alias(name) for name in names))


@contextmanager
def _named_columns() -> Iterator[None]:
    """Explain the error for a column that is bound to events which are labels, too.

    Spark then gives the events of the subquery other columns, and leaves the bound one as it is.
    """
    try:
        yield
    except AnalysisException as error:
        if not str(error.getCondition()).startswith("MISSING_ATTRIBUTES"):
            raise
        expected = (
            "made of columns by name, as in F.sum('amount'), since labels and events are read "
            "from one DataFrame and Spark does not find the columns of events['amount']"
        )
        raise value_error(
            "features", expected, str(error).partition(" in operator")[0]
        ) from error


class _Tables(NamedTuple):
    """Labels and events, and the names by which they meet: the labels' name, the events' name."""

    labels: DataFrame
    events: DataFrame
    keys: list[tuple[str, str]]
    time: tuple[str, str]
    kind: DataType
    """The type of the labels' time."""
    alias: str
    """The name of the labels in the query. No other table or column has it: the result of an
    earlier call keeps the name that it was given."""

    @staticmethod
    def of(
        labels: DataFrame, events: DataFrame, on: Keys, by: str | Mapping[str, str]
    ) -> _Tables:
        """Look at the arguments that both functions share."""
        for name, df in (("labels", labels), ("events", events)):
            if not isinstance(df, DataFrame):
                raise type_error(name, "a DataFrame", df)
        if not is_loaded(labels.sparkSession):
            raise PySparkRuntimeError(missing(labels.sparkSession))
        times = [(by, by)] if isinstance(by, str) else _pairs("by", by, _BY)
        if len(times) != 1:
            raise value_error("by", _BY, by)
        keys = _pairs("on", on, _ON)
        for argument, pairs in (("on", keys), ("by", times)):
            for of_label, of_event in pairs:
                _require_column(argument, "labels", labels, of_label)
                _require_column(argument, "events", events, of_event)
        kinds = [_kind(labels, times[0][0]), _kind(events, times[0][1])]
        return _Tables(labels, events, keys, times[0], kinds[0], f"labels_{uuid.uuid4().hex}")

    def require_new(self, columns: Mapping[str, object], expected: str) -> None:
        """Refuse no columns at all, and names that the labels have."""
        if not columns:
            raise value_error("features", f"one or more new columns, each {expected}", columns)
        for name in columns:
            if _has(self.labels, name):
                raise value_error(name, "the name of a column that the labels lack", name)
            others = [other for other in columns if other != name]
            if _is_among(self.labels, name, others):
                raise value_error(name, "a name that no other new column has", name)

    def require_span(self, argument: str, span: object) -> None:
        """Refuse a span that is no span, that is not positive, or that does not fit the time."""
        if span is None or (isinstance(span, str) and _has(self.labels, span)):
            return
        if isinstance(span, bool) or not isinstance(span, (str, int, float, timedelta)):
            raise type_error(argument, _SPAN, span)
        if isinstance(span, str) and (not _is_interval(span) or not re.search("[1-9]", span)):
            raise value_error(argument, _SPAN, span)
        if isinstance(span, timedelta) and span <= timedelta(0):
            raise value_error(argument, "a span of more than no time", span)
        if isinstance(span, (int, float)) and not (span > 0 and math.isfinite(span)):
            raise value_error(argument, "a positive number", span)
        if isinstance(span, int) and span >= 2**63:
            raise value_error(argument, "a number of 64 bits at most", span)
        is_number = isinstance(self.kind, NumericType)
        if is_number != isinstance(span, (int, float)):
            fits = "a number" if is_number else "an interval as in '7 days'"
            time = f"{self.time[0]} is {self.kind.simpleString()}"
            raise value_error(argument, f"{fits}, since {time}", span)

    def named(self) -> DataFrame:
        """The labels under their name in the query."""
        return self.labels.alias(self.alias)

    def _outer(self, name: str) -> Column:
        """A column of the label around a subquery over the events."""
        return F.col(f"{self.alias}.{_quoted(name)}").outer()

    def _of_label(self) -> DataFrame:
        """The events with the keys of the label around."""
        rows = self.events
        for of_label, of_event in self.keys:
            rows = rows.where(_column(of_event) == self._outer(of_label))
        return rows

    def before(self, span: Span, lower: Comparison, upper: Comparison) -> DataFrame:
        """The events of the label around, from its time minus the span to its time."""
        event, label = _column(self.time[1]), self._outer(self.time[0])
        rows = self._of_label()
        if span is not None:
            rows = rows.where(lower(event, label - self._extent(span)))
        return rows.where(upper(event, label))

    def _after(self, span: Span, lower: Comparison) -> DataFrame:
        """The events of the label around, from its time to its time plus the span."""
        event, label = _column(self.time[1]), self._outer(self.time[0])
        rows = self._of_label().where(lower(event, label))
        return rows if span is None else rows.where(event <= label + self._extent(span))

    def one(self, ahead: bool, span: Span, exact: bool, columns: list[Column]) -> DataFrame:
        """Columns of the first event after the label around, or of the last one before it."""
        time = _quoted(self.time[1])
        if ahead:
            rows = self._after(span, ge if exact else gt).orderBy(F.asc(time))
        else:
            rows = self.before(span, ge, le if exact else lt).orderBy(F.desc(time))
        return rows.select(*columns).limit(1)

    def distance(self, earlier: Column, later: Column) -> Column:
        """The distance of two times; a difference of timestamps would be of local times."""
        if isinstance(self.kind, TimestampType):
            # an event's time may be a date, or a timestamp without a time zone
            return F.unix_micros(later.cast("timestamp")) - F.unix_micros(
                earlier.cast("timestamp")
            )
        if isinstance(self.kind, IntegralType):
            # integers far apart have a difference that is none of their type
            return later.cast("decimal(38,9)") - earlier.cast("decimal(38,9)")
        return later - earlier

    def _extent(self, span: str | float | timedelta) -> Column:
        if not isinstance(span, str):
            return F.lit(span)
        if _has(self.labels, span):
            return self._outer(span)
        text = span.strip().lower().removeprefix("interval")
        return F.expr(f"INTERVAL '{text.strip()}'")


def _is_interval(text: str) -> bool:
    """Whether Spark reads it as an interval; months have no length in days."""
    units = re.findall(_UNIT, text.lower())
    months = [unit for unit in units if _MONTHS.match(unit)]
    whole = _INTERVAL.fullmatch(text.strip().lower()) is not None
    return whole and len(months) in (0, len(units))


def _pairs(argument: str, names: object, expected: str) -> list[tuple[str, str]]:
    if isinstance(names, str):
        names = [names]
    if isinstance(names, Mapping):
        pairs = list(names.items())
    elif isinstance(names, (list, tuple)):
        pairs = [(name, name) for name in names]
    else:
        raise type_error(argument, expected, names)
    for name in (name for pair in pairs for name in pair):
        if not isinstance(name, str):
            raise type_error(argument, expected, name)
    return pairs


def _require_column(argument: str, table: str, df: DataFrame, name: str) -> None:
    if not _has(df, name):
        raise value_error(argument, f"a column of the {table} ({', '.join(df.columns)})", name)


def _kind(df: DataFrame, time: str) -> DataType:
    kind = df.select(_column(time)).schema[0].dataType
    if not isinstance(kind, (NumericType, DateType, TimestampType, TimestampNTZType)):
        expected = "a column of dates, timestamps or numbers"
        raise value_error("by", expected, f"{time} {kind.simpleString()}")
    return kind


def _has(df: DataFrame, name: str) -> bool:
    """Whether a DataFrame has a column of that name, as Spark compares names."""
    return _is_among(df, name, df.columns)


def _is_among(df: DataFrame, name: str, names: Iterable[str]) -> bool:
    if df.sparkSession.conf.get("spark.sql.caseSensitive") == "true":
        return name in names
    return name.lower() in (other.lower() for other in names)


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _column(name: str) -> Column:
    return F.col(_quoted(name))
