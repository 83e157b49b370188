"""Windows of streams: OVER and hops by Sash beside Spark's own windows and Flink SQL.

    python benchmarks/bench_stream.py            # everything: about 25 minutes
    python benchmarks/bench_stream.py --quick    # a look, in minutes

Every engine reads the same rows in time order, with its state in RocksDB; windows are full when
it is measured. Writes stream.json, stream.md and stream.svg to docs/benchmarks. ``--resume`` goes
on where a run was stopped; ``--report`` only writes table and chart anew from stream.json. Flink
comes by ``make flink``.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import machine
import stream_answers
import stream_files
import stream_flink
import stream_report
import stream_spark
from progress import Progress
from stream_answers import Answers
from stream_cells import FLINK, HOP, LARGE, SASH, SPARK, TUMBLING, Cell, Selection
from stream_flink import TOO_LONG, UNWALKED, Flink, Limits
from stream_results import Figures, Store, as_engine

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"


def main() -> None:
    """Measure what the flags select, and report."""
    options = _options()
    selection = Selection.quick() if options.quick else Selection()
    about = {**machine.about(), "counted": selection.counted, "limit": options.limit}
    store = Store(options.out / "stream.json", None if options.report else about, options.resume)
    if not options.report:
        wanted = [
            c for c in selection.all() if selection.fits(c) and re.search(options.cells, str(c))
        ]
        with tempfile.TemporaryDirectory() as scratch:
            todo = [c for c in wanted if c not in store.figures]
            _Run(selection, store, todo, options, Path(scratch)).all()
    stream_report.write(store, selection, options.out)


class _Run:
    """One after the other: Spark with Sash, then Flink, each in a JVM that then ends."""

    def __init__(
        self,
        selection: Selection,
        store: Store,
        todo: list[Cell],
        options: argparse.Namespace,
        scratch: Path,
    ) -> None:
        self._selection = selection
        self._store = store
        self._by_spark = [cell for cell in todo if cell.engine != FLINK]
        self._by_flink = [cell for cell in todo if cell.engine == FLINK]
        self._options = options
        self._scratch = scratch
        self._progress = Progress(len(todo))

    def all(self) -> None:
        """Measure what is left, of each engine after its answers."""
        if self._by_spark or self._by_flink:
            self._measure_flink(self._measure_spark())

    def _measure_spark(self) -> dict[Cell, Answers]:
        options, selection = self._options, self._selection
        with stream_spark.session(options.memory) as spark:
            versions = {"Spark": spark.version}
            expected = stream_answers.by_spark(spark, self._scratch)
            warm_up = [Cell(SPARK, TUMBLING, 10), Cell(SASH, "ROWS", 10, rows=100)]
            for cell in warm_up if self._by_spark else []:
                stream_spark.measure(
                    spark, [cell], selection.warm_up, selection.counted, self._scratch
                )
            for _, group in groupby(self._by_spark, key=lambda cell: cell.run):
                cells = list(group)
                found = stream_spark.measure(
                    spark, cells, selection.lead, selection.counted, self._scratch
                )
                self._store.add(found, versions)
                self._progress.advance(len(cells), str(cells[-1]))
        return expected

    def _measure_flink(self, expected: dict[Cell, Answers]) -> None:
        work = self._scratch / "flink"
        with stream_flink.running(self._options.flink_memory, work) as flink:
            self._store.about["compared"] = stream_answers.compare(flink, expected, self._scratch)
            warm_up = [Cell(FLINK, TUMBLING, 10, 0), Cell(FLINK, HOP, 10, 0, panes=10)]
            for cell in warm_up if self._by_flink else []:
                self._flink(flink, cell)
            for cell in self._by_flink:
                found = self._of_shorter(cell) or self._flink(flink, cell)
                self._store.add({cell: found}, {"Flink": flink.version})
                self._progress.advance(1, str(cell))

    def _flink(self, flink: Flink, cell: Cell) -> Figures:
        """With a checkpoint as often as a large batch of the query ends in Spark."""
        selection = self._selection
        ours = as_engine(cell, SPARK if cell.query == TUMBLING else SASH, LARGE)
        interval_ms = round((self._store.micros(ours) or 5) * LARGE / 1000)
        limit = self._options.limit * (UNWALKED if cell.query == "ROWS" else 1)
        limits = Limits(selection.flink_rows, limit, selection.flink_seconds)
        path = stream_files.in_one(self._scratch / "flink.parquet", cell, limits.rows)
        return flink.measure(cell, path, interval_ms, limits)

    def _of_shorter(self, cell: Cell) -> Figures | None:
        """Those of a shorter window that was given up or took long: a longer takes no less."""
        for rows in self._selection.windows if cell.over else ():
            shorter = self._store.figures.get(replace(cell, rows=rows))
            if rows < cell.rows and shorter and (shorter.stopped or shorter.micros > TOO_LONG):
                return replace(shorter, stopped=f"not tried: no less than {rows:,} rows")
        return None


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--cells", default="", help="regex on '10 keys, ROWS, 100 rows, … by Sash'")
    add("--memory", default="8g", help="heap of Spark's JVM")
    add("--flink-memory", default="4g", help="heap of Flink's JVM, which gets 2 GB besides")
    add("--limit", type=float, default=75, help="seconds for Flink to fill windows; ROWS: twice")
    add("--quick", action="store_true", help="few keys, small windows, few batches")
    add("--resume", action="store_true", help="keep what stream.json has, measure the rest")
    add("--report", action="store_true", help="measure nothing")
    add("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
