"""Windows at another table's times: Sash, DuckDB and Spark, side by side.

    python benchmarks/bench_labels.py            # a million labels, ten million events: an hour
    python benchmarks/bench_labels.py --quick    # a look, in minutes
    python benchmarks/bench_labels.py --few      # 100 to a million labels, 20 million events
    python benchmarks/bench_labels.py --few --few-labels 10000 --cells 'few_(sash|duckdb).*-5-7'
    .venvs/4.3.0/bin/python benchmarks/bench_labels.py --asof

Writes labels.json, labels.md and labels.svg to docs/benchmarks; with ``--few`` few.json and
few.md; with ``--asof``, on a PySpark that has ASOF JOIN, asof.json and a section of labels.md.
"""

import argparse
import statistics
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyspark
from matplotlib.ticker import FuncFormatter, NullFormatter

import label_cells as of
import machine
import summary
import workers
from harness import Store, chart, flags, or_empty, page, section, table
from label_cells import SASH, FewCell, FewQuery, LabelQuery, Tables
from summary import Comparison, Ratio

Answers = dict[tuple[str, Any], dict[str, Any]]
"""Results by engine and query."""
DRAWN = 5
"""Features of the chart's queries."""
LABELS = """\
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
ASOF = """\
# As-of joins

Seconds for the last events of each label's user, at the label's time or before. Each figure is
the best of {runs} runs after one warm-up, on {cores} cores; engines run in processes of their own
and take turns, and hold both tables in memory. Spark's rows go to the `noop` sink, DuckDB returns
an Arrow table. Times are spread evenly over a year.

Sash runs `LEFT JOIN LATERAL (… ORDER BY e.ts DESC LIMIT …)`; its plans contain `SlidingWindow`.
Spark runs `LEFT ASOF JOIN … MATCH_CONDITION`, without the jar. DuckDB runs `ASOF LEFT JOIN`, for
ties on `(e.ts, e.a1)`, and for several events Sash's text. An ASOF JOIN finds one event, and
Spark's compares one column. Over {compared} the engines' answers are equal.

Over the tables with columns of text, both Sash and Spark run `LEFT ASOF JOIN`, and read Parquet.

{circumstances}
"""
FEW = """\
# Few labels beside many events

Seconds for all labels: {measured}, on {cores} cores.
{events:,} events of 20,000 users and the labels have times that are spread evenly over a year,
in no order. Both tables are Parquet files, which each run reads. Spark's rows go to the `noop`
sink, DuckDB returns an Arrow table. Engines run in processes of their own and take turns.

*Sash* has its default settings. *One by one* is Sash with `spark.sash.lateral.sliceThreshold=-1`.
DuckDB has the time of its quickest way that was measured: a range join for aggregates, for 90
days of 1,000,000 labels also the union of labels and events under OVER, ASOF JOIN for the last
event, and a range join with `row_number` for the last five. *Spark*, without the jar, runs a
range join, or its ASOF JOIN where it has one. *Scan* is Spark alone, which reads the columns of
the events and adds them up. Sash has read and exchanged the rows and bytes of the last columns,
and all threads of its process took the CPU seconds.

Over 2,000 labels and 100,000 events of 200 users the answers of all engines were equal.

{quicker}{circumstances}
"""


def main() -> None:
    options = flags(
        __doc__,
        quick={"labels": 50_000, "events": 500_000},
        few=(False, "few labels beside 20,000,000 events"),
        asof=(False, "as-of joins"),
        labels=(1_000_000, "of the large tables"),
        events=(0, "10,000,000, or 20,000,000 with --few"),
        users=([20_000, 2_000], "of the large tables; of as-of joins, the first"),
        few_labels=([100, 10_000, 100_000, 1_000_000], "with --few: numbers of labels"),
        cores=(2, "of each engine"),
        budget=(100.0, "seconds; no run foretold to exceed it starts"),
        memory=("6g", "heap of each JVM; there are three"),
    )
    options.events = options.events or (20_000_000 if options.few else 10_000_000)
    about: dict[str, Any] = {"runs": options.runs, "cores": options.cores}
    if options.few:
        _few(options, about)
        return
    name, engines, turns = "labels", of.LABEL_ENGINES, of.label_turns
    if options.asof:
        name, engines, turns = "asof", of.ASOF_ENGINES, of.asof_turns
        options.budget = min(options.budget, 110 / 3)
    store = Store(options, name, of.LabelCell.load, **about)
    if not options.report:
        sizes = options.labels, options.events, options.users
        chosen = turns(*sizes, options.cores, options.quick)
        workers.run(options, store, engines, chosen, of.write)
    panels: dict[Tables, Answers] = {}
    for cell, result in store.results.items():
        panels.setdefault(cell.tables, {})[cell.engine, cell.query] = result
    (_write_asof if options.asof else _write_labels)(store.about, panels, options.out)


def _write_labels(about: dict[str, Any], panels: dict[Tables, Answers], out: Path) -> None:
    text = LABELS.format(
        circumstances=machine.sentence(about),
        measured=machine.measured(about["runs"]),
        cores=about["cores"],
    )
    comparisons = [
        Comparison(engine.title, None, [*_ratios(panels, name)])
        for name, engine in of.LABEL_ENGINES.items()
        if name != SASH
    ]
    lines = [text, *summary.table("Sash's time over the time of", comparisons)]
    lines += ["![](labels.svg)", ""]
    for tables, answers in panels.items():
        engines = [e for e in of.LABEL_ENGINES if any(engine == e for engine, _ in answers)]
        rows = [
            [_title(query), *(_shown(answers.get((engine, query))) for engine in engines)]
            for query in of.queries()
            if any(asked == query for _, asked in answers)
        ]
        heads = ["features", *(of.LABEL_ENGINES[engine].title for engine in engines)]
        lines += [f"## {tables}", "", *table(heads, rows), ""]
        lines += [
            f"Not run: {of.LABEL_ENGINES[engine].title}, {_title(query)}, {result['not_run']}.\n"
            for (engine, query), result in answers.items()
            if result["not_run"]
        ]
    page(out / "labels.md", "\n".join(lines))
    largest = max((tables.events for tables in panels), default=0)
    _draw({t: a for t, a in panels.items() if t.events == largest}, out / "labels.svg")


def _title(query: LabelQuery) -> str:
    times = f" × {len(query.spans)}" if len(query.spans) > 1 else ""
    return f"{query.features}{times} over {', '.join(query.spans)}"


def _ratios(panels: dict[Tables, Answers], engine: str) -> Iterator[Ratio]:
    for tables, answers in panels.items():
        for query in of.queries():
            ratio = _ratio(answers, engine, query)
            if ratio:
                yield Ratio(ratio, f"{tables}, {_title(query)}")


def _ratio(answers: Answers, engine: str, query: Any) -> float | None:
    ours, theirs = answers.get((SASH, query)), answers.get((engine, query))
    if ours and theirs and ours["seconds"] and theirs["seconds"]:
        return float(ours["seconds"] / theirs["seconds"])
    return None


def _shown(result: Mapping[str, Any] | None, otherwise: str = "not run") -> str:
    if result is None:
        return ""
    return otherwise if result["seconds"] is None else f"{result['seconds']:.3g}"


def _draw(panels: dict[Tables, Answers], path: Path) -> None:
    count = max(1, len(panels))
    with chart(path, (6.5 * count, 4.4), (1, count), sharey=True) as (figure, axes):
        for (tables, answers), axis in zip(panels.items(), axes, strict=False):
            for name, engine in of.LABEL_ENGINES.items():
                found = [
                    (span, result["seconds"])
                    for span in of.SPANS
                    if (result := answers.get((name, LabelQuery((span,), DRAWN)))) is not None
                    and result["seconds"] is not None
                ]
                if found:
                    spans, seconds = zip(*found, strict=True)
                    width = 3 if name == SASH else 1.8
                    colour, label = engine.colour, engine.title
                    axis.plot(spans, seconds, "o-", color=colour, lw=width, label=label)
            axis.set(yscale="log", ylabel="seconds")
            axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
            axis.yaxis.set_minor_formatter(NullFormatter())
            axis.set_title(str(tables), loc="left")
            axis.grid(alpha=0.25)
        marks = axes[0].get_legend_handles_labels()
        place = {"loc": "outside lower center", "ncols": len(panels) + 1}
        figure.legend(*marks, **place, frameon=False)
        figure.suptitle(f"{DRAWN} features of each label, by span", weight="bold")


def _write_asof(about: dict[str, Any], panels: dict[Tables, Answers], out: Path) -> None:
    text = ASOF.format(
        **{name: about[name] for name in ("runs", "cores")},
        compared=of.MIDDLE,
        circumstances=machine.sentence(about),
    )
    lines = [text.rstrip()]
    for tables, answers in panels.items():
        is_wide = isinstance(tables, of.WideTables)
        engines = list(of.ASOF_ENGINES)[: 2 if is_wide else 3]
        heads = ["", *(of.ASOF_ENGINES[engine].title for engine in engines)]
        heads += ["Sash, of its time for the first row"]
        if is_wide:
            heads = ["", "Sash, ASOF JOIN", "Spark, ASOF JOIN", "Sash, of Spark's time"]
        rows = []
        for form, title in (of.WIDE_FORMS if is_wide else of.FORMS).items():
            query = of.AsOfQuery(form)
            shown = [_shown(answers.get((engine, query)), "stopped") for engine in engines]
            first, own = answers.get((SASH, of.AsOfQuery("last"))), answers.get((SASH, query))
            ratio = _ratio(answers, of.SPARK_ASOF, query)
            if not is_wide:
                has = first and own and first["seconds"] and own["seconds"]
                ratio = own["seconds"] / first["seconds"] if own and first and has else None
            rows.append([title, *shown, or_empty(ratio, "{:.2f}")])
        lines += ["", f"## {tables}", "", *table(heads, rows)]
    section(out / "labels.md", "bench_asof", "\n".join(lines) + "\n")


def _few(options: argparse.Namespace, about: dict[str, Any]) -> None:
    options.budget = min(options.budget, 30)
    store = Store(options, "few", FewCell.load, **about, events=options.events)
    if not options.report:
        has_asof = tuple(int(n) for n in pyspark.__version__.split(".")[:2]) >= (4, 3)
        chosen = of.few_turns(options.few_labels, options.events, options.cores, has_asof)
        workers.run(options, store, of.FEW_ENGINES, chosen, of.write, of.few_conf, _best_of_few)
    about, measured = store.about, {c: r["counts"] for c, r in store.results.items()}
    numbers = sorted({cell.labels for cell in measured})
    text = FEW.format(
        measured=machine.measured(about["runs"]),
        cores=about["cores"],
        events=about["events"],
        quicker=_quicker_than_scan(measured, numbers),
        circumstances=machine.sentence(about),
    )
    bars = table(["", "median", "asked", "worst", "asked"], _bars(measured, numbers))
    lines = [text, "## Bars", "", *bars]
    for labels in numbers:
        lines += [
            "",
            f"## {labels:,} labels",
            "",
            *table(HEADS, _rows(measured, labels), "its way"),
        ]
    page(options.out / "few.md", "\n".join(lines) + "\n")


HEADS = ["", "Sash", "DuckDB", "its way", "Sash, of DuckDB", "one by one", "Spark", "scan"]
HEADS += ["CPU seconds", "rows read", "rows exchanged", "MB exchanged"]
Measured = dict[FewCell, dict[str, float]]


def _best_of_few(_: Any, runs: Mapping[Any, Any], *__: Any) -> Iterable[Any]:
    best = {c: min(taken, key=lambda run: run["seconds"]) for c, taken in runs.items() if taken}
    return ((cell, {"counts": counts}) for cell, counts in best.items())


def _seconds(measured: Measured, engine: str, labels: int, query: FewQuery) -> float | None:
    return measured.get(FewCell(engine, labels, query), {}).get("seconds")


def _duckdb(measured: Measured, labels: int, query: FewQuery) -> tuple[float, str] | None:
    found = [
        (took, of.FEW_ENGINES[engine].title)
        for engine in of.FEW_DUCKDBS
        if (took := _seconds(measured, engine, labels, query)) is not None
    ]
    return min(found, default=None)


def _bars(measured: Measured, numbers: list[int]) -> Iterator[list[str]]:
    def bar(what: str, ratios: list[float], median: str = "", worst: str = "") -> list[str]:
        if not ratios:
            return [what, "", "", "", ""]
        return [what, f"{statistics.median(ratios):.2f}", median, f"{max(ratios):.2f}", worst]

    every = {
        n: {q: _seconds(measured, of.FEW_SASH, n, q) for q in of.few_queries()} for n in numbers
    }
    for many, times in every.items():
        ratios = [
            t / best[0] for q, t in times.items() if t and (best := _duckdb(measured, many, q))
        ]
        asked = ("1.0", "1.5") if many <= 100_000 else ("", "")
        yield bar(f"{many:,} labels: Sash, of DuckDB's best", ratios, *asked)
    for many, times in every.items():
        spans = [
            long / short
            for q, long in times.items()
            if (q.asks, q.days) == (of.AGGREGATES, 90)
            and long
            and (short := times.get(FewQuery(q.asks, q.time, q.features, 7)))
        ]
        yield bar(f"{many:,} labels: 90 days, of 7 days", spans, worst="1.1")
        of_types = (of.AGGREGATES, 5, 7)
        types = [t for q, t in times.items() if t and (q.asks, q.features, q.days) == of_types]
        ratios = [t / min(types) for t in types]
        yield bar(f"{many:,} labels: types of time, of the quickest", ratios, worst="1.05")
        one = [
            t / other
            for q, t in times.items()
            if t and (other := _seconds(measured, of.ONE_BY_ONE, many, q))
        ]
        yield bar(f"{many:,} labels: Sash, of events one by one", one)


def _quicker_than_scan(measured: Measured, numbers: list[int]) -> str:
    """A sentence that names how many labels DuckDB answers before Spark has read the events."""
    found = []
    for many in numbers:
        pairs = [
            (best[0], scan)
            for query in of.few_queries()
            if (scan := _seconds(measured, of.SCAN, many, query))
            and (best := _duckdb(measured, many, query))
        ]
        if pairs and all(best < scan for best, scan in pairs):
            found.append(f"{many:,}")
    if not found:
        return ""
    return (
        f"Beside {' and '.join(found)} labels DuckDB takes less than Spark's scan alone,\n"
        "wherever both were measured, so that no plan in Spark reaches it.\n\n"
    )


def _rows(measured: Measured, labels: int) -> Iterator[list[str]]:
    for query in of.few_queries():
        own = measured.get(FewCell(of.FEW_SASH, labels, query))
        if own is None:
            continue
        best = _duckdb(measured, labels, query)
        beside = (of.ONE_BY_ONE, of.FEW_SPARK, of.SCAN)
        others = [_seconds(measured, engine, labels, query) for engine in beside]
        yield [
            str(query),
            f"{own['seconds']:.3g}",
            *([f"{best[0]:.3g}", best[1]] if best else ["", ""]),
            f"{own['seconds'] / best[0]:.2f}" if best else "",
            *(or_empty(other, "{:.3g}") for other in others),
            f"{own['cpu']:.3g}",
            f"{own['read']:,.0f}",
            f"{own['exchanged']:,.0f}",
            f"{own['bytes'] / 1e6:,.1f}",
        ]


if __name__ == "__main__":
    main()
