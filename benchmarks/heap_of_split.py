"""Windows without PARTITION BY in a small heap: divided among tasks, and in one task.

    python benchmarks/heap_of_split.py           # about ten minutes

Each query runs in a process of its own, whose heap is 1 GiB, over rows that `spark.range`
makes. Prints a Markdown table, which docs/benchmarks/split_heap.md shows: the seconds that a
query takes, or the error with which it stops.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time

import machine

HEAP = "1g"
MOST_SECONDS = 300
DIVIDED, ONE_TASK = "divided", "one task"
QUERIES = {
    "running sum": "sum(x) OVER (ORDER BY ts)",
    "max, ROWS 1,000,000": "max(x) OVER (ORDER BY ts ROWS 999999 PRECEDING)",
}


def run(call: str, way: str, rows: int) -> None:
    """In a process of its own: print the seconds of a query, or how it ended."""
    from pyspark.sql import SparkSession

    import sash

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", HEAP)
    spark = sash.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    spark.conf.set("spark.sash.window.split", "on" if way == DIVIDED else "off")
    spark.conf.set("spark.sash.window.splitThreshold", "0")
    series = spark.range(0, rows).selectExpr(
        "timestamp_seconds(id) AS ts", "pmod(hash(id), 1000000) / 7D AS x"
    )
    query = series.selectExpr("ts", "x", f"{call} AS w")
    plan = query._jdf.queryExecution().executedPlan().toString()
    assert ("SplitWindow" in plan) == (way == DIVIDED), plan
    start = time.perf_counter()
    try:
        query.write.format("noop").mode("overwrite").save()
        ended = "answered"
    except Exception as error:
        found = re.search(r"OutOfMemoryError|\[([A-Z_.]+)\]", str(error))
        ended = (found[1] or found[0]) if found else type(error).__name__
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "ended": ended, "versions": {"Spark": spark.version}}))


def in_process(call: str, way: str, options: argparse.Namespace) -> dict[str, object]:
    """What ``run`` printed."""
    command = [sys.executable, __file__, "--rows", str(options.rows), "--query", call, way]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=options.most_seconds
        )
    except subprocess.TimeoutExpired:
        return {"ended": f"stopped after {options.most_seconds} s"}
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        return {"ended": "the process ended"}
    found: dict[str, object] = json.loads(lines[-1])
    return found


def shown(found: dict[str, object]) -> str:
    """A cell: seconds, and the end unless the query was answered."""
    ended, seconds = found["ended"], found.get("seconds")
    if ended == "answered":
        return f"{seconds:.0f}"
    return str(ended) if seconds is None else f"{ended} after {seconds:.0f} s"


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000_000)
    parser.add_argument("--most-seconds", type=int, default=MOST_SECONDS)
    parser.add_argument("--query", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.query:
        run(*options.query, options.rows)
        return
    about, lines = machine.about(), []
    for name, call in QUERIES.items():
        cells = [in_process(call, way, options) for way in (DIVIDED, ONE_TASK)]
        for cell in cells:
            about["versions"].update(cell.get("versions", {}))
        lines.append(f"| {name} | {' | '.join(map(shown, cells))} |")
        print(lines[-1], file=sys.stderr, flush=True)
    print(f"{options.rows:,} rows, a heap of {HEAP}. {machine.sentence(about)}\n")
    print(f"| window | {DIVIDED} | {ONE_TASK} |\n|---|--:|--:|")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
