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


def opened(
    path: Path, about: dict[str, Any] | None, resume: bool
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The circumstances of a benchmark and what it has measured already, in the form of JSON.

    Without circumstances, those of what was measured stay: nothing is measured now.
    """
    if about is not None and not (resume and path.exists()):
        return about, []
    if not path.exists():
        raise SystemExit(f"{path} does not exist: nothing was measured yet")
    earlier = json.loads(path.read_text())
    results = earlier.pop("results")
    if about is None:
        return earlier, results
    changing = {"date", "commits", "versions"}
    for name in about.keys() - changing:
        if about[name] != earlier.get(name):
            raise SystemExit(
                f"{path} cannot be resumed: its {name}: {earlier.get(name)}, now {about[name]}; "
                "use --out for another file, or measure all anew"
            )
    about["commits"] = list(dict.fromkeys([*earlier["commits"], *about["commits"]]))
    about["versions"] = {**earlier["versions"], **about["versions"]}
    return about, results


class Store(Generic[CellT]):
    """All results of a benchmark, and under which circumstances they came about."""

    def __init__(
        self,
        path: Path,
        about: dict[str, Any] | None,
        resume: bool,
        load_cell: Callable[[dict[str, Any]], CellT],
    ) -> None:
        self._path = path
        self.about, results = opened(path, about, resume)
        loaded = [Result(**{**saved, "cell": load_cell(saved["cell"])}) for saved in results]
        self.results: dict[CellT, Result[CellT]] = {result.cell: result for result in loaded}

    def add(self, results: list[Result[CellT]], versions: dict[str, str]) -> None:
        """Keep results, on disk too: a run that is stopped goes on from here."""
        self.about["versions"].update(versions)
        self.results.update((result.cell, result) for result in results)
        save(self._path, {**self.about, "results": [asdict(r) for r in self.results.values()]})
