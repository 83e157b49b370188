"""Monoids in lambdas beside the same aggregates built in, over a moving window.

    python benchmarks/bench_lambdas.py           # some minutes

Each query aggregates several columns, so that aggregating is most of what it does. Prints, for
each pair, the least seconds of both, those of a window of one `count(*)`, which both have to take
for rows and frame, and two ratios: of all, and of what is left without that. The pairs are run in
turns.
"""

from __future__ import annotations

import argparse
import time

from pyspark.sql import SparkSession

import sash

SPREAD = (
    "monoid_agg({x}, x -> struct(x AS lo, x AS hi), (a, b) -> struct(least(a.lo, b.lo) AS lo, "
    "greatest(a.hi, b.hi) AS hi), a -> a.hi - a.lo)"
)
MEAN = (
    "monoid_agg({x}, x -> struct(x AS s, 1L AS n), (a, b) -> struct(a.s + b.s AS s, "
    "a.n + b.n AS n), a -> a.s / a.n)"
)
COLUMNS = 8
PAIRS = {
    "max - min": ("value_range({x})", SPREAD),
    "max": (
        "max({x})",
        "monoid_agg({x}, x -> x, (a, b) -> greatest(a, b), NULL, NULL, NULL, true)",
    ),
    "sum": ("sum({x})", "monoid_agg({x}, x -> x, (a, b) -> a + b)"),
    "avg": ("avg({x})", MEAN),
    "count": (
        "count({x})",
        "monoid_agg({x}, x -> 1L, (a, b) -> a + b, NULL, 0L, (w, o) -> w - o)",
    ),
}


def main() -> None:
    """Measure the pairs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--window", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = sash.configure(builder.config("spark.sql.shuffle.partitions", "1")).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    # one partition, in order: nothing to exchange or to sort
    columns = [
        f"IF(id < 0, NULL, CAST((id + {i}) * 7919 % 10007 AS DOUBLE)) AS x{i}"
        for i in range(COLUMNS)
    ]
    data = spark.range(0, options.rows, 1, 1).selectExpr("0L AS k", "id AS ts", *columns)
    data.cache().createOrReplaceTempView("readings")
    data.count()

    def seconds(call: str) -> float:
        over = f"PARTITION BY k ORDER BY ts ROWS {options.window - 1} PRECEDING"
        calls = [call.format(x=f"x{i}") for i in range(COLUMNS if "{x}" in call else 1)]
        columns = ", ".join(f"{c} OVER w AS c{i}" for i, c in enumerate(calls))
        query = f"SELECT {columns} FROM readings WINDOW w AS ({over})"
        started = time.perf_counter()
        spark.sql(query).write.format("noop").mode("overwrite").save()
        return time.perf_counter() - started

    print("aggregate    built in  in lambdas  count(*)  ratio  ratio without count(*)")
    for name, pair in PAIRS.items():
        calls = (*pair, "count(*)")
        times: dict[str, list[float]] = {call: [] for call in calls}
        for run in range(options.runs + 2):
            for call in calls:
                took = seconds(call)
                if run >= 2:
                    times[call].append(took)
        ours, theirs, base = (min(times[call]) for call in calls)
        net = (theirs - base) / (ours - base) if ours > base else float("nan")
        figures = f"{ours:8.3f}  {theirs:10.3f}  {base:8.3f}  {theirs / ours:5.2f}  {net:5.2f}"
        print(f"{name:12} {figures}")


if __name__ == "__main__":
    main()
