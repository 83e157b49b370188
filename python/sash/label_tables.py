"""The two tables of a training set, and the events of the label around a subquery over them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from operator import ge, gt, le, lt
from typing import NamedTuple

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

from sash.arguments import require_frame
from sash.errors import type_error, value_error
from sash.loaded import is_loaded, missing
from sash.spans import Span, checked

Keys = str | Iterable[str] | Mapping[str, str]
Comparison = Callable[[Column, Column], Column]

_ON = "the name of a column, a list of names, or a dict from the labels' names to the events'"
_BY = "the name of a column, or a dict from the labels' name to the events'"


class Tables(NamedTuple):
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
    def of(labels: DataFrame, events: DataFrame, on: Keys, by: str | Mapping[str, str]) -> Tables:
        """Look at the arguments that both functions share."""
        require_frame("labels", labels)
        require_frame("events", events)
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
        for pair in keys:
            _require_same("on", labels, events, pair)
        kind = _require_times(labels, events, times[0])
        return Tables(labels, events, keys, times[0], kind, f"labels_{uuid.uuid4().hex}")

    def require_new(self, argument: str, columns: Mapping[str, object], expected: str) -> None:
        """Refuse no columns at all, and names that the labels have."""
        if not columns:
            raise value_error(argument, f"one or more new columns, each {expected}", columns)
        for name in columns:
            if has(self.labels, name):
                expected = "the name of a column that the labels lack"
                raise value_error(name, expected, name)
            others = [other for other in columns if other != name]
            if _is_among(self.labels, name, others):
                raise value_error(name, "a name that no other new column has", name)

    def checked_span(self, argument: str, span: object) -> Span:
        """A span that fits the time, or an error that says why it does not."""
        if span is None:
            return None
        if isinstance(span, str) and has(self.labels, span):
            self._require_own(argument, span)
            return span
        return checked(
            argument,
            span,
            f"{self.time[0]} is {self.kind.simpleString()}",
            numbers=isinstance(self.kind, NumericType),
            labels=self.labels.columns,
        )

    def _require_own(self, argument: str, span: str) -> None:
        """Refuse a column of the labels that is no distance in their time."""
        try:
            shifted = _type_of(self.labels, column(self.time[0]) - column(span))
        except AnalysisException:
            shifted = None
        if shifted is None or _family(shifted) != _family(self.kind):
            fits = "numbers" if isinstance(self.kind, NumericType) else "intervals"
            expected = f"a column of {fits}, since {self.time[0]} is {self.kind.simpleString()}"
            kind = _type_of(self.labels, column(span)).simpleString()
            raise value_error(argument, expected, f"{span} {kind}")

    def named(self) -> DataFrame:
        """The labels under their name in the query."""
        return self.labels.alias(self.alias)

    def _outer(self, name: str) -> Column:
        """A column of the label around a subquery over the events."""
        return F.col(f"{self.alias}.{quoted(name)}").outer()

    def _of_label(self) -> DataFrame:
        """The events with the keys of the label around."""
        rows = self.events
        for of_label, of_event in self.keys:
            rows = rows.where(column(of_event) == self._outer(of_label))
        return rows

    def before(self, span: Span, lower: Comparison, upper: Comparison) -> DataFrame:
        """The events of the label around, from its time minus the span to its time."""
        event, label = column(self.time[1]), self._outer(self.time[0])
        rows = self._of_label()
        if span is not None:
            rows = rows.where(lower(event, label - self._extent(span)))
        return rows.where(upper(event, label))

    def _after(self, span: Span, lower: Comparison) -> DataFrame:
        """The events of the label around, from its time to its time plus the span."""
        event, label = column(self.time[1]), self._outer(self.time[0])
        rows = self._of_label().where(lower(event, label))
        return rows if span is None else rows.where(event <= label + self._extent(span))

    def one(self, ahead: bool, span: Span, exact: bool, columns: list[Column]) -> DataFrame:
        """Columns of the first event after the label around, or of the last one before it."""
        time = quoted(self.time[1])
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

    def _extent(self, span: str | float | Decimal | timedelta) -> Column:
        if not isinstance(span, str):
            return F.lit(span)
        if has(self.labels, span):
            return self._outer(span)
        text = span.strip().lower().removeprefix("interval")
        return F.expr(f"INTERVAL '{text.strip()}'")


def _pairs(argument: str, names: object, expected: str) -> list[tuple[str, str]]:
    if isinstance(names, str):
        names = [names]
    if isinstance(names, Mapping):
        pairs = list(names.items())
    elif isinstance(names, Iterable) and not isinstance(names, Column):
        pairs = [(name, name) for name in names]
    else:
        raise type_error(argument, expected, names)
    for name in (name for pair in pairs for name in pair):
        if not isinstance(name, str):
            raise type_error(argument, expected, name)
    return pairs


def _require_column(argument: str, table: str, df: DataFrame, name: str) -> None:
    if not has(df, name):
        raise value_error(argument, f"a column of the {table} ({', '.join(df.columns)})", name)


def _require_same(
    argument: str, labels: DataFrame, events: DataFrame, pair: tuple[str, str]
) -> None:
    """Refuse two columns that Spark does not compare."""
    kinds = [_type_of(df, column(name)) for df, name in zip((labels, events), pair, strict=True)]
    nulls = [F.lit(None).cast(kind) for kind in kinds]
    try:
        _type_of(labels, nulls[0] == nulls[1])
    except AnalysisException as error:
        raise value_error(argument, "columns that can be compared", _both(pair, kinds)) from error


def _require_times(labels: DataFrame, events: DataFrame, pair: tuple[str, str]) -> DataType:
    """The type of the labels' time, which both tables measure alike."""
    kinds = [_type_of(df, column(name)) for df, name in zip((labels, events), pair, strict=True)]
    for name, kind in zip(pair, kinds, strict=True):
        if _family(kind) is None:
            expected = "a column of dates, timestamps or numbers"
            raise value_error("by", expected, f"{name} {kind.simpleString()}")
    if _family(kinds[0]) != _family(kinds[1]):
        expected = "two columns of numbers, or two of dates or timestamps"
        raise value_error("by", expected, _both(pair, kinds))
    return kinds[0]


def _both(pair: tuple[str, str], kinds: list[DataType]) -> str:
    label, event = (
        f"{name} {kind.simpleString()}" for name, kind in zip(pair, kinds, strict=True)
    )
    return f"{label} of the labels, {event} of the events"


def _family(kind: DataType) -> str | None:
    """How times of a type are measured, if at all."""
    if isinstance(kind, NumericType):
        return "numbers"
    is_time = isinstance(kind, (DateType, TimestampType, TimestampNTZType))
    return "times" if is_time else None


def _type_of(df: DataFrame, value: Column) -> DataType:
    return df.select(value).schema[0].dataType


def has(df: DataFrame, name: str) -> bool:
    """Whether a DataFrame has a column of that name, as Spark compares names."""
    return _is_among(df, name, df.columns)


def _is_among(df: DataFrame, name: str, names: Iterable[str]) -> bool:
    if df.sparkSession.conf.get("spark.sql.caseSensitive") == "true":
        return name in names
    return name.lower() in (other.lower() for other in names)


def quoted(name: str) -> str:
    """A name as Spark's parser wants it."""
    return "`" + name.replace("`", "``") + "`"


def column(name: str) -> Column:
    """The column of a name, which may have dots."""
    return F.col(quoted(name))


@contextmanager
def named_columns(argument: str) -> Iterator[None]:
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
        text = str(error).partition(" in operator")[0]
        raise value_error(argument, expected, text) from error
