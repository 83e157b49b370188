"""Hops in batch: an aggregate over window(ts, size, slide) by Sash, and by copies of rows.

    python benchmarks/bench_hops.py            # some minutes
    python benchmarks/bench_hops.py --quick    # a look
    python benchmarks/bench_hops.py --below    # windows by withColumn, below the aggregate
    python benchmarks/bench_hops.py --median   # a median, from multisets of panes

Both ways run in one session, in turns, over the same cached rows. Writes hops.json and hops.md to
docs/benchmarks; the other ways are sections of that page.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import machine
import sections
from engines_spark import session
from progress import Progress

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
REPORT = """\
# {title}

Seconds of `{aggregates}` by `k` and `window(ts, size, slide)`: the median of {runs}
runs each, in turns in one session, on two cores with eight shuffle partitions. The {rows:,} rows
are cached, their keys take turns, and their times spread evenly over {slides:,} slides.
Spark copies a row as often as a window has panes; where that is more than {most:,}, it is not
asked, which the table says by a dash.

| keys | panes | Spark | Sash | Spark / Sash | rows of the answer |
|--:|--:|--:|--:|--:|--:|
{lines}

{circumstances}
"""


@dataclass(frozen=True)
class Cell:
    """Windows of so many panes, for so many keys."""

    keys: int
    panes: int


def main() -> None:
    """Measure, and report."""
    options = _options()
    cells = [Cell(10, p) for p in (2, 3, 10, 60, 1440)] + [Cell(100_000, p) for p in (2, 3, 10)]
    if options.median:
        cells = [Cell(10, p) for p in (2, 3, 10, 60)] + [Cell(10_000, p) for p in (2, 10)]
    spark = session(2, options.memory, with_sash=True)
    progress = Progress(len(cells))
    results: list[dict[str, Any]] = []
    for keys in dict.fromkeys(c.keys for c in cells):
        rows = _rows(spark, options.rows, keys, options.slides).cache()
        rows.count()
        for cell in (c for c in cells if c.keys == keys):
            results.append(_measured(spark, rows, cell, options))
            progress.advance(1, f"{keys:,} keys, {cell.panes:,} panes")
        rows.unpersist(blocking=True)
    about = machine.about(Spark=spark.version)
    about.update(
        runs=options.runs,
        rows=options.rows,
        slides=options.slides,
        most=options.most,
        below=options.below,
        median=options.median,
        aggregates="median(x)" if options.median else "count(*), sum(x), max(x)",
        results=results,
    )
    _report(about, options.out)
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
    ways = [True] if cell.panes > options.most else [True, False]
    times: dict[bool, list[float]] = {way: [] for way in ways}
    for _ in range(options.runs + 1):
        for by_sash in ways:
            times[by_sash].append(_seconds(spark, rows, cell, by_sash, options))
    medians = {way: statistics.median(taken[1:]) for way, taken in times.items()}
    spark.conf.set("spark.sash.hops.enabled", "true")
    return {
        "cell": asdict(cell),
        "sash": medians[True],
        "spark": medians.get(False),
        "answers": _query(rows, cell, options).count(),
    }


def _seconds(
    spark: SparkSession, rows: DataFrame, cell: Cell, by_sash: bool, options: argparse.Namespace
) -> float:
    spark.conf.set("spark.sash.hops.enabled", str(by_sash).lower())
    query = _query(rows, cell, options)
    plan = query._jdf.queryExecution().executedPlan().toString()
    if by_sash != ("HopWindows" in plan):
        raise SystemExit(f"{cell}: not by whom it was to be answered")
    start = time.perf_counter()
    query.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def _query(rows: DataFrame, cell: Cell, options: argparse.Namespace) -> DataFrame:
    window: str | Column = F.window("ts", f"{10 * cell.panes} seconds", "10 seconds")
    if options.below:
        rows, window = rows.withColumn("w", window), "w"
    if options.median:
        return rows.groupBy("k", window).agg(F.median("x"))
    return rows.groupBy("k", window).agg(F.count("*"), F.sum("x"), F.max("x"))


def _report(about: dict[str, Any], out: Path) -> None:
    lines = []
    for result in about["results"]:
        cell, by_sash, by_spark = result["cell"], result["sash"], result["spark"]
        times = f"{by_spark:.2f}" if by_spark else "–"
        ratio = f"{by_spark / by_sash:.1f}" if by_spark else "–"
        lines.append(
            f"| {cell['keys']:,} | {cell['panes']:,} | {times} | {by_sash:.2f} "
            f"| {ratio} | {result['answers']:,} |"
        )
    title = "Hops in batch"
    if about["below"]:
        title = "Windows made below the aggregate"
    elif about["median"]:
        title = "Medians"
    text = REPORT.format(
        lines="\n".join(lines), circumstances=machine.sentence(about), title=title, **about
    )
    out.mkdir(parents=True, exist_ok=True)
    name = "hops_below" if about["below"] else "hops_median" if about["median"] else "hops"
    (out / f"{name}.json").write_text(json.dumps(about, indent=1) + "\n")
    if name == "hops":
        sections.write(out / "hops.md", text)
    else:
        sections.section(out / "hops.md", name, text)
    print(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Hops in batch, in seconds.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--slides", type=int, default=2_000, help="over which rows spread")
    parser.add_argument("--most", type=int, default=60, help="panes for which Spark is asked")
    parser.add_argument("--runs", type=int, default=3, help="measured, after one warm-up")
    parser.add_argument("--memory", default="6g", help="heap of the JVM")
    parser.add_argument("--quick", action="store_true", help="200,000 rows, one run")
    parser.add_argument("--below", action="store_true", help="windows below the aggregate")
    parser.add_argument("--median", action="store_true", help="a median in place of sums")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    if options.quick:
        options.rows, options.runs = 200_000, 1
    return options


if __name__ == "__main__":
    main()
