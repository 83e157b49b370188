"""The tables of this package, which ``tests/python/scan_tables.py`` makes from the pages."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


@cache
def table(name: str) -> dict[str, Any]:
    """A table: ``who``, of docs/who-runs-what.md, or ``gains``, of docs/benchmarks."""
    found: dict[str, Any] = json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found
