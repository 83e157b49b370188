"""Labels and events of so many users, at any time of a year, as Parquet."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import numpy as np
import polars as pl

from asof_cells import WideTables
from dataset import SEED
from label_cells import COLUMNS, Tables

YEAR = 365 * 24 * 60 * 60 * 1_000_000
"""Microseconds."""


def write(folder: Path, tables: Tables) -> None:
    """Write ``labels.parquet`` and ``events.parquet``, in no order."""
    random = np.random.default_rng(SEED)
    folder.mkdir(parents=True, exist_ok=True)
    labels = _keyed(random, tables.labels, tables.users)
    labels.insert_column(0, pl.Series("id", np.arange(tables.labels)))
    events = _keyed(random, tables.events, tables.users)
    for i in range(COLUMNS):
        events = events.with_columns(pl.Series(f"a{i}", random.normal(size=tables.events)))
    if isinstance(tables, WideTables):
        number = pl.Series("n", np.arange(tables.events))
        events = events.with_columns(
            ("text " + ((number * (i + 3)) % 1009).cast(pl.String)).alias(f"s{i}")
            for i in range(tables.texts)
        )
    for name, frame in (("labels", labels), ("events", events)):
        frame.write_parquet(folder / f"{name}.parquet", row_group_size=max(1, len(frame) // 8))


def _keyed(random: np.random.Generator, rows: int, users: int) -> pl.DataFrame:
    start = np.datetime64(datetime(2026, 1, 1), "us")
    return pl.DataFrame(
        {
            "user_id": random.integers(0, users, size=rows),
            "ts": start + random.integers(0, YEAR, size=rows).astype("timedelta64[us]"),
        }
    )
