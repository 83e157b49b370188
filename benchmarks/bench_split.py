"""Windows divided among tasks, with a key in one task, and ORDER BY alone.

    make bench-split

Each query runs with the window divided and with each key in one task; an ORDER BY of the same
columns runs once for each table. Writes split.md to docs/benchmarks. ``--tables 'one key'`` takes
the tables whose titles have these words.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession

import machine
import sash
from progress import Progress

OUT = Path(__file__).parent.parent / "docs" / "benchmarks" / "split.md"
SPLIT = "spark.sash.window.split"
DIVIDED, ONE_TASK, SORTED = "divided", "one task", "ORDER BY"
QUERIES = {
    "running sum": "sum(x) OVER (ORDER BY ts)",
    "row_number": "row_number() OVER (ORDER BY ts)",
    "last value that is not NULL": "last_value(x) IGNORE NULLS OVER (ORDER BY ts)",
    "lag": "lag(x) OVER (ORDER BY ts)",
    "sum, RANGE 1,000 s": "sum(x) OVER (ORDER BY ts RANGE INTERVAL 999 SECONDS PRECEDING)",
    "sum, ROWS 1,000": "sum(x) OVER (ORDER BY ts ROWS 999 PRECEDING)",
    "max, ROWS 100,000": "max(x) OVER (ORDER BY ts ROWS 99999 PRECEDING)",
    "max, ROWS 1,000,000": "max(x) OVER (ORDER BY ts ROWS 999999 PRECEDING)",
    "stddev, ROWS 1,000,000": "stddev(x) OVER (ORDER BY ts ROWS 999999 PRECEDING)",
}


class Table(NamedTuple):
    """A table of the page, and the windows over it."""

    title: str
    number: str
    """The number of a row in the order of time."""
    key: str = ""
    """The key of a row, of windows with PARTITION BY."""

    def asked(self, call: str) -> str:
        """A query of the page over this table."""
        return call.replace("(ORDER BY", "(PARTITION BY k ORDER BY") if self.key else call


TABLES = [
    Table("in order of time", "id"),
    Table("shuffled", "pmod(id * 7919, {rows})"),
    Table("one key has 90 % of the rows", "id", "if(id % 10 < 9, 0, id % 1000)"),
]
Figures = tuple[float, float]
"""Seconds, and seconds of the JVM's processors."""


def main() -> None:
    """Measure, and write the page."""
    options = _options()
    builder = SparkSession.builder.master(f"local[{options.cores}]")
    builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    builder = builder.config("spark.driver.memory", options.memory)
    spark = sash.configure(builder).getOrCreate()
    about = {**machine.about(Spark=spark.version), "runs": options.runs}
    tables = [t for t in TABLES if options.tables in t.title]
    progress = Progress(len(tables) * (len(QUERIES) + 1))
    sections: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        for i, table in enumerate(tables):
            number = table.number.format(rows=options.rows)
            rows = spark.range(0, options.rows, 1, 4).selectExpr(
                *([f"{table.key} AS k"] if table.key else []),
                f"timestamp_seconds(1700000000 + {number}) AS ts",
                "rand(7) * 100 + 1 AS x",
            )
            rows.write.parquet(f"{scratch}/{i}")
            spark.read.parquet(f"{scratch}/{i}").createOrReplaceTempView("series")
            sections += ["", f"## {table.title.capitalize()}", ""]
            sections += _table(spark, table, options, progress)
    spark.stop()
    page = [
        "# Divided windows, side by side",
        "",
        f"Seconds over {options.rows:,} rows of a time and a double, in four Parquet files, "
        f"{_runs(options.runs)} after one warm-up, on {options.cores} cores. "
        "Answers go to the `noop` sink. *One task* is the same query with "
        "`spark.sash.window.split=off`: Sash runs the moving frames, Spark the others. Where "
        "one key has most rows, the windows are `PARTITION BY k`, and *divided* is "
        "`spark.sash.window.split=always`. *ORDER "
        "BY* is Spark's sort of the same columns. *CPU* counts the seconds of all "
        "threads of the JVM. `make bench-split` writes this page.",
        "",
        machine.sentence(about),
        *sections,
    ]
    options.out.write_text("\n".join(page) + "\n", encoding="utf-8")
    print(options.out)


def _runs(count: int) -> str:
    return "one run" if count == 1 else f"the best of {count} runs"


def _table(
    spark: SparkSession, table: Table, options: argparse.Namespace, progress: Progress
) -> list[str]:
    lines = [
        "| window | divided | one task | divided, of one task | of ORDER BY | CPU, of one task |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    order, _ = _best(spark, table, options, "", SORTED)
    progress.advance(1, SORTED)
    for name, call in QUERIES.items():
        divided, cpu = _best(spark, table, options, call, DIVIDED)
        one, cpu_of_one = _best(spark, table, options, call, ONE_TASK)
        lines.append(
            f"| {name} | {divided:.1f} | {one:.1f} | {divided / one:.2f} "
            f"| {divided / order:.2f} | {cpu / cpu_of_one:.2f} |"
        )
        progress.advance(1, name)
    return [f"ORDER BY takes {order:.1f} s.", "", *lines]


def _best(
    spark: SparkSession, table: Table, options: argparse.Namespace, call: str, way: str
) -> Figures:
    runs = [_run(spark, table, call, way) for _ in range(options.runs + 1)]
    return min(runs[1:])  # the first warms up


def _run(spark: SparkSession, table: Table, call: str, way: str) -> Figures:
    spark.conf.set(SPLIT, "always" if way == DIVIDED else "off")
    spark.conf.set("spark.sash.window.splitThreshold", "0")
    if way == SORTED:
        query = spark.sql(f"SELECT * FROM series ORDER BY {'k, ' if table.key else ''}ts")
    else:
        query = spark.sql(f"SELECT *, {table.asked(call)} AS w FROM series")
        assert _is_divided(query) == (way == DIVIDED), call
    cpu, begin = machine.cpu_seconds(spark), time.perf_counter()
    query.write.format("noop").mode("overwrite").save()
    return time.perf_counter() - begin, machine.cpu_seconds(spark) - cpu


def _is_divided(query: DataFrame) -> bool:
    return "SplitWindow" in query._jdf.queryExecution().executedPlan().toString()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--tables", default="", help="words of their titles")
    add("--rows", type=int, default=20_000_000)
    add("--runs", type=int, default=2)
    add("--cores", type=int, default=2)
    add("--memory", default="6g")
    add("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
