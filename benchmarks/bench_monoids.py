"""Sash's monoids and windows beside what else computes them: Spark, DuckDB, or Sash otherwise.

    python benchmarks/bench_monoids.py                  # about ten minutes
    python benchmarks/bench_monoids.py --cells DuckDB

One core, rows in memory in time order. The two sides of a pair take turns in one process, and the
least time of each counts. Writes docs/benchmarks/monoids.md, .json and .svg.
"""

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from pyspark.sql import DataFrame

import engines
import harness
import machine
from harness import BLUE, GREEN, Store, by_turns, chart, flags

PAPERS = Path(__file__).parent.parent / "target/papers/scala-2.13"
"""Where sbt puts the papers' library, which has the operations of ``CoreAggregator``."""
KEYS = 2
LONG = 4.0
"""Seconds from which a side is run once."""
SPARK, DUCKDB, OTHERWISE = "Spark as shipped", "DuckDB", "Sash otherwise"

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

    def __str__(self) -> str:
        return f"{self.title}, W = {self.window:,}, beside {self.beside}"


def over(call: str, window: int) -> str:
    frame = f"ROWS BETWEEN {window - 1} PRECEDING AND CURRENT ROW"
    return f"{call} OVER (PARTITION BY k ORDER BY ts {frame})"


def pairs() -> list[Pair]:
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
        more = {"spark.sql.shuffle.partitions": "1", "spark.sql.session.timeZone": "UTC"}
        if papers is not None:
            more["spark.jars"] = str(papers)
        self.spark = engines.session(1, "6g", **more)
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
        if "SlidingWindow" not in engines.plan_of(self._frame(columns, enabled=True)):
            raise SystemExit(f"Sash does not run {columns}")
        return lambda: engines.to_noop(self._frame(columns, enabled=True))

    def other(self, beside: str, columns: str) -> Callable[[], Any]:
        if beside == DUCKDB:
            return lambda: self.duck.execute(f"SELECT {columns} FROM input").to_arrow_table()
        if beside == SPARK:
            return lambda: engines.to_noop(self._frame(columns, enabled=False))
        return self.sash(columns)

    def _frame(self, columns: str, enabled: bool) -> DataFrame:
        self.spark.conf.set("spark.sash.enabled", str(enabled).lower())
        return self.spark.sql(f"SELECT {columns} FROM input")


def measure(options: argparse.Namespace, store: Store, pairs: list[Pair], sides: Sides) -> None:
    for pair in store.todo(options, pairs):
        rows = pair.rows // 20 if options.quick else pair.rows
        sides.load(rows)
        ways = {"ours": sides.sash(pair.ours), "theirs": sides.other(pair.beside, pair.theirs)}
        took = by_turns(ways, options.runs, LONG)
        found = {f"{name}_ns": min(times) / rows * 1e9 for name, times in took.items()}
        versions = {"Spark": sides.spark.version, "DuckDB": duckdb.__version__}
        store.add({pair: found}, **versions)


def table(measured: Mapping[Pair, Mapping[str, float]]) -> str:
    parts = []
    heads = ["", "W", "Sash", "the other", "ratio", "must be at most"]
    for beside in dict.fromkeys(pair.beside for pair in measured):
        rows = [
            [
                pair.title,
                f"{pair.window:,}",
                f"{of['ours_ns']:,.0f}",
                f"{of['theirs_ns']:,.0f}",
                f"{of['ours_ns'] / of['theirs_ns']:.2f}",
                f"{pair.asked:g}",
            ]
            for pair, of in measured.items()
            if pair.beside == beside
        ]
        title = f"## Beside {beside}" if beside != OTHERWISE else "## Beside Sash's own"
        parts += [title, "", *harness.table(heads, rows), ""]
    return "\n".join(parts)


def _draw(measured: Mapping[Pair, Mapping[str, float]], path: Path) -> None:
    shown = {pair: of for pair, of in measured.items() if pair.beside == DUCKDB}
    titles = list(dict.fromkeys(pair.title for pair in shown))
    if not titles:
        return
    with chart(path, (4.6 * len(titles), 4), (1, len(titles))) as (figure, axes):
        figure.suptitle("Nanoseconds a row, by window length", weight="bold")
        for title, axis in zip(titles, axes, strict=True):
            of = {pair.window: found for pair, found in shown.items() if pair.title == title}
            windows = list(of)
            for name, side, colour in (("Sash", "ours_ns", BLUE), ("DuckDB", "theirs_ns", GREEN)):
                times = [found[side] for found in of.values()]
                axis.plot(windows, times, marker="o", color=colour, label=name, lw=2.5)
            most = max(max(found.values()) for found in of.values())
            axis.set(xscale="log", xticks=windows, ylim=(0, 1.1 * most))
            axis.set_title(title, loc="left")
            axis.set_xticklabels([f"{w:,}" for w in windows])
            axis.minorticks_off()
            axis.grid(alpha=0.25)
        axes[0].legend(frameon=False)


def main() -> None:
    options = flags(__doc__)
    store = Store(options, "monoids", under="pairs", flat=Pair)
    if not options.report:
        measure(options, store, pairs(), Sides(next(PAPERS.glob("*-?.?.?.jar"), None)))
    _draw(store.results, options.out / "monoids.svg")
    (options.out / "monoids.md").write_text(
        "# Monoids and windows, side by side\n\n"
        "Nanoseconds a row, scan and order included; the rows are one partition, so that nothing "
        "is shuffled. The best of "
        f"{options.runs} runs after one warm-up, of one where it takes more than {LONG:g} s. "
        f"One core, {KEYS} keys, rows in time order that both sides hold in memory; 1,000 "
        "distinct n. Sash's plans were checked to contain `SlidingWindow`. Spark's rows go to "
        "the `noop` sink, DuckDB returns the whole column.\n\n"
        f"{machine.sentence(store.about)}\n\n![](monoids.svg)\n\n{table(store.results)}"
    )


if __name__ == "__main__":
    main()
