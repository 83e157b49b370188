"""As-of joins: the last events of each label, with Sash, Spark's ASOF JOIN and DuckDB.

    .venvs/4.3.0/bin/python benchmarks/bench_asof.py

It runs on a PySpark that has ASOF JOIN: 4.3 or newer. Writes asof.md to docs/benchmarks.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

import label_tables
import machine
from asof_cells import ASOF_ENGINES, DUCKDB_ASOF, FORMS, WIDE_FORMS, AsOfQuery, WideTables
from label_cells import SASH, Tables
from progress import Progress
from sections import section
from workers import Worker, use, versions, working

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
COMPARED = Tables(20_000, 200_000, 200)
"""Over these the engines' answers are compared, too."""
PAGE = """\
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
WIDE = [(600_000, 60_000), (1_500_000, 1_500_000)]
"""Labels and events of the wide tables."""
TEXTS = 40
Seconds = dict[tuple[str, str], float | None]
"""By form and engine."""


def main() -> None:
    """Measure, and write the page."""
    options = _options()
    tables = [
        COMPARED,
        Tables(options.labels, options.events, options.users),
        *(WideTables(labels, events, options.users, TEXTS) for labels, events in WIDE),
    ]
    about = {**machine.about(), "runs": options.runs}
    progress = Progress(sum(len(_forms(each)) for each in tables))
    with (
        tempfile.TemporaryDirectory() as scratch,
        working(ASOF_ENGINES, options.cores, options.memory) as workers,
    ):
        sections = []
        for number, each in enumerate(tables):
            folder = Path(scratch) / str(number)
            label_tables.write(folder, each)
            use(workers, folder)
            seconds: Seconds = {}
            for form, title in _forms(each).items():
                seconds |= _measured(workers, AsOfQuery(form), options)
                progress.advance(1, f"{each}: {title}")
            table = _wide(seconds) if isinstance(each, WideTables) else _table(seconds)
            sections += ["", f"## {each}", "", *table]
        about["versions"] |= versions(workers)
    head = PAGE.format(
        runs=options.runs,
        cores=options.cores,
        compared=COMPARED,
        circumstances=machine.sentence(about),
    )
    page = "\n".join([head.rstrip(), *sections]) + "\n"
    section(options.out / "labels.md", "bench_asof", page)
    print(page)


def _forms(tables: Tables) -> dict[str, str]:
    return WIDE_FORMS if isinstance(tables, WideTables) else FORMS


def _measured(
    workers: dict[str, Worker], query: AsOfQuery, options: argparse.Namespace
) -> Seconds:
    """The best time of each engine that has words for the query."""
    runs: dict[str, list[float]] = {}
    seconds: Seconds = {}
    for turn in range(options.runs + 1):  # the first of them warms up, and is never the best
        for engine, worker in workers.items():
            key = query.form, engine
            if query.sql(engine) is None or seconds.get(key, 0.0) is None:
                continue
            took = worker.run(query, options.limit, check=turn == 0)
            if took is None:
                seconds[key] = None
            elif turn > 0:
                runs.setdefault(engine, []).append(took)
    return {(query.form, engine): min(times) for engine, times in runs.items()} | seconds


def _table(seconds: Seconds) -> Iterator[str]:
    yield f"| | {' | '.join(ASOF_ENGINES.values())} | Sash, of its time for the first row |"
    yield "|---|" + "--:|" * (len(ASOF_ENGINES) + 1)
    first = seconds[next(iter(FORMS)), SASH]
    for form, title in FORMS.items():
        own = seconds[form, SASH]
        ratio = f"{own / first:.2f}" if own and first else ""
        cells = [_shown(seconds, form, engine) for engine in ASOF_ENGINES]
        yield f"| {title} | {' | '.join(cells)} | {ratio} |"


def _wide(seconds: Seconds) -> Iterator[str]:
    engines = [engine for engine in ASOF_ENGINES if engine != DUCKDB_ASOF]
    yield "| | Sash, ASOF JOIN | Spark, ASOF JOIN | Sash, of Spark's time |"
    yield "|---|--:|--:|--:|"
    for form, title in WIDE_FORMS.items():
        ours, theirs = (seconds[form, engine] for engine in engines)
        ratio = f"{ours / theirs:.2f}" if ours and theirs else ""
        cells = [_shown(seconds, form, engine) for engine in engines]
        yield f"| {title} | {' | '.join(cells)} | {ratio} |"


def _shown(seconds: Seconds, form: str, engine: str) -> str:
    if (form, engine) not in seconds:
        return ""
    took = seconds[form, engine]
    return "stopped" if took is None else f"{took:.3g}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--labels", type=int, default=1_000_000)
    add("--events", type=int, default=10_000_000)
    add("--users", type=int, default=20_000)
    add("--cores", type=int, default=2)
    add("--runs", type=int, default=3)
    add("--limit", type=float, default=120, help="seconds after which a run is stopped")
    add("--memory", default="6g", help="heap of each JVM; there are two")
    add("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
