"""What the benchmark of streams measures: a cell is one engine's time for one query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

SASH, SPARK, FLINK = "Sash", "Spark", "Flink"
PASS_THROUGH, TUMBLING, HOP = "pass-through", "tumbling", "hop"
FRAMES = ("ROWS", "RANGE")
LARGE, SMALL = 100_000, 10_000
"""Rows of a micro-batch."""
ROWS_A_SECOND = 10_000
"""Of event time, whatever the batch."""
KEYS = (10, 20_000, 100_000)
WINDOWS = (100, 10_000, 1_000_000)
PANES = (10, 600, 86_400)


@dataclass(frozen=True)
class Cell:
    """A query over the stream of so many keys, by an engine, in micro-batches of so many rows."""

    engine: str
    query: str
    keys: int
    batch: int = LARGE
    """0 for Flink, which has none."""
    rows: int = 0
    panes: int = 0
    late: int | None = None
    """Percent of the rows; None where the delay is too short for late ones."""
    mode: str = "append"

    @property
    def name(self) -> str:
        """The query, as the report calls it."""
        if self.rows:
            late = "" if self.late is None else f", {self.late} % out of order"
            mode = "" if self.mode == "append" else f", {self.mode} mode"
            return f"{self.query}, {self.rows:,} rows{late}{mode}"
        return f"{self.query}, {self.panes:,} panes" if self.panes else self.query

    def __str__(self) -> str:
        batch = f", batches of {self.batch:,}" if self.batch else ""
        return f"{self.keys:,} keys, {self.name}{batch}, by {self.engine}"

    @property
    def over(self) -> bool:
        """Whether it is an OVER clause."""
        return self.query in FRAMES

    @property
    def plain(self) -> bool:
        """Whether it is neither of late rows nor in update mode."""
        return self.late is None and self.mode == "append"

    @property
    def history(self) -> int:
        """Rows that fill the windows of all keys: for a hop, one a key in each pane."""
        return self.keys * max(self.rows, self.panes)

    @property
    def slide_ms(self) -> int:
        """A tumbling window's or a pane's length: what a batch holds, so that each ends one."""
        return (self.batch or LARGE) * 1000 // ROWS_A_SECOND

    @property
    def range_ms(self) -> int:
        """How far a RANGE frame reaches back, to hold as many rows as the ROWS frame."""
        return (self.rows - 1) * self.keys * 1000 // ROWS_A_SECOND

    @property
    def delay(self) -> int:
        """Seconds that the watermark is behind."""
        return 1 if self.late is None else 10

    @property
    def run(self) -> Cell:
        """What measures it: one run for all batches, where windows do not depend on them."""
        return self if self.query in (TUMBLING, HOP) else replace(self, batch=0)


@dataclass(frozen=True)
class Selection:
    """The cells of a benchmark, and how many batches come before those that count."""

    keys: tuple[int, ...] = KEYS
    windows: tuple[int, ...] = WINDOWS
    panes: tuple[int, ...] = PANES
    middle: int = KEYS[1]
    """The keys for which late rows come."""
    warm_up: int = 60
    """Micro-batches of Spark and of Sash in which the JVM compiles, before any is measured."""
    lead: int = 5
    counted: int = 10
    most_history: int = 10_000_000
    """Rows that may come before those that are measured, to fill the windows."""
    flink_rows: int = 4_000_000
    """After the history."""
    flink_seconds: float = 15
    """That are measured, unless the rows end before."""

    @classmethod
    def quick(cls) -> Selection:
        """A small one, that ends in minutes."""
        return cls((10, 1_000), WINDOWS[:2], PANES[:1], 1_000, 5, 2, 3, 200_000, 2_000_000, 4)

    def all(self) -> list[Cell]:
        """Every cell: Spark's and Sash's, and then Flink's; windows ascend."""
        by_spark = [cell for keys in self.keys for cell in self._by_spark(keys)]
        return by_spark + [cell for keys in self.keys for cell in self._by_flink(keys)]

    def measured(self) -> list[Cell]:
        """Those whose windows can be filled."""
        return [cell for cell in self.all() if self.fits(cell)]

    def fits(self, cell: Cell) -> bool:
        """Whether its windows can be filled in the time that there is."""
        return cell.history <= self.most_history

    def _by_spark(self, keys: int) -> Iterator[Cell]:
        for query in (PASS_THROUGH, TUMBLING):
            for batch in (LARGE, SMALL):
                yield Cell(SPARK, query, keys, batch)
        for frame in FRAMES:
            for rows in self.windows:
                for batch in (LARGE, SMALL):
                    yield Cell(SASH, frame, keys, batch, rows)
        if keys <= self.middle:
            yield Cell(SASH, "ROWS", keys, rows=100, mode="update")
        for late in (0, 10, 50) if keys == self.middle else ():
            yield Cell(SASH, "ROWS", keys, rows=100, late=late)
        yield Cell(SPARK, HOP, keys, panes=10)
        yield from (Cell(SASH, HOP, keys, panes=panes) for panes in self.panes)

    def _by_flink(self, keys: int) -> Iterator[Cell]:
        yield Cell(FLINK, TUMBLING, keys, 0)
        for frame in FRAMES:
            yield from (Cell(FLINK, frame, keys, 0, rows) for rows in self.windows)
        yield from (Cell(FLINK, HOP, keys, 0, panes=panes) for panes in self.panes[:2])
