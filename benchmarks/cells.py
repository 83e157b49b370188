"""What is measured: a cell is one engine's time for one query on one data set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from dataset import Data
from label_cells import LabelCell

SASH, SEGMENT_TREE, NAIVE, RUNNING = "sash", "segment_tree", "naive", "running"
SHUFFLE, SASH_SORT = "shuffle", "sash_sort"
SASH_PARTITIONED, SORT_PARTITIONED = "sash_partitioned", "sash_sort_partitioned"
DUCKDB, POLARS = "duckdb", "polars"
ENGINES = [SASH, SEGMENT_TREE, NAIVE, RUNNING, SHUFFLE, DUCKDB, POLARS]
ORDER_ENGINES = [SASH, SASH_SORT, DUCKDB, SASH_PARTITIONED, SORT_PARTITIONED]
PARTITIONED = [SASH_PARTITIONED, SORT_PARTITIONED]
"""Engines whose input is partitioned by the key, so that there is no exchange below a window."""
BY_HASHING, BY_SORTING = [SASH, SASH_PARTITIONED], [SASH_SORT, SORT_PARTITIONED]
"""Sash's operator, by the order below it."""
SPARK_ENGINES = [*BY_HASHING, *BY_SORTING, SEGMENT_TREE, NAIVE, RUNNING, SHUFFLE]
NAMES = {
    SASH: "Sash",
    SASH_SORT: "Sash over Spark's sort",
    SEGMENT_TREE: "Spark, segment tree",
    NAIVE: "Spark as shipped",
    RUNNING: "Spark, running total",
    SHUFFLE: "Spark, scan and shuffle alone",
    SASH_PARTITIONED: "Sash, rows partitioned",
    SORT_PARTITIONED: "Sash over Spark's sort, rows partitioned",
    DUCKDB: "DuckDB",
    POLARS: "Polars",
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


@dataclass(frozen=True)
class Cell:
    """A query, who answers it, with how many cores, on how many keys."""

    engine: str
    cores: int
    keys: int
    aggregate: str
    frame: str
    window: int

    @property
    def query(self) -> Query:
        """What is asked."""
        return Query(self.aggregate, self.frame, self.window)

    def __str__(self) -> str:
        return (
            f"{self.cores} cores, {self.keys:,} keys, {self.aggregate}, "
            f"{self.frame} {self.window:,}"
        )

    @property
    def id(self) -> str:
        """A name to select cells by, and to find them again."""
        return "/".join(str(value) for value in asdict(self).values())


@dataclass(frozen=True)
class OrderCell:
    """One engine's time for one aggregate over one data set, with so many cores."""

    engine: str
    cores: int
    data: Data
    aggregate: str

    @property
    def window(self) -> int:
        """Rows of the window."""
        return ORDER_WINDOW

    @property
    def query(self) -> Query:
        """Wide rows are asked for with all their columns."""
        return Query(self.aggregate, "rows", ORDER_WINDOW, everything=self.data.columns > 4)

    @property
    def id(self) -> str:
        """A name to select cells by."""
        return "/".join(map(str, (self.engine, self.cores, self.aggregate, self.data)))

    @classmethod
    def load(cls, saved: dict[str, Any]) -> OrderCell:
        """From its JSON."""
        return cls(**{**saved, "data": Data(**saved["data"])})


AnyCell = Cell | OrderCell | LabelCell


@dataclass(frozen=True)
class Selection:
    """The cells of one run: every combination, in the order in which they are measured."""

    engines: list[str]
    cores: list[int]
    rows: int
    keys: list[int]
    aggregates: list[str]
    frames: list[str]
    windows: list[int]

    def workplaces(self) -> Iterator[tuple[int, int]]:
        """Cores and keys: what a process of an engine is started with."""
        for cores in self.cores:
            for keys in self.keys:
                yield cores, keys

    def rounds(self, cores: int, keys: int) -> Iterator[list[Cell]]:
        """Cells that answer one query, which are measured in turns.

        Windows ascend, so that a cell's cost can be foretold from those before it.
        """
        for aggregate in self._aggregates(cores, keys):
            for frame in self.frames:
                for window in self._windows(cores, keys, aggregate):
                    yield [
                        Cell(engine, cores, keys, aggregate, frame, window)
                        for engine in self.engines
                    ]

    def all(self) -> list[Cell]:
        """Every cell."""
        return [
            cell
            for cores, keys in self.workplaces()
            for cells in self.rounds(cores, keys)
            for cell in cells
        ]

    def quick(self) -> Selection:
        """A small selection that ends in minutes."""
        return replace(
            self,
            rows=min(self.rows, 200_000),
            windows=[w for w in self.windows if w in (10, 1_000, 100_000)],
            aggregates=[a for a in self.aggregates if a in ("sum", "max")],
        )

    def _is_first(self, cores: int, keys: int) -> bool:
        return (cores, keys) == (self.cores[0], self.keys[0])

    def _aggregates(self, cores: int, keys: int) -> list[str]:
        first = self._is_first(cores, keys)
        return [a for a in self.aggregates if first or a in FEWER_AGGREGATES]

    def _windows(self, cores: int, keys: int, aggregate: str) -> list[int]:
        """Tiny partitions take windows smaller than themselves."""
        if self._is_first(cores, keys) and aggregate in FEWER_AGGREGATES:
            return self.windows
        largest = self.rows // keys if self.rows // keys <= TINY_ROWS else self.rows
        return [w for w in self.windows if w in FEWER_WINDOWS and w <= largest]
