"""The state and the heap of a stream whose keys go away: new keys in each batch.

    make bench-idle-keys

Each batch has keys of its own, one minute of event time after the batch before. With a time to
live, state and heap stay flat. Writes idle-keys.md to docs/benchmarks.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import engines_spark
import machine
from stream_spark import ROCKS

OUT = Path(__file__).parent.parent / "docs" / "benchmarks" / "idle-keys.md"
LIVE = "spark.sash.stream.keyTimeToLive"
QUERY = """sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 9 PRECEDING) AS s,
lag(x) OVER (PARTITION BY k ORDER BY ts, id) AS before,
row_number() OVER (PARTITION BY k ORDER BY ts, id) AS n"""
Sample = tuple[int, int, float]
"""A batch, the rows of its state, and the MiB of the heap after a collection."""


def main() -> None:
    """Run the stream with and without a time to live, and write the page."""
    options = _options()
    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.sash.stream.buckets": "16",
        "spark.sql.streaming.stateStore.providerClass": ROCKS,
        "spark.sql.streaming.numRecentProgressUpdates": str(2 * options.batches),
    }
    spark = engines_spark.session(2, "2g", with_sash=True, **settings)
    about = {**machine.about(Spark=spark.version), "runs": 1}
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        _write(spark, Path(folder) / "in", options)
        for live in ("30min", None):
            samples = _run(spark, Path(folder), live, options)
            shown = _shown(samples)
            lines += [f"| {live or 'none'} | {b} | {n:,} | {mib:.0f} |" for b, n, mib in shown]
            print(*lines, sep="\n", flush=True)
    spark.stop()
    page = [
        "# A stream whose keys go away",
        "",
        f"Each of {options.batches} batches has {options.keys} keys that come no more, with "
        "three rows each, and is a minute of event time after the batch before. The windows (ten "
        f"rows, `lag`, `row_number`) keep keys for good, unless `{LIVE}` is set. *Rows* are the "
        "rows of the state store, *heap* the MiB in use after a collection. `make "
        "bench-idle-keys` writes this page.",
        "",
        machine.sentence(about),
        "",
        "| time to live | batch | rows | heap |",
        "|---|--:|--:|--:|",
        *lines,
    ]
    options.out.write_text("\n".join(page) + "\n", encoding="utf-8")
    print(options.out)


def _write(spark: SparkSession, folder: Path, options: argparse.Namespace) -> None:
    """A file for each batch, in the order in which the stream reads them."""
    size = 3 * options.keys
    rows = spark.range(0, options.batches * size, 1, options.batches).selectExpr(
        "id",
        f"id DIV {size} * {options.keys} + id % {options.keys} AS k",
        f"timestamp_seconds(1700000000 + id DIV {size} * 60 + id % 50) AS ts",
        "id % 100 AS x",
    )
    rows.write.parquet(str(folder))
    for i, file in enumerate(sorted(folder.glob("part-*"))):  # named by their partitions
        moment = time.time() - 10_000 + i
        os.utime(file, (moment, moment))


def _run(
    spark: SparkSession, folder: Path, live: str | None, options: argparse.Namespace
) -> list[Sample]:
    if live is None:
        spark.conf.unset(LIVE)
    else:
        spark.conf.set(LIVE, live)
    schema = "id BIGINT, k BIGINT, ts TIMESTAMP, x BIGINT"
    stream = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    rows = stream.parquet(str(folder / "in")).withWatermark("ts", "1 minute")
    written = rows.selectExpr("id", *QUERY.split(",\n")).writeStream.format("noop")
    place = str(folder / f"checkpoint-{live}")
    query = written.option("checkpointLocation", place).trigger(availableNow=True).start()
    heaps: dict[int, float] = {}
    while query.isActive:
        last: Any = query.lastProgress
        if last is not None:
            heaps[last["batchId"]] = _heap(spark)
        query.awaitTermination(options.seconds)
    sizes = {p["batchId"]: p["stateOperators"][0]["numRowsTotal"] for p in query.recentProgress}
    return [(b, sizes[b], heaps[b]) for b in sorted(heaps) if b in sizes]


def _heap(spark: SparkSession) -> float:
    runtime = spark._jvm.java.lang.Runtime.getRuntime()
    runtime.gc()
    return (runtime.totalMemory() - runtime.freeMemory()) / 2**20


def _shown(samples: list[Sample]) -> list[Sample]:
    """Some of the samples, as far apart as can be."""
    step = max(1, len(samples) // 8)
    return samples[step - 1 :: step]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=400)
    parser.add_argument("--keys", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
