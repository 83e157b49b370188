"""The rows of a stream as Parquet files, which all engines read.

A row's number says everything: its key, its time (10,000 rows a second), its value, and whether
it is late. History has the numbers below zero, so that windows are full when zero comes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from stream_cells import HOP, ROWS_A_SECOND, Cell

EPOCH_MS = 1_700_000_000_000
"""The time of row 0, which begins a window."""
CHUNK = 2_000_000
"""Rows of a file of history, at most: each is a micro-batch."""
MOST_LATE_MS = 5_000


def numbered(cell: Cell, first: int, last: int) -> pa.Table:
    """The rows from one number up to another, without it."""
    number = np.arange(first, last, dtype=np.int64)
    ms = EPOCH_MS + number * 1000 // ROWS_A_SECOND
    key = number * 2_654_435_761 % cell.keys
    if cell.query == HOP:  # one row a key in each pane, as far back as the windows reach
        ms = np.where(number < 0, EPOCH_MS + number // cell.keys * cell.slide_ms, ms)
        key = np.where(number < 0, number % cell.keys, key)
    elif cell.late:
        random = np.random.default_rng(abs(first))
        late = random.random(len(number)) < cell.late / 100
        ms -= np.where(late, random.integers(1, MOST_LATE_MS, len(number)), 0)
    time = pa.array(ms * 1000, pa.timestamp("us", tz="UTC"))
    return pa.table({"k": key, "ts": time, "x": number % 1000})


def in_batches(folder: Path, cell: Cell, batches: list[int]) -> Path:
    """A new folder of files for Spark: the history, and one file for each micro-batch.

    Spark takes files by the time at which they were written; theirs is that of their place.
    """
    folder.mkdir(parents=True)
    for place, (first, last) in enumerate(_spans(cell, batches)):
        file = folder / f"{place:04d}.parquet"
        pq.write_table(numbered(cell, first, last), file)
        os.utime(file, (place, place))
    return folder


def in_one(path: Path, cell: Cell, rows: int) -> Path:
    """One file for Flink, which hands out several in no order: history and so many rows.

    All is one row group, since it would hand out several of these in no order, too.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [numbered(cell, first, last) for first, last in _spans(cell, [rows])]
    together = pa.concat_tables(parts)
    pq.write_table(together, path, row_group_size=len(together))
    return path


def _spans(cell: Cell, batches: list[int]) -> Iterator[tuple[int, int]]:
    """The first number of each file, and that behind its last."""
    for first in range(-cell.history, 0, CHUNK):
        yield first, min(first + CHUNK, 0)
    first = 0
    for batch in batches:
        yield first, first + batch
        first += batch
