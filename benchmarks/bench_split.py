"""Windows divided among tasks, with a key in one task, and ORDER BY alone.

    make bench-split

Each query runs with the window divided and with each key in one task; an ORDER BY of the same
columns runs once for each table. Then the windows run in 64 tasks, and the seconds of their
stages give the times on more cores. Writes split.md to docs/benchmarks. ``--tables 'one key'``
takes the tables whose titles have these words; ``--report`` measures nothing, and only writes the
page's section of bars anew.
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
import split_bars
import stages
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
    "max, ROWS 10,000,000": "max(x) OVER (ORDER BY ts ROWS 9999999 PRECEDING)",
    "sum, RANGE 1,000,000 s": "sum(x) OVER (ORDER BY ts RANGE INTERVAL 999999 SECONDS PRECEDING)",
    "stddev, ROWS 1,000,000": "stddev(x) OVER (ORDER BY ts ROWS 999999 PRECEDING)",
}
FEW = ["running sum", "row_number", "lag", "sum, RANGE 1,000 s", "max, ROWS 1,000,000"]
"""The windows over tables whose rows cost more."""
TASKS = 64
CORES = [8, 64, 512]


class Table(NamedTuple):
    """A table of the page, and the windows over it."""

    title: str
    number: str
    """The number of a row in the order of time."""
    key: str = ""
    """The key of a row, of windows with PARTITION BY."""
    rest: str = ""
    """Another column."""
    join: str = ""
    """A table that is joined with this one."""

    @property
    def queries(self) -> dict[str, str]:
        """The windows over this table, by name."""
        costly = self.rest or self.join
        return {n: call for n, call in QUERIES.items() if n in FEW or not costly}

    def asked(self, call: str) -> str:
        """A query of the page over this table."""
        return call.replace("(ORDER BY", "(PARTITION BY k ORDER BY") if self.key else call


TABLES = [
    Table("in order of time", "id"),
    Table("shuffled", "pmod(id * 7919, {rows})"),
    Table("rows of 200 bytes", "pmod(id * 7919, {rows})", rest="repeat(hex(id % 97), 92) AS s"),
    Table("behind a join", "id", join="JOIN others USING (ts)"),
    Table("one key has 90 % of the rows", "id", "if(id % 10 < 9, 0, id % 1000)"),
]
Figures = tuple[float, float]
"""Seconds, and seconds of the JVM's processors."""


def main() -> None:
    """Measure, and write the page."""
    options = _options()
    if options.report:
        _report(options.out)
        return
    spark = _session(options)
    about = {**machine.about(Spark=spark.version), "runs": options.runs}
    tables = [t for t in TABLES if options.tables in t.title]
    progress = Progress(sum(len(t.queries) + 1 for t in tables) + len(QUERIES) + 1)
    sections: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        for i, table in enumerate(tables):
            number = table.number.format(rows=options.rows)
            rows = spark.range(0, options.rows, 1, 4).selectExpr(
                *([f"{table.key} AS k"] if table.key else []),
                f"timestamp_seconds(1700000000 + {number}) AS ts",
                "rand(7) * 100 + 1 AS x",
                *([table.rest] if table.rest else []),
            )
            rows.write.parquet(f"{scratch}/{i}")
            spark.read.parquet(f"{scratch}/{i}").createOrReplaceTempView("rows")
            others = spark.range(0, options.rows, 2).selectExpr(
                "timestamp_seconds(1700000000 + id) AS ts"
            )
            others.createOrReplaceTempView("others")
            spark.sql(f"SELECT * FROM rows {table.join}").createOrReplaceTempView("series")
            sections += ["", f"## {table.title.capitalize()}", ""]
            sections += _table(spark, table, options, progress)
        spark.stop()
        spark = _session(options, tasks=TASKS)
        spark.read.parquet(f"{scratch}/0").createOrReplaceTempView("series")
        sections += _on_more_cores(spark, options, progress)
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
    _report(options.out)


def _report(out: Path) -> None:
    """Put the bars before the tables of the page."""
    lines = out.read_text(encoding="utf-8").splitlines()
    titles = [i for i, line in enumerate(lines) if line.startswith("## ")]
    has_bars = lines[titles[0]] == split_bars.TITLE
    tables = lines[titles[1 if has_bars else 0] :]
    page = [*lines[: titles[0]], *split_bars.section(tables), "", *tables]
    out.write_text("\n".join(page) + "\n", encoding="utf-8")
    print(out)


def _session(options: argparse.Namespace, tasks: int = 0) -> SparkSession:
    builder = SparkSession.builder.master(f"local[{options.cores}]")
    builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
    builder = builder.config("spark.driver.memory", options.memory)
    builder = builder.config("spark.sql.autoBroadcastJoinThreshold", "-1")
    if tasks:
        builder = builder.config("spark.default.parallelism", tasks // 2)
        builder = builder.config("spark.sql.shuffle.partitions", tasks)
        builder = builder.config("spark.sql.adaptive.coalescePartitions.enabled", "false")
    return sash.configure(builder).getOrCreate()


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
    for name, call in table.queries.items():
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
    query = _query(spark, table, call, way)
    cpu, begin = machine.cpu_seconds(spark), time.perf_counter()
    _answer(query)
    return time.perf_counter() - begin, machine.cpu_seconds(spark) - cpu


def _query(spark: SparkSession, table: Table, call: str, way: str) -> DataFrame:
    spark.conf.set(SPLIT, "always" if way == DIVIDED else "off")
    spark.conf.set("spark.sash.window.splitThreshold", "0")
    if way == SORTED:
        return spark.sql(f"SELECT * FROM series ORDER BY {'k, ' if table.key else ''}ts")
    query = spark.sql(f"SELECT *, {table.asked(call)} AS w FROM series")
    assert _is_divided(query) == (way == DIVIDED), call
    return query


def _answer(query: DataFrame) -> None:
    query.write.format("noop").mode("overwrite").save()


def _on_more_cores(
    spark: SparkSession, options: argparse.Namespace, progress: Progress
) -> list[str]:
    """The seconds of each stage in 64 tasks, and the times on more cores by them."""
    order, took = _stages(spark, "", SORTED)
    measured, computed = [_measured("*ORDER BY*", order, took, options)], []
    progress.advance(1, "64 tasks")
    for name in QUERIES:
        divided, took = _stages(spark, QUERIES[name], DIVIDED)
        one, _ = _stages(spark, QUERIES[name], ONE_TASK)
        measured.append(_measured(name, divided, took, options))
        times = [[_on(way, cores) for way in (divided, order, one)] for cores in CORES]
        cells = [f"{d:.2g} / {o:.2g} / {t:.2g}" for d, o, t in times]
        computed.append(f"| {name} | {' | '.join(cells)} |")
        progress.advance(1, name)
    return [
        "",
        "## On more cores",
        "",
        f"The rows in order of time again, in {TASKS} tasks on {options.cores} cores: the "
        "seconds of all tasks of a stage, added up. Divided by the number of cores, they should "
        "be the seconds that the query took. The last column has the rows that a task read at "
        "most in the last stage, as a multiple of its share (P, "
        f"{options.rows // TASKS:,} rows).",
        "",
        f"| window | {' | '.join(WORK)} | computed | measured | rows read, of P |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
        *measured,
        "",
        "From these seconds the times on more cores are **computed**, not measured: divided / "
        "ORDER BY / in one task. A stage takes its seconds divided by the number of cores; the "
        "one task of a window takes all of its seconds. Network, scheduling and stragglers are "
        "left out.",
        "",
        f"| window | {' | '.join(f'{cores} cores' for cores in CORES)} |",
        "|---|--:|--:|--:|",
        *computed,
    ]


WORK = [stages.SAMPLE, stages.EXCHANGE, stages.PASS, stages.ANSWERS]


def _stages(spark: SparkSession, call: str, way: str) -> tuple[list[stages.Stage], float]:
    """The stages of a query, and its seconds."""
    query = _query(spark, TABLES[0], call, way)
    _answer(query)  # warms up
    begin = time.perf_counter()
    return stages.of(spark, lambda: _answer(query)), time.perf_counter() - begin


def _measured(
    name: str, all_of: list[stages.Stage], took: float, options: argparse.Namespace
) -> str:
    seconds = " | ".join(f"{_seconds(all_of, work):.1f}" for work in WORK)
    computed = _on(all_of, options.cores)
    share = all_of[-1].rows / (options.rows / TASKS)
    return f"| {name} | {seconds} | {computed:.1f} | {took:.1f} | {share:.1f} |"


def _seconds(all_of: list[stages.Stage], work: str) -> float:
    return sum(s.seconds for s in all_of if s.work == work)


def _on(all_of: list[stages.Stage], cores: int) -> float:
    return sum(s.on(cores) for s in all_of)


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
    add("--report", action="store_true", help="measure nothing")
    add("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
