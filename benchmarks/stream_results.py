"""What the benchmark of streams measured, and the JSON file that holds it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from results import opened, save
from stream_cells import SASH, Cell


@dataclass(frozen=True)
class Figures:
    """What an event took, and what else is known of a cell."""

    micros: float
    events: int
    """That were measured."""
    slowest: float | None = None
    """Batch, over the median of them."""
    state_mb: float | None = None
    gets: int | None = None
    puts: int | None = None
    stopped: str | None = None
    """Why an event takes longer than that."""
    checkpoints: int | None = None
    busier: float | None = None
    """The share of the busier one of Flink's two tasks."""

    @property
    def operations(self) -> int:
        """Gets and puts."""
        return (self.gets or 0) + (self.puts or 0)


class Store:
    """Figures by cell, and under which circumstances they came about."""

    def __init__(self, path: Path, about: dict[str, Any] | None, resume: bool) -> None:
        self._path = path
        self.about, results = opened(path, about, resume)
        self.figures = {Cell(**r.pop("cell")): Figures(**r) for r in results}

    def add(self, found: dict[Cell, Figures], versions: dict[str, str]) -> None:
        """Keep figures, on disk too: a run that is stopped goes on from here."""
        self.about["versions"].update(versions)
        self.figures.update(found)
        results = [{"cell": asdict(c), **asdict(f)} for c, f in self.figures.items()]
        save(self._path, {**self.about, "results": results})

    def micros(self, cell: Cell) -> float | None:
        """Microseconds an event, if measured."""
        figures = self.figures.get(cell)
        return None if figures is None else figures.micros

    def ratio(self, ours: Cell, theirs: Cell) -> float | None:
        """One cell's time over another's."""
        a, b = self.micros(ours), self.micros(theirs)
        return a / b if a and b else None

    def of_sash(self) -> Iterable[tuple[Cell, Figures]]:
        """What Sash was measured by."""
        return ((c, f) for c, f in self.figures.items() if c.engine == SASH)


def as_engine(cell: Cell, engine: str, batch: int) -> Cell:
    """The same query by another engine."""
    return replace(cell, engine=engine, batch=batch)
