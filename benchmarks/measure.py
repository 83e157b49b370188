"""Measuring: warm-up, then runs in turns, so that a machine's drift hits every engine alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, isfinite
from typing import TypeVar

from cells import NAIVE, AnyCell, Cell, OrderCell
from label_cells import GROWING, LabelCell
from results import Result
from workers import Worker

CellT = TypeVar("CellT", Cell, OrderCell, LabelCell)

ENOUGH = 20.0
"""Seconds of a cell's runs after which it is not run again: more of them add little."""


def measure(
    cells: Sequence[CellT],
    workers: Mapping[str, Worker],
    earlier: list[Result[CellT]],
    rows: int,
    runs: int,
    budget: float,
    warm_up: float = 0,
) -> list[Result[CellT]]:
    """Measure cells that answer one query.

    A cell is not run when ``earlier`` results foretell a run of more than ``budget`` seconds;
    one that turns out to need three times the budget is stopped. A process that has not spent
    ``warm_up`` seconds on queries runs the first one until it has: it takes as long until the
    JVM has compiled all that it will.
    """
    results: list[Result[CellT]] = []
    seconds: dict[CellT, list[float]] = {}
    for cell in cells:
        estimate = forecast([r for r in earlier if _foretells(r.cell, cell)], cell.window)
        if estimate > budget:
            why = f"about {estimate:,.0f} s" if isfinite(estimate) else "nor was a smaller window"
            reason = f"> {budget:g} s a run: {why}"
            results.append(Result(cell, rows, not_run=reason))
        else:
            worker = workers[cell.engine]
            took = worker.run(cell.query, 3 * budget + 10, check=True)
            while took is not None and worker.seconds < warm_up:
                took = worker.run(cell.query, 3 * budget + 10)
            if took is None:
                reason = f"> {3 * budget:g} s a run: stopped"
                results.append(Result(cell, rows, not_run=reason))
            else:
                seconds[cell] = []

    for _ in range(runs):
        for cell in [cell for cell, times in seconds.items() if sum(times) < ENOUGH]:
            took = workers[cell.engine].run(cell.query, 3 * budget + 10)
            if took is None:
                del seconds[cell]
                results.append(Result(cell, rows, not_run=f"> {3 * budget:g} s a run: stopped"))
            else:
                seconds[cell].append(took)
    results.extend(Result(cell, rows, min(times), times) for cell, times in seconds.items())
    return results


def forecast(smaller: list[Result[CellT]], window: int) -> float:
    """Seconds at a window, along the straight line through the two windows before it.

    Times less than a factor of two apart are taken for noise, so that only an engine that visibly
    grows is cut off. Where a window was not run, no wider one is either.
    """
    smaller = sorted(smaller, key=lambda result: result.cell.window)
    if any(result.not_run for result in smaller):
        return inf
    times = [(result.cell.window, min(result.runs)) for result in smaller]
    if len(times) < 2:
        return times[0][1] if times else 0
    (w0, t0), (w1, t1) = times[-2:]
    return t1 + (t1 - t0) / (w1 - w0) * (window - w1) if t1 > 2 * t0 else t1


def _foretells(a: AnyCell, b: AnyCell) -> bool:
    """Whether they are the same but for the window, and cost grows with it as it must."""
    if isinstance(a, LabelCell) and isinstance(b, LabelCell):
        same = (a.engine, a.tables, a.query.features) == (b.engine, b.tables, b.query.features)
        return same and b.engine in GROWING and a.window < b.window
    return (
        isinstance(a, Cell)
        and isinstance(b, Cell)
        and b.engine == NAIVE  # which computes every frame anew
        and a.window < b.window
        and replace(a, window=b.window) == b
    )
