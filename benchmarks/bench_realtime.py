"""Latency in real-time mode (Spark 4.3): OVER by Sash beside Spark's own aggregation by key.

    .venvs/4.3.0/bin/python benchmarks/bench_realtime.py     # about three minutes

Both queries read a stream in memory, to which this process adds one row after the other, at a
steady rate; each has an exchange by key, state in RocksDB and one answer a row, in update mode. A
row takes the time along at which it was added; its latency ends where a sink in Python takes its
answer. Queries run by turns, and the first seconds of each are not counted. Writes realtime.json
and realtime.md to docs/benchmarks.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import machine
import sash
from progress import Progress

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
REPORT = """\
# Latency in real-time mode

Milliseconds from the moment at which a row is added to a stream in memory until a sink in Python
has its answer: {rate} rows a second of {keys} keys, {seconds} seconds a run after {warmup} that
do not count, {runs} runs each, by turns. Real-time mode with an interval of {interval},
update mode, one partition, state in RocksDB.

| query | rows | median | p99 |
|---|--:|--:|--:|
{lines}

{circumstances}
"""
COLUMNS = [("k", "INT"), ("t", "TIMESTAMP"), ("x", "INT"), ("sent", "BIGINT")]


def _over(rows: DataFrame) -> DataFrame:
    window = Window.partitionBy("k").orderBy("t").rowsBetween(-99, 0)
    return rows.select("sent", F.sum("x").over(window).alias("s"))


def _aggregation(rows: DataFrame) -> DataFrame:
    return rows.groupBy("k").agg(F.max("sent").alias("sent"), F.sum("x").alias("s")).drop("k")


QUERIES: dict[str, Callable[[DataFrame], DataFrame]] = {
    "Sash: sum(x) OVER (PARTITION BY k ORDER BY t ROWS 99 PRECEDING)": _over,
    "Spark: sum(x) GROUP BY k": _aggregation,
}


class Source:
    """A source that real-time mode takes; Python has none of its own."""

    def __init__(self, spark: SparkSession) -> None:
        jvm = spark._jvm
        name = "org.apache.spark.sql.execution.streaming.sources.LowLatencyMemoryStream$"
        strings = jvm.org.apache.spark.sql.Encoders.STRING()
        self._stream = getattr(getattr(jvm, name), "MODULE$").apply(
            spark._jsparkSession, 1, strings
        )
        self._jvm = jvm
        self._spark = spark

    def rows(self) -> DataFrame:
        """What comes, with a watermark."""
        fields = F.split("value", ",")
        columns = [fields[i].cast(of).alias(name) for i, (name, of) in enumerate(COLUMNS)]
        frame = DataFrame(self._stream.toDF(), self._spark).select(*columns)
        return frame.withWatermark("t", "10 minutes")

    def add(self, key: int, at: str, x: int) -> None:
        """One row, from now on under way."""
        line = self._jvm.java.util.ArrayList()
        line.add(f"{key},{at},{x},{time.time_ns()}")
        self._stream.addData(
            self._jvm.scala.jdk.javaapi.CollectionConverters.asScala(line).toSeq()
        )


def _latencies(
    spark: SparkSession, query: Callable[[DataFrame], DataFrame], options: argparse.Namespace
) -> list[float]:
    """Of one run, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        received = Path(folder) / "received"
        received.touch()

        def write(row: Any) -> None:
            now = time.time_ns()
            with received.open("a", encoding="utf-8") as file:
                file.write(f"{row[0]} {now}\n")

        source = Source(spark)
        writer = query(source.rows()).writeStream.foreach(write).outputMode("update")
        writer = writer.option("checkpointLocation", f"{folder}/checkpoint")
        running = writer.trigger(realTime=options.interval).start()
        total = (options.warmup + options.seconds) * options.rate
        began = time.monotonic()
        counted_from = 0
        for i in range(total):
            time.sleep(max(0.0, began + i / options.rate - time.monotonic()))
            if i == options.warmup * options.rate:
                counted_from = time.time_ns()
            second, part = divmod(i, options.rate)
            minute, second = divmod(second, 60)
            at = f"2026-03-01 09:{minute:02d}:{second:02d}.{part * 1_000_000 // options.rate:06d}"
            source.add(i % options.keys, at, i % 1000)
        until = time.monotonic() + 60
        pairs: list[list[int]] = []
        while time.monotonic() < until and len(pairs) < total:
            time.sleep(0.5)
            if running.exception() is not None:
                raise SystemExit(str(running.exception()))
            pairs = [
                [int(n) for n in line.split()]
                for line in received.read_text(encoding="utf-8").splitlines()
            ]
        running.stop()
    if len(pairs) < total:
        raise SystemExit(f"{len(pairs)} answers of {total} rows")
    return [(came - sent) / 1e6 for sent, came in pairs if sent >= counted_from]


def main() -> None:
    """Measure, and report."""
    options = _options()
    builder = SparkSession.builder.master("local[4]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "1")
    spark = sash.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    progress = Progress(options.runs * len(QUERIES))
    found: dict[str, list[float]] = {name: [] for name in QUERIES}
    for _ in range(options.runs):
        for name, query in QUERIES.items():
            found[name] += _latencies(spark, query, options)
            progress.advance(1, name)
    about = machine.about()
    about["versions"]["Spark"] = spark.version
    results = [
        {
            "query": name,
            "rows": len(all_),
            "median": statistics.median(all_),
            "p99": statistics.quantiles(all_, n=100)[98],
        }
        for name, all_ in found.items()
    ]
    about.update({k: v for k, v in vars(options).items() if k != "out"}, results=results)
    lines = [
        f"| {r['query']} | {r['rows']:,} | {r['median']:.1f} | {r['p99']:.1f} |" for r in results
    ]
    text = REPORT.format(
        lines="\n".join(lines), circumstances=machine.sentence(about), **vars(options)
    )
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "realtime.json").write_text(json.dumps(about, indent=1) + "\n")
    (options.out / "realtime.md").write_text(text)
    print(text)
    spark.stop()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Latency in real-time mode, in milliseconds.")
    parser.add_argument("--rate", type=int, default=50, help="rows a second")
    parser.add_argument("--keys", type=int, default=10)
    parser.add_argument("--warmup", type=int, default=10, help="seconds that do not count")
    parser.add_argument("--seconds", type=int, default=20, help="that count")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--interval", default="30 seconds", help="of a batch, in real-time mode")
    parser.add_argument("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
