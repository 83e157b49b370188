"""A day of state: 100 million rows in windows, in a bounded heap, and a cold restart.

    python benchmarks/bench_day.py               # half an hour
    python benchmarks/bench_day.py --quick       # two million rows
    python benchmarks/bench_day.py --batches     # a thousand micro-batches, one by one
    python benchmarks/bench_day.py --warm-start  # a stream that starts from a table

A first process fills windows of a day and ends; a second one, which knows nothing but the
checkpoint, goes on. A third runs Spark's own tumbling window over the same last files. Writes
day.json, day.md and day.svg to docs/benchmarks. The others write batches.json with batches.svg,
and warm_start.json, and sections of day.md.
"""

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import SparkContext
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F

import engines
import machine
import sash
import streams
from harness import Store, chart, flags, once, page, section, table
from progress import Progress
from streams import COLOURS, SASH, SPARK, TUMBLING, Cell

EPOCH_US = 1_700_000_000_000_000
DAY_US = 86_400_000_000
CHECKED = 0
"""The key of which all answers are compared with NumPy's."""
OVER = """
    SELECT k, ts, count(*) OVER w AS n, sum(x) OVER w AS s FROM events
    WINDOW w AS (PARTITION BY k ORDER BY ts RANGE INTERVAL 1 DAY PRECEDING)
"""
OF_TEN_MINUTES = """
    SELECT k, window.start AS ts, count(*) AS n, sum(x) AS s FROM events
    GROUP BY k, window(ts, '10 minutes')
"""
DAY = """\
# A day of state

{day:,} rows a day of {keys:,} keys, in batches of {batch:,}, two cores, four shuffle
partitions, a heap of {memory}, state in RocksDB. `count(*)` and `sum(x)` `OVER (PARTITION BY k
ORDER BY ts RANGE INTERVAL 1 DAY PRECEDING)`: when the day is full, {day:,} rows are in windows.
The process then ends, and another one goes on from the checkpoint, with nothing on the local
disk. All {checked:,} answers of one key are those that NumPy gives. Tumbling is Spark's own, the
same aggregates by `k` and `window(ts, '10 minutes')`, over the rows of the last {last} batches.

![Seconds a batch, by the rows in windows](day.svg)

| | |
|---|--:|
| µs an event while the first tenth of the day comes, median of its batches | {first_micros:.2f} |
| µs an event when the day is full | {full_micros:.2f} |
| µs an event after the restart | {restart_micros:.2f} |
| µs an event of Spark's tumbling window | {tumbling_micros:.2f} |
| slowest batch of the median, day full | {slowest:.2f} |
| MB of state, as RocksDB has it | {state_mb:,.0f} |
| bytes of state a row in the windows | {bytes_a_row:.1f} |
| MB of the checkpoint on disk | {checkpoint_mb:,.0f} |
| seconds from the new process to its first answered batch | {restart_seconds:.1f} |
| of these, Spark's start without a query | {start_seconds:.1f} |
| most memory of the process that fills (heap, RocksDB and all else), MB | {fill_rss_mb:,.0f} |
| of the one that goes on, MB | {restart_rss_mb:,.0f} |

{circumstances}
"""
BATCHES = """\
# Micro-batches, one by one

{counted:,} micro-batches of {batch:,} rows of {keys} keys each, after {lead} that warm the JVM:
milliseconds of one from its start to its end, and how many times the median. `OVER` is
`sum(x) OVER (PARTITION BY k ORDER BY ts ROWS {preceding:,} PRECEDING)`, its windows full;
tumbling is Spark's own `sum(x)` by `k` and a window as long as a batch. State is in RocksDB, on
two cores, with four shuffle partitions; RocksDB's maintenance, the JVM's collector and Spark's
own clean-up run as they do.

{lines}

![Milliseconds a batch, by the share of batches that take longer](batches.svg)

Of a thousand batches the last line is the slowest. It must be at most 3 times the median.

{circumstances}
"""
OF_MEDIAN = "of its median"


def main() -> None:
    options = flags(
        __doc__,
        quick={"day": 2_000_000, "batch": 100_000, "keys": 1_000, "counted": 50, "rows": 200_000},
        runs=1,
        batches=(False, "micro-batches one by one"),
        warm_start=(False, "a stream that starts from a table, beside a replay"),
        day=(100_000_000, "rows of a day"),
        batch=(1_000_000, "rows of a batch"),
        last=(8, "batches after the day, before and after the restart"),
        keys=(10_000, "keys of the day"),
        counted=(1_000, "with --batches: how many"),
        rows=(5_000_000, "with --warm-start: rows of the table"),
        memory=("2g", "heap of each JVM; 8g with --batches"),
        scratch=(tempfile.gettempdir(), "where files and checkpoint lie meanwhile"),
    )
    if options.warm_start:
        _warm_start(options)
        return
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        if options.batches:
            about = once(options, "batches", lambda: _batches(options, Path(scratch)))
        else:
            about = once(options, "day", lambda: _Day(options, Path(scratch)).all())
    circumstances = machine.sentence(about)
    if options.batches:
        text = BATCHES.format(**about, lines=_quantiles(about), circumstances=circumstances)
        section(options.out / "day.md", "bench_batches", text)
        _draw_batches(about["millis"], options.out / "batches.svg")
    else:
        page(options.out / "day.md", DAY.format(circumstances=circumstances, **about))
        _draw_day(about, options.out / "day.svg")


class _Day:
    def __init__(self, options: argparse.Namespace, scratch: Path) -> None:
        self._options = options
        self._scratch = scratch
        self._full = options.day // options.batch
        self._progress = Progress(self._full + 3 * options.last)
        self._answers: list[Row] = []

    def all(self) -> dict[str, Any]:
        """Fills, restarts, and asks Spark; figures of batches are seconds."""
        options, full, last = self._options, self._full, self._options.last
        filled = self._over(range(full + last))
        restarted = self._over(range(full + last, full + 2 * last))
        tumbling = self._tumbling(range(full + last, full + 2 * last))
        micros = 1e6 / options.batch
        at_end = filled["seconds"][full:]
        state_mb = restarted["state_mb"]
        return {
            **machine.about(Spark=filled["version"]),
            **{name: getattr(options, name) for name in ("day", "keys", "batch", "memory")},
            "last": last,
            "checked": self._check(),
            "seconds": filled["seconds"] + restarted["seconds"],
            "tumbling_seconds": tumbling,
            "restart_at": full + last,
            "first_micros": statistics.median(filled["seconds"][1 : 1 + full // 10]) * micros,
            "full_micros": statistics.median(at_end) * micros,
            "restart_micros": statistics.median(restarted["seconds"][1:]) * micros,
            "tumbling_micros": statistics.median(tumbling[1:]) * micros,
            "slowest": max(at_end) / statistics.median(at_end),
            "state_mb": state_mb,
            "bytes_a_row": state_mb * 1e6 / options.day,
            "checkpoint_mb": restarted["checkpoint_mb"],
            "restart_seconds": restarted["first_answer"],
            "start_seconds": restarted["start"],
            "fill_rss_mb": filled["rss_mb"],
            "restart_rss_mb": restarted["rss_mb"],
        }

    def _over(self, batches: range) -> dict[str, Any]:
        began = time.perf_counter()
        checkpoint = self._scratch / "checkpoint"
        first_answer: list[float] = []

        def keep(rows: DataFrame, _: int) -> None:
            of_key = rows.where(f"k = {CHECKED}")
            self._answers += of_key.selectExpr("unix_micros(ts) AS t", "n", "s").collect()
            first_answer.append(time.perf_counter() - began)
            self._progress.advance(1, "OVER")

        with streams.session(self._options.memory) as spark:
            start = time.perf_counter() - began
            with self._files(batches) as files:
                progress = _run(spark, files, OVER, checkpoint, keep)
            gateway: Any = SparkContext._gateway
            rss_mb = machine.status(gateway.proc.pid, "VmHWM") / 1024
            version = spark.version
        if not any("sash" in name for name in progress[-1]["observedMetrics"]):
            raise SystemExit("the windows are not Sash's")
        sizes = [f.stat().st_size for f in checkpoint.rglob("*") if f.is_file()]
        return {
            "version": version,
            "seconds": _seconds(progress),
            "state_mb": streams.of_state(progress[-1], "rocksdbSstFileSize") / 1e6,
            "checkpoint_mb": sum(sizes) / 1e6,
            "first_answer": first_answer[0],
            "start": start,
            "rss_mb": rss_mb,
        }

    def _tumbling(self, batches: range) -> list[float]:
        def count(rows: DataFrame, _: int) -> None:
            rows.where(f"k = {CHECKED}").collect()
            self._progress.advance(1, "Spark's tumbling window")

        checkpoint = self._scratch / "tumbling"
        with streams.session(self._options.memory) as spark, self._files(batches) as files:
            return _seconds(_run(spark, files, OF_TEN_MINUTES, checkpoint, count))

    @contextmanager
    def _files(self, batches: range) -> Iterator[Path]:
        """A file for each batch, which is gone afterwards."""
        folder = self._scratch / "in"
        folder.mkdir()
        for batch in batches:
            file = folder / f"{batch:05d}.parquet"
            size = self._options.batch
            number = np.arange(batch * size, (batch + 1) * size)
            time_us = pa.array(self._time(number), pa.timestamp("us", tz="UTC"))
            rows = pa.table({"k": self._key(number), "ts": time_us, "x": number % 1000})
            pq.write_table(rows, file)
            os.utime(file, (batch, batch))
        yield folder
        shutil.rmtree(folder)

    def _time(self, number: np.ndarray) -> np.ndarray:
        return EPOCH_US + number * (DAY_US // self._options.day)

    def _key(self, number: np.ndarray) -> np.ndarray:
        return number * 2_654_435_761 % self._options.keys

    def _check(self) -> int:
        """Compares the answers of a key with NumPy's; how many there are."""
        number = np.arange((self._full + 2 * self._options.last) * self._options.batch)
        number = number[self._key(number) == CHECKED]
        times = self._time(number)
        first = np.searchsorted(times, times - DAY_US)
        sums = np.concatenate([[0], np.cumsum(number % 1000)])
        after = np.arange(len(number)) + 1
        answers = zip((after - first).tolist(), (sums[after] - sums[first]).tolist(), strict=True)
        expected = dict(zip(times.tolist(), answers, strict=True))
        found = {row.t: (row.n, row.s) for row in self._answers}
        if len(found) != len(self._answers):
            raise SystemExit("a row has two answers")
        wrong = {t: (a, expected.get(t)) for t, a in found.items() if a != expected.get(t)}
        unanswered = [t for t in expected if t not in found and t < max(found)]
        if wrong or unanswered or len(found) < 0.9 * len(expected):
            raise SystemExit(f"not NumPy's: {list(wrong.items())[:3]}, {unanswered[:3]}")
        return len(found)


def _run(spark: Any, files: Path, query: str, checkpoint: Path, each: Any) -> list[Any]:
    streams.read(spark, files, delay=1).createOrReplaceTempView("events")
    return streams.to_end(spark.sql(query).writeStream.foreachBatch(each), checkpoint)


def _seconds(progress: list[dict[str, Any]]) -> list[float]:
    return [p["durationMs"]["triggerExecution"] / 1000 for p in progress]


def _draw_day(about: dict[str, Any], path: Path) -> None:
    with chart(path, (10, 4)) as (_, (axis,)):
        million, restart = about["batch"] / 1e6, about["restart_at"]
        seconds, tumbling = about["seconds"], about["tumbling_seconds"]
        came = [(i + 1) * million for i in range(len(seconds))]
        sashs, sparks = COLOURS[SASH], COLOURS[SPARK]
        axis.plot(came[:restart], seconds[:restart], color=sashs, label="Sash's OVER")
        axis.plot(came[restart:], seconds[restart:], color=sashs)
        axis.plot(came[restart:], tumbling, color=sparks, label="Spark's tumbling")
        for at, label in (
            (about["day"] / 1e6, "the day is full"),
            (came[restart - 1], "restart"),
        ):
            axis.axvline(at, color="#777777", lw=1, ls="--")
            place = {"xycoords": ("data", "axes fraction"), "rotation": 90, "ha": "right"}
            axis.annotate(label, (at, 0.02), **place)
        axis.set(xlabel="million rows that have come", ylabel="seconds a batch", ylim=(0, None))
        axis.legend(frameon=False)


def _batches(options: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """A thousand small batches, with full windows, so that one that does more would show."""
    counted, lead = options.counted, 150 if options.counted >= 1_000 else 20
    over = Cell(SASH, "ROWS", keys=10, batch=2_000, rows=100_000)
    cells = [over, Cell(SPARK, TUMBLING, keys=10, batch=over.batch)]
    progress = Progress(len(cells))
    found: dict[str, list[float]] = {}
    with streams.session("8g") as spark:
        spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", str(2 * (counted + lead)))
        for cell in cells:
            batches = streams.run(
                spark, cell, scratch / "stream", [cell.batch] * (lead + counted)
            )
            found[cell.engine] = streams.millis(cell, batches, counted)
            progress.advance(1, str(cell))
        about = machine.about(Spark=spark.version)
    query = {"batch": over.batch, "keys": over.keys, "preceding": over.rows - 1}
    return {**about, "counted": counted, "lead": lead, **query, "millis": found}


def _quantiles(about: dict[str, Any]) -> str:
    rows = []
    for quantile in (0.5, 0.9, 0.99, 0.999):
        cells = [f"{100 * quantile:g} %"]
        for engine in (SASH, SPARK):
            millis = np.array(about["millis"][engine])
            # a batch that there was, none between two
            value = np.quantile(millis, quantile, method="higher")
            cells += [f"{value:,.0f}", f"{value / np.median(millis):.2f}"]
        rows.append(cells)
    heads = ["quantile of the batches", "OVER, ms", OF_MEDIAN, "tumbling, ms", OF_MEDIAN]
    return "\n".join(table(heads, rows, "none"))


def _draw_batches(millis: dict[str, list[float]], path: Path) -> None:
    with chart(path, (7, 3.6), font=10) as (_, (axis,)):
        for engine, name in ((SASH, "OVER, by Sash"), (SPARK, "tumbling, by Spark")):
            ordered = np.sort(millis[engine])
            longer = 1 - np.arange(len(ordered)) / len(ordered)
            line = {"color": COLOURS[engine], "lw": 2, "label": name}
            axis.plot(longer, ordered, drawstyle="steps", **line)
        axis.set(xscale="log", ylim=(0, None), ylabel="ms a batch")
        axis.set_xlabel("share of the batches that take as long or longer")
        axis.invert_xaxis()
        axis.grid(alpha=0.3)
        axis.legend(frameon=False)


PAST, FILES = 10, 10
"""So many times as many rows are in the table as come live; so many files have all rows."""
BY_KEY = "PARTITION BY k ORDER BY ts"
QUERIES = {
    "sum, 10 minutes": f"sum(x) OVER ({BY_KEY} RANGE INTERVAL 10 MINUTES PRECEDING)",
    "sum, 100 rows": f"sum(x) OVER ({BY_KEY}, id ROWS 99 PRECEDING)",
    "running sum": f"sum(x) OVER ({BY_KEY}, id ROWS UNBOUNDED PRECEDING)",
    "sessions": f"count(*) OVER ({BY_KEY.replace('k', 'k, gap_window(INTERVAL 9 SECONDS)', 1)})",
    "hops of 10 minutes": "",
}
HOPS = "SELECT k, window.end, sum(x) FROM t GROUP BY k, window(ts, '10 minutes', '1 minute')"
WARM, ONE, TEN, COLD = "table", "one batch", "ten batches", "no past"


def _warm_start(options: argparse.Namespace) -> None:
    """A stream that starts from a table, beside the same stream that replays the table's rows."""
    store = Store(options, "warm_start", rows=options.rows, runs=options.runs)
    if not options.report:
        settings = {"spark.sql.shuffle.partitions": "4", **streams.ROCKS}
        spark = engines.session(2, "6g", **settings)
        with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
            bench = _WarmStart(spark, Path(scratch), options.rows)
            for name in store.todo(options, QUERIES):
                runs = range(options.runs + 1)
                best = {way: min(bench.run(name, way) for _ in runs) for way in bench.WAYS}
                store.add({name: best}, Spark=spark.version)
        spark.stop()
    rows = store.about["rows"]
    lines = []
    for name, best in store.results.items():
        ways = [(way, of) for of in (0, 1) for way in (WARM, ONE, TEN)]
        micros = [(best[way][of] - best[COLD][of]) / rows * 1e6 for way, of in ways]
        lines.append([name, *(f"{took:.2f}" for took in micros)])
    heads = ["window", "clock: table", ONE, TEN, "processor: table", ONE, TEN]
    text = (
        "# A stream that starts from a table\n\n"
        f"Microseconds for each of {rows:,} rows of the past, of 1,000 keys: the time of "
        f"a stream with the past and {rows // PAST:,} live rows, less the time of a "
        f"stream of the live rows alone, {machine.measured(store.about['runs'])}, on 2 "
        "cores. The stream starts from the table (`sash.warm_start`), or replays the past from "
        "files, in one batch or in ten, and does not answer its rows twice. *Processor* counts "
        "the time of all threads of the JVM, *clock* the time until the stream ends. Streams "
        "run in append mode. `make bench-warm-start` writes this section.\n\n"
        f"{machine.sentence(store.about)}\n\n"
    )
    section(options.out / "day.md", "bench_warm_start", text + "\n".join(table(heads, lines)))


class _WarmStart:
    """Files of the past and of the live rows, and a stream over them."""

    WAYS = (WARM, ONE, TEN, COLD)

    def __init__(self, spark: Any, folder: Path, past: int) -> None:
        self._spark, self._folder = spark, folder
        self._border = F.timestamp_seconds(F.lit(1_700_000_000 + past // 20))
        # the past as a table, the live rows, and all rows in the order of time
        count = past + past // PAST
        rows = spark.range(0, count, 1, 10).selectExpr(
            "pmod(xxhash64(id), 1000) AS k",
            "timestamp_seconds(1700000000 + id DIV 20) AS ts",
            "rand(7) * 100 + 1 AS x",
            "id",
        )
        rows.where(F.col("ts") <= self._border).write.parquet(str(folder / "past"))
        rows.where(F.col("ts") > self._border).coalesce(1).write.parquet(str(folder / "live"))
        size = count // FILES
        for file in range(FILES):  # one after the other: a stream reads the oldest first
            part = rows.where(F.col("id").between(file * size, (file + 1) * size - 1))
            part.coalesce(1).write.mode("append").parquet(str(folder / "all"))

    def run(self, name: str, way: str) -> tuple[float, float]:
        """Run a stream in a way, to its end: its seconds, and those of the JVM's processors."""
        self._rows(way).createOrReplaceTempView("t")
        call = QUERIES[name]
        query = self._spark.sql(f"SELECT *, {call} AS w FROM t" if call else HOPS)
        with tempfile.TemporaryDirectory(dir=self._folder) as checkpoint:
            writer = query.writeStream.format("noop").option("checkpointLocation", checkpoint)
            cpu, begin = machine.cpu_seconds(self._spark), time.perf_counter()
            running = writer.trigger(availableNow=True).start()
            running.awaitTermination()
            seconds = time.perf_counter() - begin
            operators = running.lastProgress["stateOperators"]
            assert operators[0]["operatorName"] == "transformWithStateExec"
            return seconds, machine.cpu_seconds(self._spark) - cpu

    def _rows(self, way: str) -> DataFrame:
        if way == WARM:
            past = self._spark.read.parquet(str(self._folder / "past"))
            return sash.warm_start(self._stream("live"), past, by="ts", until=self._border)
        if way == COLD:
            return self._stream("live")
        return self._stream("all", **({"maxFilesPerTrigger": 1} if way == TEN else {}))

    def _stream(self, name: str, **files: int) -> DataFrame:
        folder = str(self._folder / name)
        schema = self._spark.read.parquet(folder).schema
        stream = self._spark.readStream.schema(schema).options(**files).parquet(folder)
        return stream.withWatermark("ts", "10 seconds")


if __name__ == "__main__":
    main()
