"""Measuring: warm-up, then runs in turns, so that a machine's drift hits every engine alike."""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from cells import Cell
from results import Result
from workers import Worker


def measure(
    cells: list[Cell],
    workers: Mapping[str, Worker],
    earlier: list[Result],
    rows: int,
    runs: int,
    budget: float,
) -> list[Result]:
    """Measure cells that answer one query.

    A cell is not run when ``earlier`` results foretell a run of more than ``budget`` seconds;
    one that turns out to need three times the budget is stopped.
    """
    results = []
    seconds: dict[Cell, list[float]] = {}
    for cell in cells:
        estimate = forecast([r for r in earlier if _same_but_window(r.cell, cell)], cell.window)
        if estimate > budget:
            reason = f"> {budget:g} s a run: about {estimate:.0f} s, from smaller windows"
            results.append(Result(cell, rows, not_run=reason))
        elif workers[cell.engine].run(cell.query, 3 * budget + 10, check=True) is None:
            reason = f"> {3 * budget:g} s a run: stopped"
            results.append(Result(cell, rows, not_run=reason))
        else:
            seconds[cell] = []

    for _ in range(runs):
        for cell in list(seconds):
            took = workers[cell.engine].run(cell.query, 3 * budget + 10)
            if took is None:
                del seconds[cell]
                results.append(Result(cell, rows, not_run=f"> {3 * budget:g} s a run: stopped"))
            else:
                seconds[cell].append(took)
    results.extend(
        Result(cell, rows, statistics.median(runs_of), runs_of)
        for cell, runs_of in seconds.items()
    )
    return results


def forecast(smaller: list[Result], window: int) -> float:
    """Seconds at a window, along the straight line through the two windows before it.

    An engine is cut off only while it visibly grows: two times apart by less than half are
    taken for noise. Where the last window was not run, the next is not either.
    """
    smaller = sorted(smaller, key=lambda result: result.cell.window)
    if not smaller:
        return 0.0
    if smaller[-1].seconds is None:
        return float("inf")
    if len(smaller) < 2 or smaller[-2].seconds is None:
        return smaller[-1].seconds
    (w0, t0), (w1, t1) = ((r.cell.window, r.seconds or 0.0) for r in smaller[-2:])
    if t1 < 1.5 * t0:
        return t1
    return t1 + (t1 - t0) / (w1 - w0) * (window - w1)


def _same_but_window(a: Cell, b: Cell) -> bool:
    return a.window < b.window and (a.engine, a.cores, a.keys, a.aggregate, a.frame) == (
        b.engine,
        b.cores,
        b.keys,
        b.aggregate,
        b.frame,
    )
