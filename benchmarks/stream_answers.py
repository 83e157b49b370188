"""Do Sash and Flink give the same answers? A benchmark of different ones says nothing."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

import stream_files
import stream_spark
from stream_cells import FLINK, FRAMES, HOP, SASH, SMALL, SPARK, TUMBLING, Cell
from stream_flink import Flink
from stream_results import as_engine

Answers = set[tuple[int, int, int]]
"""Key, milliseconds, sum."""
BATCHES = [SMALL] * 4
KEYS = 500
CELLS = [
    *(Cell(SASH, frame, KEYS, SMALL, rows) for frame in FRAMES for rows in (2, 20)),
    Cell(SPARK, TUMBLING, KEYS, SMALL),
    Cell(SASH, HOP, KEYS, SMALL, panes=10),
]


def by_spark(spark: SparkSession, scratch: Path) -> dict[Cell, Answers]:
    """Those of Sash and of Spark, which do not answer what the watermark has not passed."""
    found = {}
    for place, cell in enumerate(CELLS):
        folder = scratch / f"answers-{place}"
        source = stream_files.in_batches(folder / "in", cell, BATCHES)
        stream_spark.run(spark, cell, source, folder / "checkpoint", "memory")
        found[cell] = _answers(spark.table("answers").toArrow())
        spark.catalog.dropTempView("answers")
    return found


def compare(flink: Flink, expected: dict[Cell, Answers], scratch: Path) -> int:
    """Fail unless Flink gives the same; how many answers that were."""
    total = 0
    for place, (cell, ours) in enumerate(expected.items()):
        folder = scratch / f"flink-answers-{place}"
        source = stream_files.in_one(folder / "in.parquet", cell, sum(BATCHES))
        flink.answer(as_engine(cell, FLINK, cell.batch), source, folder / "out")
        files = [f for f in (folder / "out").rglob("*") if f.is_file()]
        theirs = _answers(pa.concat_tables(pq.read_table(f) for f in files))
        last = max(ms for _, ms, _ in ours)
        if ours != {answer for answer in theirs if answer[1] <= last}:
            raise SystemExit(f"{cell}: Flink's answers are others")
        if cell.over and len(ours) < sum(BATCHES[:-2]):
            raise SystemExit(f"{cell}: just {len(ours)} answers")
        total += len(ours)
    return total


def _answers(table: pa.Table) -> Answers:
    ms = table["ts"].cast(pa.timestamp("ms"), safe=False).cast(pa.int64())
    keys, sums = table["k"].to_pylist(), table["s"].to_pylist()
    return set(zip(keys, ms.to_pylist(), sums, strict=True))
