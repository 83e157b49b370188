"""Windows of streams: OVER and hops by Sash beside Spark's own windows and a bare stream.

    python benchmarks/bench_stream.py            # half an hour
    python benchmarks/bench_stream.py --quick    # a look, in two minutes

Each query reads the same files of rows in time order, one a micro-batch, with its state in
RocksDB; the last batches count, when windows are full. Writes stream.json, stream.md and
stream.svg to docs/benchmarks.
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

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from pyspark.sql import DataFrame, SparkSession
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

Microseconds an event: the median of the last {counted} micro-batches of {batch:,} rows, of
what a batch takes from its start to its end, on two cores, state in RocksDB, four shuffle
partitions. A batch is ten seconds of rows; every query of a table reads the same files. `ROWS`
is `sum(x) OVER (PARTITION BY k ORDER BY ts ROWS … PRECEDING)` of so many rows, `RANGE` the
same of the seconds that hold as many, in append mode unless said otherwise. Tumbling is
`sum(x)` by `k` and `window(ts, '10 seconds')`, which closes 1 window a key in each batch. A
hop is `sum(x)` by `k` and `window(ts, size, '10 seconds')` of so many panes, which closes 1
window a key, too, in append mode; with 10 keys a first batch has a row for each of them in
each pane, so that windows are full. Rows come in time order, but for the share that is said to
be late, by up to five seconds; the watermark is a second behind, and ten where that share is
named. Gets and puts are those of the state store in a batch.

![Microseconds an event](stream.svg)

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
    late: int | None = None
    """Percent of the rows; None where the delay is too short for late ones."""
    mode: str = "append"

    @property
    def name(self) -> str:
        """As the report calls it."""
        if self.rows:
            late = "" if self.late is None else f", {self.late} % late"
            mode = "" if self.mode == "append" else f", {self.mode} mode"
            return f"{self.query}, {self.rows:,} rows{late}{mode}"
        return f"{self.query}, {self.panes:,} panes" if self.panes else self.query

    @property
    def by_sash(self) -> bool:
        """Whether the operator is Sash's."""
        return self.query in {"ROWS", "RANGE", "hop"}


def main() -> None:
    """Measure, and report."""
    options = _options()
    keys = [10] if options.quick else [10, 20_000, 100_000]
    windows = [100, 10_000] if options.quick else [100, 10_000, 1_000_000]
    panes = [10, 600] if options.quick else [10, 600, 86_400]
    middle = 10 if options.quick else 20_000
    cells = [
        cell
        for k in keys
        for cell in [
            Cell("pass-through", k),
            Cell("tumbling", k),
            # windows that so many batches fill
            *(
                Cell(frame, k, n)
                for frame in ("ROWS", "RANGE")
                for n in windows
                if n * k <= options.batch * options.batches
            ),
            *(Cell("ROWS", k, 100, late=late) for late in (0, 10, 50) if k == middle),
            *(Cell("ROWS", k, 100, mode="update") for _ in range(k <= middle)),
            Cell("Spark's hop", k, panes=10),
            *(Cell("hop", k, panes=p) for p in panes if p < 1000 or k == 10),
        ]
    ]
    cells = [c for c in cells if c.query == "tumbling" or options.only in c.name]
    progress = Progress(len(cells))
    spark = _session()
    measured: dict[Cell, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for k in keys:
            for cell in (c for c in cells if c.keys == k):
                source = Path(scratch) / f"{k}-{cell.late or 0}"
                if not source.exists():
                    files = options.batches + COUNTED
                    _write_files(spark, source, cell, options.batch, files)
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


def _write_files(spark: SparkSession, folder: Path, cell: Cell, batch: int, files: int) -> None:
    """Files of ten seconds each, keys taking turns."""
    step = 10_000_000 // batch
    back = f"IF(abs(hash(id)) % 100 < {cell.late or 0}, abs(hash(id, 1)) % 5000000, 0)"
    for n in range(files):
        spark.range(n * batch, (n + 1) * batch, 1, 1).selectExpr(
            "id",
            f"id * 2654435761 % {cell.keys} AS k",
            f"timestamp_micros(1700000000000000 + id * {step} - {back}) AS ts",
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


def _query(cell: Cell, rows: DataFrame, batch: int) -> DataFrame:
    if cell.rows:
        micros = cell.rows * cell.keys * 10_000_000 // batch
        frame = (
            f"ROWS {cell.rows - 1} PRECEDING"
            if cell.query == "ROWS"
            else f"RANGE INTERVAL '{micros / 1e6:.6f}' SECOND PRECEDING"
        )
        over = F.expr(f"sum(x) OVER (PARTITION BY k ORDER BY ts {frame})")
        return rows.select("k", "ts", over)
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
        .withWatermark("ts", "1 second" if cell.late is None else "10 seconds")
    )
    query = (
        _query(cell, rows, batch)
        .writeStream.outputMode(cell.mode)
        .format("noop")
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
        "state_mb": _sum(states, "rocksdbSstFileSize") / 1e6,
        "gets": _sum(states, "rocksdbGetCount"),
        "puts": _sum(states, "rocksdbPutCount"),
    }


def _sum(operators: list[dict[str, Any]], metric: str) -> int:
    return sum(op["customMetrics"].get(metric, 0) for op in operators)


def _draw(measured: dict[Cell, dict[str, Any]], path: Path) -> None:
    """A panel for each number of keys, a bar for each query."""
    plt.rcParams.update({"font.size": 11, "svg.hashsalt": "sash", "svg.fonttype": "none"})
    all_keys = list(dict.fromkeys(cell.keys for cell in measured))
    figure, axes = plt.subplots(
        1, len(all_keys), figsize=(6 * len(all_keys), 6), layout="constrained", squeeze=False
    )
    for keys, axis in zip(all_keys, axes.flat, strict=True):
        cells = [cell for cell in measured if cell.keys == keys][::-1]
        times = [measured[cell]["micros"] for cell in cells]
        colours = ["#0072B2" if cell.by_sash else "#E69F00" for cell in cells]
        bars = axis.barh([cell.name for cell in cells], times, color=colours)
        axis.bar_label(bars, fmt="%.1f", padding=3)
        axis.set_title(f"{keys:,} keys: µs an event")
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle("Sash (blue) beside Spark's own operators", weight="bold")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _report(
    about: dict[str, Any], measured: dict[Cell, dict[str, Any]], options: argparse.Namespace
) -> None:
    tables = []
    for keys in dict.fromkeys(cell.keys for cell in measured):
        mine = {cell: figures for cell, figures in measured.items() if cell.keys == keys}
        tumbling = next(f["micros"] for c, f in mine.items() if c.query == "tumbling")
        lines = [
            f"| {cell.name} | {f['micros']:.2f} | {f['micros'] / tumbling:.2f} "
            f"| {f['slowest']:.2f} | {f['state_mb']:.0f} | {f['gets']:,} | {f['puts']:,} |"
            for cell, f in mine.items()
        ]
        tables.append(
            f"## {keys:,} keys\n\n"
            "| query | µs an event | of tumbling | slowest batch of the median | MB of state "
            "| gets | puts |\n"
            "|---|--:|--:|--:|--:|--:|--:|\n" + "\n".join(lines)
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
    _draw(measured, options.out / "stream.svg")
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
