"""One chart a data set: nanoseconds a row against the window, an aggregate in each panel."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullLocator

from cells import (
    AGGREGATES,
    DUCKDB,
    ENGINES,
    NAIVE,
    NAMES,
    POLARS,
    RUNNING,
    SASH,
    SASH_PARTITIONED,
    SASH_SORT,
    SEGMENT_TREE,
    SHUFFLE,
    SORT_PARTITIONED,
    Cell,
)
from report import Panel, chart_name, panels, where
from results import Store

COLOURS = {  # Okabe and Ito's palette, which colour-blind readers can tell apart
    SASH: "#0072B2",
    SEGMENT_TREE: "#E69F00",
    NAIVE: "#D55E00",
    RUNNING: "#666666",
    SHUFFLE: "#AAAAAA",
    SASH_SORT: "#E69F00",
    SASH_PARTITIONED: "#0072B2",
    SORT_PARTITIONED: "#E69F00",
    DUCKDB: "#009E73",
    POLARS: "#CC79A7",
}
FRONT_OF = "window-rows-10keys-1cores.svg"
FRONT = "window-front.svg"
LABEL_GAP = 0.065
"""The least distance between two labels, as a share of the axis."""


def write(store: Store[Cell], directory: Path) -> None:
    """Draw every chart."""
    plt.rcParams.update({"font.size": 11, "svg.hashsalt": "sash", "svg.fonttype": "none"})
    rows = store.about["rows"]
    for name, group in groupby(panels(store), chart_name):
        shown = list(group)
        height = (len(shown) + 1) // 2
        figure, axes = plt.subplots(
            height, 2, figsize=(13, 4.4 * height), layout="constrained", squeeze=False
        )
        title = f"{where(shown[0], rows)}: nanoseconds a row, by window length"
        if any(result.not_run for panel in shown for result in panel.results.values()):
            title += "  (×: wider windows not run)"
        figure.suptitle(title, weight="bold")
        for panel, axis in zip(shown, axes.flat, strict=False):
            _draw(axis, panel)
        for axis in axes.flat[len(shown) :]:
            axis.set_visible(False)
        figure.savefig(directory / name, metadata={"Date": None})
        plt.close(figure)


def write_front(store: Store[Cell], directory: Path) -> None:
    """Draw the chart of the documentation's first page, which a telephone shows as well."""
    plt.rcParams.update({"font.size": 10.5, "svg.hashsalt": "sash", "svg.fonttype": "none"})
    (panel,) = (
        panel
        for panel in panels(store)
        if chart_name(panel) == FRONT_OF and AGGREGATES[panel.aggregate] == "sum(x)"
    )
    figure, axis = plt.subplots(figsize=(5, 3.8), layout="constrained")
    _draw(axis, panel, [engine for engine in ENGINES if engine not in (RUNNING, SHUFFLE)])
    axis.set_title("Nanoseconds a row, by rows in the window", loc="left", weight="bold")
    figure.savefig(directory / FRONT, metadata={"Date": None})
    plt.close(figure)


def _draw(axis: Axes, panel: Panel, engines: Sequence[str] = ENGINES) -> None:
    ends = []
    for engine in engines:
        points = [(w, ns) for w in panel.windows if (ns := panel.ns(engine, w)) is not None]
        if not points:
            continue
        windows, times = zip(*points, strict=True)
        dashed = engine in (RUNNING, SHUFFLE)
        axis.plot(
            windows,
            times,
            color=COLOURS[engine],
            lw=3 if engine == SASH else 1.8,
            ls="--" if dashed else "-",
            marker=None if dashed else "o",
            ms=5,
            zorder=3 if engine == SASH else 2,
        )
        cut_off = windows[-1] < panel.windows[-1]
        if cut_off:
            axis.plot(windows[-1], times[-1], "x", color=COLOURS[engine], ms=11, mew=2.5)
        ends.append((engine, cut_off, float(times[-1])))
    axis.set(xscale="log", yscale="log", xticks=panel.windows)
    axis.set_title(AGGREGATES[panel.aggregate], loc="left")
    axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _short(x)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    _label(axis, ends)


def _label(axis: Axes, ends: list[tuple[str, bool, float]]) -> None:
    """A label right of the axis for each line, at its height or the next free one above."""
    to_axis = axis.transData + axis.transAxes.inverted()
    lowest = -1.0
    for engine, cut_off, time in sorted(ends, key=lambda end: end[2]):
        lowest = max(lowest + LABEL_GAP, float(to_axis.transform((1, time))[1]))
        axis.annotate(
            f"{NAMES[engine]} ×" if cut_off else NAMES[engine],
            (1.02, lowest),
            xycoords="axes fraction",
            va="center",
            color=COLOURS[engine],
            weight="bold" if engine == SASH else "normal",
            annotation_clip=False,
        )


def _short(number: float) -> str:
    if number >= 1_000_000:
        return f"{number / 1_000_000:g}M"
    return f"{number / 1_000:g}k" if number >= 1_000 else f"{number:g}"
