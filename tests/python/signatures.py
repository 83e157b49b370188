"""The functions of sash.functions with arguments for each of them, by their signatures."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from sash import functions

# a right argument of each type that a signature names
RIGHT = {"ColumnOrName": "id", "int": 2, "float": 0.5, "Extent": 2}


def aggregates() -> Iterator[tuple[str, dict[str, str]]]:
    """Each aggregate's name, with the types of its arguments."""
    for name in functions.__all__:
        if name != "sliding_agg":
            parameters = inspect.signature(getattr(functions, name)).parameters.values()
            yield name, {p.name: p.annotation.removesuffix(" | None") for p in parameters}


def calls() -> Iterator[tuple[str, str]]:
    """Each aggregate's name, with a call of it in Python: ``f.max_n('id', 2)``."""
    for name, types in aggregates():
        yield name, f"f.{name}({', '.join(repr(RIGHT[of]) for of in types.values())})"
