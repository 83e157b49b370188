"""Which hop windows of the soak took a row, by the watermark that the row's batch met."""

from __future__ import annotations

import json
from bisect import bisect_left
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import soak_queries
from soak_rows import ROWS


def windows(spark: SparkSession, folder: Path) -> DataFrame:
    """Each row, once for each of its windows, and whether the window was ``open`` for it.

    A stream that is hours behind has a watermark that is as old, and then a row that comes hours
    late is late for its earlier windows only. So the age of a row does not say this.
    """
    rows = spark.read.schema(ROWS).parquet(str(folder / "rows"))
    passed = spark.createDataFrame(sorted(_passed(folder).items()), "file STRING, passed BIGINT")
    marked = rows.withColumn("file", F.col("_metadata.file_name")).join(passed, "file")
    windows = marked.withColumn("window", soak_queries.hop())
    ends, passed_at = F.col("window.end"), F.timestamp_millis("passed")
    return windows.withColumn("open", ends > passed_at)


def _passed(folder: Path) -> dict[str, int]:
    """For each file of rows, the watermark that drops its late rows, in milliseconds.

    This is the watermark of the batch before.
    """
    noted = [_offsets(path) for path in sorted(_logged(folder / "offsets"), key=_number)]
    ends = [end for _, end in noted]
    watermarks = [0, *(watermark for watermark, _ in noted)]
    return {
        name: watermarks[bisect_left(ends, number)]
        for name, number in _files(folder / "checkpoint" / "hops" / "sources" / "0").items()
    }


def _offsets(path: Path) -> tuple[int, int]:
    """The watermark of a batch, and the last number that it reads of the source's log."""
    _, batch, source = path.read_text(encoding="utf-8").splitlines()
    return json.loads(batch)["batchWatermarkMs"], json.loads(source)["logOffset"]


def _files(log: Path) -> dict[str, int]:
    """The names of the files that the source has read, with their numbers in its log."""
    lines = [line for path in _logged(log) for line in path.read_text().splitlines()[1:]]
    entries = [json.loads(line) for line in lines]
    return {Path(entry["path"]).name: entry["batchId"] for entry in entries}


def _logged(log: Path) -> list[Path]:
    """The entries of a log of Spark's. Names of checksums begin with a dot."""
    return [path for path in log.iterdir() if not path.name.startswith(".")]


def _number(path: Path) -> int:
    return int(path.name)
