"""window.md: what the plugin must reach and reaches, then every figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import machine
import summary
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
from results import Result, Store
from summary import Comparison, Ratio
from words import counted

ABOUT = """\
Nanoseconds a row, shuffle and sort included: the best of {runs} runs after one warm-up, of fewer
if they are slow, on {rows:,} rows in time order that every engine holds in memory. A window of W
seconds (RANGE) holds W rows, as a window of W rows (ROWS) does. Engines run in processes of their
own and take turns, so that a machine's drift hits all alike; the running total and the shuffle
alone, which have no window, are measured anew beside each. Spark's rows go to the `noop` sink;
DuckDB and Polars return the whole column. Polars takes the rows' order from its input and does
not sort. Sash's plans were checked to contain `SlidingWindow`, the others' not to.

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
        """Sash's time over another's."""
        ours, theirs = self.ns(SASH, window), self.ns(engine, window)
        return None if ours is None or theirs is None else ours / theirs

    def ratio_beyond_shuffle(self, engine: str, window: int) -> float | None:
        """Sash's time over another's, each without what the scan and the shuffle take."""
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
    keys = counted(panel.keys, "key")
    if rows // panel.keys == TINY_ROWS:
        keys += f" of {TINY_ROWS} rows"
    return f"{panel.frame.upper()}, {keys}, {counted(panel.cores, 'core')}"


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
    lines += [ABOUT.format(runs=about["runs"], rows=about["rows"], circumstances=circumstances)]
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


def _summary(shown: list[Panel], rows: int) -> Iterator[str]:
    segment_tree = partial(_ratios, shown, rows, SEGMENT_TREE, 100)
    return summary.table(
        "Sash's time over the time of",
        [
            Comparison("Spark's segment tree, W ≥ 100", 0.3, segment_tree()),
            Comparison(
                "Spark's segment tree, W ≥ 100, each without scan and shuffle",
                None,
                segment_tree(Panel.ratio_beyond_shuffle),
            ),
            Comparison("Spark as shipped, every W", 1, _ratios(shown, rows, NAIVE)),
            Comparison("Spark's running total", 1, _ratios(shown, rows, RUNNING)),
            Comparison("itself: W = 1,000,000 over W = 100", 1.2, _flatness(shown, rows)),
            Comparison("DuckDB, every W", None, _ratios(shown, rows, DUCKDB)),
        ],
    )


def _ratios(
    shown: list[Panel],
    rows: int,
    engine: str,
    least: int = 1,
    ratio_of: Callable[[Panel, str, int], float | None] = Panel.ratio,
) -> list[Ratio]:
    return [
        Ratio(ratio, f"{panel.title(rows)}, W = {window:,}")
        for panel in shown
        for window in panel.windows
        if window >= least and (ratio := ratio_of(panel, engine, window)) is not None
    ]


def _flatness(shown: list[Panel], rows: int) -> list[Ratio]:
    return [
        Ratio(wide / narrow, panel.title(rows))
        for panel in shown
        if (wide := panel.ns(SASH, 1_000_000)) and (narrow := panel.ns(SASH, 100))
    ]


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
