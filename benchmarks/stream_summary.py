"""What Sash must reach on streams, and what it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stream_cells import FLINK, HOP, SPARK, TUMBLING, Cell
from stream_results import Store, as_engine
from summary import Comparison, Ratio

MANY_KEYS = 100_000
LATE = 1 / 0.7
"""A stream with late rows must reach 0.7 times the rate of one without."""


def comparisons(store: Store) -> list[Comparison]:
    """Each kind of ratio, with the bound that was asked for."""
    of_sash = [cell for cell, _ in store.of_sash()]
    over = [cell for cell in of_sash if cell.over and cell.plain]
    hops = [cell for cell in of_sash if cell.query == HOP]
    updated = [cell for cell in of_sash if cell.mode == "update"]
    late = [cell for cell in of_sash if cell.late]
    many = [cell for cell in hops if (cell.keys, cell.panes) == (MANY_KEYS, 10)]
    return [
        Comparison("Spark's tumbling windows: OVER", 1, _ratios(store, over, _tumbling)),
        Comparison("itself: the longest windows over those of 100 rows", 1.2, _flat(store, over)),
        Comparison("Flink's OVER", 0.5, _ratios(store, over, _by_flink)),
        Comparison("Spark's tumbling windows: hops", 1.25, _ratios(store, hops, _tumbling)),
        Comparison(
            f"Spark's hops, 10 panes, {MANY_KEYS:,} keys", 0.25, _ratios(store, many, _by_spark)
        ),
        Comparison("itself: late rows over none", round(LATE, 2), _ratios(store, late, _in_time)),
        Comparison("its median batch: the slowest one", 3, _slowest(store)),
        Comparison("itself: update mode over append", None, _ratios(store, updated, _append)),
        Comparison("Flink's hops", None, _ratios(store, hops, _by_flink)),
    ]


def _tumbling(cell: Cell) -> Cell:
    return Cell(SPARK, TUMBLING, cell.keys, cell.batch)


def _by_flink(cell: Cell) -> Cell:
    return as_engine(cell, FLINK, 0)


def _by_spark(cell: Cell) -> Cell:
    return as_engine(cell, SPARK, cell.batch)


def _in_time(cell: Cell) -> Cell:
    return replace(cell, late=0)


def _append(cell: Cell) -> Cell:
    return replace(cell, mode="append")


def _ratios(store: Store, cells: list[Cell], theirs: Callable[[Cell], Cell]) -> list[Ratio]:
    return [
        Ratio(ratio, _where(cell))
        for cell in cells
        if (ratio := store.ratio(cell, theirs(cell))) is not None
    ]


def _flat(store: Store, over: list[Cell]) -> list[Ratio]:
    """The longest window of each frame, keys and batch that has more than one."""
    longest = {replace(cell, rows=0): cell for cell in sorted(over, key=lambda cell: cell.rows)}
    found = [cell for cell in longest.values() if cell.rows > 100]
    return _ratios(store, found, lambda cell: replace(cell, rows=100))


def _slowest(store: Store) -> list[Ratio]:
    return [
        Ratio(figures.slowest, _where(cell))
        for cell, figures in store.of_sash()
        if figures.slowest is not None
    ]


def _where(cell: Cell) -> str:
    return f"{cell.keys:,} keys, {cell.name}, batches of {cell.batch:,}"
