"""Checks of the columns by which labels and events meet: their names and types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    DataType,
    DateType,
    FloatType,
    NumericType,
    TimestampNTZType,
    TimestampType,
)

from sash.errors import type_error, value_error
from sash.loaded import is_false


def time_pairs(by: object, expected: str) -> list[tuple[str, str]]:
    """The time of labels and of events, then further columns of the events."""
    if isinstance(by, Mapping):
        if len(by) != 1:
            raise value_error("by", expected, by)
        ((label, events),) = by.items()
        if isinstance(events, Mapping):
            raise type_error("by", expected, events)
        (_, first), *others = time_pairs(events, expected)
        if not isinstance(label, str):
            raise type_error("by", expected, label)
        return [(label, first), *others]
    names = column_pairs("by", by, expected)
    if not names:
        raise value_error("by", expected, by)
    return names


def column_pairs(argument: str, names: object, expected: str) -> list[tuple[str, str]]:
    """The labels' names of columns with the events' names."""
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


def require_column(argument: str, table: str, df: DataFrame, name: str) -> None:
    """Refuse the name of no column."""
    if not has(df, name):
        raise value_error(argument, f"a column of the {table} ({', '.join(df.columns)})", name)


def require_same(
    argument: str, labels: DataFrame, events: DataFrame, pair: tuple[str, str]
) -> None:
    """Refuse two columns that Spark does not compare."""
    kinds = [type_of(df, column(name)) for df, name in zip((labels, events), pair, strict=True)]
    nulls = [F.lit(None).cast(kind) for kind in kinds]
    try:
        type_of(labels, nulls[0] == nulls[1])
    except AnalysisException as error:
        raise value_error(argument, "columns that can be compared", _both(pair, kinds)) from error


def require_times(
    argument: str, labels: DataFrame, events: DataFrame, pair: tuple[str, str]
) -> list[DataType]:
    """The types of two times, which both tables measure alike."""
    kinds = [type_of(df, column(name)) for df, name in zip((labels, events), pair, strict=True)]
    for name, kind in zip(pair, kinds, strict=True):
        if family(kind) is None:
            expected = "a column of dates, timestamps or numbers, or of times of day"
            raise value_error(argument, expected, f"{name} {kind.simpleString()}")
    if family(kinds[0]) != family(kinds[1]):
        expected = "two columns of numbers, two of times of day, or two of dates or timestamps"
        raise value_error(argument, expected, _both(pair, kinds))
    return kinds


def common_type(label: DataType, event: DataType) -> str | None:
    """The type for times where a time less a span has another one than the time has."""
    if isinstance(label, DateType) and isinstance(event, TimestampNTZType):
        return "timestamp_ntz"
    return "double" if isinstance(label, FloatType) and isinstance(event, FloatType) else None


def _both(pair: tuple[str, str], kinds: list[DataType]) -> str:
    label, event = (
        f"{name} {kind.simpleString()}" for name, kind in zip(pair, kinds, strict=True)
    )
    return f"{label} of the labels, {event} of the events"


def family(kind: DataType) -> str | None:
    """How times of a type are measured, if at all."""
    if isinstance(kind, NumericType):
        return "numbers"
    if kind.typeName() == "time":  # PySpark 4.0 has no such class
        return "times of day"
    is_time = isinstance(kind, (DateType, TimestampType, TimestampNTZType))
    return "times" if is_time else None


def type_of(df: DataFrame, value: Column) -> DataType:
    """The type of a column or an expression."""
    return df.select(value).schema[0].dataType


def key_names(argument: str, names: object) -> list[str]:
    """The names of key columns, given as a list or as one name."""
    if isinstance(names, str):
        return [names]
    if not isinstance(names, Iterable) or isinstance(names, (Column, Mapping)):
        raise type_error(argument, "the name of a column or a list of names", names)
    return list(names)


def require_name(argument: str, df: DataFrame, name: object) -> None:
    """Refuse everything but the name of a column."""
    expected = f"the name of a column of df ({', '.join(df.columns)})"
    if not isinstance(name, str):
        raise type_error(argument, expected, name)
    if not has(df, name):
        raise value_error(argument, expected, name)


@contextmanager
def named_columns(argument: str) -> Iterator[None]:
    """Explain the error for a column that is bound to the labels' rows.

    Spark gives the events of a subquery other columns if the events are labels, too.
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


def has(df: DataFrame, name: str) -> bool:
    """Whether a DataFrame has a column of that name, as Spark compares names."""
    return is_among(df, name, df.columns)


def is_among(df: DataFrame, name: str, names: Iterable[str]) -> bool:
    """Whether a name is among others, as the session of a DataFrame compares names."""
    return same_name(df, name, names) is not None


def same_name(df: DataFrame, name: str, names: Iterable[str]) -> str | None:
    """The first of some names that is a name, as the session of a DataFrame compares names."""
    if not is_false(df.sparkSession.conf.get("spark.sql.caseSensitive")):
        return name if name in names else None
    return next((other for other in names if other.lower() == name.lower()), None)


def quoted(name: str) -> str:
    """A name as Spark's parser wants it."""
    return "`" + name.replace("`", "``") + "`"


def column(name: str) -> Column:
    """The column of a name, which may have dots."""
    return F.col(quoted(name))
