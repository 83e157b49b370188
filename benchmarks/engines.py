"""What the benchmark asks of an engine, and which class answers to which name."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import asof_cells
import cells
import few_cells
import label_cells
from cells import Query


class Engine(Protocol):
    """An engine, which holds its input in memory."""

    def version(self) -> dict[str, str]:
        """Versions of the engine and what it runs on."""
        ...

    def load(self, data: Path) -> None:
        """Take the rows of this file as the input, in place of any other."""
        ...

    def check(self, query: Query) -> None:
        """Fail unless the query's plan is the one that this engine's name promises."""
        ...

    def run(self, query: Query) -> None:
        """Compute every row of the answer."""
        ...


def start(name: str, cores: int, memory: str) -> Engine:
    """Start an engine; libraries are imported here, after their environment is set."""
    if name in label_cells.LABEL_ENGINES or name in asof_cells.ASOF_ENGINES:
        import label_engines

        return label_engines.start(name, cores, memory)
    if name in few_cells.FEW_ENGINES:
        import few_engines

        return few_engines.start(name, cores, memory)
    if name in cells.SPARK_ENGINES:
        from engines_spark import SparkEngine

        return SparkEngine(name, cores, memory)
    if name == cells.DUCKDB:
        from engines_duckdb import DuckDBEngine

        return DuckDBEngine(cores)
    from engines_polars import PolarsEngine

    return PolarsEngine(cores)
