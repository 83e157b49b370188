"""The input that every engine reads: rows in time order, one second apart within a key."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import numpy as np
import polars as pl

SEED = 20130101


def write(path: Path, rows: int, keys: int) -> None:
    """Write ``k, ts, x, n``: key, time, a normal double and a bigint, to a Parquet file.

    A window of W seconds therefore holds W rows, as a window of W rows does.
    """
    random = np.random.default_rng(SEED)
    row = np.arange(rows, dtype=np.int64)
    start = np.datetime64(datetime(2026, 1, 1), "us")
    pl.DataFrame(
        {
            "k": row % keys,
            "ts": start + (row // keys).astype("timedelta64[s]"),
            "x": random.normal(size=rows),
            "n": random.integers(-1_000_000, 1_000_000, size=rows),
        }
    ).write_parquet(path, row_group_size=max(1, rows // 8))
