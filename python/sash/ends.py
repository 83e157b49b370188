"""The two ends between which a label's events are, each a distance from the label's time."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple

from sash.arguments import NUMBERS, is_negative, is_zero, plain
from sash.spans import Distance, Span, is_interval, length_of

Ends = tuple[Span, Span]
PAIR = "a pair of the window's two ends, as in ('1 day', '8 days'), of which one may be None"
IN_ORDER = "a pair whose first end is before its second one"


class End(NamedTuple):
    """One end of the times in which a label's events may be."""

    distance: Distance
    """How far it is from the label's time: an interval without a sign, a timedelta or a number
    without one, or the name of a column of the labels."""
    is_before: bool = False
    """Whether it lies before the label's time."""
    is_column: bool = False
    is_time: bool = False
    """Whether the column has the end itself, not a distance from the label's time."""


class Window(NamedTuple):
    """The two ends of a window; None stands for no limit."""

    start: End | None
    end: End | None


HERE = End(0)
"""The label's own time."""


def unsigned(value: object) -> tuple[object, bool]:
    """A distance without its sign, and whether it had one."""
    if isinstance(value, str):
        bare = value.strip().lower().removeprefix("interval").strip()
        return (bare[1:].strip(), True) if bare.startswith("-") else (value, False)
    number = plain(value)
    if isinstance(number, (*NUMBERS, timedelta)) and is_negative(number):
        return -number, True
    return number, False


def is_here(value: object) -> bool:
    """Whether a distance is none: 0 fits dates and timestamps, too."""
    is_text = isinstance(value, str) and not is_interval(value)
    return not isinstance(value, bool) and not is_text and is_zero(plain(value))


def is_reversed(window: Window) -> bool:
    """Whether a window is sure to end before it begins."""
    if window.start is None or window.end is None:
        return False
    start, end = _size(window.start), _size(window.end)
    if start is None or end is None:
        return False
    return start != end and all(s >= e for s, e in zip(start, end, strict=True))


def _size(end: End) -> tuple[Decimal, Decimal] | None:
    """The months of an end and its seconds or number; None if each label has its own."""
    if end.is_column:
        return None
    months, rest = length_of(end.distance)
    return (-months, -rest) if end.is_before else (months, rest)
