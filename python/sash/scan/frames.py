"""The functions of a window, with their frames, as Spark prints them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sash.scan.plans import entries, name_of, plain

_CALL = re.compile(r"(?P<call>.*?) windowspecdefinition\((?P<spec>.*)\)(?: AS .*)?", re.DOTALL)
_FRAME = re.compile(r"specifiedwindowframe\((RowFrame|RangeFrame), (.*)\)", re.DOTALL)
_SORTED = re.compile(r" (?:ASC|DESC) NULLS (?:FIRST|LAST)$")


@dataclass(frozen=True)
class Call:
    """A function over a frame, or of a group.

    Attributes:
        text: As Spark prints it, without the numbers of its columns.
        function: Its name, and ``distinct`` behind it if its input is.
        frame: The frame: ROWS or RANGE and its bounds, as in SQL; empty for groups.
        shape: The frame's kind, a row of the table of frames of docs/who-runs-what.md.
        rows: How many rows the frame has, if it is of ROWS with two bounds.
    """

    text: str
    function: str
    frame: str = ""
    shape: str = ""
    rows: int | None = None


def windowed(text: str) -> tuple[Call, bool, bool]:
    """A function of a Window, and whether its window has PARTITION BY and ORDER BY."""
    found = _CALL.fullmatch(text)
    if found is None:
        return Call(plain(text), ""), False, False
    *spec, frame = entries(found["spec"])
    ordered = [part for part in spec if _SORTED.search(part)]
    return _framed(found["call"], frame), len(ordered) < len(spec), bool(ordered)


def inputs(call: str) -> int:
    """How many inputs a call has."""
    own = call.partition(" FILTER (WHERE ")[0]
    return len(entries(own.partition("(")[2].rpartition(")")[0]))


def _framed(call: str, frame: str) -> Call:
    found = _FRAME.fullmatch(frame)
    bounds = entries(found[2]) if found else []
    if found is None or len(bounds) != 2:
        return Call(plain(call), "")
    unit = "ROWS" if found[1] == "RowFrame" else "RANGE"
    lower, upper = (_bound(b) for b in bounds)
    text = f"{unit} BETWEEN {_sql(lower)} AND {_sql(upper)}"
    shape = _shape(unit, lower, upper)
    rows = None
    if unit == "ROWS" and "UNBOUNDED" not in text:
        with_numbers = [0 if b == "CURRENT ROW" else b for b in (lower, upper)]
        if all(str(b).lstrip("-").isdigit() for b in with_numbers):
            rows = int(with_numbers[1]) - int(with_numbers[0]) + 1
    return Call(plain(call), name_of(call), text, shape, rows)


def _bound(text: str) -> str:
    text = text.strip().removesuffix("$()").removesuffix("$")
    names = {
        "currentrow": "CURRENT ROW",
        "unboundedpreceding": "UNBOUNDED PRECEDING",
        "unboundedfollowing": "UNBOUNDED FOLLOWING",
        "0": "CURRENT ROW",
    }
    return names.get(text, text)


def _sql(bound: str) -> str:
    if bound.endswith(("ROW", "PRECEDING", "FOLLOWING")):
        return bound
    return f"{bound.replace('-', '', 1)} {'PRECEDING' if '-' in bound else 'FOLLOWING'}"


def _shape(unit: str, lower: str, upper: str) -> str:
    looks_ahead = upper != "CURRENT ROW" and "-" not in upper
    if lower == "UNBOUNDED PRECEDING":
        if upper == "UNBOUNDED FOLLOWING":
            return "whole partition"
        if looks_ahead:
            return "grows and looks ahead"
        return "grows by rows" if unit == "ROWS" else "grows by peers"
    if upper == "UNBOUNDED FOLLOWING":
        return "shrinks"
    return "looks ahead" if looks_ahead else "looks back"
