"""What is measured of as-of joins: the last events of each label, in the words of each engine."""

from __future__ import annotations

from dataclasses import dataclass

from label_cells import SASH, Tables
from words import counted

SPARK_ASOF, DUCKDB_ASOF = "asof_spark", "asof_duckdb"
ASOF_ENGINES = {
    SASH: "Sash, LATERAL",
    SPARK_ASOF: "Spark, ASOF JOIN",
    DUCKDB_ASOF: "DuckDB",
}
FORMS = {
    "last": "the last event",
    "ties": "the last event, ties by a second column",
    "five": "the last 5 events of 7 days",
}
WIDE_FORMS = {
    "one_of_all": "one column of the last event, SELECT * below",
    "three_of_all": "three columns, SELECT * below",
    "all_of_all": "all columns",
}
"""Over wide tables: Sash and Spark both run ASOF JOIN."""
_READ = {"one_of_all": "e.s0", "three_of_all": "e.s0, e.s7, e.s30", "all_of_all": "e.*"}
_KEY = "e.user_id = l.user_id"
_FOUND = "e.ts AS at, e.a0"
_WEEK = "e.ts > l.ts - INTERVAL '7 days'"
_LATERAL = {
    "last": "ORDER BY e.ts DESC LIMIT 1",
    "ties": "ORDER BY e.ts DESC, e.a1 DESC LIMIT 1",
    "five": f"AND {_WEEK} ORDER BY e.ts DESC LIMIT 5",
}
_DUCKDB = {"last": "e.ts <= l.ts", "ties": "(e.ts, e.a1) <= (l.ts, 'infinity'::DOUBLE)"}


@dataclass(frozen=True)
class WideTables(Tables):
    """Events that have so many columns of text, too."""

    texts: int

    def __str__(self) -> str:
        return f"{super().__str__()}, {counted(self.texts, 'column')} of text"


@dataclass(frozen=True)
class AsOfQuery:
    """The time and a value of the events that a form names."""

    form: str

    @property
    def id(self) -> str:
        """A name of a file."""
        return self.form

    @property
    def names(self) -> list[str]:
        """The columns of the answer that are compared."""
        return ["length(s0)"] if self.form in WIDE_FORMS else ["a0"]

    def sql(self, engine: str) -> str | None:
        """The query in the words in which the engine is quickest, or None if it has none."""
        if self.form in WIDE_FORMS:
            join = f"LEFT ASOF JOIN events e MATCH_CONDITION (l.ts >= e.ts) ON {_KEY}"
            read = _READ[self.form]
            return None if engine == DUCKDB_ASOF else f"SELECT l.id, {read} FROM labels l {join}"
        if engine == SPARK_ASOF:
            join = f"LEFT ASOF JOIN events e MATCH_CONDITION (l.ts >= e.ts) ON {_KEY}"
            return f"SELECT l.*, {_FOUND} FROM labels l {join}" if self.form == "last" else None
        if engine == DUCKDB_ASOF and self.form in _DUCKDB:
            join = f"ASOF LEFT JOIN events e ON {_KEY} AND {_DUCKDB[self.form]}"
            return f"SELECT l.*, {_FOUND} FROM labels l {join}"
        return (
            "SELECT l.*, t.* FROM labels l LEFT JOIN LATERAL ("
            f"SELECT {_FOUND} FROM events e WHERE {_KEY} AND e.ts <= l.ts "
            f"{_LATERAL[self.form]}) t ON true"
        )
