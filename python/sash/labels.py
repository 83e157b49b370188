"""Training sets: for each label the aggregates of the events before it.

The function writes the standard form, lateral subqueries over a range, in PySpark's own words.
Sash runs it as one window over the union of both tables (docs/training-sets.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from operator import and_, ge, gt, le, lt, or_
from typing import Literal

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sash.arguments import require_choice
from sash.ends import Ends, Window
from sash.errors import no_column, type_error, value_error
from sash.label_columns import column, named_columns
from sash.label_pairs import Pairs
from sash.label_tables import Comparison, Keys, Tables, Times
from sash.pipelines import looks_at_columns
from sash.spans import Span

Aggregate = Column | Callable[[Callable[[str], Column]], Column]
Feature = tuple[Aggregate, Span | Ends]
Asked = dict[str, tuple[Aggregate, Window]]
Closed = Literal["left", "right", "both", "neither"]

_CLOSED = {"left": (ge, lt), "right": (gt, le), "both": (ge, le), "neither": (gt, lt)}
_FEATURE = "a tuple of an aggregate and its span, as in (F.sum('amount'), '7 days')"
_AGGREGATE = (
    "an aggregate over the events, as in F.sum('amount'), with no OVER and no column beside it"
)
_ALONE = "an aggregate over the events alone, since labels or events are streams"


@looks_at_columns(
    "spark.sql('SELECT l.*, f.* FROM labels l, LATERAL (SELECT … FROM events e WHERE …) f')"
)
def window_join(
    labels: DataFrame,
    events: DataFrame,
    /,
    *,
    on: Keys,
    by: Times,
    closed: Closed = "left",
    known: str | None = None,
    nulls_equal: bool = False,
    **features: Feature,
) -> DataFrame:
    """Add to each label the aggregates of its events in the time before it.

    By default a window is ``[label - span, label)``: no label sees an event of its own time or of
    the future. In SQL the same is ``labels l, LATERAL (SELECT agg(x) FROM events e WHERE e.key =
    l.key AND e.ts >= l.ts - span AND e.ts < l.ts)``. Features of all spans come from one pass.

    Args:
        labels: The rows to which features are added, each a key and a time. On a stream, labels
            and events are both streams with a watermark on their time, times are timestamps, and
            spans are fixed: no months, and no days in a session time zone with summer time. A
            column of times is an end if it is made of the labels' time by fixed distances and
            units, as in ``F.date_trunc("hour", "ts")``.
        events: The rows that are aggregated. ``events.where(…)`` leaves some out.
        on: The names of the key columns, in both tables: one name, a list of names, or a dict
            ``{"the labels' name": "the events' name"}``. With an empty list all labels share all
            events.
        by: The name of the time column in both tables, or a dict of the two names. Times are
            dates, timestamps, numbers or times of day (TIME, where no span reaches beyond
            midnight). Times of two types are compared as Spark compares them.
        closed: Which ends belong to the window, as in pandas' ``rolling``: "left" is
            ``[label - span, label)``, "right" is ``(label - span, label]``, and there are "both"
            and "neither".
        known: The name of the events' column that says when each event became known. An event
            counts if its time is in the window and it was known before the label's time, or at
            that time if ``closed`` is "right" or "both". With NULL it is never known.
        nulls_equal: Whether a NULL key equals a NULL key.
        features: For each new column an aggregate over the events and its span. The aggregate is
            any that Spark has, and names its columns as in ``F.sum("amount")``. The span is an
            interval as in "7 days" or "3 months", a timedelta, or a number if times are
            numbers. With ``closed="both"`` it may be 0, for events at the label's own time. Of
            timestamps, "168 hours" are so many hours also where clocks change, and "7 days" are
            days of the session's time zone. None stands for all earlier events.
            The name of a column of the labels stands for each label's own span, or for each
            label's own start if it is a time.
            In the span's place, a pair is a window with two ends, each a distance from the
            label's time: ``("-8 days", "-1 day")`` lies before it, and ``("1 day", "8 days")``
            after it. 0 is the label's time, None no limit, and a column of times an end itself.
            On a stream the second end is no None.
            In the aggregate's place, a function makes the aggregate from the label's columns, as
            in ``lambda label: F.count_if(F.col("amount") > label("amount"))``. Labels that are
            equal in these columns get one answer, as with 'a' and 'A' under a collation.

    Returns:
        The labels' columns, then the features in the order given; one row for each label, in no
        promised order. The aggregate decides about a feature's type and about NULLs among its
        inputs. A label without events has the aggregate's answer for no rows: 0 for a count,
        else mostly NULL. A label whose key, time or own end is NULL has no events, and an event
        whose key or time is NULL belongs to no label. ``nulls_equal`` makes NULL a key.

    Cost:
        One shuffle and one order of labels and events together. Each row then costs a constant
        number of combines, amortized, whatever the span. With DOUBLE or DECIMAL times, spans of
        months, spans of days where clocks change, ranges without an upper end, and ends from a
        column a label costs O(log n) combines, and DISTINCT, medians and modes cost as much as
        the window is long. With ``known``, or if a feature reads the label's columns, Spark
        first joins each label with its events in the windows, one row a pair.

    Raises:
        PySparkTypeError: an argument is of the wrong type; the message names the right one.
        PySparkValueError: an unknown column, side or interval, a span that does not fit the
            time, a window that ends before it begins, two columns that cannot be compared, a
            feature that is no aggregate or has the name of a column of the labels, or no feature.
            On a stream, ``known`` or a feature that reads the label's columns.
            In a classic session, a feature over ``events["x"]`` where labels and events are
            read from one DataFrame; ``"x"`` by its name will do.
        AnalysisException: a feature reads a column that the events lack.
        PySparkRuntimeError: the session has no jar of Sash, or a declarative pipeline calls the
            function. The message has the remedy.

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
    tables = Tables.of(labels, events, on, by, nulls_equal, ties=False)
    require_choice("closed", closed, Closed)
    if known is not None:
        tables.require_time("known", known)
    tables.require_new("features", features, _FEATURE)
    asked: Asked = {
        name: _checked(tables, name, given, closed) for name, given in features.items()
    }
    ends = _CLOSED[closed]
    tables, aggregates = _alone(tables, asked, ends, known)
    _require_aggregates(tables.events, aggregates)
    windows = {name: window for name, (_, window) in asked.items()}
    with named_columns("features"):
        if labels.isStreaming:
            # one operator for all features: each call of lateralJoin would plan one of its own
            return tables.named().select(
                f"{tables.alias}.*",
                *(
                    tables.within(window, *ends).select(aggregates[name]).scalar().alias(name)
                    for name, window in windows.items()
                ),
            )
        groups: dict[Window, list[Column]] = {}
        for name, window in windows.items():
            groups.setdefault(window, []).append(aggregates[name].alias(name))
        joined = tables.named()
        for number, (window, group) in enumerate(groups.items()):
            # a count makes an aggregate of constants, too; Spark drops a column that nobody reads
            counted = F.count("*").alias(f"{tables.alias}_{number}")
            joined = joined.lateralJoin(tables.within(window, *ends).select(*group, counted))
        return joined.select(f"{tables.alias}.*", *map(column, features))


def _checked(
    tables: Tables, name: str, feature: object, closed: Closed
) -> tuple[Aggregate, Window]:
    """A feature with its window, or an error with its name."""
    if not isinstance(feature, tuple):
        raise type_error(name, _FEATURE, feature)
    if len(feature) != 2 or not _is_aggregate(feature[0]):
        raise value_error(name, _FEATURE, feature)
    return feature[0], tables.window(name, feature[1], zero=closed == "both")


def _is_aggregate(given: object) -> bool:
    """Whether it is a column, or a function of the user's that makes one."""
    module = str(getattr(given, "__module__", ""))
    return isinstance(given, Column) or (callable(given) and not module.startswith("pyspark."))


def _alone(
    tables: Tables, asked: Asked, ends: tuple[Comparison, Comparison], known: str | None
) -> tuple[Tables, dict[str, Column]]:
    """The tables and the aggregates, over events alone: pairs, if they read the label's row."""
    alone = {name: given for name, (given, _) in asked.items() if isinstance(given, Column)}
    of_both = [name for name in asked if name not in alone]
    if not of_both and known is None:
        return tables, alone
    if of_both:
        tables.require_batch(of_both[0], _ALONE, asked[of_both[0]][0])
    pairs = Pairs(tables)
    aggregates = {name: _over(pairs, name, given) for name, (given, _) in asked.items()}
    windows = [
        reduce(and_, tables.conditions(window, *ends, pairs.label))
        for _, window in asked.values()
    ]
    condition = reduce(or_, windows)
    if known is not None:
        condition &= ends[1](column(known), pairs.label(tables.time[0]))
    return pairs.where(condition), aggregates


def _over(pairs: Pairs, name: str, given: Aggregate) -> Column:
    """The aggregate of a feature, which may be a function of the label."""
    made = given if isinstance(given, Column) else given(pairs.label)
    if not isinstance(made, Column):
        raise no_column(name, made)
    return made


def _require_aggregates(events: DataFrame, aggregates: Mapping[str, Column]) -> None:
    """Refuse features that are not aggregates over the events alone.

    In a subquery, a name that the events lack would be looked for among the labels.
    """
    try:
        _ = events.agg(*aggregates.values()).schema
    except AnalysisException as error:
        for name, aggregate in aggregates.items():
            if error.getCondition() == "MISSING_GROUP_BY" and not _is_one(events, aggregate):
                hint = "sash.as_of takes columns of one event."
                raise value_error(name, _AGGREGATE, aggregate, hint) from error
        raise


def _is_one(events: DataFrame, aggregate: Column) -> bool:
    """Whether a column is an aggregate, or a constant."""
    try:
        _ = events.agg(aggregate).schema
    except AnalysisException:
        return False
    return True
