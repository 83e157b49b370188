"""The latency of OVER in real-time mode beside Spark's own operators, row by row.

    make bench-real-time

Spark's aggregate by key, and windows that are written by hand with transformWithState: a list of
the last rows, and a ring whose sum is kept. Needs PySpark 4.3, so the target runs it in that
version's environment, beside a Kafka broker. The broker notes when it takes a row and when it
takes its answer. Writes real_time.md to docs/benchmarks.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

import machine
import sash
import sections
from progress import Progress
from real_time_queries import Query, compiled, queries
from real_time_runs import KEYS, SLOW, latencies

OUT = Path(__file__).parent.parent / "docs" / "benchmarks" / "stream.md"
Found = dict[Query, list[list[float]]]
"""The milliseconds of each run."""


def main() -> None:
    """Measure each query in turns, and write the page."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
        jars = [options.jars, str(compiled(Path(folder), home))]
        # all tasks of a query run at once
        builder = SparkSession.builder.master("local[4]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.shuffle.partitions", "1")
        builder = builder.config("spark.jars", ",".join(jars)).config("spark.log.level", "ERROR")
        builder = builder.config("spark.ui.showConsoleProgress", "false")
        spark = sash.configure(builder, streaming=True).getOrCreate()
        spark.conf.set("spark.sash.stream.buckets", "4")
        # ordinary batches fill the windows, and real-time mode goes on with this format alone
        spark.conf.set("spark.sql.streaming.stateStore.checkpointFormatVersion", "2")
        asked = [q for q in queries() if options.only in f"{q.name} {q.window}"]
        found: Found = {query: [] for query in asked}
        progress = Progress(options.runs * len(asked))
        for _ in range(options.runs):
            for query in asked:
                found[query].append(latencies(spark, query, options))
                progress.advance(1, f"{query.name} {query.window}: {_row(found[query])}")
        about = machine.about(Spark=spark.version)
        spark.stop()
    sections.section(options.out, "bench_real_time", page(about, found, options))
    print(options.out)


def page(about: dict[str, Any], found: Found, options: argparse.Namespace) -> str:
    """The page: the middle run of each query, by its median."""
    lines = [
        "# Latency in real-time mode",
        "",
        machine.sentence(about),
        "",
        "Milliseconds from when a Kafka broker has a row until it has the answer, in update "
        f"mode. {options.rate} rows a second, {KEYS} keys, {options.seconds} seconds after a "
        f"warm-up. Of {options.runs} runs in turns the middle one. `make bench-real-time` "
        "writes this section.",
        "",
        "The windows hold a number of rows of each key, which came before the measured rows. "
        "*A list* is a transformWithState that keeps the rows in a ListState, and adds them up "
        f"for each row; of the largest window {SLOW} row a second came. *A ring* is one that "
        "keeps the sum, too, and subtracts the row that leaves. Both are Scala, and take rows "
        "in the order in which they come.",
        "",
        "| query | rows in the window | median | 99 of 100 |",
        "|---|--:|--:|--:|",
    ]
    for query, runs in found.items():
        window = f"{query.window:,}" if query.window else ""
        lines.append(f"| {query.name} | {window} | {_row(runs)} |")
    return "\n".join(lines + _worst(found)) + "\n"


def _worst(found: Found) -> list[str]:
    """How much longer than the ring Sash takes at most, if both were measured."""
    rings = {q.window: _figures(runs) for q, runs in found.items() if q.name.endswith("ring")}
    pairs = [
        (_figures(runs), rings[q.window])
        for q, runs in found.items()
        if q.name.startswith("Sash") and q.window in rings
    ]
    if not pairs:
        return []
    median, p99 = (max(ours[i] / ring[i] for ours, ring in pairs) for i in range(2))
    return [
        "",
        f"Sash takes at most {median:.2f} of the ring's median, and {p99:.2f} of its 99 of 100.",
    ]


def _row(runs: list[list[float]]) -> str:
    median, p99 = _figures(runs)
    return f"{median:.1f} | {p99:.1f}"


def _figures(runs: list[list[float]]) -> tuple[float, float]:
    """The median and the 99 of 100 of the middle run."""
    run = sorted(runs, key=statistics.median)[len(runs) // 2]
    return statistics.median(run), statistics.quantiles(run, n=100)[98]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--seconds", type=int, default=40, help="of each measured run")
    add("--rate", type=int, default=25, help="rows a second")
    add("--runs", type=int, default=3)
    add("--only", default="", help="the queries whose name and window have these words")
    add("--jars", default="", help="Spark's Kafka source, separated by commas")
    add("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
