"""Windows at another table's times: Sash, DuckDB and Spark, side by side.

    python benchmarks/bench_labels.py            # a million labels, ten million events: an hour
    python benchmarks/bench_labels.py --quick    # a look, in minutes
    python benchmarks/bench_labels.py --few      # 100 to a million labels, 20 million events
    python benchmarks/bench_labels.py --few --few-labels 10000 --cells 'few_(sash|duckdb).*-5-7'

Writes labels.json, labels.md and labels.svg to docs/benchmarks, or with ``--few`` few.json and
few.md. ``--resume`` goes on where a run was stopped; ``--report`` only writes page and chart anew
from the JSON file.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path

import few_labels
import label_report
import label_tables
import machine
from label_cells import LABEL_ENGINES, LATERAL, SASH, LabelCell, Tables, queries
from measure import measure
from progress import Progress
from results import Store
from workers import use, versions, working

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
USERS = [20_000, 2_000]
LARGE = [engine for engine in LABEL_ENGINES if engine != LATERAL]
MIDDLE = Tables(20_000, 200_000, 200)
"""Over more Spark's LATERAL does not end."""
SMALL = [
    Tables(10, 10, 2),
    Tables(100, 100, 10),
    Tables(1_000, 1_000, 10),
    Tables(1_000, 10_000, 10),
]


def rounds(options: argparse.Namespace) -> list[tuple[Tables, list[list[LabelCell]]]]:
    """The cells by tables; those of one query are measured in turns."""
    found = []
    for users in options.users:
        large = Tables(options.labels, options.events, users)
        found.append((large, LARGE))
    if not options.quick:
        found.append((MIDDLE, LABEL_ENGINES))
    found += [(small, [SASH, LATERAL]) for small in SMALL]
    return [(tables, _turns(tables, engines, options)) for tables, engines in found]


def _turns(
    tables: Tables, engines: list[str], options: argparse.Namespace
) -> list[list[LabelCell]]:
    """Small tables get one query, since a span is nothing to them."""
    asked = [
        q for q in queries() if tables not in SMALL or (q.features, q.spans) == (5, ("7 days",))
    ]
    turns = [[LabelCell(engine, tables, query) for engine in engines] for query in asked]
    return [[cell for cell in turn if re.search(options.cells, cell.id)] for turn in turns]


def main() -> None:
    """Measure what the flags select, and report."""
    options = _options()
    if options.few:
        few_labels.run(options)
        return
    about = {**machine.about(), "runs": options.runs, "cores": options.cores}
    options.out.mkdir(parents=True, exist_ok=True)
    store = Store(
        options.out / "labels.json",
        None if options.report else about,
        options.resume,
        LabelCell.load,
    )
    if not options.report:
        _run(store, options)
    label_report.write(store, options.out)


def _run(store: Store[LabelCell], options: argparse.Namespace) -> None:
    chosen = rounds(options)
    progress = Progress(sum(len(turn) for _, turns in chosen for turn in turns))
    with (
        tempfile.TemporaryDirectory() as scratch,
        working(LABEL_ENGINES, options.cores, options.memory) as workers,
    ):
        for number, (tables, turns) in enumerate(chosen):
            folder = Path(scratch) / str(number)
            label_tables.write(folder, tables)
            use(workers, folder)
            for turn in turns:
                todo = [cell for cell in turn if cell not in store.results]
                earlier = list(store.results.values())
                done = measure(
                    todo, workers, earlier, tables.labels, options.runs, options.budget
                )
                store.add(done, versions(workers))
                if turn:
                    progress.advance(len(turn), str(turn[-1]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--labels", type=int, default=1_000_000)
    add("--events", type=int, default=0, help="10,000,000, or 20,000,000 with --few")
    add("--users", nargs="+", type=int, default=USERS)
    add("--cores", type=int, default=2)
    add("--runs", type=int, default=3, help="measured runs of a cell, after one warm-up")
    add("--budget", type=float, default=100, help="seconds; no run foretold to exceed it starts")
    add("--memory", default="6g", help="heap of each JVM; there are three")
    add("--cells", default="", help="regex on engine/labels/events/users/features-spans")
    add("--quick", action="store_true", help="50,000 labels, 500,000 events")
    add("--few", action="store_true", help="few labels beside 20,000,000 events")
    few = few_labels.LABELS
    add("--few-labels", nargs="+", type=int, default=few, help="with --few: numbers of labels")
    add("--resume", action="store_true", help="keep what labels.json has, measure the rest")
    add("--report", action="store_true", help="measure nothing")
    add("--out", type=Path, default=OUT)
    options = parser.parse_args()
    if options.quick:
        options.labels, options.events = 50_000, 500_000
    options.events = options.events or (20_000_000 if options.few else 10_000_000)
    return options


if __name__ == "__main__":
    main()
