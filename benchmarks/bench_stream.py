"""Windows of streams: OVER and hops by Sash beside Spark's own windows and a bare stream.

    python benchmarks/bench_stream.py            # half an hour
    python benchmarks/bench_stream.py --quick    # a look, in two minutes

Each query reads the same files of rows in time order, one a micro-batch, with its state in
RocksDB; the last batches count, when windows are full. Writes stream.json and stream.md to
docs/benchmarks.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import machine
from engines_spark import session
from progress import Progress

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "id BIGINT, k BIGINT, ts TIMESTAMP, x BIGINT"
COUNTED = 8
REPORT = """\
# Streams

Microseconds an event: the median of the last {counted} micro-batches of {batch:,} rows, of what a
batch takes from its start to its end, on two cores, state in RocksDB, four shuffle
partitions. Rows come in time order; every query reads the same files. `OVER` is `sum(x) OVER
(PARTITION BY k ORDER BY ts ROWS … PRECEDING)` in append mode, tumbling `sum(x)` by `k` and
`window(ts, '10 seconds')`, which closes 1 window a key in each batch. A hop is `sum(x)` by `k`
and `window(ts, size, '10 seconds')` of so many panes, which closes 1 window a key, too, in append
mode; with 10 keys a first batch has a row for each of them in each pane, so that windows are
full.

{tables}

{circumstances}
"""


@dataclass(frozen=True)
class Cell:
    """A query over the stream of so many keys."""

    query: str
    keys: int
    rows: int = 0
    panes: int = 0

    @property
    def name(self) -> str:
        """As the report calls it."""
        if self.rows:
            return f"OVER, {self.rows:,} rows"
        return f"{self.query}, {self.panes:,} panes" if self.panes else self.query

    @property
    def by_sash(self) -> bool:
        """Whether the operator is Sash's."""
        return self.query in {"over", "hop"}


def main() -> None:
    """Measure, and report."""
    options = _options()
    keys = [10] if options.quick else [10, 20_000, 100_000]
    windows = [100, 10_000] if options.quick else [100, 10_000, 1_000_000]
    panes = [10, 600] if options.quick else [10, 600, 86_400]
    cells = [
        cell
        for k in keys
        for cell in [
            Cell("pass-through", k),
            Cell("tumbling", k),
            # windows that so many batches fill
            *(Cell("over", k, n) for n in windows if n * k <= options.batch * options.batches),
            Cell("Spark's hop", k, panes=10),
            *(Cell("hop", k, panes=p) for p in panes),
        ]
    ]
    cells = [c for c in cells if c.query == "tumbling" or options.only in c.name]
    progress = Progress(len(cells))
    spark = _session()
    measured: dict[Cell, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for k in keys:
            source = Path(scratch) / f"{k}"
            _write_files(spark, source, k, options.batch, options.batches + COUNTED)
            for cell in (c for c in cells if c.keys == k):
                measured[cell] = _run(spark, source, cell, Path(scratch), options.batch)
                progress.advance(1, f"{k:,} keys, {cell.name}")
    about = machine.about()
    about["versions"]["Spark"] = spark.version
    results = [{"cell": asdict(cell), **figures} for cell, figures in measured.items()]
    about.update(batch=options.batch, batches=options.batches, results=results)
    _report(about, measured, options)
    spark.stop()


def _session() -> SparkSession:
    spark = session(2, "8g", with_sash=True)
    for key, value in {
        "spark.sql.shuffle.partitions": "4",
        "spark.sash.stream.buckets": "64",
        "spark.sql.streaming.stateStore.providerClass": ROCKS,
        "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
        "spark.sql.streaming.numRecentProgressUpdates": "1000",
        "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    }.items():
        spark.conf.set(key, value)
    return spark


def _write_files(spark: SparkSession, folder: Path, keys: int, batch: int, files: int) -> None:
    """Files of ten seconds each, keys taking turns."""
    step = 10_000_000 // batch
    for n in range(files):
        spark.range(n * batch, (n + 1) * batch, 1, 1).selectExpr(
            "id",
            f"id * 2654435761 % {keys} AS k",
            f"timestamp_micros(1700000000000000 + id * {step}) AS ts",
            "id % 1000 AS x",
        ).write.mode("append").parquet(str(folder))


def _with_history(spark: SparkSession, source: Path, cell: Cell) -> Path:
    """The same files, and one before them that fills the panes of few keys."""
    if not cell.panes or cell.keys > 1000:
        return source
    folder = source.parent / f"{source.name}-{cell.query[:3]}-{cell.panes}"
    spark.range(0, cell.panes * cell.keys, 1, 1).selectExpr(
        "id",
        f"id % {cell.keys} AS k",
        "timestamp_micros(1700000000000000 - "
        f"({cell.panes} - id div {cell.keys}) * 10000000) AS ts",
        "id % 1000 AS x",
    ).write.parquet(str(folder))
    for file in folder.glob("*.parquet"):
        os.utime(file, (0, 0))  # the first
    for file in source.glob("*.parquet"):
        os.link(file, folder / file.name)
    return folder


def _query(cell: Cell, rows: DataFrame) -> DataFrame:
    if cell.query == "over":
        window = Window.partitionBy("k").orderBy("ts").rowsBetween(1 - cell.rows, 0)
        return rows.select("k", "ts", F.sum("x").over(window))
    if cell.query == "tumbling":
        return rows.groupBy("k", F.window("ts", "10 seconds")).agg(F.sum("x"))
    if cell.panes:
        window = F.window("ts", f"{10 * cell.panes} seconds", "10 seconds")
        return rows.groupBy("k", window).agg(F.sum("x"))
    return rows.select("k", "ts", "x")


def _run(
    spark: SparkSession, source: Path, cell: Cell, scratch: Path, batch: int
) -> dict[str, Any]:
    spark.conf.set("spark.sash.enabled", str(cell.by_sash).lower())
    rows = (
        spark.readStream.schema(SCHEMA)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(_with_history(spark, source, cell)))
        .withWatermark("ts", "1 second")
    )
    query = (
        _query(cell, rows)
        .writeStream.format("noop")
        .option("checkpointLocation", str(scratch / f"{cell.keys}-{cell.name}"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    batches = [p for p in query.recentProgress if p["numInputRows"] == batch][-COUNTED:]
    if len(batches) < COUNTED:
        raise SystemExit(f"{cell}: just {len(batches)} whole batches")
    millis = [p["durationMs"]["triggerExecution"] for p in batches]
    states = list(batches[-1]["stateOperators"])
    if cell.by_sash != any(op["operatorName"].startswith("transformWithState") for op in states):
        raise SystemExit(f"{cell}: not by whom it was to be answered")
    return {
        "micros": statistics.median(millis) * 1000 / batch,
        "slowest": max(millis) / statistics.median(millis),
        "state_mb": sum(_stored(op) for op in states) / 1e6,
    }


def _stored(operator: dict[str, Any]) -> int:
    return operator["customMetrics"].get("rocksdbSstFileSize", 0)


def _report(
    about: dict[str, Any], measured: dict[Cell, dict[str, Any]], options: argparse.Namespace
) -> None:
    tables = []
    for keys in dict.fromkeys(cell.keys for cell in measured):
        mine = {cell: figures for cell, figures in measured.items() if cell.keys == keys}
        tumbling = next(f["micros"] for c, f in mine.items() if c.query == "tumbling")
        lines = [
            f"| {cell.name} | {f['micros']:.2f} | {f['micros'] / tumbling:.2f} "
            f"| {f['slowest']:.2f} | {f['state_mb']:.0f} |"
            for cell, f in mine.items()
        ]
        tables.append(
            f"## {keys:,} keys\n\n"
            "| query | µs an event | of tumbling | slowest batch of the median | MB of state |\n"
            "|---|--:|--:|--:|--:|\n" + "\n".join(lines)
        )
    text = REPORT.format(
        counted=COUNTED,
        batch=options.batch,
        tables="\n\n".join(tables),
        circumstances=machine.sentence(about),
    )
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "stream.json").write_text(json.dumps(about, indent=1) + "\n")
    (options.out / "stream.md").write_text(text)
    print(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Windows of streams, in microseconds an event.")
    parser.add_argument("--batch", type=int, default=100_000, help="rows of a micro-batch")
    parser.add_argument("--batches", type=int, default=25, help="before those that count")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="queries whose name has this")
    parser.add_argument("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
