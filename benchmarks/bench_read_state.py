"""The time to read one key of a stream's state, after planning, in a warm session.

    make bench-read-state

Prints the milliseconds of each part, and writes read-state.md to docs/benchmarks.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import engines_spark
import machine
import sash
from stream_spark import ROCKS

OUT = Path(__file__).parent.parent / "docs" / "benchmarks" / "read-state.md"
KEYS = 1_000
QUERY = """sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 7 DAYS PRECEDING) AS spend,
avg(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 1 DAY PRECEDING) AS mean,
count(*) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 1 HOUR PRECEDING) AS n"""


def main() -> None:
    """Measure, and write the page."""
    options = _options()
    settings = {
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.streaming.stateStore.providerClass": ROCKS,
    }
    spark = engines_spark.session(2, "4g", with_sash=True, **settings)
    about = {**machine.about(Spark=spark.version), "runs": options.runs}
    load = os.getloadavg()[0]
    lines = []
    for name, of in {"OVER": _over, "hop windows": _hops}.items():
        for rows in options.rows:
            with tempfile.TemporaryDirectory() as folder:
                features = _run(spark, Path(folder), rows, of)
                cells = _cells(features, Path(folder), options.runs)
                lines.append(f"| {name} | {rows:,} | {' | '.join(cells)} |")
                print(lines[-1], flush=True)
    spark.stop()
    page = [
        "# Read one key of a stream's state",
        "",
        f"Milliseconds to read one key of {KEYS:,} by `sash.read_state`, from a checkpoint on "
        "the local disk, in a warm session: the median, and in brackets the slowest of "
        f"{options.runs} keys. Of OVER these are a sum, a mean and a count, of 7 days, a day "
        "and an hour. Of hop windows they are the sum, the mean and the count in each open "
        "window of a day, an hour apart. *Planning* is the time until the plan is there, "
        "*reading* the time from then on. `make bench-read-state` writes this page.",
        "",
        f"{machine.sentence(about)} The load of the machine was {load:.1f} at the beginning and "
        f"{os.getloadavg()[0]:.1f} at the end.",
        "",
        "| windows | rows in the state | planning | reading |",
        "|---|--:|--:|--:|",
        *lines,
    ]
    options.out.write_text("\n".join(page) + "\n", encoding="utf-8")
    print(options.out)


def _run(
    spark: SparkSession, folder: Path, rows: int, of: Callable[[DataFrame], DataFrame]
) -> DataFrame:
    """Run a stream of so many rows to its end."""
    source = spark.range(0, rows, 1, 4).selectExpr(
        "pmod(xxhash64(id), 1000) AS k",
        f"timestamp_micros(1700000000000000 + id * {7 * 86_400_000_000 // rows}) AS ts",
        "rand(7) * 100 AS x",
    )
    source.write.parquet(str(folder / "in"))
    stream = spark.readStream.schema(source.schema).parquet(str(folder / "in"))
    features = of(stream.withWatermark("ts", "1 hour"))
    written = features.writeStream.format("noop").trigger(availableNow=True)
    written.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()
    return features


def _over(events: DataFrame) -> DataFrame:
    return events.selectExpr("k", "ts", *QUERY.split(",\n"))


def _hops(events: DataFrame) -> DataFrame:
    windows = events.groupBy("k", F.window("ts", "1 day", "1 hour"))
    return windows.agg(F.sum("x"), F.avg("x"), F.count("*"))


def _cells(features: DataFrame, folder: Path, runs: int) -> list[str]:
    planned, read = [], []
    for key in range(-20, runs):
        started = time.perf_counter()
        frame = sash.read_state(features, folder / "checkpoint", keys=[key % KEYS])
        frame._jdf.queryExecution().executedPlan()
        ready = time.perf_counter()
        found = frame.collect()
        if key >= 0:
            planned.append((ready - started) * 1e3)
            read.append((time.perf_counter() - ready) * 1e3)
        if not found:
            raise ValueError(f"key {key} has no row")
    return [f"{statistics.median(of):.0f} ({max(of):.0f})" for of in (planned, read)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
