"""Results, and the JSON file that holds them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

CellT = TypeVar("CellT")


@dataclass(frozen=True)
class Result(Generic[CellT]):
    """The best of a cell's runs, or why there is none."""

    cell: CellT
    rows: int
    seconds: float | None = None
    runs: list[float] = field(default_factory=list)
    not_run: str | None = None

    @property
    def ns_per_row(self) -> float | None:
        """Nanoseconds a row, shuffle and sort included."""
        return None if self.seconds is None else self.seconds / self.rows * 1e9


def save(path: Path, content: dict[str, Any]) -> None:
    """Write JSON in one step, so that a run that is stopped leaves the file as it was or is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part")
    partial.write_text(json.dumps(content, indent=1) + "\n")
    partial.replace(path)


class Store(Generic[CellT]):
    """All results of a benchmark, and under which circumstances they came about."""

    def __init__(
        self,
        path: Path,
        about: dict[str, Any],
        resume: bool,
        load_cell: Callable[[dict[str, Any]], CellT],
    ) -> None:
        self._path = path
        self.about = about
        self.results: dict[CellT, Result[CellT]] = {}
        if resume and path.exists():
            self._load(load_cell)

    def add(self, results: list[Result[CellT]], versions: dict[str, str]) -> None:
        """Keep results, on disk too: a run that is stopped goes on from here."""
        self.about["versions"].update(versions)
        self.results.update((result.cell, result) for result in results)
        save(self._path, {**self.about, "results": [asdict(r) for r in self.results.values()]})

    def _load(self, load_cell: Callable[[dict[str, Any]], CellT]) -> None:
        content = json.loads(self._path.read_text())
        for saved in content.pop("results"):
            result = Result(**{**saved, "cell": load_cell(saved["cell"])})
            self.results[result.cell] = result
        if content.get("rows") != self.about.get("rows"):
            raise SystemExit(f"{self._path} is of {content['rows']:,} rows: use that --rows")
        commits = dict.fromkeys([*content["commits"], *self.about["commits"]])
        self.about["commits"] = list(commits)
        self.about["versions"].update(content["versions"])
