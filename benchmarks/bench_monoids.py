"""Sash's monoids and windows beside what else computes them: Spark, DuckDB, or Sash otherwise.

    python benchmarks/bench_monoids.py            # about ten minutes
    python benchmarks/bench_monoids.py --only DuckDB

One core, rows in memory in time order. The two sides of a pair take turns in one process, and the
least time of each counts. Writes docs/benchmarks/monoids.md, .json and .svg.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import duckdb
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from pyspark.sql import DataFrame, SparkSession

import machine
import sash
from progress import Progress
from sash.plan import explanation

PAPERS = Path(__file__).parent.parent / "target/papers/scala-2.13"
"""Where sbt puts the papers' library, which has the operations of ``CoreAggregator``."""
OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
KEYS = 2
RUNS = 3
LONG = 4.0
"""Seconds from which a side is run once."""
SPARK, DUCKDB, OTHERWISE = "Spark as shipped", "DuckDB", "Sash otherwise"
COLOURS = {"Sash": "#0072B2", "DuckDB": "#009E73"}

SPREAD = (
    "monoid_agg(x, x -> struct(x AS lo, x AS hi), (a, b) -> struct(least(a.lo, b.lo) AS lo, "
    "greatest(a.hi, b.hi) AS hi), a -> a.hi - a.lo)"
)
MEAN = (
    "monoid_agg(x, x -> struct(x AS s, 1L AS n), (a, b) -> struct(a.s + b.s AS s, "
    "a.n + b.n AS n), a -> a.s / a.n)"
)
RANGES = (999, 9_999, 29_999)


@dataclass(frozen=True)
class Pair:
    """A query, and what it is compared with.

    ``asked`` is the most that its time may be of the other's, as a ratio.
    """

    beside: str
    title: str
    window: int
    ours: str
    theirs: str
    asked: float
    rows: int


@dataclass
class Measured:
    """Nanoseconds a row of both sides of a pair."""

    pair: Pair
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        """Ours over theirs."""
        return self.ours / self.theirs


def over(call: str, window: int) -> str:
    """A call over the last ``window`` rows."""
    frame = f"ROWS BETWEEN {window - 1} PRECEDING AND CURRENT ROW"
    return f"{call} OVER (PARTITION BY k ORDER BY ts {frame})"


def pairs() -> list[Pair]:
    """Everything that is measured."""
    found = []
    for call in ["approx_count_distinct(n)", "collect_list(x)", "core_range(x)", "mode(n)"]:
        sql = over(call, 1_000)
        found.append(Pair(SPARK, call, 1_000, sql, sql, 0.1, 100_000))
    for call in ["count(DISTINCT n)", "median(x)", "mode(n)"]:
        for window in [100, 1_000, 10_000, 100_000]:
            sql = over(call, window)
            found.append(Pair(DUCKDB, call, window, sql, sql, 1.0, 1_000_000))
    for title, built_in, own in [
        ("a monoid in lambdas beside value_range", "value_range(x)", SPREAD),
        ("a monoid in lambdas beside avg", "avg(x)", MEAN),
    ]:
        sides = over(own, 1_000), over(built_in, 1_000)
        found.append(Pair(OTHERWISE, title, 1_000, *sides, 1.5, 1_000_000))
    predicate = (
        "{call} OVER (PARTITION BY k, predicate_window(count(x), c -> c <= 1000) ORDER BY ts)"
    )
    for call in ["sum(n)", "stddev(x)"]:
        title = f"{call} over a predicate window beside ROWS"
        sides = predicate.format(call=call), over(call, 1_000)
        found.append(Pair(OTHERWISE, title, 1_000, *sides, 1.5, 1_000_000))
    for call in ["rank_in_frame(x)", "dense_rank_in_frame(x)"]:
        for window in [1_000, 100_000]:
            title = f"{call} beside median(x)"
            sides = over(call, window), over("median(x)", window)
            found.append(Pair(OTHERWISE, title, window, *sides, 1.5, 1_000_000))
    by_time = "{call} OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL {w} SECONDS PRECEDING)"
    for call in ["sum(n)", "max(x)", "stddev(x)"]:
        for name, frame in [("ROWS", None), ("RANGE", by_time)]:
            three = [frame.format(call=call, w=w) if frame else over(call, w + 1) for w in RANGES]
            title = f"{call} over three ranges by {name} beside the longest"
            sides = ", ".join(f"{c} AS c{i}" for i, c in enumerate(three)), three[-1]
            found.append(Pair(OTHERWISE, title, RANGES[-1] + 1, *sides, 1.5, 1_000_000))
    return found


class Sides:
    """Spark with Sash, which can be switched off, and DuckDB, over the same rows.

    With the jar of the papers' library SQL has its Range, too: ``core_range``.
    """

    def __init__(self, papers: Path | None = None) -> None:
        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        builder = builder.config("spark.sql.shuffle.partitions", "1")
        builder = builder.config("spark.driver.memory", "6g")
        if papers is not None:
            builder = builder.config("spark.jars", str(papers))
        self.spark = sash.configure(builder).getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")
        self.duck = duckdb.connect(config={"threads": 1})
        if papers is not None:
            self._register_udaf()
        self._rows = 0

    def _register_udaf(self) -> None:
        """The papers' Range as an Aggregator of Spark's, and that as a function of SQL."""
        jvm: Any = self.spark.sparkContext._jvm
        loader = jvm.Thread.currentThread().getContextClassLoader()
        named = jvm.java.lang.Class.forName
        operation = (
            named("io.sash.papers.algebra.Range$", True, loader).getField("MODULE$").get(None)
        )
        encoders = jvm.org.apache.spark.sql.Encoders
        anything = encoders.kryo(named("java.lang.Object"))
        aggregator = jvm.io.sash.spark.lambdas.CoreAggregator(
            operation, anything, encoders.DOUBLE()
        )
        udaf = jvm.org.apache.spark.sql.functions.udaf(aggregator, encoders.DOUBLE())
        self.spark._jsparkSession.udf().register("core_range", udaf)

    def load(self, rows: int) -> None:
        """Both get the rows ``k, ts, x, n``, if they do not have so many already."""
        if rows == self._rows:
            return
        self.spark.catalog.clearCache()
        data = self.spark.range(0, rows, 1, 1).selectExpr(
            f"id % {KEYS} AS k",
            f"timestamp_seconds(id div {KEYS}) AS ts",
            "CAST(hash(id) AS DOUBLE) AS x",
            "pmod(hash(id, 1), 1000) AS n",
        )
        data.cache().createOrReplaceTempView("input")
        data.count()
        self.duck.register("rows", data.toArrow())
        self.duck.execute("CREATE OR REPLACE TABLE input AS SELECT * FROM rows")
        self._rows = rows

    def sash(self, columns: str) -> Callable[[], None]:
        """With Sash, whose operator has to be in the plan."""
        frame = self._frame(columns, enabled=True)
        if "SlidingWindow" not in explanation(frame):
            raise SystemExit(f"Sash does not run {columns}")
        return lambda: _write(self._frame(columns, enabled=True))

    def other(self, beside: str, columns: str) -> Callable[[], None]:
        """The other side of a pair."""
        if beside == DUCKDB:
            return lambda: self.duck.execute(f"SELECT {columns} FROM input").to_arrow_table()
        if beside == SPARK:
            return lambda: _write(self._frame(columns, enabled=False))
        return self.sash(columns)

    def _frame(self, columns: str, enabled: bool) -> DataFrame:
        self.spark.conf.set("spark.sash.enabled", str(enabled).lower())
        return self.spark.sql(f"SELECT {columns} FROM input")


def _write(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def measure(sides: Sides, pair: Pair) -> Measured:
    """Runs both sides in turns."""
    sides.load(pair.rows)
    runs = {"ours": sides.sash(pair.ours), "theirs": sides.other(pair.beside, pair.theirs)}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(RUNS + 1):  # the first one warms up
        for name, run in runs.items():
            if turn > 0 and times[name][0] > LONG:
                continue
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    best = {n: min(t[1:] or t) / pair.rows * 1e9 for n, t in times.items()}
    return Measured(pair, best["ours"], best["theirs"])


def table(measured: list[Measured]) -> str:
    """A table for each that is compared with."""
    parts = []
    for beside in dict.fromkeys(m.pair.beside for m in measured):
        parts += [f"## Beside {beside}" if beside != OTHERWISE else "## Beside Sash's own", ""]
        parts += [
            "| | W | Sash | the other | ratio | must be at most |",
            "|---|--:|--:|--:|--:|--:|",
        ]
        for m in measured:
            if m.pair.beside == beside:
                parts.append(
                    f"| {m.pair.title} | {m.pair.window:,} | {m.ours:,.0f} | {m.theirs:,.0f} | "
                    f"{m.ratio:.2f} | {m.pair.asked:g} |"
                )
        parts.append("")
    return "\n".join(parts)


def draw(measured: list[Measured], path: Path) -> None:
    """Sash and DuckDB against the window's length."""
    shown = [m for m in measured if m.pair.beside == DUCKDB]
    titles = list(dict.fromkeys(m.pair.title for m in shown))
    if not titles:
        return
    plt.rcParams.update({"font.size": 11, "svg.hashsalt": "sash", "svg.fonttype": "none"})
    figure, axes = plt.subplots(
        1, len(titles), figsize=(4.6 * len(titles), 4), layout="constrained", squeeze=False
    )
    figure.suptitle("Nanoseconds a row, by window length", weight="bold")
    for title, axis in zip(titles, axes.flat, strict=True):
        of = [m for m in shown if m.pair.title == title]
        windows = [m.pair.window for m in of]
        for name, times in {
            "Sash": [m.ours for m in of],
            "DuckDB": [m.theirs for m in of],
        }.items():
            axis.plot(windows, times, marker="o", color=COLOURS[name], label=name, lw=2.5)
        axis.set(
            xscale="log", xticks=windows, ylim=(0, 1.1 * max(max(m.ours, m.theirs) for m in of))
        )
        axis.set_title(title, loc="left")
        axis.set_xticklabels([f"{w:,}" for w in windows])
        axis.minorticks_off()
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    axes.flat[0].legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    """Measure the pairs and write the report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="pairs beside this")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    sides = Sides(next(PAPERS.glob("*-?.?.?.jar")))
    chosen = [p for p in pairs() if options.only in p.beside]
    progress, measured = Progress(len(chosen)), []
    for pair in chosen:
        measured.append(measure(sides, pair))
        progress.advance(1, f"{pair.title}, W={pair.window:,}: {measured[-1].ratio:.2f}")
    about = machine.about()
    about["versions"].update({"Spark": sides.spark.version, "DuckDB": duckdb.__version__})
    options.out.mkdir(parents=True, exist_ok=True)
    draw(measured, options.out / "monoids.svg")
    rows = [{**asdict(m.pair), "ours_ns": m.ours, "theirs_ns": m.theirs} for m in measured]
    (options.out / "monoids.json").write_text(
        json.dumps({**about, "pairs": rows}, indent=1) + "\n"
    )
    (options.out / "monoids.md").write_text(
        "# Monoids and windows, side by side\n\n"
        "Nanoseconds a row, scan and order included; the rows are one partition, so that nothing "
        "is shuffled. The best of "
        f"{RUNS} runs after one warm-up, of one where it takes more than {LONG:g} s. One core, "
        f"{KEYS} keys, rows in time order that both sides hold in memory; 1,000 distinct n. "
        "Sash's plans were checked to contain `SlidingWindow`. Spark's rows go to the `noop` "
        "sink, DuckDB returns the whole column.\n\n"
        f"{machine.sentence(about)}\n\n![](monoids.svg)\n\n{table(measured)}"
    )
    print(table(measured))


if __name__ == "__main__":
    main()
