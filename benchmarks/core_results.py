"""What bench_core measured, and the JSON file that holds it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from results import opened, save


@dataclass(frozen=True)
class Point:
    """A point of a figure's line."""

    figure: str
    operation: str
    series: str
    x: float

    def __str__(self) -> str:
        return f"{self.figure}, {self.operation}, {self.series}, {self.x:,}"


class Store:
    """Each run of both sides, in nanoseconds or bytes, and the circumstances."""

    def __init__(self, path: Path, about: dict[str, Any] | None, resume: bool) -> None:
        self._path = path
        self.about, results = opened(path, about, resume)
        self.results: dict[Point, dict[str, list[float]]] = {}
        self.profiles: dict[Point, dict[str, float]] = {}
        """By method, the share of our time."""
        for saved in results:
            runs, profile = saved.pop("runs"), saved.pop("profile", None)
            point = Point(**saved)
            self.results[point] = runs
            if profile:
                self.profiles[point] = profile

    def turns(self, point: Point) -> int:
        """How often a point was measured."""
        return len(self.results.get(point, {}).get("ours", []))

    def forget(self, points: set[Point]) -> None:
        """Drop the runs of some points."""
        self.results = {p: runs for p, runs in self.results.items() if p not in points}

    def add(self, point: Point, run: dict[str, float]) -> None:
        """Keep a run of each side of a point, on disk too; ``allocated`` is in bytes a call."""
        runs = self.results.setdefault(point, {})
        for side, found in run.items():
            runs.setdefault(side, []).append(round(found, 3))
        self._save()

    def add_profile(self, point: Point, profile: dict[str, float]) -> None:
        """Keep a profile of our side of a point, on disk too."""
        self.profiles[point] = profile
        self._save()

    def _save(self) -> None:
        results: list[dict[str, Any]] = []
        for point, runs in self.results.items():
            results.append({**asdict(point), "runs": runs})
            if point in self.profiles:
                results[-1]["profile"] = self.profiles[point]
        save(self._path, {**self.about, "results": results})

    def best(self, point: Point, side: str) -> float | None:
        """The least of one side's runs: what else runs on a machine only adds to them."""
        runs = self.results.get(point, {}).get(side)
        return min(runs) if runs else None

    def ratio(self, point: Point, side: str) -> float | None:
        """Our best run over another side's."""
        ours, other = self.best(point, "ours"), self.best(point, side)
        return ours / other if ours and other else None
