"""The two tables of a training set, and the events of the label around a subquery over them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from operator import ge, gt, le, lt
from typing import NamedTuple

from pyspark.errors import AnalysisException, PySparkRuntimeError
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    DataType,
    DecimalType,
    IntegralType,
    NumericType,
    TimestampType,
)

from sash.arguments import require_flag, require_frame
from sash.ends import (
    HERE,
    IN_ORDER,
    PAIR,
    End,
    Window,
    is_here,
    is_reversed,
    unsigned,
)
from sash.errors import type_error, value_error
from sash.label_columns import (
    column,
    column_pairs,
    common_type,
    family,
    has,
    is_among,
    quoted,
    require_column,
    require_same,
    require_times,
    time_pairs,
    type_of,
)
from sash.loaded import is_loaded, missing
from sash.spans import POSITIVE, Distance, checked, fixed_seconds, length_of

Keys = str | Iterable[str] | Mapping[str, str]
Times = str | Iterable[str] | Mapping[str, str | Iterable[str]]
Comparison = Callable[[Column, Column], Column]
OfLabel = Callable[[str], Column]

_ON = "the name of a column, a list of names, or a dict from the labels' names to the events'"
_BY = "the name of a column, or a dict from the labels' name to the events'"
_TIES = f"{_BY}; further names of the events' columns choose among events of one time"
_ZERO = "closed='both' takes 0, for the events at the label's own time."
_END = "how far after the label its events may be, as in '1 hour', since events are a stream"


class Key(NamedTuple):
    """Two columns that are equal: the labels' name, the events' name."""

    of_label: str
    of_event: str
    is_null_safe: bool
    """Whether NULL equals NULL."""

    def equal(self, of_label: Column) -> Column:
        """The condition on an event to have the label's key."""
        of_event = column(self.of_event)
        return of_event.eqNullSafe(of_label) if self.is_null_safe else of_event == of_label


class Tables(NamedTuple):
    """Labels and events, and the names by which they meet."""

    labels: DataFrame
    events: DataFrame
    keys: list[Key]
    time: tuple[str, str]
    """The labels' name, the events' name."""
    order: list[str]
    """The events' columns by which one of them is the last."""
    kind: DataType
    """The type of the labels' time."""
    compared: str | None
    """The type in which times are compared, if it is another one than Spark would take."""
    has_instants: bool
    """Whether a time is a TIMESTAMP: Spark compares it with any other as one."""
    alias: str
    """The name of the labels in the query, by which EXPLAIN knows the function. No other table or
    column has it: the result of an earlier call keeps the name that it was given."""

    @staticmethod
    def of(
        labels: DataFrame, events: DataFrame, on: Keys, by: Times, nulls_equal: bool, ties: bool
    ) -> Tables:
        """Look at the arguments that both functions share."""
        require_frame("labels", labels)
        require_frame("events", events)
        if not is_loaded(labels.sparkSession):
            raise PySparkRuntimeError(missing(labels.sparkSession))
        require_flag("nulls_equal", nulls_equal)
        time, *others = time_pairs(by, _TIES if ties else _BY)
        if others and not ties:
            raise value_error("by", _BY, by, "sash.as_of takes further columns.")
        keys = column_pairs("on", on, _ON)
        for argument, pairs in (("on", keys), ("by", [time])):
            for of_label, of_event in pairs:
                require_column(argument, "labels", labels, of_label)
                require_column(argument, "events", events, of_event)
        for _, other in others:
            require_column("by", "events", events, other)
        for pair in keys:
            require_same("on", labels, events, pair)
        kinds = require_times("by", labels, events, time)
        return Tables(
            labels,
            events,
            [Key(*pair, nulls_equal) for pair in keys],
            time,
            [time[1], *(other for _, other in others)],
            kinds[0],
            common_type(*kinds),
            any(isinstance(kind, TimestampType) for kind in kinds),
            f"{'as_of' if ties else 'window_join'}_{uuid.uuid4().hex}",
        )

    def require_new(self, argument: str, columns: Mapping[str, object], expected: str) -> None:
        """Refuse no columns at all, and names that the labels have."""
        if not columns:
            raise value_error(argument, f"one or more new columns, each {expected}", columns)
        for name in columns:
            if has(self.labels, name):
                expected = "the name of a column that the labels lack"
                raise value_error(name, expected, name)
            others = [other for other in columns if other != name]
            if is_among(self.labels, name, others):
                raise value_error(name, "a name that no other new column has", name)

    def window(self, argument: str, given: object, *, zero: bool) -> Window:
        """A feature's window: its span before the label, or a pair of ends."""
        if not isinstance(given, tuple):
            return Window(self.span(argument, given, zero=zero), HERE)
        if len(given) != 2 or given == (None, None):
            raise value_error(argument, PAIR, given)
        window = Window(*(self._end(argument, end) for end in given))
        if is_reversed(window):
            raise value_error(argument, IN_ORDER, given)
        if window.end is None:
            self.require_end(argument, given)
        return window

    def span(self, argument: str, span: object, *, zero: bool) -> End | None:
        """The end that is a span before the label, or an error that says why it is none.

        If ``zero`` is allowed, it stands for the events at the label's own time.
        """
        if span is None:
            return None
        if is_here(span):
            if zero:
                return HERE
            raise value_error(argument, POSITIVE, span, _ZERO)
        if isinstance(span, str) and has(self.labels, span):
            return self._own(argument, span)._replace(is_before=True)
        return End(self._distance(argument, span), is_before=True)

    def _end(self, argument: str, given: object) -> End | None:
        """One of a pair of ends, before the label or after it."""
        if given is None:
            return None
        if isinstance(given, str) and has(self.labels, given):
            return self._own(argument, given)
        if is_here(given):
            return HERE
        distance, is_before = unsigned(given)
        return End(self._distance(argument, distance), is_before)

    def _distance(self, argument: str, span: object) -> Distance:
        time = f"{self.time[0]} is {self.kind.simpleString()}"
        is_number = isinstance(self.kind, NumericType)
        labels = self.labels.columns
        distance = checked(argument, span, time, numbers=is_number, labels=labels)
        if family(self.kind) == "times of day" and length_of(distance)[0]:
            raise value_error(argument, f"an interval without months, since {time}", span)
        return distance

    def _own(self, argument: str, name: str) -> End:
        """The end that a column of the labels has: a time, or a distance that fits their time."""
        kind = type_of(self.labels, column(name))
        if family(kind) == family(self.kind) != "numbers":
            return End(name, is_column=True, is_time=True)
        try:
            shifted = type_of(self.labels, column(self.time[0]) - column(name))
        except AnalysisException:
            shifted = None
        if shifted is None or family(shifted) != family(self.kind):
            fits = "numbers" if isinstance(self.kind, NumericType) else "intervals or times"
            expected = f"a column of {fits}, since {self.time[0]} is {self.kind.simpleString()}"
            raise value_error(argument, expected, f"{name} {kind.simpleString()}")
        return End(name, is_column=True)

    def require_time(self, argument: str, name: object) -> None:
        """Refuse everything but the name of a time of the events that fits the labels' time."""
        if not isinstance(name, str):
            raise type_error(argument, "the name of a column of the events", name)
        require_column(argument, "events", self.events, name)
        require_times(argument, self.labels, self.events, (self.time[0], name))
        self.require_batch(argument, "None, since labels or events are streams", name)

    def require_batch(self, argument: str, expected: str, given: object) -> None:
        """Refuse streams."""
        if self.labels.isStreaming or self.events.isStreaming:
            raise value_error(argument, expected, given)

    def require_end(self, argument: str, given: object) -> None:
        """Refuse a stream whose labels would wait for later events for ever."""
        if self.events.isStreaming:
            raise value_error(argument, _END, given)

    def known_by(self, known: str) -> Tables:
        """These tables, with each event counting from the later of two times.

        Events that lack one of the two are left out.
        """
        time, start = column(self.time[1]), f"{self.alias}_known"
        events = self.events.where(time.isNotNull() & column(known).isNotNull())
        return self._replace(
            events=events.withColumn(start, F.greatest(time, column(known))),
            time=(self.time[0], start),
            order=[*self.order, known],
        )

    def named(self) -> DataFrame:
        """The labels under their name in the query."""
        return self.labels.alias(self.alias)

    def _outer(self, name: str) -> Column:
        """A column of the label around a subquery over the events."""
        return F.col(f"{self.alias}.{quoted(name)}").outer()

    def within(self, window: Window, lower: Comparison, upper: Comparison) -> DataFrame:
        """The events of the label around, between two ends."""
        rows = self.events
        for key in self.keys:
            rows = rows.where(key.equal(self._outer(key.of_label)))
        for condition in self.conditions(window, lower, upper, self._outer):
            rows = rows.where(condition)
        return rows

    def conditions(
        self, window: Window, lower: Comparison, upper: Comparison, of_label: OfLabel
    ) -> list[Column]:
        """The conditions on an event to be between two ends."""
        event = self.cast(column(self.time[1]))
        return [
            compare(event, self.place(end, of_label))
            for end, compare in zip(window, (lower, upper), strict=True)
            if end is not None
        ]

    def place(self, end: End, of_label: OfLabel) -> Column:
        """The value of an end for a label."""
        if end.is_time:
            return of_label(str(end.distance))
        label = self.cast(of_label(self.time[0]))
        if end == HERE:
            return label
        extent = of_label(str(end.distance)) if end.is_column else self._extent(end.distance)
        return label - extent if end.is_before else label + extent

    def cast(self, time: Column) -> Column:
        """A time in the type in which times are compared."""
        return time if self.compared is None else time.cast(self.compared)

    def one(
        self, ahead: bool, tolerance: End | None, exact: bool, columns: list[Column]
    ) -> DataFrame:
        """Columns of the first event after the label around, or of the last one before it."""
        window, compares = self.towards(ahead, tolerance, exact)
        order = F.asc if ahead else F.desc
        rows = self.within(window, *compares).orderBy(
            *(order(quoted(name)) for name in self.order)
        )
        return rows.select(*columns).limit(1)

    @staticmethod
    def towards(
        ahead: bool, tolerance: End | None, exact: bool
    ) -> tuple[Window, tuple[Comparison, Comparison]]:
        """The window in which an event is looked for."""
        if ahead:
            end = None if tolerance is None else tolerance._replace(is_before=False)
            return Window(HERE, end), (ge if exact else gt, le)
        return Window(tolerance, HERE), (ge, le if exact else lt)

    def distance(self, earlier: Column, later: Column) -> Column:
        """The distance of two times; a difference of timestamps would be of local times."""
        if self.has_instants:
            # the other time may be a date, or a timestamp without a time zone
            return F.unix_micros(later.cast("timestamp")) - F.unix_micros(
                earlier.cast("timestamp")
            )
        of_event = type_of(self.events, column(self.time[1]))
        if isinstance(self.kind, IntegralType) and isinstance(of_event, IntegralType):
            # integers far apart have a difference that is none of their type
            return later.cast("decimal(20,0)") - earlier.cast("decimal(20,0)")
        return later - earlier

    def _extent(self, span: Distance) -> Column:
        if isinstance(span, str):
            if isinstance(self.kind, TimestampType) and (seconds := fixed_seconds(span)):
                # Spark would take each 24 hours of an INTERVAL for a day of the time zone
                hours, rest = divmod(seconds, 3600)
                return F.expr(f"make_interval(0, 0, 0, 0, {hours:f}, 0, {rest:f})")
            text = span.strip().lower().removeprefix("interval")
            return F.expr(f"INTERVAL '{text.strip()}'")
        is_exact = isinstance(self.kind, (IntegralType, DecimalType))
        if isinstance(span, float) and is_exact and span < 2**63:
            # exact numbers are compared as they are, and not as floats
            return F.lit(int(span) if span.is_integer() else Decimal(repr(span)))
        return F.lit(span)
