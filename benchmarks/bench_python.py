"""Aggregators in Python beside what else computes them: Spark's pandas UDF, Catalyst, pandas.

    python benchmarks/bench_python.py                  # about ten minutes
    python benchmarks/bench_python.py --quick          # a twentieth of the rows: does it run?
    python benchmarks/bench_python.py --cells arrays   # a part

Two cores. Rows in memory in time order, to Spark's ``noop`` sink. Writes
docs/benchmarks/python.md, .json and .svg.
"""

import heapq
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import engines
import harness
import machine
import python_aggregators
import sash
from harness import BLUE, VERMILION, by_turns, chart, flags, is_chosen, once
from progress import Progress
from python_aggregators import Counts, Max, Mean, Sum, TopThree, Variance
from sash.sliding_arrays import ArrayFunction, Arrays


@dataclass
class Figure:
    """What was measured, and the most that it may be."""

    section: str
    title: str
    window: int
    unit: str
    ours: float
    theirs: float | None
    asked: float
    beside: str
    note: str = ""
    ratio: float = field(init=False)

    def __post_init__(self) -> None:
        """Ours over theirs, or ours where there is nothing beside it."""
        self.ratio = self.ours if self.theirs is None else self.ours / self.theirs

    @property
    def holds(self) -> bool:
        return self.ratio <= self.asked


ROWS = 1_000_000
LONG_KEY = 10_000_000
KEYS, FEW_KEYS = 1_000, 4
RUNS = 3
LONG = 8.0
"""Seconds from which a query is run once."""
CORES = 2
FRAMES_OF_SPARK = 15_000_000
"""How many rows Spark's UDF gets in all of its frames together, where it is measured."""
VECTORIZED = {"sum": Sum, "max": Max, "mean": Mean, "var": Variance}
CATALYST = {"sum": F.sum, "max": F.max, "mean": F.avg, "var": F.var_samp}


class Bench:
    """One session, and the rows that its queries read."""

    def __init__(self, quick: bool) -> None:
        self.rows = ROWS // 20 if quick else ROWS
        self.long_key = LONG_KEY // 40 if quick else LONG_KEY
        self.scanned = FRAMES_OF_SPARK // 20 if quick else FRAMES_OF_SPARK
        self.wide = 5_000 if quick else 100_000
        more = {
            "spark.sql.shuffle.partitions": str(CORES),
            "spark.sql.adaptive.coalescePartitions.enabled": "false",
        }
        cloudpickle.register_pickle_by_value(python_aggregators)
        os.environ["PYSPARK_PYTHON"] = sys.executable
        self.spark: SparkSession = engines.session(CORES, "6g", **more)
        self._tables: dict[tuple[int, int], DataFrame] = {}
        self.figures: list[Figure] = []

    def table(self, keys: int, rows: int | None = None) -> DataFrame:
        """The rows ``k, ts, x, item``, in memory."""
        rows = rows or self.rows
        if (keys, rows) not in self._tables:
            data = self.spark.range(0, rows, 1, CORES).selectExpr(
                f"id % {keys} AS k",
                f"id div {keys} AS ts",
                "CAST(hash(id) AS DOUBLE) / 1000 AS x",
                "CONCAT('item ', pmod(hash(id, 1), 100000)) AS item",
            )
            data = data.cache()
            data.count()
            self._tables[keys, rows] = data
        return self._tables[keys, rows]

    def seconds(self, frame: Callable[[], DataFrame]) -> float:
        """The least of some runs after one that warms up, if that is not long."""
        ways = {"it": lambda: engines.to_noop(frame())}
        return min(by_turns(ways, RUNS, LONG)["it"])

    def note(self, *figure: Any) -> None:
        self.figures.append(Figure(*figure))

    def sliding(self, of: Callable[..., Column], column: str, keys: int, window: int) -> float:
        data = self.table(keys)

        def frame() -> DataFrame:
            return data.select(of(column).over(last(window)))

        if "SlidingWindow" not in engines.plan_of(frame()):
            raise SystemExit("Sash does not run it")
        return self.seconds(frame)


def last(rows: int) -> Any:
    return Window.partitionBy("k").orderBy("ts").rowsBetween(1 - rows, 0)


def frame_rows(keys: int, rows: int, window: int) -> int:
    """How many rows all frames of a table hold together."""
    of_key = rows // keys
    full = max(0, of_key - window)
    begun = min(of_key, window)
    return keys * (full * window + begun * (begun + 1) // 2)


def top_of_spark() -> Callable[..., Column]:
    """The same answer by a pandas UDF, which gets each frame as a Series."""

    def top(items: pd.Series) -> list[str]:
        return heapq.nlargest(3, items)

    made: Callable[..., Column] = F.pandas_udf(top, "array<string>")  # type: ignore[call-overload]
    return made


def tops(bench: Bench) -> None:
    """A top 3 of strings over windows of three lengths."""
    ours = sash.udaf(TopThree(), "array<string>")
    theirs = top_of_spark()
    calls = _calls(TopThree(), [f"item {i * 7919 % 100_000}" for i in range(bench.rows)]) / CORES
    by_window: dict[int, float] = {}
    for keys, window, asked in (
        (KEYS, 100, 1.0),
        (KEYS, 1_000, 1 / 100),
        (FEW_KEYS, 100, 1.0),
        (FEW_KEYS, 1_000, 1 / 100),
        (FEW_KEYS, bench.wide, 1 / 1_000),
    ):
        own = bench.sliding(ours, "item", keys, window)
        if keys == FEW_KEYS:
            by_window[window] = own
        # few rows of one key, so that frames hold so many rows in all
        narrow = min(window, 5_000)
        rows = max(bench.scanned // narrow, narrow) if window > 100 else 20_000
        few = bench.table(1, min(rows, bench.rows))
        taken = bench.seconds(partial(_select, few, theirs("item").over(last(narrow))))
        scale = frame_rows(keys, bench.rows, window) / frame_rows(1, few.count(), narrow)
        note = (
            f"{taken:.2f} s for {few.count():,} rows at W = {narrow:,}, times {scale:,.0f}; the "
            f"calls of the class alone, in a loop on {CORES} cores: {calls:.2f} s"
        )
        bench.note(
            "A top 3 of strings",
            f"{keys:,} keys",
            window,
            "s",
            own,
            taken * scale,
            asked,
            "Spark's pandas UDF",
            note,
        )
    bench.note(
        "A top 3 of strings",
        f"{FEW_KEYS} keys, the widest beside W = 100",
        bench.wide,
        "s",
        by_window[bench.wide],
        by_window[100],
        1.1,
        "itself at W = 100",
    )


def _select(data: DataFrame, column: Column) -> DataFrame:
    data.sparkSession.conf.set("spark.sash.enabled", "true")
    return data.select(column)


def overhead(bench: Bench) -> None:
    """A row's time of a core, less the calls of the methods in a loop of their own."""
    taken = bench.sliding(sash.udaf(Counts(), "bigint"), "x", KEYS, 1_000) * CORES
    calls = _calls(Counts(), range(bench.rows))
    micros = (taken - calls) / bench.rows * 1e6
    note = f"{taken / bench.rows * 1e6:.2f} µs less {calls / bench.rows * 1e6:.2f} of the calls"
    title = "a count in plain Python, µs of a core a row"
    bench.note("Overhead", title, 1_000, "µs", micros, None, 3.0, "nothing", note)


def _calls(of: sash.Aggregator, values: Iterable[Any]) -> float:
    """Seconds of the calls that a full window makes for some rows, in a loop of their own."""
    younger, suffix = of.zero(), of.zero()
    start = time.perf_counter()
    for value in values:
        younger = of.reduce(younger, value)
        suffix = of.merge(of.reduce(of.zero(), value), suffix)
        of.finish(of.merge(suffix, younger))
    return time.perf_counter() - start


def arrays(bench: Bench) -> None:
    """Aggregators over arrays beside Sash in Catalyst, and pandas."""
    data = bench.table(KEYS)
    frame = data.select("k", "x").toPandas()
    for name, of in VECTORIZED.items():
        own = bench.sliding(sash.udaf(of(), "double"), "x", KEYS, 1_000)
        catalyst = bench.sliding(CATALYST[name], "x", KEYS, 1_000)
        section = "Aggregators over arrays"
        title = f"{name} of {KEYS:,} keys"
        bench.note(section, title, 1_000, "s", own, catalyst, 5.0, "Sash in Catalyst")
        rolling = frame.groupby("k")["x"].rolling(1_000, min_periods=1)
        took = _best(lambda rolling=rolling, name=name: getattr(rolling, name)())
        beside = "pandas' groupby(…).rolling, in its own process"
        bench.note(section, title, 1_000, "s", own, took, 1.0, beside)
        batches = _batches(frame)
        worker = _best(partial(_in_worker, of(), batches))
        title = f"{name} of {KEYS:,} keys, the worker alone"
        bench.note(section, title, 1_000, "s", worker, took, 1.0, beside)
        # the arrays alone
        steps, values = Arrays(of()), pa.array(frame["x"])
        alone = _best(partial(_in_batches, steps, values))
        one = frame["x"].rolling(1_000, min_periods=1)
        took = _best(lambda one=one, name=name: getattr(one, name)())
        title = f"{name} of one key, without Spark"
        bench.note(section, title, 1_000, "s", alone, took, 1.0, "pandas' rolling")


def _batches(frame: pd.DataFrame) -> list[list[pa.Array]]:
    """What Spark passes to a worker for ROWS 1,000: see `SlidePythonAggregators`."""
    ordered = frame.sort_values("k", kind="stable")
    places = ordered.groupby("k").cumcount() + 1
    columns = [
        pa.array(ordered["x"]),
        pa.array(np.ones(len(ordered), bool)),
        pa.nulls(len(ordered), pa.struct([("k", pa.int64())])),
        pa.array(np.zeros(len(ordered), np.int32)),
        pa.array(places),
        pa.array((places - 999).clip(lower=1)),
        pa.array(places),
    ]
    return [[c.slice(i, 10_000) for c in columns] for i in range(0, len(ordered), 10_000)]


def _in_worker(of: Any, batches: list[list[pa.Array]]) -> None:
    for _ in ArrayFunction(of, "f", pa.float64())(iter(batches)):
        pass


def _in_batches(steps: Arrays, values: Any) -> None:
    rows = 20_000
    for first in range(0, len(values), rows):
        begin = max(0, first - 999)
        lifted = steps.lifted([values.slice(begin, first - begin + rows)])
        ends = np.arange(first - begin, len(lifted)) + 1
        steps.finish(steps.windows(lifted, (ends - 1_000).clip(0), ends))


def _best(run: Callable[[], object]) -> float:
    return min(by_turns({"it": run}, RUNS)["it"])


def groups(bench: Bench) -> None:
    data = bench.table(KEYS)
    ours = sash.udaf(TopThree(), "array<string>")

    def in_loop(items: pd.Series) -> list[str]:
        of = TopThree()
        buffer = of.zero()
        for item in items:
            buffer = of.reduce(buffer, item)
        answer: list[str] = of.finish(buffer)
        return answer

    theirs: Any = F.pandas_udf(in_loop, "array<string>")  # type: ignore[call-overload]
    own = bench.seconds(lambda: data.groupBy("k").agg(ours("item")))
    other = bench.seconds(lambda: data.groupBy("k").agg(theirs("item")))
    beside = "a pandas UDF that calls the same class"
    title = f"top 3 of {KEYS:,} keys"
    bench.note("GROUP BY", title, 0, "s", own, other, 1.1, beside)


def memory(bench: Bench) -> None:
    data = bench.spark.range(0, bench.long_key, 1, 1).selectExpr(
        "shiftright(id, 62) AS k", "id AS ts", "CAST(id % 1000 AS DOUBLE) AS x"
    )
    for title, of, kind in (
        ("a count", Counts(), "bigint"),
        ("a sum of arrays", Sum(), "double"),
    ):
        column = sash.udaf(of, kind)("x").over(last(1_000))
        with machine.workers_memory() as samples:
            engines.to_noop(data.select(column))
        # the worker that holds the rows is the largest; the first tenth of its life fills buffers
        largest = max(samples.values(), key=max)
        early = max(largest[: max(1, len(largest) // 4)])
        note = f"{max(largest):,.0f} MB at most, {early:,.0f} in the first quarter of its time"
        bench.note(
            "Memory of a worker",
            f"{title}, one key of {bench.long_key:,} rows",
            1_000,
            "MB",
            max(largest),
            early,
            1.1,
            "the first quarter",
            note,
        )


PARTS: dict[str, Callable[[Bench], None]] = {
    part.__name__: part for part in (tops, overhead, arrays, groups, memory)
}
HEADS = ["", "W", "Sash", "beside it", "", "ratio", "must be at most", ""]


def _table(figures: list[Figure]) -> Iterator[str]:
    for section in dict.fromkeys(f.section for f in figures):
        rows = [
            [
                f.title,
                f"{f.window:,}" if f.window else "",
                f"{_short(f.ours)} {f.unit}",
                "" if f.theirs is None else f"{_short(f.theirs)} {f.unit}",
                f"{f.beside}: {f.note}" if f.note else f.beside,
                f"{f.ratio:.2g}",
                f"{f.asked:.2g}",
                "holds" if f.holds else "**does not hold**",
            ]
            for f in figures
            if f.section == section
        ]
        yield from (f"## {section}", "", *harness.table(HEADS, rows), "")


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _draw(figures: list[Figure], path: Path) -> None:
    shown = [f for f in figures if f.title == f"{FEW_KEYS} keys"]
    with chart(path, (7, 4.4)) as (figure, (axis,)):
        figure.suptitle("Seconds for a million rows, by window length", weight="bold")
        windows = [f.window for f in shown]
        ours, theirs = [f.ours for f in shown], [f.theirs for f in shown]
        marks = {"marker": "o", "lw": 2.5}
        axis.plot(windows, ours, **marks, color=BLUE, label="sash.udaf")
        axis.plot(windows, theirs, **marks, color=VERMILION, label="pandas UDF, scaled")
        axis.set(xscale="log", yscale="log", xticks=windows, xlabel="rows in the window")
        axis.set_xticklabels([f"{w:,}" for w in windows])
        axis.minorticks_off()
        axis.grid(alpha=0.25)
        axis.legend(frameon=False)


def _measured(options: Any) -> dict[str, Any]:
    bench = Bench(options.quick)
    chosen = [name for name in PARTS if is_chosen(options, name)]
    progress = Progress(len(chosen))
    for name in chosen:
        PARTS[name](bench)
        progress.advance(1, name)
    versions = {"pandas": pd.__version__, "NumPy": np.__version__}
    about = machine.about(**engines.versions(bench.spark), **versions)
    return {**about, "rows": bench.rows, "figures": [asdict(f) for f in bench.figures]}


def main() -> None:
    options = flags(__doc__)
    about = once(options, "python", lambda: _measured(options))
    figures = [Figure(**{n: v for n, v in f.items() if n != "ratio"}) for f in about["figures"]]
    _draw(figures, options.out / "python.svg")
    (options.out / "python.md").write_text(
        "# Aggregators in Python, side by side\n\n"
        f"Seconds for {about['rows']:,} rows, scan, shuffle and order included, if not said "
        f"otherwise. The best of {RUNS} runs after one warm-up, of one where it takes more than "
        f"{LONG:g} s. {CORES} cores, rows in time order in memory, to the `noop` sink. Spark's "
        "pandas UDF gets each frame anew. It would take hours, so it ran over few rows, and its "
        "time is scaled by the number of rows in all frames together. A window of 100,000 rows "
        f"needs keys of so many, and there are {FEW_KEYS}.\n\n"
        f"{machine.sentence(about)}\n\n![](python.svg)\n\n" + "\n".join(_table(figures)),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
