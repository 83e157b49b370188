"""Windows divided among tasks, with a key in one task, and ORDER BY alone.

    python benchmarks/bench_split.py
    python benchmarks/bench_split.py --cells 'one key'   # a table

Each query runs with the window divided and with each key in one task; an ORDER BY of the same
columns runs once for each table. Then the windows run in 64 tasks, and the seconds of their
stages give the times on more cores. Writes split.md to docs/benchmarks; ``--report`` only writes
the page's section of bars anew.
"""

import argparse
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession

import engines
import machine
from harness import flags, is_chosen, table
from progress import Progress

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
        costly = self.rest or self.join
        return {n: call for n, call in QUERIES.items() if n in FEW or not costly}

    def asked(self, call: str) -> str:
        return call.replace("(ORDER BY", "(PARTITION BY k ORDER BY") if self.key else call


TABLES = [
    Table("in order of time", "id"),
    Table("shuffled", "pmod(id * 7919, {rows})"),
    Table("rows of 200 bytes", "pmod(id * 7919, {rows})", rest="repeat(hex(id % 97), 92) AS s"),
    Table("behind a join", "id", join="JOIN others USING (ts)"),
    Table("one key has 90 % of the rows", "id", "if(id % 10 < 9, 0, id % 1000)"),
]
HEADS = [
    "window",
    "divided",
    "one task",
    "divided, of one task",
    "of ORDER BY",
    "CPU, of one task",
]
Figures = tuple[float, float]
"""Seconds, and seconds of the JVM's processors."""
ONE, ORDER, CPU = "divided, of one task", "of ORDER BY", "CPU, of one task"
ROWS_READ = "rows read, of P"
HEADS = ["window", "divided", "one task", ONE, ORDER, CPU]
POSITIONS = ["running sum", "row_number", "last value that is not NULL", "lag"]
SHORT = ["sum, RANGE 1,000 s", "sum, ROWS 1,000"]
LONG = [
    "max, ROWS 100,000",
    "max, ROWS 1,000,000",
    "max, ROWS 10,000,000",
    "sum, RANGE 1,000,000 s",
    "stddev, ROWS 1,000,000",
]


class Bar(NamedTuple):
    """A figure that windows should not go beyond."""

    windows: list[str]
    figure: str
    most: float
    title: str


BARS = [
    Bar(POSITIONS, ONE, 0.70, "totals and positions"),
    Bar(SHORT, ONE, 0.75, "windows of 1,000"),
    Bar(LONG, ONE, 1.0, "windows of 100,000 and more"),
    Bar(POSITIONS, ORDER, 1.0, "totals and positions"),
    Bar(SHORT, ORDER, 0.9, "windows of 1,000"),
    Bar(LONG, ORDER, 1.15, "windows of 100,000 and more"),
    Bar([*POSITIONS, *SHORT, *LONG], CPU, 2.2, "all"),
    Bar([*POSITIONS, *SHORT, *LONG], ROWS_READ, 3.1, "all, in 64 tasks"),
]
TITLE = "## What they should reach"
EXPLANATION = """\
On two cores no window is much faster in many tasks: both cores already work at the scan and at
the exchange, and only the last of three stages runs in one task. In its place come the sample of
the input, which the exchange by range needs, and the first pass. ORDER BY has the sample, too.
Behind a join the sample runs the join once more, so that ORDER BY itself takes longer than the
window in one task. The first pass reads the exchange once more, and long windows read about as
many older rows as their own. Rows of 200 bytes gain most: many tasks sort them in small pieces.
On more cores the last stage is what counts, and the figures at the end say how much. So Sash
divides windows by itself from four cores on."""


SAMPLE, EXCHANGE, PASS, ANSWERS = "sample", "exchange", "first pass", "answers"


class Stage(NamedTuple):
    """A stage that has ended."""

    work: str
    """One of the four words above."""
    tasks: int
    seconds: float
    """Of all its tasks, added up."""
    rows: int
    """The rows from an exchange that the task with most of them read."""

    def on(self, cores: int) -> float:
        """Its seconds on so many cores, if its tasks are alike and as many as the cores.

        One task stays one task.
        """
        return self.seconds / (cores if self.tasks > 1 else 1)


def stages_of(spark: SparkSession, query: Callable[[], None]) -> list[Stage]:
    """Runs a query, and gives its stages in the order in which they began."""
    context, group = spark.sparkContext, str(uuid.uuid4())
    context.setJobGroup(group, "measured by its stages")
    query()
    context.setLocalProperty("spark.jobGroup.id", None)
    context._jsc.sc().listenerBus().waitUntilEmpty()
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    ids = sorted({stage for job in jobs if job for stage in job.stageIds})
    store = context._jsc.sc().statusStore()
    data = [store.lastStageAttempt(stage) for stage in ids]
    ran = [stage for stage in data if stage.status().toString() == "COMPLETE"]
    return [_stage(store, stage, stage is ran[-1]) for stage in ran]


def _stage(store: Any, data: Any, is_last: bool) -> Stage:
    rows = 0
    if data.shuffleReadRecords() > 0:
        tasks = store.taskList(data.stageId(), data.attemptId(), data.numTasks())
        rows = max(_rows(tasks.apply(i)) for i in range(tasks.size()))
    return Stage(_work(data, is_last), data.numTasks(), data.executorRunTime() / 1e3, rows)


def _rows(task: Any) -> int:
    read: int = task.taskMetrics().get().shuffleReadMetrics().recordsRead()
    return read


def _work(data: Any, is_last: bool) -> str:
    if data.shuffleWriteRecords() > 0:
        return EXCHANGE
    if is_last:
        return ANSWERS
    return PASS if data.shuffleReadRecords() > 0 else SAMPLE


def main() -> None:
    options = flags(
        __doc__,
        quick={"rows": 200_000, "runs": 1},
        runs=2,
        rows=(20_000_000, "of each table"),
        cores=(2, "of Spark"),
        memory=("6g", "heap of the JVM"),
    )
    page = options.out / "split.md"
    if not options.report:
        page.write_text("\n".join(_measured(options)) + "\n", encoding="utf-8")
    # the bars go before the tables of the page
    lines = page.read_text(encoding="utf-8").splitlines()
    titles = [i for i, line in enumerate(lines) if line.startswith("## ")]
    has_bars = lines[titles[0]] == TITLE
    tables = lines[titles[1 if has_bars else 0] :]
    made = [*lines[: titles[0]], *_bars(tables), "", *tables]
    page.write_text("\n".join(made) + "\n", encoding="utf-8")


def _measured(options: argparse.Namespace) -> list[str]:
    spark = _session(options)
    about = machine.about(Spark=spark.version)
    tables = [t for t in TABLES if is_chosen(options, t.title)]
    progress = Progress(sum(len(t.queries) + 1 for t in tables) + len(QUERIES) + 1)
    sections: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        for i, of in enumerate(tables):
            number = of.number.format(rows=options.rows)
            rows = spark.range(0, options.rows, 1, 4).selectExpr(
                *([f"{of.key} AS k"] if of.key else []),
                f"timestamp_seconds(1700000000 + {number}) AS ts",
                "rand(7) * 100 + 1 AS x",
                *([of.rest] if of.rest else []),
            )
            rows.write.parquet(f"{scratch}/{i}")
            spark.read.parquet(f"{scratch}/{i}").createOrReplaceTempView("rows")
            others = spark.range(0, options.rows, 2).selectExpr(
                "timestamp_seconds(1700000000 + id) AS ts"
            )
            others.createOrReplaceTempView("others")
            spark.sql(f"SELECT * FROM rows {of.join}").createOrReplaceTempView("series")
            sections += ["", f"## {of.title.capitalize()}", ""]
            sections += _table(spark, of, options, progress)
        spark.stop()
        spark = _session(options, tasks=TASKS)
        spark.read.parquet(f"{scratch}/0").createOrReplaceTempView("series")
        sections += _on_more_cores(spark, options, progress)
    spark.stop()
    runs = "one run" if options.runs == 1 else f"the best of {options.runs} runs"
    return [
        "# Divided windows, side by side",
        "",
        f"Seconds over {options.rows:,} rows of a time and a double, in four Parquet files, "
        f"{runs} after one warm-up, on {options.cores} cores. "
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


def _session(options: argparse.Namespace, tasks: int = 0) -> Any:
    more = {"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.shuffle.partitions": "200"}
    if tasks:
        more |= {
            "spark.default.parallelism": str(tasks // 2),
            "spark.sql.shuffle.partitions": str(tasks),
            "spark.sql.adaptive.coalescePartitions.enabled": "false",
        }
    return engines.session(options.cores, options.memory, **more)


def _table(
    spark: SparkSession, of: Table, options: argparse.Namespace, progress: Progress
) -> list[str]:
    rows = []
    order, _ = _best(spark, of, options, "", SORTED)
    progress.advance(1, SORTED)
    for name, call in of.queries.items():
        divided, cpu = _best(spark, of, options, call, DIVIDED)
        one, cpu_of_one = _best(spark, of, options, call, ONE_TASK)
        ratios = divided / one, divided / order, cpu / cpu_of_one
        shown = [f"{divided:.1f}", f"{one:.1f}", *(f"{ratio:.2f}" for ratio in ratios)]
        rows.append([name, *shown])
        progress.advance(1, name)
    return [f"ORDER BY takes {order:.1f} s.", "", *table(HEADS, rows)]


def _best(
    spark: SparkSession, of: Table, options: argparse.Namespace, call: str, way: str
) -> Figures:
    runs = [_run(spark, of, call, way) for _ in range(options.runs + 1)]
    return min(runs[1:])  # the first warms up


def _run(spark: SparkSession, of: Table, call: str, way: str) -> Figures:
    query = _query(spark, of, call, way)
    cpu, begin = machine.cpu_seconds(spark), time.perf_counter()
    engines.to_noop(query)
    return time.perf_counter() - begin, machine.cpu_seconds(spark) - cpu


def _query(spark: SparkSession, of: Table, call: str, way: str) -> DataFrame:
    spark.conf.set(SPLIT, "always" if way == DIVIDED else "off")
    spark.conf.set("spark.sash.window.splitThreshold", "0")
    if way == SORTED:
        return spark.sql(f"SELECT * FROM series ORDER BY {'k, ' if of.key else ''}ts")
    query = spark.sql(f"SELECT *, {of.asked(call)} AS w FROM series")
    assert ("SplitWindow" in engines.plan_of(query)) == (way == DIVIDED), call
    return query


def _on_more_cores(
    spark: SparkSession, options: argparse.Namespace, progress: Progress
) -> list[str]:
    """The seconds of each stage in 64 tasks, and the times on more cores by them."""
    order, took = _stages(spark, "", SORTED)
    measured, computed = [_stage_row("*ORDER BY*", order, took, options)], []
    progress.advance(1, "64 tasks")
    for name in QUERIES:
        divided, took = _stages(spark, QUERIES[name], DIVIDED)
        one, _ = _stages(spark, QUERIES[name], ONE_TASK)
        measured.append(_stage_row(name, divided, took, options))
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


WORK = [SAMPLE, EXCHANGE, PASS, ANSWERS]


def _stages(spark: SparkSession, call: str, way: str) -> tuple[list[Stage], float]:
    query = _query(spark, TABLES[0], call, way)
    engines.to_noop(query)  # warms up
    begin = time.perf_counter()
    return stages_of(spark, lambda: engines.to_noop(query)), time.perf_counter() - begin


def _stage_row(name: str, all_of: list[Stage], took: float, options: argparse.Namespace) -> str:
    seconds = " | ".join(f"{_seconds(all_of, work):.1f}" for work in WORK)
    computed = _on(all_of, options.cores)
    share = all_of[-1].rows / (options.rows / TASKS)
    return f"| {name} | {seconds} | {computed:.1f} | {took:.1f} | {share:.1f} |"


def _seconds(all_of: list[Stage], work: str) -> float:
    return sum(s.seconds for s in all_of if s.work == work)


def _on(all_of: list[Stage], cores: int) -> float:
    return sum(s.on(cores) for s in all_of)


def _bars(lines: list[str]) -> list[str]:
    """The section of the bars, over the lines of the page."""
    found = list(_figures(lines))
    rows = []
    for bar in BARS:
        of = [
            (value, where)
            for window, figure, value, where in found
            if window in bar.windows and figure == bar.figure
        ]
        if of:
            worst, where = max(of)
            median = statistics.median(value for value, _ in of)
            figures = f"{bar.most} | {median:.2f} | {worst:.2f}"
            rows.append(f"| {bar.title} | {bar.figure} | {figures} | {where} |")
    return [
        TITLE,
        "",
        "| windows | figure | should be at most | median | worst | where |",
        "|---|---|--:|--:|--:|---|",
        *rows,
        "",
        *EXPLANATION.split("\n"),
    ]


def _figures(lines: list[str]) -> list[tuple[str, str, float, str]]:
    """Window, figure, value and table of each cell of the page's tables."""
    found, title, names = [], "", []
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("## "):
            title = line.removeprefix("## ")
        elif line.startswith("| window |"):
            names = cells
        elif line.startswith("| ") and names and cells[0] != "*ORDER BY*":
            found += [
                (cells[0], name, float(cell), f"{title}: {cells[0]}")
                for name, cell in zip(names, cells, strict=False)
                if name in (ONE, ORDER, CPU, ROWS_READ)
            ]
    return found


if __name__ == "__main__":
    main()
