"""What is measured of windows at another table's times: one engine, one query, two tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from words import counted

SASH, LATERAL, RANGE_JOIN = "label_sash", "label_lateral", "label_range_join"
DUCKDB_UNION, DUCKDB_JOIN = "label_duckdb_union", "label_duckdb_join"
LABEL_ENGINES = [SASH, DUCKDB_UNION, DUCKDB_JOIN, RANGE_JOIN, LATERAL]
LABEL_SPARKS = [SASH, RANGE_JOIN, LATERAL]
GROWING = [DUCKDB_JOIN, RANGE_JOIN]
"""Engines that join each label with the events of its span."""
NAMES = {
    SASH: "Sash, LATERAL",
    DUCKDB_UNION: "DuckDB, union and OVER",
    DUCKDB_JOIN: "DuckDB, range join",
    RANGE_JOIN: "Spark, range join",
    LATERAL: "Spark, LATERAL",
}
SPANS = {"1 hour": 1, "7 days": 168, "90 days": 2160}
"""Hours."""
FEATURES = [1, 5, 20]
COLUMNS = 4
_CALLS = ["sum", "count", "avg", "max", "stddev"]


@dataclass(frozen=True)
class Tables:
    """Labels ``id, user_id, ts`` and events ``user_id, ts, a0 … a3``, spread over a year."""

    labels: int
    events: int
    users: int

    def __str__(self) -> str:
        return (
            f"{counted(self.labels, 'label')}, {counted(self.events, 'event')}, "
            f"{counted(self.users, 'user')}"
        )


@dataclass(frozen=True)
class LabelQuery:
    """So many aggregates of the events in each of the spans before a label."""

    spans: tuple[str, ...]
    features: int

    @property
    def id(self) -> str:
        """A name of a file."""
        return f"{self.features}-{'-'.join(self.spans)}".replace(" ", "_")

    @property
    def names(self) -> list[str]:
        """The columns of the answer."""
        return [f"f{s}_{i}" for s in range(len(self.spans)) for i in range(self.features)]

    def sql(self, engine: str) -> str:
        """The query in the engine's words."""
        if engine in GROWING:
            return self._join()
        return self._union() if engine == DUCKDB_UNION else self._lateral()

    def _calls(self) -> Iterator[str]:
        for i in range(self.features):
            yield f"{_CALLS[i % len(_CALLS)]}(a{i // len(_CALLS) % COLUMNS})"

    def _lateral(self) -> str:
        subqueries = [
            f"LATERAL (SELECT {', '.join(self._named(s))} FROM events e WHERE e.user_id = "
            f"l.user_id AND e.ts >= l.ts - INTERVAL '{span}' AND e.ts < l.ts) t{s}"
            for s, span in enumerate(self.spans)
        ]
        columns = ", ".join(["l.*", *self.names])
        return f"SELECT {columns} FROM labels l, {', '.join(subqueries)}"

    def _named(self, s: int) -> Iterator[str]:
        for i, call in enumerate(self._calls()):
            yield f"{call} AS f{s}_{i}"

    def _join(self) -> str:
        columns = [
            f"{call} FILTER (WHERE e.ts >= l.ts - INTERVAL '{span}') AS f{s}_{i}"
            for s, span in enumerate(self.spans)
            for i, call in enumerate(self._calls())
        ]
        longest = max(self.spans, key=SPANS.__getitem__)
        return (
            f"SELECT l.id, l.user_id, l.ts, {', '.join(columns)} "
            "FROM labels l LEFT JOIN events e "
            f"ON e.user_id = l.user_id AND e.ts >= l.ts - INTERVAL '{longest}' AND e.ts < l.ts "
            "GROUP BY l.id, l.user_id, l.ts"
        )

    def _union(self) -> str:
        values = [f"a{i}" for i in range(COLUMNS)]
        columns = [
            f"{call} OVER w{s} AS f{s}_{i}"
            for s in range(len(self.spans))
            for i, call in enumerate(self._calls())
        ]
        windows = [
            f"w{s} AS (PARTITION BY user_id ORDER BY ts RANGE BETWEEN INTERVAL '{span}' "
            "PRECEDING AND INTERVAL '1 microsecond' PRECEDING)"
            for s, span in enumerate(self.spans)
        ]
        nothing = ", ".join(f"NULL AS {value}" for value in values)
        # a label's columns are NULL, which no aggregate counts
        return (
            f"SELECT id, user_id, ts, {', '.join(self.names)} "
            f"FROM (SELECT *, {', '.join(columns)} "
            f"FROM (SELECT id, user_id, ts, {nothing} FROM labels UNION ALL "
            f"SELECT NULL, user_id, ts, {', '.join(values)} FROM events) "
            f"WINDOW {', '.join(windows)}) WHERE id IS NOT NULL"
        )


@dataclass(frozen=True)
class LabelCell:
    """One engine's time for one query over one pair of tables."""

    engine: str
    tables: Tables
    query: LabelQuery

    @property
    def window(self) -> int:
        """Hours of the longest span, with which the cost of a join grows."""
        return max(SPANS[span] for span in self.query.spans)

    @property
    def id(self) -> str:
        """A name to select cells by."""
        tables = "/".join(str(value) for value in asdict(self.tables).values())
        return f"{self.engine}/{tables}/{self.query.id}"

    def __str__(self) -> str:
        return f"{self.tables}, {self.query.id}"

    @classmethod
    def load(cls, saved: dict[str, Any]) -> LabelCell:
        """From its JSON."""
        query = LabelQuery(tuple(saved["query"]["spans"]), saved["query"]["features"])
        return cls(saved["engine"], Tables(**saved["tables"]), query)


def queries() -> Iterator[LabelQuery]:
    """Every number of features over every span, spans ascending; then all spans at once."""
    for features in FEATURES:
        for span in SPANS:
            yield LabelQuery((span,), features)
    yield LabelQuery(tuple(SPANS), 5)
