"""A day of state: 100 million rows in windows, in a bounded heap, and a cold restart.

    python benchmarks/bench_day.py            # half an hour
    python benchmarks/bench_day.py --quick    # two million rows

A first process fills windows of a day and ends; a second one, which knows nothing but the
checkpoint, goes on. A third runs Spark's own tumbling window over the same last files. Writes
day.json, day.md and day.svg to docs/benchmarks.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import SparkContext
from pyspark.sql import DataFrame, Row, SparkSession

import machine
import sections
import stream_spark
from progress import Progress
from stream_cells import SASH, SPARK
from stream_chart import COLOURS

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
EPOCH_US = 1_700_000_000_000_000
DAY_US = 86_400_000_000
CHECKED = 0
"""The key of which all answers are compared with NumPy's."""
OVER = """
    SELECT k, ts, count(*) OVER w AS n, sum(x) OVER w AS s FROM events
    WINDOW w AS (PARTITION BY k ORDER BY ts RANGE INTERVAL 1 DAY PRECEDING)
"""
TUMBLING = """
    SELECT k, window.start AS ts, count(*) AS n, sum(x) AS s FROM events
    GROUP BY k, window(ts, '10 minutes')
"""
REPORT = """\
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


def main() -> None:
    """Measure, and report."""
    options = _options()
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        run = _Run(options, Path(scratch))
        found = run.all()
    about = {**machine.about(Spark=run.version), **found}
    _report(about, options.out)


class _Run:
    def __init__(self, options: argparse.Namespace, scratch: Path) -> None:
        self._options = options
        self._scratch = scratch
        self._full = options.day // options.batch
        self._last = options.last
        self._progress = Progress(self._full + 3 * self._last)
        self._answers: list[Row] = []
        self.version = ""

    def all(self) -> dict[str, Any]:
        """Fills, restarts, and asks Spark; figures of batches are seconds."""
        options, full, last = self._options, self._full, self._last
        filled = self._over(range(full + last))
        restarted = self._over(range(full + last, full + 2 * last))
        tumbling = self._tumbling(range(full + last, full + 2 * last))
        micros = 1e6 / options.batch
        at_end = filled["seconds"][full:]
        state_mb = restarted["state_mb"]
        return {
            "day": options.day,
            "keys": options.keys,
            "batch": options.batch,
            "memory": options.memory,
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

        with stream_spark.session(self._options.memory) as spark:
            self.version = spark.version
            start = time.perf_counter() - began
            with self._files(batches) as files:
                progress = _run(spark, files, OVER, checkpoint, keep)
            rss_mb = _most_memory_mb()
        if not any("sash" in name for name in progress[-1]["observedMetrics"]):
            raise SystemExit("the windows are not Sash's")
        return {
            "seconds": _seconds(progress),
            "state_mb": stream_spark.of_state(progress[-1], "rocksdbSstFileSize") / 1e6,
            "checkpoint_mb": _size_mb(checkpoint),
            "first_answer": first_answer[0],
            "start": start,
            "rss_mb": rss_mb,
        }

    def _tumbling(self, batches: range) -> list[float]:
        def count(rows: DataFrame, _: int) -> None:
            rows.where(f"k = {CHECKED}").collect()
            self._progress.advance(1, "Spark's tumbling window")

        with (
            stream_spark.session(self._options.memory) as spark,
            self._files(batches) as files,
        ):
            return _seconds(_run(spark, files, TUMBLING, self._scratch / "tumbling", count))

    @contextmanager
    def _files(self, batches: range) -> Iterator[Path]:
        """A file for each batch, which is gone afterwards."""
        folder = self._scratch / "in"
        folder.mkdir()
        for batch in batches:
            file = folder / f"{batch:05d}.parquet"
            pq.write_table(self._rows(batch), file)
            os.utime(file, (batch, batch))
        yield folder
        shutil.rmtree(folder)

    def _rows(self, batch: int) -> pa.Table:
        number = np.arange(batch * self._options.batch, (batch + 1) * self._options.batch)
        time_us = pa.array(self._time(number), pa.timestamp("us", tz="UTC"))
        return pa.table({"k": self._key(number), "ts": time_us, "x": number % 1000})

    def _time(self, number: np.ndarray) -> np.ndarray:
        return EPOCH_US + number * (DAY_US // self._options.day)

    def _key(self, number: np.ndarray) -> np.ndarray:
        return number * 2_654_435_761 % self._options.keys

    def _check(self) -> int:
        """Compares the answers of a key with NumPy's; how many there are."""
        rows = (self._full + 2 * self._last) * self._options.batch
        number = np.arange(rows)
        number = number[self._key(number) == CHECKED]
        times = self._time(number)
        first = np.searchsorted(times, times - DAY_US)
        sums = np.concatenate([[0], np.cumsum(number % 1000)])
        at = np.arange(len(number))
        expected = {
            t: (n, s)
            for t, n, s in zip(
                times.tolist(),
                (at + 1 - first).tolist(),
                (sums[at + 1] - sums[first]).tolist(),
                strict=True,
            )
        }
        found = {row.t: (row.n, row.s) for row in self._answers}
        if len(found) != len(self._answers):
            raise SystemExit("a row has two answers")
        wrong = {t: (a, expected.get(t)) for t, a in found.items() if a != expected.get(t)}
        unanswered = [t for t in expected if t not in found and t < max(found)]
        if wrong or unanswered or len(found) < 0.9 * len(expected):
            raise SystemExit(f"not NumPy's: {list(wrong.items())[:3]}, {unanswered[:3]}")
        return len(found)


def _run(
    spark: SparkSession, files: Path, query: str, checkpoint: Path, each: Any
) -> list[dict[str, Any]]:
    stream_spark.read(spark, files, delay=1).createOrReplaceTempView("events")
    return stream_spark.to_end(spark.sql(query).writeStream.foreachBatch(each), checkpoint)


def _seconds(progress: list[dict[str, Any]]) -> list[float]:
    return [p["durationMs"]["triggerExecution"] / 1000 for p in progress]


def _most_memory_mb() -> float:
    """Of Spark's JVM so far: what was resident at once."""
    gateway: Any = SparkContext._gateway
    status = Path(f"/proc/{gateway.proc.pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _size_mb(folder: Path) -> float:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) / 1e6


def _report(about: dict[str, Any], out: Path) -> None:
    text = REPORT.format(circumstances=machine.sentence(about), **about)
    out.mkdir(parents=True, exist_ok=True)
    (out / "day.json").write_text(json.dumps(about, indent=1) + "\n")
    sections.write(out / "day.md", text)
    _chart(about, out / "day.svg")
    print(text)


def _chart(about: dict[str, Any], path: Path) -> None:
    plt.rcParams.update({"font.size": 11, "svg.hashsalt": "sash", "svg.fonttype": "none"})
    figure, axis = plt.subplots(figsize=(10, 4), layout="constrained")
    million = about["batch"] / 1e6
    restart = about["restart_at"]
    came = [(i + 1) * million for i in range(len(about["seconds"]))]
    axis.plot(
        came[:restart], about["seconds"][:restart], color=COLOURS[SASH], label="Sash's OVER"
    )
    axis.plot(came[restart:], about["seconds"][restart:], color=COLOURS[SASH])
    axis.plot(
        came[restart:], about["tumbling_seconds"], color=COLOURS[SPARK], label="Spark's tumbling"
    )
    for at, label in ((about["day"] / 1e6, "the day is full"), (came[restart - 1], "restart")):
        axis.axvline(at, color="#777777", lw=1, ls="--")
        axis.annotate(
            label, (at, 0.02), xycoords=("data", "axes fraction"), rotation=90, ha="right"
        )
    axis.set(xlabel="million rows that have come", ylabel="seconds a batch", ylim=(0, None))
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--day", type=int, default=100_000_000, help="rows of a day")
    add("--batch", type=int, default=1_000_000, help="rows of a batch")
    add("--last", type=int, default=8, help="batches after the day, before and after the restart")
    add("--keys", type=int, default=10_000)
    add("--memory", default="2g", help="heap of each JVM")
    add("--quick", action="store_true", help="two million rows in batches of 100,000")
    add("--scratch", type=Path, help="where files and checkpoint lie meanwhile")
    add("--out", type=Path, default=OUT)
    options = parser.parse_args()
    if options.quick:
        options.day, options.batch, options.keys = 2_000_000, 100_000, 1_000
    return options


if __name__ == "__main__":
    main()
