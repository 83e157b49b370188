"""Sliding windows of Sash, Spark, DuckDB and Polars, and the order below them, side by side.

    python benchmarks/bench_window.py            # everything: more than an hour
    python benchmarks/bench_window.py --quick    # a look, in minutes
    python benchmarks/bench_window.py --order    # the order: hashing, Spark's sort, DuckDB

Writes window.json, window.md and a chart per data set to docs/benchmarks, or with ``--order``
order.json, order.md and a chart, of windows of 1,000 rows over many data sets.
"""

import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

import machine
import summary
import window_cells as cells
import workers
from harness import Store, chart, counted, flags, or_empty, table
from summary import Comparison, Ratio
from workers import ns_per_row

Found = dict[Any, dict[str, Any]]
"""Results by engine, or by engine and window."""
WINDOW = """\
# Sliding windows, side by side

Nanoseconds a row, shuffle and sort included: the best of {runs} runs after one warm-up, of fewer
if they are slow, on {rows:,} rows in time order that every engine holds in memory. A window of W
seconds (RANGE) holds W rows, as a window of W rows (ROWS) does. Engines run in processes of their
own and take turns, so that a machine's drift hits all alike; the running total and the shuffle
alone, which have no window, are measured anew beside each. Spark's rows go to the `noop` sink;
DuckDB and Polars return the whole column. Polars takes the rows' order from its input and does
not sort. Sash's plans were checked to contain `SlidingWindow`, the others' not to.

{circumstances}
"""
ORDER = """\
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
FRONT_OF, FRONT = "window-rows-10keys-1cores.svg", "window-front.svg"
LABEL_GAP = 0.065
"""The least distance between two labels, as a share of the axis."""


class Panel(NamedTuple):
    """All results for one aggregate on one data set."""

    cores: int
    keys: int
    frame: str
    aggregate: str
    results: Found

    @property
    def windows(self) -> list[int]:
        return sorted({window for _, window in self.results})

    def ns(self, engine: str, window: int) -> float | None:
        return ns_per_row(self.results.get((engine, window)))

    def ratio(self, engine: str, window: int) -> float | None:
        ours, theirs = self.ns(cells.SASH, window), self.ns(engine, window)
        return None if ours is None or theirs is None else ours / theirs

    def ratio_beyond_shuffle(self, engine: str, window: int) -> float | None:
        """Sash's time over another's, each without what the scan and the shuffle take."""
        ours, theirs = self.ns(cells.SASH, window), self.ns(engine, window)
        shuffle = self.ns(cells.SHUFFLE, window)
        if ours is None or theirs is None or shuffle is None or theirs <= shuffle:
            return None
        return max(0.0, ours - shuffle) / (theirs - shuffle)

    def where(self, rows: int) -> str:
        keys = counted(self.keys, "key")
        if rows // self.keys == cells.TINY_ROWS:
            keys += f" of {cells.TINY_ROWS} rows"
        return f"{self.frame.upper()}, {keys}, {counted(self.cores, 'core')}"

    def title(self, rows: int) -> str:
        return f"{self.where(rows)}, {cells.AGGREGATES[self.aggregate]}"

    @property
    def chart(self) -> str:
        """The file of the chart that shows it."""
        return f"window-{self.frame}-{self.keys}keys-{self.cores}cores.svg"


def write_windows(store: Store, out: Path) -> None:
    aggregates = list(cells.AGGREGATES)
    found: dict[tuple[int, int, int, int], Found] = {}
    for c, result in store.results.items():
        place = c.cores, c.keys, cells.FRAMES.index(c.frame), aggregates.index(c.aggregate)
        found.setdefault(place, {})[c.engine, c.window] = result
    shown = [
        Panel(cores, keys, cells.FRAMES[frame], aggregates[aggregate], results)
        for (cores, keys, frame, aggregate), results in sorted(found.items())
    ]
    rows = store.about["rows"]
    circumstances = machine.sentence(store.about)
    text = WINDOW.format(runs=store.about["runs"], rows=rows, circumstances=circumstances)
    lines = [text, *_summary(shown, rows)]
    for where, group in groupby(shown, lambda panel: panel.where(rows)):
        of = list(group)
        lines += [f"## {where}", "", f"![]({of[0].chart})", ""]
        lines += [line for panel in of for line in _table(panel)]
        _charts(of, where, out / of[0].chart)
    (out / "window.md").write_text("\n".join(lines).rstrip() + "\n")
    front = [p for p in shown if (p.chart, p.aggregate) == (FRONT_OF, "sum")]
    for panel in front:  # the chart of the documentation's first page, for telephones as well
        with chart(out / FRONT, (5, 3.8), font=10.5) as (_, (axis,)):
            apart = (cells.RUNNING, cells.SHUFFLE)
            _draw(axis, panel, [engine for engine in cells.ENGINES if engine not in apart])
            axis.set_title("Nanoseconds a row, by rows in the window", loc="left", weight="bold")


def _summary(shown: list[Panel], rows: int) -> Iterator[str]:
    def ratios(engine: str, least: int = 1, of: Any = Panel.ratio) -> list[Ratio]:
        return [
            Ratio(ratio, f"{panel.title(rows)}, W = {window:,}")
            for panel in shown
            for window in panel.windows
            if window >= least and (ratio := of(panel, engine, window)) is not None
        ]

    segment_tree = partial(ratios, cells.SEGMENT_TREE, 100)
    flatness = [
        Ratio(wide / narrow, panel.title(rows))
        for panel in shown
        if (wide := panel.ns(cells.SASH, 1_000_000)) and (narrow := panel.ns(cells.SASH, 100))
    ]
    without = "Spark's segment tree, W ≥ 100, each without scan and shuffle"
    return summary.table(
        "Sash's time over the time of",
        [
            Comparison("Spark's segment tree, W ≥ 100", 0.3, segment_tree()),
            Comparison(without, None, segment_tree(Panel.ratio_beyond_shuffle)),
            Comparison("Spark as shipped, every W", 1, ratios(cells.NAIVE)),
            Comparison("Spark's running total", 1, ratios(cells.RUNNING)),
            Comparison("itself: W = 1,000,000 over W = 100", 1.2, flatness),
            Comparison("DuckDB, every W", None, ratios(cells.DUCKDB)),
        ],
    )


def _table(panel: Panel) -> Iterator[str]:
    windows = panel.windows
    rows = [
        [engine.title, *_cells(panel, name)]
        for name, engine in cells.ENGINES.items()
        if any(of == name for of, _ in panel.results)
    ]
    for name in (cells.SEGMENT_TREE, cells.NAIVE, cells.RUNNING, cells.DUCKDB):
        ratios = [panel.ratio(name, window) for window in windows]
        if any(ratios):
            shown = [or_empty(ratio, "{:.2f}") for ratio in ratios]
            rows.append([f"*Sash / {cells.ENGINES[name].title}*", *shown])
    yield from table([cells.AGGREGATES[panel.aggregate], *(f"W={w:,}" for w in windows)], rows)
    yield ""
    explained = set()  # wider ones follow from the first cell of an engine that has no figure
    for (engine, window), result in sorted(panel.results.items(), key=lambda item: item[0]):
        if result["not_run"] and engine not in explained:
            explained.add(engine)
            title = cells.ENGINES[engine].title
            yield f"Not run: {title} from W = {window:,}, {result['not_run']}.\n"
    yield ""


def _cells(panel: Panel, engine: str) -> Iterator[str]:
    for window in panel.windows:
        result = panel.results.get((engine, window))
        if result and result["not_run"]:
            yield "not run: " + result["not_run"].split(" a run")[0]
        else:
            yield or_empty(panel.ns(engine, window), "{:,.0f}")


def _charts(shown: list[Panel], where: str, path: Path) -> None:
    """One chart a data set: nanoseconds a row against the window, an aggregate in each panel."""
    height = (len(shown) + 1) // 2
    with chart(path, (13, 4.4 * height), (height, 2)) as (figure, axes):
        title = f"{where}: nanoseconds a row, by window length"
        if any(result["not_run"] for panel in shown for result in panel.results.values()):
            title += "  (×: wider windows not run)"
        figure.suptitle(title, weight="bold")
        for panel, axis in zip(shown, axes, strict=False):
            _draw(axis, panel)


def _draw(axis: Any, panel: Panel, engines: Sequence[str] = tuple(cells.ENGINES)) -> None:
    ends = []
    for name in engines:
        points = [(w, ns) for w in panel.windows if (ns := panel.ns(name, w)) is not None]
        if not points:
            continue
        windows, times = zip(*points, strict=True)
        dashed, is_sash = name in (cells.RUNNING, cells.SHUFFLE), name == cells.SASH
        colour = cells.ENGINES[name].colour
        axis.plot(
            windows,
            times,
            color=colour,
            lw=3 if is_sash else 1.8,
            ls="--" if dashed else "-",
            marker=None if dashed else "o",
            ms=5,
            zorder=3 if is_sash else 2,
        )
        cut_off = windows[-1] < panel.windows[-1]
        if cut_off:
            axis.plot(windows[-1], times[-1], "x", color=colour, ms=11, mew=2.5)
        ends.append((name, cut_off, float(times[-1])))
    axis.set(xscale="log", yscale="log", xticks=panel.windows)
    axis.set_title(cells.AGGREGATES[panel.aggregate], loc="left")
    axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _short(x)))
    axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:,.0f}"))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.grid(alpha=0.25)
    # a label right of the axis for each line, at its height or the next free one above
    to_axis = axis.transData + axis.transAxes.inverted()
    lowest = -1.0
    for name, cut_off, time in sorted(ends, key=lambda end: end[2]):
        lowest = max(lowest + LABEL_GAP, float(to_axis.transform((1, time))[1]))
        axis.annotate(
            f"{cells.ENGINES[name].title} ×" if cut_off else cells.ENGINES[name].title,
            (1.02, lowest),
            xycoords="axes fraction",
            va="center",
            color=cells.ENGINES[name].colour,
            weight="bold" if name == cells.SASH else "normal",
            annotation_clip=False,
        )


def _short(number: float) -> str:
    if number >= 1_000_000:
        return f"{number / 1_000_000:g}M"
    return f"{number / 1_000:g}k" if number >= 1_000 else f"{number:g}"


SORTS, DUCKDBS = (cells.SASH, cells.SASH_SORT), (cells.SASH, cells.DUCKDB)
PARTITIONED_SORTS = cells.SASH_PARTITIONED, cells.SORT_PARTITIONED
PARTITIONED_DUCKDBS = cells.SASH_PARTITIONED, cells.DUCKDB
"""Ours and theirs."""
RATIOS = {
    "Sash / Spark's sort": SORTS,
    "Sash / DuckDB": DUCKDBS,
    "Sash / Spark's sort, partitioned": PARTITIONED_SORTS,
    "Sash, partitioned / DuckDB": PARTITIONED_DUCKDBS,
}


def _ratio(results: Found, pair: tuple[str, str]) -> float | None:
    """One engine's time over another's, the median of the turns."""
    if not all(engine in results for engine in pair):
        return None
    turns = zip(*(results[engine]["runs"] for engine in pair), strict=False)
    ratios = [a / b for a, b in turns]
    return statistics.median(ratios) if ratios else None


def write_orders(store: Store, out: Path) -> None:
    panels: dict[tuple[int, str], dict[Any, Found]] = {}
    for cell, result in store.results.items():
        panel = panels.setdefault((cell.cores, cell.aggregate), {})
        panel.setdefault(cell.data, {})[cell.engine] = result
    circumstances = machine.sentence(store.about)
    lines = [ORDER.format(runs=store.about["runs"], circumstances=circumstances)]
    lines += [*_order_summary(panels), "![](order.svg)", ""]
    engines = cells.ORDER_ENGINES
    for (cores, aggregate), by_data in sorted(panels.items()):
        rows = [
            [str(data)]
            + [or_empty(ns_per_row(results.get(engine)), "{:,.0f}") for engine in engines]
            + [or_empty(_ratio(results, pair), "{:.2f}") for pair in RATIOS.values()]
            for data, results in by_data.items()
        ]
        heads = ["", *(engine.title for engine in engines.values()), *RATIOS]
        title = f"## {counted(cores, 'core')}, {cells.AGGREGATES[aggregate]}"
        lines += [title, "", *table(heads, rows), ""]
    (out / "order.md").write_text("\n".join(lines).rstrip() + "\n")
    sums = {cores: p for (cores, aggregate), p in panels.items() if aggregate == "sum"}
    _order_chart(sums, out / "order.svg")


def _order_summary(panels: dict[tuple[int, str], dict[Any, Found]]) -> Iterator[str]:
    def over(pair: tuple[str, str], takes: Callable[[Any], bool]) -> list[Ratio]:
        return [
            Ratio(found, f"{data}, {counted(cores, 'core')}, {cells.AGGREGATES[aggregate]}")
            for (cores, aggregate), by_data in sorted(panels.items())
            for data, results in by_data.items()
            if takes(data) and (found := _ratio(results, pair)) is not None
        ]

    def is_shuffled(data: Any) -> bool:
        return bool(data.arrival == "shuffled" and data.keys == 10)

    def every(_: Any) -> bool:
        return True

    kinds: list[tuple[str, float, Callable[[Any], bool]]] = [
        ("every cell", 1.05, every),
        ("shuffled, 10 keys", 0.25, is_shuffled),
        ("in order", 0.6, lambda data: data.arrival == "in order"),
    ]
    found = [
        Comparison(f"itself over Spark's sort, {where}{what}", bound, over(pair, takes))
        for what, bound, takes in kinds
        for pair, where in ((SORTS, ""), (PARTITIONED_SORTS, "rows partitioned, "))
    ]
    partitioned = "DuckDB, rows partitioned for Sash, shuffled, 10 keys"
    found += [
        Comparison("DuckDB, shuffled, 10 keys", 1, over(DUCKDBS, is_shuffled)),
        Comparison(partitioned, 1, over(PARTITIONED_DUCKDBS, is_shuffled)),
        Comparison("DuckDB, every cell", None, over(DUCKDBS, every)),
    ]
    return summary.table("Sash's time over the time of", found)


def _order_chart(panels: dict[int, dict[Any, Found]], path: Path) -> None:
    """A dot for each time: the axis is logarithmic, where a bar's length says nothing."""
    longest = max(panels.values(), key=len, default={})
    count = max(1, len(panels))
    size = (8 * count, 1.5 + 0.42 * len(longest))
    with chart(path, size, (1, count), font=10, sharey=True) as (figure, axes):
        for (cores, by_data), axis in zip(sorted(panels.items()), axes, strict=False):
            for name, engine in cells.ORDER_ENGINES.items():
                found = [
                    (time, place)
                    for place, results in enumerate(by_data.values())
                    if (time := ns_per_row(results.get(name))) is not None
                ]
                if found:
                    fill: Any = "none" if engine.partitioned else "full"
                    dots = axis.plot(*zip(*found, strict=True), "o", ms=8, fillstyle=fill)
                    plt.setp(dots, color=engine.colour, label=engine.title)
            axis.set(xscale="log", title=counted(cores, "core"))
            axis.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}")
            axis.xaxis.set_minor_formatter(NullFormatter())
            axis.grid(alpha=0.25)
            axis.set_yticks(range(len(longest)), labels=[str(data) for data in longest])
            axis.set_ylim(len(longest) - 0.5, -0.5)  # the first at the top
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        title = "sum(x) over 1,000 rows: nanoseconds a row, by what arrives"
        figure.suptitle(title, weight="bold")


def main() -> None:
    options = flags(
        __doc__,
        quick={"rows": 200_000},
        runs=0,
        order=(False, "the order below a window"),
        rows=(cells.ROWS, "rows of the data sets"),
        cores=([1, 2], "of each engine"),
        keys=([10, 1, 0], "0: partitions of 20 rows"),
        budget=(0.0, "seconds; no run foretold to exceed it starts; 15, or 60 with --order"),
        warm_up=(30.0, "with --order: a process's seconds of queries before it is measured"),
        memory=("", "heap of each JVM, one for each mode of Spark; 3g, or 4g with --order"),
    )
    options.runs = options.runs or (5 if options.order else 3)
    options.memory = options.memory or ("4g" if options.order else "3g")
    options.budget = options.budget or (60 if options.order else 15)
    if options.order:
        store = Store(
            options,
            "order",
            lambda c: cells.OrderCell(**{**c, "data": cells.Data(**c["data"])}),
            runs=options.runs,
        )
        if not options.report:
            chosen = cells.order_turns(options.quick)
            workers.run(
                options, store, cells.ORDER_ENGINES, chosen, cells.write, warm_up=options.warm_up
            )
        write_orders(store, options.out)
        return
    about = {"rows": options.rows, "runs": options.runs}
    store = Store(options, "window", lambda c: cells.Cell(**c), **about)
    if not options.report:
        chosen = cells.turns(options.rows, options.cores, options.keys, options.quick)
        workers.run(options, store, cells.ENGINES, chosen, cells.write)
    write_windows(store, options.out)


if __name__ == "__main__":
    main()
