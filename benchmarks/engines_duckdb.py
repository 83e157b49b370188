"""DuckDB, from a table in memory to an Arrow table."""

from __future__ import annotations

from pathlib import Path

import duckdb

from cells import DUCKDB, Query


class DuckDBEngine:
    """A connection to a database in memory."""

    def __init__(self, cores: int) -> None:
        self._connection = duckdb.connect(config={"threads": cores})

    def load(self, data: Path) -> None:
        """Into a table."""
        self._connection.execute(
            "CREATE OR REPLACE TABLE input AS SELECT * FROM read_parquet(?)", [str(data)]
        )

    def version(self) -> dict[str, str]:
        """DuckDB's version."""
        return {"DuckDB": duckdb.__version__}

    def check(self, query: Query) -> None:
        """Its one way to run a window needs no check."""

    def run(self, query: Query) -> None:
        """The whole column of answers, as Arrow."""
        self._connection.execute(query.sql(DUCKDB)).to_arrow_table()
