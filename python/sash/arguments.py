"""Checks of arguments that need no session: types, choices, and the signs of sizes."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, get_args

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sash.errors import type_error, type_name, value_error

Extent = int | float | Decimal | str | timedelta | Column
NUMBERS = (int, float, Decimal)
# a day-time interval has microseconds of 64 bits
_LONGEST = timedelta(days=106751991)
_EXTENT = "a number, a datetime.timedelta, an interval as in '1 hour', or a Column of a constant"
_SHARE = "a number more than 0 and at most 1"
_COLUMN = "a Column or the name of one"
# a name of a column has no number and unit
INTERVAL = re.compile(r"\s*(interval\s+)?[+-]?\s*\d+(\.\d+)?\s+[a-z]+\b", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?\s*\d+(?:\.\d+)?")
# how other packages' frames become Spark's
FRAMES = {
    "pandas.DataFrame": "spark.createDataFrame({0})",
    "pyarrow.Table": "spark.createDataFrame({0})",
    "polars.DataFrame": "spark.createDataFrame({0}.to_pandas())",
    "pyspark.pandas.DataFrame": "{0}.to_spark()",
}


def require_frame(argument: str, df: object) -> None:
    """Refuse everything but a DataFrame of Spark's, and say how another one becomes one."""
    if isinstance(df, DataFrame):
        return
    converted = FRAMES.get(type_name(df))
    hint = None if converted is None else f"Write {converted.format(argument)}."
    raise type_error(argument, "a Spark DataFrame", df, hint)


def require_column(argument: str, col: object) -> None:
    """Refuse everything but a Column and a name."""
    if not isinstance(col, (str, Column)):
        raise type_error(argument, _COLUMN, col)


def columns(cols: tuple[Any, ...]) -> tuple[Any, ...]:
    """The columns, which may be given as one list, as ``pyspark.sql.Window`` takes them."""
    given = tuple(cols[0]) if len(cols) == 1 and isinstance(cols[0], (list, tuple)) else cols
    for col in given:
        if not isinstance(col, (str, Column)):
            hint = "Write several columns one after the other, or as one list."
            is_many = isinstance(col, Iterable)
            raise type_error("cols", _COLUMN, col, hint if is_many else None)
    return given


def require_flag(argument: str, value: object) -> None:
    """Refuse everything but True and False."""
    if not isinstance(value, bool):
        raise type_error(argument, "a bool", value)


def require_choice(argument: str, value: object, choices: object) -> None:
    """Refuse everything but the strings of a Literal."""
    *others, last = (f"'{choice}'" for choice in get_args(choices))
    expected = f"{', '.join(others)} or {last}"
    if not isinstance(value, str):
        raise type_error(argument, expected, value)
    if value not in get_args(choices):
        raise value_error(argument, expected, value)


def whole(argument: str, value: object, least: int, most: int = 2**31 - 1) -> int:
    """A whole number between two others, which may be one of numpy's."""
    number = plain(value)
    if isinstance(number, bool) or not isinstance(number, int):
        raise type_error(argument, "an int", value)
    if not least <= number <= most:
        raise value_error(argument, f"an int from {least} to {most}", number)
    return number


def plain(value: object) -> Any:
    """A number of numpy's as Python's own; PySpark makes casts of the others."""
    # numpy's timedelta64 is an Integral, of any unit
    if isinstance(value, (bool, Decimal)) or type_name(value) == "numpy.timedelta64":
        return value
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return float(value) if isinstance(value, Real) else value


def extent(argument: str, value: object, *, zero: bool = False) -> Any:
    """A distance in an order, more than nothing unless ``zero`` is allowed; never a negative."""
    given = plain(value)
    if isinstance(given, bool) or not isinstance(given, (*NUMBERS, str, timedelta, Column)):
        raise type_error(argument, _EXTENT, value)
    if isinstance(given, float) and math.isnan(given):
        raise value_error(argument, _EXTENT, given)
    require_bits(argument, given)
    if is_negative(given):
        raise value_error(argument, "0 or more" if zero else "more than 0", given)
    if is_zero(given) and not zero:
        raise value_error(argument, "more than 0", given)
    return given


def constant(argument: str, value: Extent) -> Column:
    """The column of a distance that is more than nothing, or an error that names the argument."""
    return literal(extent(argument, value))


def share(argument: str, value: object) -> Column:
    """The column of a number that is more than 0 and at most 1, or an error that names it."""
    given = plain(value)
    if isinstance(given, Column):
        return given
    if isinstance(given, bool) or not isinstance(given, NUMBERS):
        raise type_error(argument, _SHARE, value)
    if not 0 < float(given) <= 1:
        raise value_error(argument, _SHARE, given)
    return F.lit(given)


def literal(value: Extent) -> Column:
    """The column of a distance; Spark reads a string as an interval."""
    return value if isinstance(value, Column) else F.lit(value)


def require_bits(argument: str, value: object) -> None:
    """Refuse a number or a timedelta beyond Spark's types, before PySpark fails on it."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise value_error(argument, "a number of 64 bits at most", value)
    if isinstance(value, Decimal) and not _is_decimal(value):
        raise value_error(argument, "a number, finite and of 38 digits at most", value)
    if isinstance(value, timedelta) and abs(value) > _LONGEST:
        raise value_error(argument, f"at most {_LONGEST.days} days", value)


def _is_decimal(value: Decimal) -> bool:
    """Whether a DECIMAL holds it, so that it has digits at all."""
    if not value.is_finite():
        return False
    _, digits, exponent = value.as_tuple()
    return isinstance(exponent, int) and max(len(digits) + max(exponent, 0), -exponent) <= 38


def is_negative(value: object) -> bool:
    """Whether a number, a timedelta or an interval goes back; not if its parts disagree."""
    parts = _parts(value)
    return bool(parts) and all(part <= 0 for part in parts) and any(part < 0 for part in parts)


def is_zero(value: object) -> bool:
    """Whether a number, a timedelta or an interval is nothing."""
    parts = _parts(value)
    return bool(parts) and not any(parts)


def _parts(value: object) -> list[Any]:
    """The numbers that a distance is made of; none for a Column and a text without units."""
    if isinstance(value, str):
        numbers = _NUMBER.findall(value) if INTERVAL.match(value) else []
        return [float(re.sub(r"\s", "", number)) for number in numbers]
    if isinstance(value, timedelta):
        return [value.total_seconds()]
    return [value] if isinstance(value, NUMBERS) else []
