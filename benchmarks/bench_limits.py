"""Sash at the limits: windows of own widths beside fixed ones, and windows that outgrow a heap.

    python benchmarks/bench_limits.py            # about five minutes

First `range_window`, whose width each row says itself, beside a fixed RANGE frame of the same
mean width, by turns in one process (bench_monoids.py says how). Then queries over millions of
rows in a process of its own each, whose heap is 1 GiB: the seconds that they take, or the
condition of the error with which they stop. Writes docs/benchmarks/limits.md and .json.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import bench_monoids
import machine
import sections
from bench_monoids import OTHERWISE, Pair, Sides, measure
from progress import Progress

HEAP = "1g"
MOST_SECONDS = 300
WIDTH = 999
LONG = 5_000_000
LABELS, EVENTS, USERS, DAY = 100_000, 100_000_000, 20_000, 86_400


def own_widths() -> list[Pair]:
    """Widths that are spread evenly around that of the fixed frame."""
    own = f"range_window(pmod(hash(x), {2 * WIDTH + 1}) * INTERVAL '1' SECOND)"
    found = []
    for call in ["sum(n)", "max(x)", "stddev(x)"]:
        ours = f"{call} OVER (PARTITION BY k, {own} ORDER BY ts)"
        theirs = (
            f"{call} OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL {WIDTH} SECONDS PRECEDING)"
        )
        title = f"{call} over own widths beside RANGE"
        found.append(Pair(OTHERWISE, title, WIDTH + 1, ours, theirs, 2.0, 2_000_000))
    return found


def queries() -> dict[str, str]:
    """Each with millions of values in one window, or rows of own widths in one partition."""
    frame = f"ORDER BY id ROWS BETWEEN {LONG - 1} PRECEDING AND CURRENT ROW"
    rows = LONG + 1_000_000
    return {
        f"{call}, {LONG:,} distinct values in a window": (
            f"SELECT max(c) FROM (SELECT {call} OVER ({frame}) AS c FROM range(0, {rows}, 1, 1))"
        )
        for call in ["count(DISTINCT id)", "median(id)"]
    } | {
        "sum(id) over range_window(id % 1000), 10,000,000 rows": (
            "SELECT max(c) FROM (SELECT sum(id) OVER (PARTITION BY range_window(id % 1000) "
            "ORDER BY id) AS c FROM range(0, 10000000, 1, 1))"
        ),
        f"sum(x) over 7 days, {LABELS:,} labels beside {EVENTS:,} events": few_labels(),
    }


def few_labels() -> str:
    """Labels and events at any times of a year."""
    row = f"id, id % {USERS} AS user, pmod(hash(id), {365 * DAY}) AS ts"
    return f"""
        SELECT count(total), sum(total) FROM (SELECT {row} FROM range({LABELS})) l, LATERAL (
          SELECT sum(e.id) AS total FROM (SELECT {row} FROM range({EVENTS})) e
          WHERE e.user = l.user AND e.ts < l.ts AND e.ts >= l.ts - {7 * DAY})"""


def run(query: str) -> None:
    """In a process of its own: print the seconds of a query, or how it ended."""
    from pyspark.sql import SparkSession

    import sash

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", HEAP).config(
        "spark.sql.shuffle.partitions", 1
    )
    spark = sash.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    start = time.perf_counter()
    try:
        spark.sql(query).collect()
        ended = "answered"
    except Exception as error:
        condition = re.search(r"\[([A-Z_.]+)\] Unable", str(error))
        ended = condition.group(1) if condition else type(error).__name__
    print(json.dumps({"seconds": time.perf_counter() - start, "ended": ended}))


def in_process(query: str) -> dict[str, object]:
    """What ``run`` printed; no seconds if it took too long."""
    command = [sys.executable, __file__, "--query", query]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=MOST_SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"seconds": None, "ended": f"stopped after {MOST_SECONDS} s"}
    found: dict[str, object] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def report(about: dict[str, object], pairs: str, limits: dict[str, dict[str, object]]) -> str:
    """The page."""
    lines = [
        "# Costs at the limits",
        "",
        machine.sentence(about),
        "",
        pairs,
        f"## A heap of {HEAP}",
        "",
        "Each query in a process of its own, one core, its start not counted.",
        "",
        "| query | seconds | ended |",
        "|---|--:|---|",
    ]
    for name, found in limits.items():
        seconds = found["seconds"]
        shown = "" if seconds is None else f"{seconds:.1f}"
        lines.append(f"| {name} | {shown} | {found['ended']} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--query", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=bench_monoids.OUT)
    options = parser.parse_args()
    if options.query:
        run(options.query)
        return
    progress = Progress(len(own_widths()) + len(queries()))
    limits = {}
    for name, query in queries().items():
        limits[name] = in_process(query)
        progress.advance(1, f"{name}: {limits[name]['ended']}")
    sides, measured = Sides(), []
    measure(sides, own_widths()[0])  # the heap grows, and what all pairs share is compiled
    for pair in own_widths():
        measured.append(measure(sides, pair))
        progress.advance(1, f"{pair.title}: {measured[-1].ratio:.2f}")
    about = machine.about()
    about["versions"].update({"Spark": sides.spark.version})
    found = [{**asdict(m.pair), "ours_ns": m.ours, "theirs_ns": m.theirs} for m in measured]
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "limits.json").write_text(
        json.dumps({**about, "pairs": found, "limits": limits}, indent=1) + "\n"
    )
    page = report(about, bench_monoids.table(measured), limits)
    sections.write(options.out / "limits.md", page)
    print(page)


if __name__ == "__main__":
    main()
