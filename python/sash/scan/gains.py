"""An honest range for the gain: the committed figures of docs/benchmarks, for like windows.

A figure is Spark's time over Sash's, of one query over cached rows on two cores. How many rows a
window of RANGE has, no log says. There the time a row says which figures are alike, for a machine
up to three times as slow or as fast. Below the least rows of the figures there is no range.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sash.scan.frames import Call
from sash.scan.known import table
from sash.scan.operators import HOPS, JOIN, LATERAL, WINDOW, Operator
from sash.scan.verdicts import OURS, of_call, verdict

FACTOR = 3
_ROWS_WITH_FIGURES = (
    "sums, averages and counts",
    "extremes",
    "moments and regressions",
    "bits and booleans",
    "first and last",
)
Cell = dict[str, Any]


class Gain(NamedTuple):
    """Spark's time over Sash's: from, to, and whether it may be more."""

    low: float
    high: float
    or_more: bool = False

    def saved(self, seconds: float) -> tuple[float, float]:
        """How many of some seconds it saves: at least, at most."""
        low, high = (max(0.0, seconds * (1 - 1 / of)) for of in (self.low, self.high))
        return low, high

    def __str__(self) -> str:
        more = " or more" if self.or_more else ""
        return f"{_short(self.low)} to {_short(self.high)} times{more}"


def gain(of: Operator, seconds: float, rows: int | None, segment_tree: bool) -> Gain | None:
    """The range for an operator that Sash would run; none if there are no figures.

    Args:
        of: The operator.
        seconds: The processor time of the tasks of its stages, whatever else ran there.
        rows: The rows that go in.
        segment_tree: Whether Spark answered by its segment tree, which is off by default.
    """
    if of.kind in (WINDOW, HOPS) and (rows or 0) < table("gains")["least rows"]:
        return None
    if of.kind == HOPS and verdict(of).who == OURS:
        return _of_panes(of.panes)
    if of.kind == JOIN or (of.kind == LATERAL and verdict(of).who == OURS):
        low, high = table("gains")[of.kind]["gain"]
        is_measured = seconds >= table("gains")[of.kind]["least seconds"]
        return Gain(low, high, or_more=True) if is_measured else None
    if of.kind != WINDOW or of.in_python or not rows or not seconds:
        return None
    ours = [call for call in of.calls if of_call(call, of).who == OURS]
    return _of_window(ours, seconds / rows * 1e9, segment_tree) if ours else None


def _of_panes(panes: int) -> Gain:
    cells = table("gains")[HOPS]
    near = _around(cells, "panes", panes)
    return _range(near, or_more=panes > cells[-1]["panes"])


def _of_window(calls: list[Call], pace: float, segment_tree: bool) -> Gain | None:
    """Sash's least time a row bounds the gain: short keys have short windows in long frames."""
    single = table("gains")["functions"]
    own = [single[call.function] for call in calls if call.function in single]
    if not own and not all(_has_figure(call) for call in calls):
        return None
    cells = table("gains")["window"]["segment_tree" if segment_tree else "naive"]
    near = _alike(cells, calls, pace)
    low, high, or_more = _range(near, any(cell["or more"] for cell in near))
    fast = min(cell["sash ns"][0] for cell in near)
    slow = max(cell["sash ns"][1] for cell in near)
    high = pace / fast if or_more else min(high, FACTOR * pace / fast)
    if pace < min(cell["spark ns"][0] for cell in near):
        low = min(low, pace / slow)
    low = min([low, *own])
    return Gain(low, max(low, high))


def _alike(cells: list[Cell], calls: list[Call], pace: float) -> list[Cell]:
    """The figures of windows as long as the longest, or in which Spark has about this pace."""
    if all(call.rows is not None for call in calls):
        return _around(cells, "rows", max(call.rows or 1 for call in calls))
    near = [
        cell
        for cell in cells
        if cell["spark ns"][0] / FACTOR <= pace
        and (cell["or more"] or pace <= cell["spark ns"][1] * FACTOR)
    ]
    return near or [cells[0] if pace < cells[0]["spark ns"][0] else cells[-1]]


def _has_figure(call: Call) -> bool:
    return table("who")["names"].get(call.function) in _ROWS_WITH_FIGURES


def _around(cells: list[Cell], by: str, size: int) -> list[Cell]:
    """The cells of the nearest sizes, below and above."""
    below = max((c[by] for c in cells if c[by] <= size), default=cells[0][by])
    above = min((c[by] for c in cells if c[by] >= size), default=cells[-1][by])
    return [cell for cell in cells if below <= cell[by] <= above]


def _range(cells: list[Cell], or_more: bool) -> Gain:
    return Gain(min(c["gain"][0] for c in cells), max(c["gain"][1] for c in cells), or_more)


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.1f}"
