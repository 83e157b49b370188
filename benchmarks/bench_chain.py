"""Features added one by one beside the same features in one SELECT.

    make bench-chain

Each feature is a `withColumn` over an input that another `withColumn` computes. Writes chain.md
to docs/benchmarks.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import machine
import sash
from progress import Progress
from sash.plan import explanation

OUT = Path(__file__).parent.parent / "docs" / "benchmarks" / "chain.md"
FEATURES = 60
CALLS = [F.sum, F.avg, F.max, F.min, F.stddev]
ONE_BY_ONE, AT_ONCE = "60 times withColumn", "one SELECT"


def feature(n: int, column: str | Column) -> Column:
    """The feature number `n` of a column."""
    by = Window.partitionBy("k").orderBy("t")
    return CALLS[n % len(CALLS)](column).over(by.rowsBetween(-10 * (n + 1), 0))


def one_by_one(rows: DataFrame) -> DataFrame:
    """Sixty operators, unless they are merged."""
    for n in range(FEATURES):
        rows = rows.withColumn(f"x{n}", F.col("x") + n).withColumn(f"f{n}", feature(n, f"x{n}"))
    return rows.select("k", "t", *(f"f{n}" for n in range(FEATURES)))


def at_once(rows: DataFrame) -> DataFrame:
    """The same features, written in one query."""
    inputs = rows.select("k", "t", *((F.col("x") + n).alias(f"x{n}") for n in range(FEATURES)))
    return inputs.select("k", "t", *(feature(n, f"x{n}").alias(f"f{n}") for n in range(FEATURES)))


def main() -> None:
    """Measure both in turns, with Sash and with Spark's windows, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2")
    builder = builder.config("spark.driver.memory", "6g").config("spark.log.level", "ERROR")
    spark = sash.configure(builder).getOrCreate()
    rows = spark.range(options.rows).selectExpr(
        "id % 1000 AS k", "id AS t", "CAST(id * 7 % 1009 AS DOUBLE) AS x"
    )
    rows = rows.cache()
    rows.count()
    queries = {ONE_BY_ONE: one_by_one, AT_ONCE: at_once}
    seconds: dict[str, list[float]] = {name: [] for name in queries}
    analysis: dict[str, list[float]] = {name: [] for name in queries}
    operators: dict[str, int] = {}
    progress = Progress((options.runs + 1) * len(queries))
    for run in range(options.runs + 1):
        for name, query in queries.items():
            begin = time.perf_counter()
            df = query(rows)
            made = time.perf_counter()
            df.write.format("noop").mode("overwrite").save()
            if run:  # the first warms up
                analysis[name].append(made - begin)
                seconds[name].append(time.perf_counter() - made)
            plan = df._jdf.queryExecution().executedPlan().toString()
            operators[name] = plan.count("SlidingWindow [")
            assert "slides" in explanation(df)
            progress.advance(1, name)
    about = machine.about(Spark=spark.version)
    spark.stop()
    lines = [
        "# Features one by one",
        "",
        machine.sentence(about),
        "",
        f"{FEATURES} features over {options.rows:,} cached rows of 1,000 keys, each over an "
        f"input of its own. Medians of {options.runs} runs in turns. `make bench-chain` writes "
        "this page.",
        "",
        "| written as | operators | seconds to build the query | seconds to run it |",
        "|---|--:|--:|--:|",
        *(
            f"| {name} | {operators[name]} | {statistics.median(analysis[name]):.2f} "
            f"| {statistics.median(seconds[name]):.2f} |"
            for name in queries
        ),
        "",
        f"Run beside run: {_ratio(seconds):.2f}.",
    ]
    OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(OUT)


def _ratio(seconds: dict[str, list[float]]) -> float:
    return statistics.median(
        one / other for one, other in zip(seconds[ONE_BY_ONE], seconds[AT_ONCE], strict=True)
    )


if __name__ == "__main__":
    main()
