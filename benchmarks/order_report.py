"""order.md and its chart: what the order below a window costs, by data set."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter

import machine
import summary
from cells import (
    AGGREGATES,
    DUCKDB,
    NAMES,
    ORDER_ENGINES,
    PARTITIONED,
    SASH,
    SASH_PARTITIONED,
    SASH_SORT,
    SORT_PARTITIONED,
    OrderCell,
)
from charts import COLOURS
from dataset import Data
from results import Result, Store
from summary import Comparison, Ratio
from words import counted

FEW_KEYS = 10
SORTS, PARTITIONED_SORTS = (SASH, SASH_SORT), (SASH_PARTITIONED, SORT_PARTITIONED)
DUCKDBS, PARTITIONED_DUCKDBS = (SASH, DUCKDB), (SASH_PARTITIONED, DUCKDB)
"""Ours and theirs."""
Results = dict[str, Result[OrderCell]]
"""By engine."""
Panels = dict[tuple[int, str], dict[Data, Results]]
"""By cores and aggregate."""
ABOUT = """\
# Rows in order, side by side

Nanoseconds a row, scan, shuffle and order included, of `agg OVER (PARTITION BY k ORDER BY ts ROWS
BETWEEN 999 PRECEDING AND CURRENT ROW)`: the best of {runs} runs after one warm-up, of fewer if
they are slow. Sash orders by hashing keys and sorting overtaken rows; the second
engine is the same operator over Spark's sort. The last two are the same over rows that are
partitioned by the key already, as those of a bucketed table, so that there is no shuffle: what is
left is the scan of cached rows, the order and the window. DuckDB's rows are a table in memory,
which it partitions itself. Engines run in processes of their own, warm ones, and take turns; a
ratio is the median of those of the turns, since the machine drifts. Plans were checked to contain
the order and the exchange that are named.

{circumstances}
"""


class Times(NamedTuple):
    """What the engines took for one query over one data set."""

    results: Results

    def of(self, engine: str) -> float | None:
        """Nanoseconds a row, if measured."""
        result = self.results.get(engine)
        return None if result is None else result.ns_per_row

    def ratio(self, ours: str, theirs: str) -> float | None:
        """One engine's time over another's, the median of the turns."""
        ratios = [a / b for a, b in self._turns(ours, theirs)]
        return statistics.median(ratios) if ratios else None

    def _turns(self, *engines: str) -> Iterator[tuple[float, ...]]:
        """What each took in the same turn."""
        runs = [self.results[engine].runs for engine in engines if engine in self.results]
        return zip(*runs, strict=False) if len(runs) == len(engines) else iter(())


def write(store: Store[OrderCell], directory: Path) -> None:
    """Write the report and the chart of what was measured."""
    panels: Panels = {}
    for cell, result in store.results.items():
        panel = panels.setdefault((cell.cores, cell.aggregate), {})
        panel.setdefault(cell.data, {})[cell.engine] = result
    lines = [
        ABOUT.format(runs=store.about["runs"], circumstances=machine.sentence(store.about)),
        *_summary(panels),
        "![](order.svg)",
        "",
    ]
    for (cores, aggregate), by_data in sorted(panels.items()):
        lines += [
            f"## {counted(cores, 'core')}, {AGGREGATES[aggregate]}",
            "",
            *_table(by_data),
            "",
        ]
    (directory / "order.md").write_text("\n".join(lines).rstrip() + "\n")
    _draw({cores: p for (cores, aggregate), p in panels.items() if aggregate == "sum"}, directory)


def _summary(panels: Panels) -> Iterator[str]:
    def over(
        pair: tuple[str, str], takes: Callable[[Data], bool] = lambda _: True
    ) -> list[Ratio]:
        return [
            Ratio(found, f"{data}, {counted(cores, 'core')}, {AGGREGATES[aggregate]}")
            for (cores, aggregate), by_data in sorted(panels.items())
            for data, results in by_data.items()
            if takes(data) and (found := Times(results).ratio(*pair)) is not None
        ]

    def is_shuffled(data: Data) -> bool:
        return data.arrival == "shuffled" and data.keys == FEW_KEYS

    def is_in_order(data: Data) -> bool:
        return data.arrival == "in order"

    kinds: list[tuple[str, float, Callable[[Data], bool]]] = [
        ("every cell", 1.05, lambda _: True),
        ("shuffled, 10 keys", 0.25, is_shuffled),
        ("in order", 0.6, is_in_order),
    ]
    return summary.table(
        "Sash's time over the time of",
        [
            *(
                Comparison(f"itself over Spark's sort, {where}{what}", bound, over(pair, takes))
                for what, bound, takes in kinds
                for pair, where in ((SORTS, ""), (PARTITIONED_SORTS, "rows partitioned, "))
            ),
            Comparison("DuckDB, shuffled, 10 keys", 1, over(DUCKDBS, is_shuffled)),
            Comparison(
                "DuckDB, rows partitioned for Sash, shuffled, 10 keys",
                1,
                over(PARTITIONED_DUCKDBS, is_shuffled),
            ),
            Comparison("DuckDB, every cell", None, over(DUCKDBS)),
        ],
    )


def _table(by_data: dict[Data, Results]) -> Iterator[str]:
    ratios = {"Sash / Spark's sort": SORTS, "Sash / DuckDB": DUCKDBS}
    ratios["Sash / Spark's sort, partitioned"] = PARTITIONED_SORTS
    ratios["Sash, partitioned / DuckDB"] = PARTITIONED_DUCKDBS
    names = [NAMES[engine] for engine in ORDER_ENGINES]
    yield "| | " + " | ".join([*names, *ratios]) + " |"
    yield "|---|" + "--:|" * (len(names) + len(ratios))
    for data, results in by_data.items():
        times = Times(results)
        shown = [_or_empty(times.of(engine), "{:,.0f}") for engine in ORDER_ENGINES]
        shown += [_or_empty(times.ratio(*pair), "{:.2f}") for pair in ratios.values()]
        yield f"| {data} | " + " | ".join(shown) + " |"


def _or_empty(value: Any, shape: str) -> str:
    return "" if value is None else shape.format(value)


def _draw(panels: dict[int, dict[Data, Results]], directory: Path) -> None:
    plt.rcParams.update({"font.size": 10, "svg.hashsalt": "sash", "svg.fonttype": "none"})
    longest = max(panels.values(), key=len, default={})
    figure, axes = plt.subplots(
        1,
        max(1, len(panels)),
        figsize=(8 * max(1, len(panels)), 1.5 + 0.42 * len(longest)),
        layout="constrained",
        squeeze=False,
        sharey=True,
    )
    for (cores, by_data), axis in zip(sorted(panels.items()), axes.flat, strict=False):
        _panel(axis, cores, by_data)
        axis.set_yticks(range(len(longest)), labels=[str(data) for data in longest])
        axis.set_ylim(len(longest) - 0.5, -0.5)  # the first at the top
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.suptitle("sum(x) over 1,000 rows: nanoseconds a row, by what arrives", weight="bold")
    figure.savefig(directory / "order.svg", metadata={"Date": None})
    plt.close(figure)


def _panel(axis: Axes, cores: int, by_data: dict[Data, Results]) -> None:
    """A dot for each time: the axis is logarithmic, where a bar's length says nothing."""
    for engine in ORDER_ENGINES:
        found = [
            (time, place)
            for place, results in enumerate(by_data.values())
            if engine in results and (time := results[engine].ns_per_row) is not None
        ]
        if found:
            fill = "none" if engine in PARTITIONED else "full"
            dots = axis.plot(*zip(*found, strict=True), "o", ms=8, fillstyle=fill)
            plt.setp(dots, color=COLOURS[engine], label=NAMES[engine])
    axis.set(xscale="log", title=counted(cores, "core"))
    axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
    axis.xaxis.set_minor_formatter(NullFormatter())
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
