"""Sliding windows of Sash, Spark, DuckDB and Polars, side by side.

    python benchmarks/bench_window.py            # everything: more than an hour
    python benchmarks/bench_window.py --quick    # a look, in minutes

Writes window.json, window.md and a chart per data set to docs/benchmarks. ``--resume`` goes on
where a run was stopped; ``--report`` only writes tables and charts anew from window.json.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path

import cells
import charts
import dataset
import machine
import report
from cells import Cell, Selection
from dataset import Data
from measure import measure
from progress import Progress
from results import Store
from workers import use, versions, working

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"


def main() -> None:
    """Measure what the flags select, and report."""
    options = _options()
    selection = Selection(
        options.engines,
        options.cores,
        options.rows,
        [options.rows // cells.TINY_ROWS if keys == 0 else keys for keys in options.keys],
        options.aggregates,
        options.frames,
        options.windows,
    )
    if options.quick:
        selection = selection.quick()
    about = {**machine.about(), "rows": selection.rows, "runs": options.runs}
    store = Store(
        options.out / "window.json",
        None if options.report else about,
        options.resume,
        lambda saved: Cell(**saved),
    )
    if not options.report:
        wanted = [c for c in selection.all() if re.search(options.cells, c.id)]
        _run(selection, [c for c in wanted if c not in store.results], store, options)
    report.write(store, options.out / "window.md")
    charts.write(store, options.out)
    charts.write_front(store, options.out)


def _run(
    selection: Selection, wanted: list[Cell], store: Store[Cell], options: argparse.Namespace
) -> None:
    left = set(wanted)
    progress = Progress(len(wanted))
    with tempfile.TemporaryDirectory() as scratch:
        for cores, keys in selection.workplaces():
            if not any((c.cores, c.keys) == (cores, keys) for c in left):
                continue
            data = Path(scratch) / f"{keys}.parquet"
            if not data.exists():
                dataset.write(data, Data(selection.rows, keys))
            with working(selection.engines, cores, options.memory) as workers:
                use(workers, data)
                for turn in selection.rounds(cores, keys):
                    todo = [cell for cell in turn if cell in left]
                    earlier = list(store.results.values())
                    done = measure(
                        todo, workers, earlier, selection.rows, options.runs, options.budget
                    )
                    store.add(done, versions(workers))
                    if todo:
                        progress.advance(len(todo), str(todo[-1]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--rows", type=int, default=2_000_000)
    add("--runs", type=int, default=3, help="measured runs of a cell, after one warm-up")
    add("--budget", type=float, default=15, help="seconds; no run foretold to exceed it starts")
    add("--memory", default="3g", help="heap of each JVM; there is one for each mode of Spark")
    add("--engines", nargs="+", choices=cells.ENGINES, default=cells.ENGINES)
    add("--cores", nargs="+", type=int, default=[1, 2])
    add("--keys", nargs="+", type=int, default=[10, 1, 0], help="0: partitions of 20 rows")
    add("--aggregates", nargs="+", choices=cells.AGGREGATES, default=list(cells.AGGREGATES))
    add("--frames", nargs="+", choices=cells.FRAMES, default=cells.FRAMES)
    add("--windows", nargs="+", type=int, default=cells.WINDOWS)
    add("--cells", default="", help="regex on engine/cores/keys/aggregate/frame/window")
    add("--quick", action="store_true", help="200,000 rows, three windows, sum and max")
    add("--resume", action="store_true", help="keep what window.json has, measure the rest")
    add("--report", action="store_true", help="measure nothing")
    add("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
