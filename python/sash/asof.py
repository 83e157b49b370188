"""As-of joins: for each label the last event at its time or before.

The function writes the standard form, a lateral subquery with ORDER BY and LIMIT 1, in PySpark's
own words. Sash runs it as one window over the union of both tables (docs/training-sets.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from operator import and_
from typing import Literal, NamedTuple

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sash.arguments import require_choice, require_flag
from sash.ends import End
from sash.errors import type_error, value_error
from sash.label_columns import column, has, named_columns, quoted
from sash.label_pairs import Pairs
from sash.label_tables import Keys, Tables, Times
from sash.pipelines import looks_at_columns
from sash.spans import Span

Direction = Literal["backward", "forward", "nearest"]
_COLUMN = "the name of a column of the events, or an expression over them, as in price='price'"
_NO_AGGREGATE = "a column of one event, and no aggregate or window of many"


@looks_at_columns(
    "spark.sql('SELECT … FROM labels l LEFT JOIN LATERAL (SELECT … FROM events e WHERE … "
    "ORDER BY e.ts DESC LIMIT 1) f ON true')"
)
def as_of(
    labels: DataFrame,
    events: DataFrame,
    /,
    *,
    on: Keys,
    by: Times,
    tolerance: Span = None,
    allow_exact_matches: bool = True,
    direction: Direction = "backward",
    known: str | None = None,
    valid_to: str | None = None,
    nulls_equal: bool = False,
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
        by: The time column, as in ``window_join``. Further columns of the events choose among
            events of one time, as in ``("ts", "version")`` or ``{"ts": ("since", "version")}``:
            the largest one before the label, the smallest one after it. NULL is the smallest.
        tolerance: How far from the label the event may be at most, a span as in
            ``window_join``; by default any distance. 0 asks for an event at the label's own time,
            also of dates and timestamps. On a stream, "forward" and "nearest" need a tolerance.
        allow_exact_matches: Whether an event at the label's own time counts.
        direction: Where the event lies: "backward" is the last one before the label, "forward"
            the first one after it, and "nearest" the nearer of the two; if both are equally
            near, the one before. A label sees the future unless the direction is backward.
        known: The name of the events' column that says when each event became known. An event
            counts if both its time and that one are before the label, or at its own time if
            ``allow_exact_matches``. Among events of one time, the one that became known last is
            found: a correction. With NULL an event is never known.
        valid_to: The name of the events' column that says when each event ends. Only events that
            have not ended at the label's time count. NULL is no end.
        nulls_equal: Whether a NULL key equals a NULL key.
        columns: For each new column the name of a column of the events, or an expression over
            them.

    Returns:
        The labels' columns, then the new ones; one row for each label, in no promised order. A
        label without an event has NULLs. So has a label whose time is NULL, or whose key is
        unless ``nulls_equal``. An event whose time or key is NULL belongs to no such label. All
        columns of a label come from one event. If several events share the last time, and all
        further columns of ``by``, it is any of them.

    Cost:
        One shuffle and one order of labels and events together. With ``valid_to`` Spark first
        joins each label with the events of its key, and keeps a row for each valid one.

    Raises:
        PySparkTypeError: an argument is of the wrong type; the message names the right one.
        PySparkValueError: an unknown column or interval, a tolerance that does not fit the time,
            two columns that cannot be compared, a new column that is an aggregate or has the name
            of a column of the labels, or no new column. ``known`` or ``valid_to`` on a stream, or
            in another direction than backward. Columns of ``events["x"]`` as in ``window_join``.
        AnalysisException: a new column reads a column that the events lack.
        PySparkRuntimeError: the session has no jar of Sash, or a declarative pipeline calls the
            function. The message has the remedy.

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
    tables = Tables.of(labels, events, on, by, nulls_equal, ties=True)
    require_flag("allow_exact_matches", allow_exact_matches)
    require_choice("direction", direction, Direction)
    for argument, name in (("known", known), ("valid_to", valid_to)):
        if name is not None:
            tables.require_time(argument, name)
            _require_backward(argument, direction, name)
    tables.require_new("columns", columns, _COLUMN)
    span = tables.span("tolerance", tolerance, zero=True)
    if span is None and direction != "backward":
        tables.require_end("tolerance", tolerance)
    found = {name: _checked(events, name, given) for name, given in columns.items()}
    _require_no_aggregates(tables, found)
    search = _Search(tables, span, allow_exact_matches, found)
    with named_columns("columns"):
        if direction == "nearest":
            return _nearest(search)
        if known is not None:
            search = search._replace(tables=tables.known_by(known))
        if valid_to is not None:
            search = search._replace(tables=_valid(search, valid_to))
        if known is not None and span is not None:
            return _known_within(search, tables.time[1], span)
        return search.joined(direction == "forward")


def _require_backward(argument: str, direction: Direction, given: str) -> None:
    """Refuse an argument that says which events of the past count."""
    if direction != "backward":
        raise value_error(argument, "None unless direction is 'backward'", given)


def _checked(events: DataFrame, name: str, given: object) -> Column:
    """A new column, or an error with its name."""
    if isinstance(given, Column):
        return given
    if not isinstance(given, str):
        raise type_error(name, _COLUMN, given)
    if not has(events, given):
        expected = f"a column of the events ({', '.join(events.columns)})"
        raise value_error(name, expected, given)
    return column(given)


# an aggregate in WHERE; a window there, since Spark 4.2; a window there, before 4.2
_OF_MANY = (
    "INVALID_WHERE_CONDITION",
    "WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE",
    "_LEGACY_ERROR_TEMP_1034",
)


def _require_no_aggregates(tables: Tables, columns: Mapping[str, Column]) -> None:
    """Refuse aggregates and windows: a column has to be of one event."""
    for name, one in columns.items():
        try:
            # a client of Connect believes that WHERE keeps the schema, and asks no server
            _ = tables.events.where(one.isNull()).select(F.lit(1)).schema
        except AnalysisException as error:
            if error.getCondition() not in _OF_MANY:
                raise
            hint = "sash.window_join takes aggregates."
            raise value_error(name, _NO_AGGREGATE, one, hint) from error


class _Search(NamedTuple):
    """Columns of one event, and where it lies."""

    tables: Tables
    tolerance: End | None
    exact: bool
    found: Mapping[str, Column]

    def joined(self, ahead: bool) -> DataFrame:
        """The labels with the columns."""
        columns = [given.alias(name) for name, given in self.found.items()]
        one = self.tables.one(ahead, self.tolerance, self.exact, columns)
        return self.selected(self.tables.named().lateralJoin(one, how="left"), column)

    def event(self, time: str) -> Column:
        """The columns as one value, beside the time of the event."""
        found = F.struct(*(given.alias(name) for name, given in self.found.items()))
        return F.struct(column(time).alias("at"), found.alias("found"))

    def selected(self, joined: DataFrame, value: Callable[[str], Column]) -> DataFrame:
        """The labels with the new columns' values."""
        values = (value(name).alias(name) for name in self.found)
        return joined.select(f"{self.tables.alias}.*", *values)

    def of_label(self, name: str) -> Column:
        """A column of the labels, beside the event."""
        return F.col(f"{self.tables.alias}.{quoted(name)}")


def _nearest(search: _Search) -> DataFrame:
    """The labels with the columns of the nearer of two events."""
    tables = search.tables
    # EXPLAIN shows the names of the new columns
    event = search.event(tables.time[1]).alias(", ".join(search.found))
    sides = [f"{tables.alias}_before", f"{tables.alias}_after"]
    # on a stream, each call of lateralJoin would plan an operator of its own
    joined = tables.named().select(
        f"{tables.alias}.*",
        *(
            tables.one(side == sides[1], search.tolerance, search.exact, [event])
            .scalar()
            .alias(side)
            for side in sides
        ),
    )
    label = search.of_label(tables.time[0])
    before, after = (F.col(side) for side in sides)
    is_before = tables.distance(before["at"], label) <= tables.distance(label, after["at"])
    nearest = F.when(after.isNull() | is_before, before["found"]).otherwise(after["found"])
    return search.selected(joined, lambda name: nearest[name])


def _known_within(search: _Search, time: str, tolerance: End) -> DataFrame:
    """The labels with the columns of the last event, unless it is too old.

    If the last one of all known events is too old, so are all others.
    """
    tables, name = search.tables, f"{search.tables.alias}_event"
    one = tables.one(False, None, search.exact, [search.event(time).alias(name)])
    joined = tables.named().lateralJoin(one, how="left")
    event, start = F.col(name), tables.place(tolerance, search.of_label)
    within = F.when(tables.cast(event["at"]) >= start, event["found"])
    return search.selected(joined, lambda name: within[name])


def _valid(search: _Search, valid_to: str) -> Tables:
    """The tables with the events of each label that have not ended at its time."""
    tables, until = search.tables, column(valid_to)
    pairs = Pairs(tables)
    window, compares = tables.towards(False, search.tolerance, search.exact)
    is_valid = until.isNull() | (pairs.label(tables.time[0]) < until)
    return pairs.where(reduce(and_, tables.conditions(window, *compares, pairs.label), is_valid))
