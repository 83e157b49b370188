"""How far a benchmark has come."""

from __future__ import annotations

import time


class Progress:
    """A bar, the time left at the pace so far, and what was measured last."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._start = time.monotonic()

    def advance(self, count: int, last: str) -> None:
        """Count cells as done."""
        self._done += count
        spent = time.monotonic() - self._start
        left = spent / self._done * (self._total - self._done)
        filled = 30 * self._done // self._total
        bar = "█" * filled + "░" * (30 - filled)
        print(f"{bar} {self._done}/{self._total}, {left / 60:.0f} min left: {last}", flush=True)
