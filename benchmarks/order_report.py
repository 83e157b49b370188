"""order.md and its chart: what the order below a window costs, by data set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

import machine
from cells import AGGREGATES, DUCKDB, NAMES, ORDER_ENGINES, SASH, SASH_SORT, SHUFFLE, OrderCell
from charts import COLOURS
from dataset import Data
from results import Result, Store

PANEL_ENGINES = [SASH, SASH_SORT, DUCKDB]
ABOUT = """\
# The order below a window

Nanoseconds a row, shuffle and order included, of `agg OVER (PARTITION BY k ORDER BY ts ROWS
BETWEEN 999 PRECEDING AND CURRENT ROW)`: the best of {runs} runs after one warm-up (of two where
the first took more than 4 s). Sash orders by hashing keys and sorting those out of order; the
second engine is the same operator over Spark's sort. What both pay for the scan and the shuffle
stands beside them, and the last columns take it off. Engines run in processes of their own and
take turns. Plans were checked to contain the order that is named.

{circumstances}
"""


def write(store: Store[OrderCell], directory: Path) -> None:
    """Write the report and the chart of what was measured."""
    panels: dict[tuple[int, str], dict[Data, dict[str, Result[OrderCell]]]] = {}
    for cell, result in store.results.items():
        panel = panels.setdefault((cell.cores, cell.aggregate), {})
        panel.setdefault(cell.data, {})[cell.engine] = result
    lines = [
        ABOUT.format(runs=store.about["runs"], circumstances=machine.sentence(store.about)),
        "![](order.svg)",
        "",
    ]
    for (cores, aggregate), by_data in sorted(panels.items()):
        lines += [f"## {_cores(cores)}, {AGGREGATES[aggregate]}", "", *_table(by_data), ""]
    (directory / "order.md").write_text("\n".join(lines).rstrip() + "\n")
    _draw({cores: p for (cores, aggregate), p in panels.items() if aggregate == "sum"}, directory)


def _cores(cores: int) -> str:
    return "1 core" if cores == 1 else f"{cores} cores"


def _table(by_data: dict[Data, dict[str, Result[OrderCell]]]) -> Iterator[str]:
    names = [NAMES[engine] for engine in ORDER_ENGINES]
    ratios = ["Sash / Spark's sort", "without the shuffle", "Sash / DuckDB"]
    yield "| | " + " | ".join([*names, *ratios]) + " |"
    yield "|---|" + "--:|" * (len(names) + len(ratios))
    for data, results in by_data.items():
        found = {
            engine: results[engine].ns_per_row for engine in ORDER_ENGINES if engine in results
        }
        times = [_or_empty(found.get(engine), "{:,.0f}") for engine in ORDER_ENGINES]
        sash, spark = found.get(SASH), found.get(SASH_SORT)
        quotients = [
            _ratio(sash, spark),
            _ratio(_beyond(sash, found.get(SHUFFLE)), _beyond(spark, found.get(SHUFFLE))),
            _ratio(sash, found.get(DUCKDB)),
        ]
        shown = [_or_empty(quotient, "{:.2f}") for quotient in quotients]
        yield f"| {data} | " + " | ".join([*times, *shown]) + " |"


def _beyond(time: float | None, shuffle: float | None) -> float | None:
    return None if time is None or shuffle is None else max(0.0, time - shuffle)


def _ratio(a: float | None, b: float | None) -> float | None:
    return a / b if a is not None and b else None


def _or_empty(value: Any, shape: str) -> str:
    return "" if value is None else shape.format(value)


def _draw(panels: dict[int, dict[Data, dict[str, Result[OrderCell]]]], directory: Path) -> None:
    plt.rcParams.update({"font.size": 10, "svg.hashsalt": "sash", "svg.fonttype": "none"})
    most = max((len(by_data) for by_data in panels.values()), default=1)
    figure, axes = plt.subplots(
        1,
        max(1, len(panels)),
        figsize=(8 * max(1, len(panels)), 1 + 0.42 * most),
        layout="constrained",
        squeeze=False,
        sharey=True,
    )
    for (cores, by_data), axis in zip(sorted(panels.items()), axes.flat, strict=False):
        _panel(axis, cores, by_data)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.suptitle("sum(x) over 1,000 rows: nanoseconds a row, by what arrives", weight="bold")
    figure.savefig(directory / "order.svg", metadata={"Date": None})
    plt.close(figure)


def _panel(axis: Axes, cores: int, by_data: dict[Data, dict[str, Result[OrderCell]]]) -> None:
    thickness = 0.8 / len(PANEL_ENGINES)
    for i, engine in enumerate(PANEL_ENGINES):
        places, times = [], []
        for place, results in enumerate(by_data.values()):
            time = results[engine].ns_per_row if engine in results else None
            if time is not None:
                places.append(place + (i - 1) * thickness)
                times.append(time)
        axis.barh(places, times, thickness, color=COLOURS[engine], label=NAMES[engine])
    shuffles = [
        (place, time)
        for place, results in enumerate(by_data.values())
        if SHUFFLE in results and (time := results[SHUFFLE].ns_per_row) is not None
    ]
    for place, time in shuffles:
        label = NAMES[SHUFFLE] if place == shuffles[0][0] else None
        axis.plot([time, time], [place - 0.45, place + 0.45], color="black", lw=1, label=label)
    axis.set_yticks(range(len(by_data)), labels=[str(data) for data in by_data])
    axis.set(xscale="log", title=_cores(cores))
    axis.invert_yaxis()
    axis.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    axis.grid(axis="x", alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
