"""The pages of the papers' figures and their charts, ours beside the authors' C++."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

import core_rides
import machine
import summary
from core_figures import FIGURES, Figure
from core_results import Point, Store
from harness import chart
from summary import Comparison, Ratio

TITLES = {
    "core": "The core's algorithms beside the authors' C++",
    "trees": "FiBA and AMTA beside the authors' C++",
}
"""By page."""
ABOUT = """\
# {title}

Ours by JMH, one benchmark and one class of aggregates in a process unless the title says
otherwise; theirs by their own benchmark programs, compiled with `-O3 -march=native`. Both slide
over the same ints on the same machine, in turns.
{turns}
The machine is shared: for minutes at a stretch, up to a third of its processors' time may be
taken away, which only ever adds to a time. A ratio below 1 says that ours is faster.

{fences}\
Where single calls are timed, every call is: ours by the JVM's clock, theirs by the processor's
counter. A timer's own time is in both, and so is what the hypervisor of a shared machine takes
away; the timer alone shows both.

{circumstances}
"""
FENCES = """\
The loop of their programs has a memory fence in each slide, which ours has not. The first figure
also gives their time without it: a fence that holds the compiler alone takes its place. Both
loops over a window in order hold it in a local variable: a call by JMH is a thousand slides.

"""
ONE_TURN = "There was one turn: each point is one run of ours, and one of theirs right after it."
TURNS = """\
A turn goes through all of the figures, so that the runs of a point lie an hour apart. The best
run of either side is shown, and their ratio; {page}.json has all runs."""
MARKERS = "os^"
"""Where a figure has more lines than there are colours."""
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#666666"]


def write(store: Store, page: str, directory: Path) -> None:
    """Write a page and the charts of its figures that have points."""
    figures = [figure for figure in FIGURES if figure.page == page]
    about = ABOUT.format(
        title=TITLES[page],
        fences=FENCES if any(figure.unfenced for figure in figures) else "",
        turns=ONE_TURN if max(map(store.turns, store.results)) == 1 else TURNS.format(page=page),
        circumstances=machine.sentence(store.about),
    )
    lines = [about, *_summary(store, figures)]
    for figure in figures:
        measured = {p for p in store.results if p.figure == figure.name}
        if not measured:
            continue
        lines += [f'<a id="{figure.name}"></a>', "", f"## {figure.title}", ""]
        lines += [f"{figure.paper}; {figure.unit}.", ""]
        lines += [figure.note] if figure.note else []
        lines += [f"![]({page}-{figure.name}.svg)", ""]
        for operation in figure.operations:
            lines += _table(store, figure, operation)
        _draw(store, figure, directory / f"{page}-{figure.name}.svg")
        if figure.name == "rides":
            core_rides.draw(directory / f"{page}-rides-shape.svg")
    lines += _slower(store, figures)
    lines += _allocation(store)
    (directory / f"{page}.md").write_text("\n".join(lines).rstrip() + "\n")


def _summary(store: Store, figures: list[Figure]) -> Iterator[str]:
    return summary.table(
        "Our time over the time of the authors' C++",
        [
            Comparison(
                figure.title + of,
                1,
                [
                    Ratio(ratio, f"{p.operation}, {p.series}, {figure.column(p.x)}")
                    for p in store.results
                    if p.figure == figure.name and (ratio := store.ratio(p, side))
                ],
            )
            for figure in figures
            for side, of in (("theirs", ""), ("unfenced", "; theirs without fences"))
            if side == "theirs" or figure.unfenced
        ],
    )


def _slower(store: Store, figures: list[Figure]) -> Iterator[str]:
    """The mean times that are over theirs, and the classes that take them."""
    profiles = {p: found for p in store.results if (found := store.profile(p))}
    if not profiles:
        return
    yield "## Mean times over the C++, and where they go"
    yield ""
    yield "By async-profiler: the four classes whose own methods take most of our time."
    yield ""
    yield "| mean time | ours / C++ | classes |"
    yield "|---|--:|---|"
    columns = {figure.name: figure for figure in figures}
    for point, profile in profiles.items():
        classes = [f"{name.split('.')[-1]} {share:.0%}" for name, share in profile.items()]
        place = columns[point.figure].column(point.x)
        link = f"[{point.figure}](#{point.figure}), {point.operation}, {point.series}, {place}"
        yield f"| {link} | {store.ratio(point, 'theirs'):.2f} | {', '.join(classes)} |"
    yield ""


def _allocation(store: Store) -> Iterator[str]:
    """What calls allocated, by JMH's gc profiler, which itself allocates a little."""
    allocated = {
        point: found
        for point in store.results
        if (found := store.best(point, "allocated")) is not None
    }
    per_x = {figure.name for figure in FIGURES if figure.per_x}
    garbage = {
        point: found
        for point, found in allocated.items()
        if found
        >= max(1, point.x if point.figure in per_x else (store.best(point, "ours") or 0) / 1e3)
    }
    yield "## Allocation"
    yield ""
    yield (
        f"By JMH's gc profiler, {len(allocated) - len(garbage)} of the {len(allocated)} "
        "benchmarks above of the mean time allocate less than a byte: an element, a call, or a "
        "microsecond of a longer call" + (":" if garbage else ".")
    )
    yield ""
    for point, found in garbage.items():
        yield f"- {point}: {found:,.0f} bytes"


def _columns(store: Store, figure: Figure) -> list[float]:
    return sorted({p.x for p in store.results if p.figure == figure.name})


def _table(store: Store, figure: Figure, operation: str) -> Iterator[str]:
    columns = _columns(store, figure)
    rows: list[tuple[str, list[str]]] = []
    for series in figure.series:
        points = [Point(figure.name, operation, series.label, x) for x in columns]
        ours = [store.best(p, "ours") for p in points]
        rows += _row(series.label, ours, "{:.1f}")
        for side, name in (("theirs", "C++"), ("unfenced", "C++ without fences")):
            theirs = [store.best(p, side) for p in points]
            ratios = [store.ratio(p, side) for p in points]
            rows += _row(f"{series.label}, {name}", theirs, "{:.1f}")
            rows += _row(f"*ours / {name}, {series.label}*", ratios, "{:.2f}")
    if rows:
        yield f"| {operation} | " + " | ".join(figure.column(x) for x in columns) + " |"
        yield "|---|" + "--:|" * len(columns)
        for name, cells in rows:
            yield f"| {name} | " + " | ".join(cells) + " |"
        yield ""


def _row(name: str, found: list[float | None], shown: str) -> Iterator[tuple[str, list[str]]]:
    """A row of a table, where it has anything to show."""
    if any(found):
        yield name, ["" if value is None else shown.format(value) for value in found]


def _draw(store: Store, figure: Figure, path: Path) -> None:
    operations = [
        operation
        for operation in figure.operations
        if any((p.figure, p.operation) == (figure.name, operation) for p in store.results)
    ]
    size = max(9, 6.5 * len(operations)), 4.8
    with chart(path, size, (1, len(operations)), sharey=True) as (drawing, axes):
        for operation, axis in zip(operations, axes, strict=True):
            _panel(store, figure, operation, axis)
        axes[0].set_ylabel(figure.unit)
        compared = any(store.best(p, "theirs") for p in store.results if p.figure == figure.name)
        key = "\n(solid: Sash, dotted: the authors' C++)" if compared else ""
        drawing.suptitle(figure.title + key, weight="bold")
        handles = {
            label: handle
            for axis in axes
            for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
        }
        place = "outside lower center"
        drawing.legend(handles.values(), handles, loc=place, ncols=4, frameon=False)


def _panel(store: Store, figure: Figure, operation: str, axis: Axes) -> None:
    columns = _columns(store, figure)
    for number, series in enumerate(figure.series):
        colour = COLOURS[number % len(COLOURS)]
        marker = MARKERS[number // len(COLOURS)]
        for side, style in (("ours", "-"), ("theirs", ":")):
            found = [
                (place, ns)
                for place, x in enumerate(columns)
                if (ns := store.best(Point(figure.name, operation, series.label, x), side))
            ]
            if found:
                xs, times = zip(*found, strict=True)
                label = series.label if side == "ours" else None
                axis.plot(xs, times, style, color=colour, marker=marker, ms=4, label=label)
    axis.set(yscale="log", xlabel=figure.axis)
    axis.set_title(operation, loc="left")
    axis.set_xticks(
        range(len(columns)), labels=[figure.column(x).split("= ")[-1] for x in columns]
    )
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if _is_narrow(axis) else (1,)))
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.yaxis.set_major_formatter(
        FuncFormatter(lambda y, _: f"{y:,.0f}" if y >= 1 else f"{y:g}")
    )
    axis.tick_params(axis="x", labelrotation=30)
    axis.grid(alpha=0.25)


def _is_narrow(axis: Axes) -> bool:
    least, most = axis.get_ylim()
    return most < 100 * least
