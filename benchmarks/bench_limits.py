"""Sash at the limits: windows of own widths beside fixed ones, and windows that outgrow a heap.

    python benchmarks/bench_limits.py            # about five minutes
    python benchmarks/bench_limits.py --memory   # a partition of 50 million rows

First `range_window`, whose width each row says itself, beside a fixed RANGE frame of the same
mean width, by turns in one process (bench_monoids.py says how). Then queries over millions of
rows in a process of its own each, whose heap is 1 GiB: the seconds that they take, or the
condition of the error with which they stop. Writes docs/benchmarks/limits.md and .json; with
``--memory``, memory.json, and a section with the peak memory of a window and of the sort below.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import bench_monoids
import engines
import machine
from bench_monoids import OTHERWISE, Pair
from harness import Store, by_turns, flags, once, page, section, table
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
    row = f"id, id % {USERS} AS user, pmod(hash(id), {365 * DAY}) AS ts"
    return f"""
        SELECT count(total), sum(total) FROM (SELECT {row} FROM range({LABELS})) l, LATERAL (
          SELECT sum(e.id) AS total FROM (SELECT {row} FROM range({EVENTS})) e
          WHERE e.user = l.user AND e.ts < l.ts AND e.ts >= l.ts - {7 * DAY})"""


METRICS = ("peak memory", "spill size", "peak window rows", "tasks left to Spark's sort")
REPORT = """\
# Memory

One partition of {rows:,} rows, `sum(x)` over the last {window:,}, one core, a heap of
{heap_mb:,} MB. The rows are made by `spark.range` as they are read, shuffled and sorted.

It took {seconds:,.0f} s, {ns_per_row:,.0f} ns a row. The largest amounts of a task, as Spark's
SQL metrics show them:

{table}

{circumstances}
"""


def in_process(query: str) -> dict[str, Any]:
    """The seconds of a query in a process of its own, and how it ended."""
    command = [sys.executable, __file__, "--query", query]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=MOST_SECONDS
        )
    except subprocess.TimeoutExpired:
        return {"seconds": None, "ended": f"stopped after {MOST_SECONDS} s"}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def _run(query: str) -> None:
    more = {"spark.sql.shuffle.partitions": "1", "spark.log.level": "OFF"}
    spark = engines.session(1, HEAP, **more)
    start, ended = time.perf_counter(), "answered"
    try:
        spark.sql(query).collect()
    except Exception as error:
        condition = re.search(r"\[([A-Z_.]+)\] Unable", str(error))
        ended = condition.group(1) if condition else type(error).__name__
    print(json.dumps({"seconds": time.perf_counter() - start, "ended": ended}))


def main() -> None:
    options = flags(
        __doc__,
        quick={"rows": 500_000},
        query=("", argparse.SUPPRESS),
        memory=(False, "the memory of one large partition"),
        rows=(50_000_000, "with --memory: of the partition"),
    )
    if options.query:
        _run(options.query)
    elif options.memory:
        about = once(options, "memory", lambda: _memory(options.rows))
        lines = "\n".join(
            table(["operator", "metric", "value"], about["metrics"], "metric,value")
        )
        text = REPORT.format(**about, table=lines, circumstances=machine.sentence(about))
        section(options.out / "limits.md", "bench_memory", text)
    else:
        _limits(options)


def _limits(options: argparse.Namespace) -> None:
    store = Store(options, "limits", under="pairs", flat=Pair)
    if not options.report:
        limits = store.about.setdefault("limits", {})
        chosen = {} if options.quick else {n: q for n, q in queries().items() if n not in limits}
        progress = Progress(len(chosen))
        for name, query in chosen.items():
            limits[name] = in_process(query)
            store.save()
            progress.advance(1, f"{name}: {limits[name]['ended']}")
        sides = bench_monoids.Sides()
        # the heap grows, and what all pairs share is compiled
        sides.load(own_widths()[0].rows // (20 if options.quick else 1))
        first = own_widths()[0]
        by_turns({"ours": sides.sash(first.ours), "theirs": sides.sash(first.theirs)}, 3)
        bench_monoids.measure(options, store, own_widths(), sides)
    rows = [
        [name, "" if of["seconds"] is None else f"{of['seconds']:.1f}", of["ended"]]
        for name, of in store.about["limits"].items()
    ]
    text = (
        f"# Costs at the limits\n\n{machine.sentence(store.about)}\n\n"
        f"{bench_monoids.table(store.results)}\n## A heap of {HEAP}\n\n"
        "Each query in a process of its own, one core, its start not counted.\n\n"
    )
    lines = "\n".join(table(["query", "seconds", "ended"], rows, "ended"))
    page(options.out / "limits.md", f"{text}{lines}\n")


def _memory(rows: int) -> dict[str, Any]:
    """Run the query once. The rows are made as they are read, shuffled and sorted."""
    spark = engines.session(1, HEAP)
    heap = spark.sparkContext._jvm.java.lang.Runtime.getRuntime().maxMemory()
    frame = spark.range(rows).selectExpr(
        "shiftright(id, 62) AS k", "timestamp_seconds(id) AS ts", "rand(1) AS x"
    )
    frame.createOrReplaceTempView("input")
    query = spark.sql(f"""
        SELECT sum(x) OVER (
          PARTITION BY k ORDER BY ts
          ROWS BETWEEN {WIDTH} PRECEDING AND CURRENT ROW)
        FROM input""")
    start = time.perf_counter()
    engines.to_noop(query)
    seconds = time.perf_counter() - start
    metrics = _metrics(spark)
    about = machine.about(Spark=spark.version)
    spark.stop()
    if not any(node.startswith("SlidingWindow") for node, _, _ in metrics):
        raise SystemExit("Sash did not run: no node of the plan is a SlidingWindow")
    found = {"heap_mb": heap // 2**20, "seconds": seconds, "ns_per_row": seconds / rows * 1e9}
    return {**about, "rows": rows, "window": WIDTH + 1, **found, "metrics": metrics}


def _metrics(spark: Any) -> list[tuple[str, str, str]]:
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
    return (sequence.apply(index) for index in range(sequence.size()))


if __name__ == "__main__":
    main()
