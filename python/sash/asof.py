"""As-of joins: for each label the last event at its time or before.

The function writes the standard form, a lateral subquery with ORDER BY and LIMIT 1, in PySpark's
own words. Sash runs it as one window over the union of both tables (docs/training-sets.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sash.arguments import require_choice, require_flag
from sash.errors import type_error, value_error
from sash.label_tables import Keys, Tables, column, has, named_columns, quoted
from sash.spans import Span

Direction = Literal["backward", "forward", "nearest"]
_COLUMN = "the name of a column of the events, or an expression over them, as in price='price'"
_NO_AGGREGATE = "a column of one event, and no aggregate or window of many"


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
            two columns that cannot be compared, a new column that is an aggregate or has the name
            of a column of the labels, or no new column. Columns of ``events["x"]`` as in
            ``window_join``.
        AnalysisException: a new column reads a column that the events lack.
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
    tables = Tables.of(labels, events, on, by)
    require_flag("allow_exact_matches", allow_exact_matches)
    require_choice("direction", direction, Direction)
    tables.require_new("columns", columns, _COLUMN)
    tolerance = tables.checked_span("tolerance", tolerance)
    of_one = {name: _checked(events, name, given) for name, given in columns.items()}
    _require_no_aggregates(tables, of_one)
    found = [given.alias(name) for name, given in of_one.items()]
    with named_columns("columns"):
        if direction == "nearest":
            return _nearest(tables, tolerance, allow_exact_matches, found, list(columns))
        one = tables.one(direction == "forward", tolerance, allow_exact_matches, found)
        joined = tables.named().lateralJoin(one, how="left")
        return joined.select(f"{tables.alias}.*", *map(column, columns))


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


def _require_no_aggregates(tables: Tables, columns: Mapping[str, Column]) -> None:
    """Refuse columns that are none of one event."""
    # beside the time, so that an aggregate is an error
    time = column(tables.time[1])
    for name, one in columns.items():
        try:
            _ = tables.events.select(time, one).schema
        except AnalysisException as error:
            if error.getCondition() != "MISSING_GROUP_BY":
                raise
            hint = "sash.window_join takes aggregates."
            raise value_error(name, _NO_AGGREGATE, one, hint) from error


def _nearest(
    tables: Tables, tolerance: Span, exact: bool, found: list[Column], names: list[str]
) -> DataFrame:
    """The labels with the columns found in the nearer of two events."""
    at = column(tables.time[1])
    event = F.struct(at.alias("at"), F.struct(*found).alias("found"))
    sides = [f"{tables.alias}_before", f"{tables.alias}_after"]
    joined = tables.named()
    for side in sides:
        one = tables.one(side == sides[1], tolerance, exact, [event.alias(side)])
        joined = joined.lateralJoin(one, how="left")
    label = F.col(f"{tables.alias}.{quoted(tables.time[0])}")
    before, after = (F.col(side) for side in sides)
    is_before = tables.distance(before["at"], label) <= tables.distance(label, after["at"])
    nearest = F.when(after.isNull() | is_before, before["found"]).otherwise(after["found"])
    return joined.select(f"{tables.alias}.*", *(nearest[name].alias(name) for name in names))
