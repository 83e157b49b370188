"""How far from a label its events may be: a span, as text, timedelta or number."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from decimal import Decimal

from sash.arguments import NUMBERS, is_negative, plain, require_bits
from sash.errors import type_error, value_error

Distance = str | int | float | Decimal | timedelta
Span = Distance | None
_SPAN = (
    "an interval as in '7 days', a datetime.timedelta, a number if times are numbers, the name "
    "of a column of the labels, or None for no limit"
)
UNIT = r"(?:year|month|week|day|hour|minute|second|millisecond|microsecond)s?"
_INTERVAL = re.compile(
    rf"(?:interval\s+)?((?:\d+\s+{UNIT}|\d+\.\d+\s+seconds?)(?:\s+(?!$)|$))+", re.ASCII
)
MONTHS = re.compile(r"year|month")
POSITIVE = "a positive length, since it is how far from the label's time the events may be"
_FLAGS = re.DOTALL | re.ASCII
# what an interval lacks, from its look; the first that matches
_FAULTS = [
    (
        rf"(?:\d+\s+{UNIT}(?:\s+|$))+",
        "an interval of months and years, or of weeks, days and times, but not of both, since a "
        "month has no fixed number of days",
    ),
    (
        rf"(?=.*[+-])(?:[+-]?\s*\d+(?:\.\d+)?\s+{UNIT}(?:\s+|$))+",
        "an interval whose numbers have no signs, as in '1 day 12 hours'",
    ),
    (
        rf".*\d\.\d+\s*{UNIT}.*",
        "an interval of whole numbers, where seconds alone have a fraction, as in '36 hours'",
    ),
    (
        r"[+-]?\d+(?:\.\d+)?\s+[a-z]+.*",
        "an interval in years, months, weeks, days, hours, minutes, seconds, milliseconds or "
        "microseconds",
    ),
    (r"[+-]?\d.*", "an interval of numbers with units, as in '7 days' or '1 hour 30 minutes'"),
]


def checked(
    argument: str, value: object, time: str, *, numbers: bool, labels: list[str]
) -> Distance:
    """A span that is no column of the labels, or an error that says why it is none.

    Args:
        argument: The argument's name.
        value: The span.
        time: The name and the type of the labels' time.
        numbers: Whether that time is a number.
        labels: The names of the labels' columns.
    """
    span: Distance = plain(value)
    if isinstance(span, bool) or not isinstance(span, (*NUMBERS, str, timedelta)):
        raise type_error(argument, _SPAN, value)
    if isinstance(span, float) and not math.isfinite(span):
        raise value_error(argument, "a finite number", span)
    require_bits(argument, span)
    if is_negative(span):
        raise value_error(argument, POSITIVE, span)
    if numbers and not isinstance(span, NUMBERS):
        raise value_error(argument, f"a number, since {time}", span, _columns(labels, span))
    if not numbers and isinstance(span, NUMBERS):
        raise value_error(argument, f"an interval as in '7 days', since {time}", span)
    if isinstance(span, str) and not is_interval(span):
        raise value_error(argument, _fault(span), span, _columns(labels, span))
    months, seconds = length_of(span)
    if not numbers and max(months / 12, seconds / (366 * 86400)) > _MOST_YEARS:
        raise value_error(argument, f"at most {_MOST_YEARS} years", span)
    return span


_SECONDS = {"hour": Decimal(3600), "minute": Decimal(60), "second": Decimal(1)} | {
    "millisecond": Decimal("0.001"),
    "microsecond": Decimal("0.000001"),
}
"""The units that have one length in each time zone."""
_LENGTHS = {"week": Decimal(7 * 86400), "day": Decimal(86400), **_SECONDS}
_MONTHS = {"year": 12, "month": 1}
_MOST_YEARS = 200_000
"""Spark's intervals have the bits for so many years in any unit."""


def fixed_seconds(interval: str) -> Decimal | None:
    """The seconds of an interval of a day or more in hours and their parts alone; else None."""
    if not all(unit in _SECONDS for _, unit in _parts(interval)):
        return None
    seconds = clock_seconds(interval)
    return seconds if seconds >= 24 * 3600 else None


def clock_seconds(interval: str) -> Decimal:
    """The seconds of an interval's hours and their parts, beside its days, weeks or months."""
    parts = _parts(interval)
    return sum((n * _SECONDS[unit] for n, unit in parts if unit in _SECONDS), Decimal(0))


def length_of(distance: Distance) -> tuple[Decimal, Decimal]:
    """The months of a distance, and its seconds or its number; a day has 24 hours."""
    months, rest = Decimal(0), Decimal(0)
    if isinstance(distance, str):
        for number, unit in _parts(distance):
            months += number * _MONTHS.get(unit, 0)
            rest += number * _LENGTHS.get(unit, 0)
    elif isinstance(distance, timedelta):
        rest = Decimal(distance // timedelta(microseconds=1)) / 1_000_000
    else:
        rest = Decimal(distance)
    return months, rest


def _parts(interval: str) -> list[tuple[Decimal, str]]:
    """The numbers of an interval, each with its unit in the singular."""
    parts = re.findall(rf"(\d+(?:\.\d+)?)\s+({UNIT})", interval.lower())
    return [(Decimal(n), unit.removesuffix("s")) for n, unit in parts]


def is_interval(text: str) -> bool:
    """Whether Spark reads it as an interval; months have no length in days."""
    units = re.findall(UNIT, text.lower())
    months = [unit for unit in units if MONTHS.match(unit)]
    whole = _INTERVAL.fullmatch(text.strip().lower()) is not None
    return whole and len(months) in (0, len(units))


def _fault(text: str) -> str:
    """What a text should be that is no interval."""
    given = text.strip().lower().removeprefix("interval").strip()
    found = (expected for look, expected in _FAULTS if re.fullmatch(look, given, _FLAGS))
    return next(found, "an interval as in '7 days', or a column of the labels")


def _columns(labels: list[str], span: object) -> str | None:
    """The columns of the labels, for a text that may be meant to be one of them."""
    if not isinstance(span, str) or re.match(r"\s*[+-]?\d", span):
        return None
    return f"The labels' columns are {', '.join(labels)}."
