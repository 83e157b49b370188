"""stream.svg: what an event takes, by query and engine."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

from stream_cells import FLINK, LARGE, SASH, SPARK, Cell, Selection
from stream_results import Store

Fill = Literal["full", "none"]
COLOURS = {SASH: "#0072B2", SPARK: "#E69F00", FLINK: "#009E73"}


def write(store: Store, selection: Selection, path: Path) -> None:
    """A panel for each number of keys."""
    plt.rcParams.update({"font.size": 11, "svg.hashsalt": "sash", "svg.fonttype": "none"})
    panels = {k: _queries(store, k) for k in selection.keys}
    panels = {keys: queries for keys, queries in panels.items() if queries}
    heights = [len(queries) for queries in panels.values()]
    figure, axes = plt.subplots(
        max(1, len(panels)),
        1,
        figsize=(9, 1.6 + 0.36 * sum(heights) + 0.8 * len(heights)),
        layout="constrained",
        squeeze=False,
        sharex=True,
        height_ratios=heights or None,
    )
    for (keys, queries), axis in zip(panels.items(), axes.flat, strict=False):
        _panel(axis, store, keys, queries)
    figure.legend(handles=_legend(), loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle("Microseconds an event", weight="bold")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _queries(store: Store, keys: int) -> list[str]:
    """Those that were measured, as the report orders them."""
    return list(dict.fromkeys(cell.name for cell in store.figures if cell.keys == keys))


def _panel(axis: Axes, store: Store, keys: int, queries: list[str]) -> None:
    """A mark for each time: the axis is logarithmic, where a bar's length says nothing."""
    for cell, figures in store.figures.items():
        if cell.keys == keys:
            axis.plot(
                figures.micros,
                queries.index(cell.name),
                ">" if figures.stopped else "o",
                ms=8,
                fillstyle=_fill(cell),
                color=COLOURS[cell.engine],
            )
    axis.set_yticks(range(len(queries)), labels=queries)
    axis.set_ylim(len(queries) - 0.5, -0.5)  # the first at the top
    axis.set(xscale="log", title=f"{keys:,} keys")
    axis.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}")
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.tick_params(labelbottom=True)
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)


def _fill(cell: Cell) -> Fill:
    return "full" if cell.batch in (LARGE, 0) else "none"


def _legend() -> list[Line2D]:
    marks: list[tuple[str, str, str, Fill]] = [
        ("Sash, batches of 100,000", SASH, "o", "full"),
        ("Sash, batches of 10,000", SASH, "o", "none"),
        ("Spark, batches of 100,000", SPARK, "o", "full"),
        ("Spark, batches of 10,000", SPARK, "o", "none"),
        ("Flink", FLINK, "o", "full"),
        ("Flink takes more", FLINK, ">", "full"),
    ]
    return [
        Line2D([], [], ls="", marker=mark, ms=8, fillstyle=fill, color=COLOURS[who], label=label)
        for label, who, mark, fill in marks
    ]
