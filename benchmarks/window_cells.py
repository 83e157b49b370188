"""What is measured of windows and of the order below them: cells, engines, and the rows."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from harness import BLUE, GREEN, GREY, LIGHT, ORANGE, PINK, VERMILION, counted
from workers import Engine, Turn

SASH, SEGMENT_TREE, NAIVE, RUNNING = "sash", "segment_tree", "naive", "running"
SHUFFLE, SASH_SORT, DUCKDB, POLARS = "shuffle", "sash_sort", "duckdb", "polars"
SASH_PARTITIONED, SORT_PARTITIONED = "sash_partitioned", "sash_sort_partitioned"
BY_SORTING = {"spark.sash.ordering.enabled": "false"}
ENGINES = {
    SASH: Engine("Sash", BLUE, sash=True),
    SEGMENT_TREE: Engine(
        "Spark, segment tree", ORANGE, conf={"spark.sql.window.segmentTree.enabled": "true"}
    ),
    NAIVE: Engine("Spark as shipped", VERMILION),
    RUNNING: Engine("Spark, running total", GREY),
    SHUFFLE: Engine("Spark, scan and shuffle alone", LIGHT),
    DUCKDB: Engine("DuckDB", GREEN, "duckdb"),
    POLARS: Engine("Polars", PINK, "polars"),
}
ORDER_ENGINES = {
    SASH: ENGINES[SASH],
    SASH_SORT: Engine("Sash over Spark's sort", ORANGE, sash=True, conf=BY_SORTING),
    DUCKDB: ENGINES[DUCKDB],
    SASH_PARTITIONED: Engine("Sash, rows partitioned", BLUE, sash=True, partitioned=True),
    SORT_PARTITIONED: Engine(
        "Sash over Spark's sort, rows partitioned",
        ORANGE,
        sash=True,
        conf=BY_SORTING,
        partitioned=True,
    ),
}
AGGREGATES = {
    "sum": "sum(x)",
    "max": "max(x)",
    "stddev": "stddev(x)",
    "sum_bigint": "sum(n)",
}
FRAMES = ["rows", "range"]
WINDOWS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]
FEWER_WINDOWS = [10, 100, 1_000_000]
FEWER_AGGREGATES = ["sum", "max"]
"""What every data set and number of cores but the first is measured by; there, these aggregates
get every window, and the others the fewer."""
ORDER_WINDOW = 1_000
"""Rows of every window below which the order is measured."""
TINY_ROWS = 20
"""Rows of a key in the data set of tiny partitions."""
SEED = 20130101
ASCENDING = "in order, keys ascending"
"""Each second's rows come by ascending keys; elsewhere, keys come in no order of theirs."""
LATE_SHARE, MOST_LATE = 0.01, 10_000
"""Of the nearly ordered rows so many come out of order, by at most so many rows."""


@dataclass(frozen=True)
class Data:
    """Rows ``k, ts, x, n``, a second apart within a key: a normal double and a bigint.

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
    random = np.random.default_rng(SEED)
    row = np.arange(data.rows, dtype=np.int64)
    start = np.datetime64(datetime(2026, 1, 1), "us")
    keys = np.arange(data.keys, dtype=np.int64)
    if data.arrival != ASCENDING:
        random.shuffle(keys)
    key, order = pl.col("k"), pl.col("ts")
    kinds = {
        "bigint": key,
        "timestamp": order,
        "string": order.dt.strftime("%Y-%m-%d %H:%M:%S"),
        "decimal": order.dt.epoch("s").cast(pl.Decimal(20, 2)),
    }
    is_text = data.key_type == "string"
    frame = pl.DataFrame(
        {
            "k": keys[row % data.keys],
            "ts": start + (row // data.keys).astype("timedelta64[s]"),
            "x": random.normal(size=data.rows),
            "n": random.integers(-1_000_000, 1_000_000, size=data.rows),
        }
    ).with_columns(
        pl.format("customer {}", key).alias("k") if is_text else key, kinds[data.order_type]
    )
    for i in range(data.columns - 4):
        frame = frame.with_columns(pl.Series(f"p{i}", random.normal(size=data.rows)))
    arrived = frame[_arrival(data, random)]
    arrived.write_parquet(path, row_group_size=max(1, data.rows // 8))


def _arrival(data: Data, random: np.random.Generator) -> np.ndarray:
    if data.arrival == "shuffled":
        return random.permutation(data.rows)
    place = np.arange(data.rows, dtype=np.int64)
    if data.arrival == "1 % out of order":
        late = random.random(data.rows) < LATE_SHARE
        place[late] += random.integers(1, MOST_LATE, size=int(late.sum()))
    return np.argsort(place, kind="stable")


@dataclass(frozen=True)
class Query:
    """An aggregate over the last ``window`` rows (or seconds, which hold as many rows).

    ``everything`` asks for the columns of the input, too.
    """

    aggregate: str
    frame: str
    window: int
    everything: bool = False

    def sql(self, engine: str) -> str:
        """The query in the dialect that Spark and DuckDB share.

        A running total reaches back to the first row: the cheapest window that Spark has. The
        shuffle alone brings the rows to where a window would see them.
        """
        if engine == SHUFFLE:
            argument = AGGREGATES[self.aggregate].split("(")[1].rstrip(")")
            columns = "*" if self.everything else f"ts, {argument} AS r"
            return f"SELECT {columns} FROM input DISTRIBUTE BY k"
        start = "UNBOUNDED"
        if engine != RUNNING:
            start = f"{self.window - 1}"
            if self.frame == "range":
                start = f"INTERVAL '{self.window - 1}' SECOND"
        return (
            f"SELECT {'*, ' if self.everything else ''}"
            f"{AGGREGATES[self.aggregate]} OVER (PARTITION BY k ORDER BY ts "
            f"{self.frame.upper()} BETWEEN {start} PRECEDING AND CURRENT ROW) AS r FROM input"
        )


class _Checked:
    """What the plans of both kinds of cells have in common."""

    engine: str
    digest = None

    @property
    def promised(self) -> dict[str, bool]:
        engine = {**ENGINES, **ORDER_ENGINES}[self.engine]
        return {
            "SlidingWindow": engine.sash,
            "Ordering hash + adaptive": engine.sash and engine.conf != BY_SORTING,
            "Exchange": not engine.partitioned,
        }


@dataclass(frozen=True)
class Cell(_Checked):
    """A query, who answers it, with how many cores, on how many keys."""

    engine: str
    cores: int
    keys: int
    aggregate: str
    frame: str
    window: int

    @property
    def query(self) -> Query:
        return Query(self.aggregate, self.frame, self.window)

    @property
    def series(self) -> Any:
        """Spark as shipped computes every frame anew."""
        return replace(self, window=0) if self.engine == NAIVE else None

    def __str__(self) -> str:
        return f"{self.keys:,} keys, {self.aggregate}, {self.frame} {self.window:,}"

    @property
    def id(self) -> str:
        return "/".join(str(value) for value in asdict(self).values())


@dataclass(frozen=True)
class OrderCell(_Checked):
    """One engine's time for one aggregate over one data set, with so many cores."""

    engine: str
    cores: int
    data: Data
    aggregate: str
    window = ORDER_WINDOW
    series = None

    @property
    def query(self) -> Query:
        """Wide rows are asked for with all their columns."""
        return Query(self.aggregate, "rows", ORDER_WINDOW, everything=self.data.columns > 4)

    def __str__(self) -> str:
        return f"{self.aggregate}, {self.data}"

    @property
    def id(self) -> str:
        return "/".join(map(str, (self.engine, self.cores, self.aggregate, self.data)))


def turns(rows: int, cores: list[int], keys: list[int], quick: bool = False) -> Iterator[Turn]:
    """Every combination; windows ascend, so that those before foretell a cell's cost."""
    places = [(c, k or rows // TINY_ROWS) for c in cores for k in keys]
    for place in places:
        is_first = place == places[0]
        for aggregate in AGGREGATES if is_first and not quick else FEWER_AGGREGATES:
            largest = rows // place[1] if rows // place[1] <= TINY_ROWS else rows
            fewer = [w for w in FEWER_WINDOWS if w <= largest]
            windows = WINDOWS if is_first and aggregate in FEWER_AGGREGATES else fewer
            for frame in FRAMES:
                for window in windows:
                    if not quick or window in (10, 1_000, 100_000):
                        cells = [Cell(e, *place, aggregate, frame, window) for e in ENGINES]
                        yield Turn(place[0], Data(rows, place[1]), rows, cells)


ROWS, MANY_ROWS = 2_000_000, 20_000_000
ARRIVALS = ["in order", "1 % out of order", "shuffled"]
ENDS = ["in order", "shuffled"]
DATA = [
    *[Data(ROWS, keys, a) for keys in (1, 10, 10_000, 1_000_000) for a in ARRIVALS],
    *[Data(ROWS, keys, ASCENDING) for keys in (10_000, 1_000_000)],
    *[Data(ROWS, 10, a, key_type="string") for a in ENDS],
    *[Data(ROWS, 10, a, order_type=order) for order in ("decimal", "string") for a in ENDS],
    *[Data(ROWS, 10, a, columns=50) for a in ENDS],
    *[Data(MANY_ROWS, keys, a) for keys in (10, 10_000) for a in ENDS],
]


def order_turns(quick: bool) -> Iterator[Turn]:
    small = [replace(d, rows=200_000, keys=min(d.keys, 100_000)) for d in DATA]
    for cores in (1, 2):
        for data in dict.fromkeys(small) if quick else DATA:
            for aggregate in ["sum", "max"] if data.rows <= ROWS else ["sum"]:
                cells = [OrderCell(engine, cores, data, aggregate) for engine in ORDER_ENGINES]
                yield Turn(cores, data, data.rows, cells)
