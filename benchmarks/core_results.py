"""What bench_core measured, and the JSON file that holds it."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import harness


@dataclass(frozen=True)
class Point:
    """A point of a figure's line."""

    figure: str
    operation: str
    series: str
    x: float

    def __str__(self) -> str:
        return f"{self.figure}, {self.operation}, {self.series}, {self.x:,}"


class Store(harness.Store):
    """Each run of both sides, in nanoseconds or bytes, and the classes that take our time."""

    def __init__(self, options: argparse.Namespace, page: str) -> None:
        super().__init__(options, page, flat=Point)

    def turns(self, point: Point) -> int:
        """How often a point was measured."""
        return len(self._runs(point, "ours"))

    def forget(self, points: set[Point]) -> None:
        """Drop what was found of some points."""
        self.results = {p: found for p, found in self.results.items() if p not in points}
        if not self.results:  # nothing is left of earlier commits
            self.about["commits"] = self.about["commits"][-1:]

    def add_run(self, point: Point, run: dict[str, float]) -> None:
        """Keep a run of each side of a point, on disk too; ``allocated`` is in bytes a call."""
        runs = self.results.setdefault(point, {"runs": {}})["runs"]
        for side, found in run.items():
            runs.setdefault(side, []).append(round(found, 3))
        self.save()

    def profile(self, point: Point) -> dict[str, float]:
        """By class, the share of our time; empty if none was measured."""
        shares: dict[str, float] = self.results[point].get("profile", {})
        return shares

    def add_profile(self, point: Point, profile: dict[str, float]) -> None:
        """Keep a profile of our side of a point, on disk too."""
        self.results[point]["profile"] = profile
        self.save()

    def best(self, point: Point, side: str) -> float | None:
        """The least of one side's runs: what else runs on a machine only adds to them."""
        return min(self._runs(point, side), default=None)

    def ratio(self, point: Point, side: str) -> float | None:
        """Our best run over another side's."""
        ours, other = self.best(point, "ours"), self.best(point, side)
        return ours / other if ours and other else None

    def _runs(self, point: Point, side: str) -> list[float]:
        runs: dict[str, list[float]] = self.results.get(point, {"runs": {}})["runs"]
        return runs.get(side, [])
