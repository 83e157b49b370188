"""The input that every engine reads: rows one second apart within a key."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import polars as pl

from words import counted

SEED = 20130101
ASCENDING = "in order, keys ascending"
"""Each second's rows come by ascending keys; elsewhere, keys come in no order of theirs."""
LATE_SHARE, MOST_LATE = 0.01, 10_000
"""Of the nearly ordered rows so many come out of order, by at most so many rows."""


@dataclass(frozen=True)
class Data:
    """Rows ``k, ts, x, n``: key, time, a normal double and a bigint.

    A window of W seconds holds W rows, as a window of W rows does. Beyond the four columns there
    are more doubles.
    """

    rows: int
    keys: int
    arrival: str = "in order"
    key_type: str = "bigint"
    order_type: str = "timestamp"
    columns: int = 4

    def __str__(self) -> str:
        parts = [f"{self.rows / 1e6:g} M rows", self.arrival, counted(self.keys, "key")]
        parts += [f"{self.key_type} key"] * (self.key_type != "bigint")
        parts += [f"{self.order_type} order"] * (self.order_type != "timestamp")
        parts += [f"{self.columns} columns"] * (self.columns != 4)
        return ", ".join(parts)


def write(path: Path, data: Data) -> None:
    """Write rows to a Parquet file."""
    random = np.random.default_rng(SEED)
    row = np.arange(data.rows, dtype=np.int64)
    start = np.datetime64(datetime(2026, 1, 1), "us")
    keys = np.arange(data.keys, dtype=np.int64)
    if data.arrival != ASCENDING:
        random.shuffle(keys)
    frame = pl.DataFrame(
        {
            "k": keys[row % data.keys],
            "ts": start + (row // data.keys).astype("timedelta64[s]"),
            "x": random.normal(size=data.rows),
            "n": random.integers(-1_000_000, 1_000_000, size=data.rows),
        }
    )
    frame = frame.with_columns(_key(data.key_type), _order(data.order_type))
    for i in range(data.columns - 4):
        frame = frame.with_columns(pl.Series(f"p{i}", random.normal(size=data.rows)))
    arrived = frame[_arrival(data, random)]
    arrived.write_parquet(path, row_group_size=max(1, data.rows // 8))


def _key(kind: str) -> pl.Expr:
    key = pl.col("k")
    return pl.format("customer {}", key).alias("k") if kind == "string" else key


def _order(kind: str) -> pl.Expr:
    order = pl.col("ts")
    if kind == "string":
        return order.dt.strftime("%Y-%m-%d %H:%M:%S")
    if kind == "decimal":
        return order.dt.epoch("s").cast(pl.Decimal(20, 2))
    return order


def _arrival(data: Data, random: np.random.Generator) -> np.ndarray:
    """The rows in the order in which they arrive."""
    if data.arrival == "shuffled":
        return random.permutation(data.rows)
    place = np.arange(data.rows, dtype=np.int64)
    if data.arrival == "1 % out of order":
        late = random.random(data.rows) < LATE_SHARE
        place[late] += random.integers(1, MOST_LATE, size=int(late.sum()))
    return np.argsort(place, kind="stable")
