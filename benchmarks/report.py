"""window.md: what the plugin must reach and reaches, then every figure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import machine
from cells import (
    AGGREGATES,
    DUCKDB,
    ENGINES,
    FRAMES,
    NAIVE,
    NAMES,
    RUNNING,
    SASH,
    SEGMENT_TREE,
    SHUFFLE,
    TINY_ROWS,
    Cell,
)
from measure import SLOW
from results import Result, Store

ABOUT = """\
Nanoseconds a row, shuffle and sort included: the best of {runs} runs after one warm-up (of two
runs where the first took more than {slow:g} s), on
{rows:,} rows in time order that every engine holds in memory. A window of W seconds (RANGE)
holds W rows, as a window of W rows (ROWS) does. Engines run in processes of their own and take
turns, so that a machine's drift hits all alike; the running total and the shuffle alone, which
have no window, are measured anew beside each. Spark's rows go to the `noop` sink; DuckDB and
Polars return the whole column. Polars takes the rows' order from its input and does not sort.
Sash's plans were checked to contain `SlidingWindow`, the others' not to.

{circumstances}
"""


class Panel(NamedTuple):
    """All results for one aggregate on one data set."""

    cores: int
    keys: int
    frame: str
    aggregate: str
    results: dict[tuple[str, int], Result[Cell]]

    @property
    def windows(self) -> list[int]:
        """The windows that were measured, ascending."""
        return sorted({window for _, window in self.results})

    def ns(self, engine: str, window: int) -> float | None:
        """Nanoseconds a row, if measured."""
        result = self.results.get((engine, window))
        return None if result is None else result.ns_per_row

    def ratio(self, engine: str, window: int) -> float | None:
        """Sash's time over that of another."""
        ours, theirs = self.ns(SASH, window), self.ns(engine, window)
        return None if ours is None or theirs is None else ours / theirs

    def ratio_beyond_shuffle(self, engine: str, window: int) -> float | None:
        """Sash's time over that of another, each without what the scan and the shuffle take."""
        ours, theirs = self.ns(SASH, window), self.ns(engine, window)
        shuffle = self.ns(SHUFFLE, window)
        if ours is None or theirs is None or shuffle is None or theirs <= shuffle:
            return None
        return max(0.0, ours - shuffle) / (theirs - shuffle)

    def title(self, rows: int) -> str:
        """The data set in words."""
        return f"{where(self, rows)}, {AGGREGATES[self.aggregate]}"


def where(panel: Panel, rows: int) -> str:
    """Frame, keys and cores in words."""
    keys = "1 key" if panel.keys == 1 else f"{panel.keys:,} keys"
    if rows // panel.keys == TINY_ROWS:
        keys += f" of {TINY_ROWS} rows"
    cores = "1 core" if panel.cores == 1 else f"{panel.cores} cores"
    return f"{panel.frame.upper()}, {keys}, {cores}"


def panels(store: Store[Cell]) -> list[Panel]:
    """Results by data set and aggregate, in the order of the report."""
    aggregates = list(AGGREGATES)
    found: dict[tuple[int, int, int, int], dict[tuple[str, int], Result[Cell]]] = {}
    for cell, result in store.results.items():
        frame, aggregate = FRAMES.index(cell.frame), aggregates.index(cell.aggregate)
        panel = found.setdefault((cell.cores, cell.keys, frame, aggregate), {})
        panel[cell.engine, cell.window] = result
    return [
        Panel(cores, keys, FRAMES[frame], aggregates[aggregate], results)
        for (cores, keys, frame, aggregate), results in sorted(found.items())
    ]


def write(store: Store[Cell], path: Path) -> None:
    """Write the report."""
    about, shown = store.about, panels(store)
    lines = ["# Sliding windows, side by side", ""]
    circumstances = machine.sentence(about)
    lines += [
        ABOUT.format(
            runs=about["runs"], slow=SLOW, rows=about["rows"], circumstances=circumstances
        )
    ]
    lines += _summary(shown, about["rows"])
    place = ""
    for panel in shown:
        if place != (place := where(panel, about["rows"])):
            lines += [f"## {place}", "", f"![]({chart_name(panel)})", ""]
        lines += _table(panel)
    path.write_text("\n".join(lines).rstrip() + "\n")


def chart_name(panel: Panel) -> str:
    """The file of the chart that shows a panel."""
    return f"window-{panel.frame}-{panel.keys}keys-{panel.cores}cores.svg"


def _summary(shown: list[Panel], rows: int) -> list[str]:
    """The middle and the worst case of each comparison, beside what it must be."""
    lines = [
        "| Sash's time over that of | must be at most | median | worst | where |",
        "|---|--:|--:|--:|---|",
    ]
    comparisons = [
        ("Spark's segment tree, W ≥ 100", 0.3, _ratios(shown, SEGMENT_TREE, 100)),
        (
            "Spark's segment tree, W ≥ 100, each without scan and shuffle",
            None,
            _ratios(shown, SEGMENT_TREE, 100, Panel.ratio_beyond_shuffle),
        ),
        ("Spark as shipped, every W", 1.0, _ratios(shown, NAIVE)),
        ("Spark's running total", 1.0, _ratios(shown, RUNNING)),
        ("itself: W = 1,000,000 over W = 100", 1.2, _flatness(shown)),
        ("DuckDB, every W", None, _ratios(shown, DUCKDB)),
    ]
    for title, bound, ratios in comparisons:
        worst = max(ratios, key=lambda found: found[0], default=None)
        if worst is not None:
            ratio, panel, window = worst
            at = "" if window is None else f", W = {window:,}"
            limit = "" if bound is None else f"{bound:g}"
            median = statistics.median(found for found, _, _ in ratios)
            lines.append(
                f"| {title} | {limit} | {median:.2f} | {ratio:.2f} | {panel.title(rows)}{at} |"
            )
    return [*lines, ""]


def _ratios(
    shown: list[Panel],
    engine: str,
    least: int = 1,
    ratio_of: Callable[[Panel, str, int], float | None] = Panel.ratio,
) -> list[tuple[float, Panel, int | None]]:
    return [
        (ratio, panel, window)
        for panel in shown
        for window in panel.windows
        if window >= least and (ratio := ratio_of(panel, engine, window)) is not None
    ]


def _flatness(shown: list[Panel]) -> list[tuple[float, Panel, int | None]]:
    found: list[tuple[float, Panel, int | None]] = []
    for panel in shown:
        wide, narrow = panel.ns(SASH, 1_000_000), panel.ns(SASH, 100)
        if wide is not None and narrow is not None:
            found.append((wide / narrow, panel, None))
    return found


def _table(panel: Panel) -> list[str]:
    windows = panel.windows
    lines = [
        f"| {AGGREGATES[panel.aggregate]} | " + " | ".join(f"W={w:,}" for w in windows) + " |",
        "|---|" + "--:|" * len(windows),
    ]
    for engine in ENGINES:
        if any(name == engine for name, _ in panel.results):
            lines.append(f"| {NAMES[engine]} | " + " | ".join(_cells(panel, engine)) + " |")
    for engine in (SEGMENT_TREE, NAIVE, RUNNING, DUCKDB):
        ratios = [panel.ratio(engine, window) for window in windows]
        if any(ratios):
            shown = " | ".join("" if ratio is None else f"{ratio:.2f}" for ratio in ratios)
            lines.append(f"| *Sash / {NAMES[engine]}* | {shown} |")
    return [*lines, "", *_reasons(panel), ""]


def _cells(panel: Panel, engine: str) -> Iterator[str]:
    for window in panel.windows:
        result = panel.results.get((engine, window))
        ns = panel.ns(engine, window)
        if ns is not None:
            yield f"{ns:,.0f}"
        elif result is not None and result.not_run:
            yield "not run: " + result.not_run.split(" a run")[0]
        else:
            yield ""


def _reasons(panel: Panel) -> Iterator[str]:
    """Why the first cell of an engine that has no figure has none; wider ones follow from it."""
    explained = set()
    for (engine, window), result in sorted(panel.results.items()):
        if result.not_run and engine not in explained:
            explained.add(engine)
            yield f"Not run: {NAMES[engine]} from W = {window:,}, {result.not_run}.\n"
