"""labels.md and its chart: seconds for all features of all labels, by engine and span."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, NullFormatter

import machine
import sections
import summary
from cells import DUCKDB, NAIVE, POLARS, RUNNING
from cells import SASH as SASH_COLOUR
from charts import COLOURS
from label_cells import (
    DUCKDB_JOIN,
    DUCKDB_UNION,
    LATERAL,
    NAMES,
    RANGE_JOIN,
    SASH,
    SPANS,
    LabelCell,
    LabelQuery,
    Tables,
    queries,
)
from results import Result, Store
from summary import Comparison, Ratio

Answers = dict[tuple[str, LabelQuery], Result[LabelCell]]
"""By engine and query."""
ENGINE_COLOURS = {
    SASH: COLOURS[SASH_COLOUR],
    DUCKDB_UNION: COLOURS[DUCKDB],
    DUCKDB_JOIN: COLOURS[POLARS],
    RANGE_JOIN: COLOURS[NAIVE],
    LATERAL: COLOURS[RUNNING],
}
DRAWN = 5
"""Features of the chart's queries."""
ABOUT = """\
# Windows at another table's times

Seconds for all features of all labels: aggregates over the events of the label's user in the span
before it. Each figure is {measured}.
Times of labels and events are spread evenly over a year. Every engine holds both tables in
memory, on {cores} cores.
Spark's rows go to the `noop` sink, DuckDB returns an Arrow table.

*Sash* and *Spark, LATERAL* run one text, with the jar and without it. *Spark, range join* is LEFT
JOIN and GROUP BY, and so is DuckDB's. *DuckDB, union and OVER* is labels UNION ALL events under a
RANGE frame. Engines run in processes of their own and take turns. Plans were checked to contain
`SlidingWindow`, or not to. Over up to 200,000 events the engines' answers were compared, too.

{circumstances}
"""


def write(store: Store[LabelCell], directory: Path) -> None:
    """Write the report and the chart of what was measured."""
    panels: dict[Tables, Answers] = {}
    for cell, result in store.results.items():
        panels.setdefault(cell.tables, {})[cell.engine, cell.query] = result
    circumstances = machine.sentence(store.about)
    about = ABOUT.format(
        circumstances=circumstances,
        measured=machine.measured(store.about["runs"]),
        cores=store.about["cores"],
    )
    lines = [about, *_summary(panels), "![](labels.svg)", ""]
    for tables, answers in panels.items():
        lines += [f"## {tables}", "", *_table(answers), "", *_reasons(answers)]
    sections.write(directory / "labels.md", "\n".join(lines))
    largest = max((tables.events for tables in panels), default=0)
    _draw({t: a for t, a in panels.items() if t.events == largest}, directory / "labels.svg")


def _title(query: LabelQuery) -> str:
    times = f" × {len(query.spans)}" if len(query.spans) > 1 else ""
    return f"{query.features}{times} over {', '.join(query.spans)}"


def _summary(panels: dict[Tables, Answers]) -> Iterator[str]:
    return summary.table(
        "Sash's time over the time of",
        [
            Comparison(NAMES[engine], None, ratios)
            for engine in NAMES
            if engine != SASH and (ratios := [*_ratios(panels, engine)])
        ],
    )


def _ratios(panels: dict[Tables, Answers], engine: str) -> Iterator[Ratio]:
    for tables, answers in panels.items():
        for query in queries():
            ours, theirs = answers.get((SASH, query)), answers.get((engine, query))
            if ours and theirs and ours.seconds and theirs.seconds:
                yield Ratio(ours.seconds / theirs.seconds, f"{tables}, {_title(query)}")


def _table(answers: Answers) -> Iterator[str]:
    engines = [e for e in NAMES if any(engine == e for engine, _ in answers)]
    yield "| features | " + " | ".join(NAMES[engine] for engine in engines) + " |"
    yield "|---|" + "--:|" * len(engines)
    for query in queries():
        if any(asked == query for _, asked in answers):
            shown = [_shown(answers.get((engine, query))) for engine in engines]
            yield f"| {_title(query)} | " + " | ".join(shown) + " |"


def _shown(result: Result[LabelCell] | None) -> str:
    if result is None:
        return ""
    return "not run" if result.seconds is None else f"{result.seconds:.3g}"


def _reasons(answers: Answers) -> Iterator[str]:
    for (engine, query), result in answers.items():
        if result.not_run:
            yield f"Not run: {NAMES[engine]}, {_title(query)}, {result.not_run}.\n"


def _draw(panels: dict[Tables, Answers], path: Path) -> None:
    plt.rcParams.update({"font.size": 11, "svg.hashsalt": "sash", "svg.fonttype": "none"})
    figure, axes = plt.subplots(
        1,
        max(1, len(panels)),
        figsize=(6.5 * max(1, len(panels)), 4.4),
        layout="constrained",
        squeeze=False,
        sharey=True,
    )
    for (tables, answers), axis in zip(panels.items(), axes.flat, strict=False):
        for engine in NAMES:
            found = [
                (span, result.seconds)
                for span in SPANS
                if (result := answers.get((engine, LabelQuery((span,), DRAWN)))) is not None
                and result.seconds is not None
            ]
            if found:
                spans, seconds = zip(*found, strict=True)
                colour, width = ENGINE_COLOURS[engine], 3 if engine == SASH else 1.8
                axis.plot(spans, seconds, "o-", color=colour, lw=width, label=NAMES[engine])
        axis.set(yscale="log", ylabel="seconds")
        axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
        axis.yaxis.set_minor_formatter(NullFormatter())
        axis.set_title(str(tables), loc="left")
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=len(panels) + 1, frameon=False
    )
    figure.suptitle(f"{DRAWN} features of each label, by span", weight="bold")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
