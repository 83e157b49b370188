"""What Sash must reach on streams, and what it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stream_cells import FLINK, HOP, LARGE, SMALL, SPARK, TUMBLING, Cell
from stream_results import Store, as_engine
from summary import Comparison, Ratio

MANY_KEYS = 100_000
LATE = 1 / 0.7
"""A stream with rows out of order must reach 0.7 times the rate of one without."""


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
        Comparison(
            "itself: the longest windows over windows of 100 rows", 1.2, _flat(store, over)
        ),
        Comparison(
            "itself, in gets and puts: the longest windows over windows of 10,000 rows",
            1.2,
            _operations(store, over),
        ),
        *(
            Comparison(
                f"Flink's OVER, batches of {batch:,}",
                0.5,
                _ratios(store, [cell for cell in over if cell.batch == batch], _by_flink),
            )
            for batch in (LARGE, SMALL)
        ),
        Comparison("Spark's tumbling windows: hops", 1.25, _ratios(store, hops, _tumbling)),
        Comparison(
            f"Spark's hops, 10 panes, {MANY_KEYS:,} keys", 0.25, _ratios(store, many, _by_spark)
        ),
        Comparison(
            "itself: rows out of order over none", round(LATE, 2), _ratios(store, late, _in_time)
        ),
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
    found = [cell for cell in _longest(over) if cell.rows > 100]
    return _ratios(store, found, lambda cell: replace(cell, rows=100))


def _operations(store: Store, over: list[Cell]) -> list[Ratio]:
    """A window of 10,000 rows is the first that a large batch of ten keys does not outrun."""
    found = []
    for cell in _longest(over):
        ours, theirs = store.figures[cell], store.figures.get(replace(cell, rows=10_000))
        if cell.rows > 10_000 and theirs and theirs.operations:
            found.append(Ratio(ours.operations / theirs.operations, _where(cell)))
    return found


def _longest(over: list[Cell]) -> list[Cell]:
    """The longest window of each frame, keys and batch."""
    ascending = sorted(over, key=lambda cell: cell.rows)
    return list({replace(cell, rows=0): cell for cell in ascending}.values())


def _slowest(store: Store) -> list[Ratio]:
    return [
        Ratio(figures.slowest, _where(cell))
        for cell, figures in store.of_sash()
        if figures.slowest is not None
    ]


def _where(cell: Cell) -> str:
    return f"{cell.keys:,} keys, {cell.name}, batches of {cell.batch:,}"
