r"""A partition of 50 million rows, a window of 1,000, a heap of 1 GiB.

    spark-submit --master local[1] --driver-memory 1g --jars $(python -m sash jar) \
        benchmarks/bench_memory.py

or, which starts the same session, ``python benchmarks/bench_memory.py``. Reports the run time
and the peak memory of the window and of the sort below it, to docs/benchmarks/limits.md.
"""

from __future__ import annotations

import argparse
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import machine
import sections
from engines_spark import session

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
METRICS = ("peak memory", "spill size", "peak window rows", "tasks left to Spark's sort")
REPORT = """\
# Memory

One partition of {rows:,} rows, `sum(x)` over the last {window:,}, one core, a heap of
{heap_mb:,} MB. The rows are made by `spark.range` as they are read, shuffled and sorted.

It took {seconds:,.0f} s, {ns_per_row:,.0f} ns a row. The largest amounts of a task, as Spark's
SQL metrics show them:

| operator | metric | value |
|---|---|---|
{metrics}

{circumstances}
"""


def main() -> None:
    """Run the query once, and report."""
    options = _options()
    spark = session(1, "1g", with_sash=True)
    java: Any = spark.sparkContext._jvm
    heap = java.java.lang.Runtime.getRuntime().maxMemory()
    if heap > 2**30:
        raise SystemExit(f"the heap is {heap:,} bytes: start with --driver-memory 1g")

    frame = spark.range(options.rows).selectExpr(
        "shiftright(id, 62) AS k", "timestamp_seconds(id) AS ts", "rand(1) AS x"
    )
    frame.createOrReplaceTempView("input")
    query = spark.sql(f"""
        SELECT sum(x) OVER (
          PARTITION BY k ORDER BY ts
          ROWS BETWEEN {options.window - 1} PRECEDING AND CURRENT ROW)
        FROM input""")
    start = time.perf_counter()
    with _progress(spark):
        query.write.format("noop").mode("overwrite").save()
    seconds = time.perf_counter() - start

    about = machine.about(Spark=spark.version)
    about.update(
        rows=options.rows,
        window=options.window,
        heap_mb=heap // 2**20,
        seconds=seconds,
        ns_per_row=seconds / options.rows * 1e9,
        metrics=_metrics(spark),
    )
    if not any(node.startswith("SlidingWindow") for node, _, _ in about["metrics"]):
        raise SystemExit("Sash did not run: no node of the plan is a SlidingWindow")
    _write(about, options.out)
    spark.stop()


def _metrics(spark: SparkSession) -> list[tuple[str, str, str]]:
    """Operator, metric, value: of the sort and the window of the last query that Spark ran."""
    store: Any = spark._jsparkSession.sharedState().statusStore()
    executions = store.executionsList()
    last = executions.apply(executions.size() - 1).executionId()
    values = store.executionMetrics(last)
    found = []
    for node in _each(store.planGraph(last).allNodes()):
        if node.name().startswith(("SlidingWindow", "Window", "Sort", "Ordering")):
            for metric in _each(node.metrics()):
                value = values.get(metric.accumulatorId())
                if metric.name() in METRICS and value.isDefined():
                    found.append((node.name(), metric.name(), " ".join(value.get().split())))
    return found


def _each(sequence: Any) -> Iterator[Any]:
    """The elements of a Scala Seq."""
    return (sequence.apply(index) for index in range(sequence.size()))


def _write(about: dict[str, Any], out: Path) -> None:
    lines = "\n".join(f"| {node} | {name} | {value} |" for node, name, value in about["metrics"])
    text = REPORT.format(**{**about, "metrics": lines}, circumstances=machine.sentence(about))
    out.mkdir(parents=True, exist_ok=True)
    (out / "memory.json").write_text(json.dumps(about, indent=1) + "\n")
    sections.section(out / "limits.md", "bench_memory", text)
    print(text)


@contextmanager
def _progress(spark: SparkSession) -> Iterator[None]:
    """A line every ten seconds: what Spark's stages have done so far."""
    tracker, done = spark.sparkContext.statusTracker(), threading.Event()

    def watch() -> None:
        start = time.monotonic()
        while not done.wait(10):
            for stage in tracker.getActiveStageIds():
                if info := tracker.getStageInfo(stage):
                    tasks = f"{info.numCompletedTasks}/{info.numTasks} tasks"
                    print(f"{time.monotonic() - start:.0f} s: {info.name}, {tasks}", flush=True)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Memory of a window over one large partition.")
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--window", type=int, default=1_000)
    parser.add_argument("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
