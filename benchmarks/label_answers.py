"""Compares the answers of engines to one query over labels and events."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol


class Answered(Protocol):
    """A query with the names of its answers' columns."""

    @property
    def id(self) -> str:
        """What no other query has."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """The columns whose sums are compared."""
        ...

    def sql(self, engine: str, /) -> str | None:
        """The query in an engine's words."""
        ...


def digest(query: Answered, engine: str) -> str:
    """The rows of the answer, and the sum and the count of each column."""
    sums = ", ".join(f"coalesce(sum({c}), 0), count({c})" for c in query.names)
    return f"SELECT count(*), {sums} FROM ({query.sql(engine)}) answers"


def compare(folder: Path, query: Answered, found: Callable[[], tuple[Any, ...]]) -> None:
    """The first engine leaves its digest beside the tables, and the others compare theirs."""
    ours = [float(value) for value in found()]
    file = folder / f"{query.id}.json"
    if not file.exists():
        file.write_text(json.dumps(ours))
    theirs = json.loads(file.read_text())
    if not all(
        math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6) for a, b in zip(ours, theirs, strict=True)
    ):
        raise AssertionError(f"another answer to {query.id}: {ours}, not {theirs}")
