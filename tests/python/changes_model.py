"""Windows that are answered when rows come and when they leave, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple


class Arrival(NamedTuple):
    """A row of a stream."""

    id: int
    k: Any
    t: Any
    x: int | None


Change = tuple[int | None, Any, Any, str, int, int | None, int | None]


def answers(rows: Iterable[Arrival], leaves: Callable[[Any], Any | None]) -> list[Change]:
    """The id, key, time, change, count, sum and median (the lower one, as text) of each answer.

    Args:
        rows: All rows.
        leaves: The time at which a row of a time leaves; None if there is no such time.
    """
    all_rows = list(rows)
    found = [
        (row.id, row.k, row.t, "enter", *aggregates(all_rows, row.k, row.t, leaves))
        for row in all_rows
    ]
    times = {(row.k, leaves(row.t)) for row in all_rows if row.t is not None}
    came = {(row.k, row.t) for row in all_rows}
    found += [
        (None, k, t, "leave", *aggregates(all_rows, k, t, leaves))
        for k, t in times - came
        if t is not None
    ]
    return found


def aggregates(
    rows: Iterable[Arrival], k: Any, t: Any, leaves: Callable[[Any], Any | None]
) -> tuple[int, int | None, int]:
    """The count, the sum, and the count of distinct values of a window."""
    window = [row for row in rows if row.k == k and is_in(row.t, t, leaves)]
    values = [row.x for row in window if row.x is not None]
    return len(window), sum(values) if values else None, len(set(values))


def is_in(time: Any, now: Any, leaves: Callable[[Any], Any | None]) -> bool:
    """Whether a row of a time is in the window of another time."""
    if time is None or now is None:
        return time is now
    end = leaves(time)
    return time <= now and (end is None or now < end)
