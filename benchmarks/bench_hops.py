"""Hops in batch: an aggregate over window(ts, size, slide) by Sash, and by copies of rows.

    python benchmarks/bench_hops.py            # some minutes
    python benchmarks/bench_hops.py --quick    # a look
    python benchmarks/bench_hops.py --below    # windows by withColumn, below the aggregate

Both ways run in one session, in turns, over the same cached rows. Writes hops.json and hops.md to
docs/benchmarks; the other way is a section of that page.
"""

import argparse
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import engines
import machine
from harness import Store, by_turns, counted, flags, page, section, table

REPORT = """\
# {title}

Seconds of `count(*), sum(x), max(x)` by `k` and `window(ts, size, slide)`: the median of {runs}
runs each, in turns in one session, on two cores with eight shuffle partitions. The {rows:,} rows
are cached, their keys take turns, and their times spread evenly over {slides:,} slides.
Spark copies a row as often as a window has panes; where that is more than {most:,}, it is not
asked, which the table says by a dash.

{lines}

{circumstances}
"""


@dataclass(frozen=True)
class Cell:
    """Windows of so many panes, for so many keys."""

    keys: int
    panes: int

    def __str__(self) -> str:
        return f"{counted(self.keys, 'key')}, {self.panes:,} panes"


CELLS = [*(Cell(10, p) for p in (2, 3, 10, 60, 1440)), *(Cell(100_000, p) for p in (2, 3, 10))]
HEADS = ["keys", "panes", "Spark", "Sash", "Spark / Sash", "rows of the answer"]


def main() -> None:
    options = flags(
        __doc__,
        quick={"rows": 200_000, "runs": 1},
        rows=(1_000_000, "of the input"),
        slides=(2_000, "over which rows spread"),
        most=(60, "panes for which Spark is asked"),
        memory=("6g", "heap of the JVM"),
        below=(False, "windows below the aggregate"),
    )
    about = {name: getattr(options, name) for name in ("runs", "rows", "slides", "most", "below")}
    name = "hops_below" if options.below else "hops"
    store = Store(options, name, lambda cell: Cell(**cell), **about)
    if not options.report:
        _run(store, options)
    results = sorted(store.results.items(), key=lambda item: CELLS.index(item[0]))
    rows = [
        [
            f"{cell.keys:,}",
            f"{cell.panes:,}",
            f"{of['spark']:.2f}" if of["spark"] else "–",
            f"{of['sash']:.2f}",
            f"{of['spark'] / of['sash']:.1f}" if of["spark"] else "–",
            f"{of['answers']:,}",
        ]
        for cell, of in results
    ]
    text = REPORT.format(
        lines="\n".join(table(HEADS, rows, "none")),
        circumstances=machine.sentence(store.about),
        title="Windows made below the aggregate" if options.below else "Hops in batch",
        **{name: store.about[name] for name in ("runs", "rows", "slides", "most")},
    )
    if options.below:
        section(options.out / "hops.md", "hops_below", text)
    else:
        page(options.out / "hops.md", text)


def _run(store: Store, options: argparse.Namespace) -> None:
    spark = engines.session(2, options.memory)
    keys, rows = 0, spark.range(0)
    for cell in store.todo(options, CELLS):
        if cell.keys != keys:
            rows.unpersist(blocking=True)
            keys, rows = cell.keys, _rows(spark, options.rows, cell.keys, options.slides).cache()
            rows.count()
        store.add({cell: _measured(spark, rows, cell, options)}, Spark=spark.version)
    spark.stop()


def _rows(spark: SparkSession, rows: int, keys: int, slides: int) -> DataFrame:
    step = slides * 10_000_000 // rows
    return spark.range(0, rows, 1, 4).selectExpr(
        f"id * 2654435761 % {keys} AS k",
        f"timestamp_micros(1700000000000000 + id * {step}) AS ts",
        "id % 1000 AS x",
    )


def _measured(
    spark: SparkSession, rows: DataFrame, cell: Cell, options: argparse.Namespace
) -> dict[str, Any]:
    """The medians of both ways, and the rows of the answer."""
    window: str | Column = F.window("ts", f"{10 * cell.panes} seconds", "10 seconds")
    if options.below:
        rows, window = rows.withColumn("w", window), "w"

    def query(by_sash: bool) -> DataFrame:
        spark.conf.set("spark.sash.hops.enabled", str(by_sash).lower())
        found = rows.groupBy("k", window).agg(F.count("*"), F.sum("x"), F.max("x"))
        if by_sash != ("HopWindows" in engines.plan_of(found)):
            raise SystemExit(f"{cell}: not by whom it was to be answered")
        return found

    def prepared(by_sash: bool) -> Callable[[], None]:
        return partial(engines.to_noop, query(by_sash))

    asked = {"sash": True, "spark": False} if cell.panes <= options.most else {"sash": True}
    ways = {name: partial(prepared, by_sash) for name, by_sash in asked.items()}
    took = by_turns(ways, options.runs, are_prepared=True)
    medians = {way: statistics.median(times) for way, times in took.items()}
    return {
        "sash": medians["sash"],
        "spark": medians.get("spark"),
        "answers": query(True).count(),
    }


if __name__ == "__main__":
    main()
