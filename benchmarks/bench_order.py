"""The order below a window: rows by hashing, by Spark's sort and in DuckDB, side by side.

    python benchmarks/bench_order.py            # everything: more than an hour
    python benchmarks/bench_order.py --quick    # a look, in minutes

Every cell is a window of 1,000 rows over one of the data sets below. Writes order.json, order.md
and a chart to docs/benchmarks. ``--resume`` goes on where a run was stopped; ``--report`` only
writes table and chart anew from order.json.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import dataset
import machine
import order_report
from cells import ORDER_ENGINES, OrderCell
from dataset import Data
from measure import measure
from progress import Progress
from results import Store
from workers import Worker, use, versions, working

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
ROWS, MANY_ROWS = 2_000_000, 20_000_000
ARRIVALS = ["in order", "1 % out of order", "shuffled"]
ENDS = ["in order", "shuffled"]

DATA = [
    *[Data(ROWS, keys, a) for keys in (1, 10, 10_000, 1_000_000) for a in ARRIVALS],
    *[Data(ROWS, keys, dataset.ASCENDING) for keys in (10_000, 1_000_000)],
    *[Data(ROWS, 10, a, key_type="string") for a in ENDS],
    *[Data(ROWS, 10, a, order_type=order) for order in ("decimal", "string") for a in ENDS],
    *[Data(ROWS, 10, a, columns=50) for a in ENDS],
    *[Data(MANY_ROWS, keys, a) for keys in (10, 10_000) for a in ENDS],
]


def rounds(quick: bool) -> Iterator[list[OrderCell]]:
    """Cells that answer one query, which are measured in turns."""
    small = [replace(d, rows=200_000, keys=min(d.keys, 100_000)) for d in DATA]
    for cores in (1, 2):
        for data in dict.fromkeys(small) if quick else DATA:
            for aggregate in ["sum", "max"] if data.rows <= ROWS else ["sum"]:
                yield [OrderCell(engine, cores, data, aggregate) for engine in ORDER_ENGINES]


def main() -> None:
    """Measure what the flags select, and report."""
    options = _options()
    about = None if options.report else {**machine.about(), "runs": options.runs}
    store = Store(options.out / "order.json", about, options.resume, OrderCell.load)
    if not options.report:
        _run(store, options)
    order_report.write(store, options.out)


def _run(store: Store[OrderCell], options: argparse.Namespace) -> None:
    wanted = [
        [c for c in cells if c not in store.results and re.search(options.cells, c.id)]
        for cells in rounds(options.quick)
    ]
    wanted = [cells for cells in wanted if cells]
    progress = Progress(sum(map(len, wanted)))
    for cores, turns in groupby(wanted, key=lambda cells: cells[0].cores):
        with working(ORDER_ENGINES, cores, options.memory) as workers:
            for cells in _at_their_data(turns, workers):
                data = cells[0].data
                runs, budget, warm_up = options.runs, options.budget, options.warm_up
                done = measure(cells, workers, [], data.rows, runs, budget, warm_up)
                store.add(done, versions(workers))
                progress.advance(len(cells), f"{cores} cores, {cells[0].aggregate}, {data}")


def _at_their_data(
    turns: Iterable[list[OrderCell]], workers: Mapping[str, Worker]
) -> Iterator[list[OrderCell]]:
    """The same cells, at a time when the workers use their data."""
    with tempfile.TemporaryDirectory() as scratch:
        for place, (data, group) in enumerate(groupby(turns, key=lambda cells: cells[0].data)):
            path = Path(scratch) / f"{place}.parquet"
            dataset.write(path, data)
            use(workers, path)
            yield from group
            path.unlink()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--runs", type=int, default=5, help="measured runs of a cell, after one warm-up")
    add(
        "--warm-up",
        type=float,
        default=30,
        help="seconds that a process spends on queries before it is measured",
    )
    add(
        "--budget",
        type=float,
        default=60,
        help="seconds; a run is stopped after three times that",
    )
    add("--memory", default="4g", help="heap of each JVM; there are four")
    add("--cells", default="", help="regex on engine/cores/aggregate/data set")
    add("--quick", action="store_true", help="200,000 rows")
    add("--resume", action="store_true", help="keep what order.json has, measure the rest")
    add("--report", action="store_true", help="measure nothing")
    add("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
