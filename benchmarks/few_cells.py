"""What is measured of few labels beside many events: the queries, in the words of each engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

SASH, ONE_BY_ONE = "few_sash", "few_sash_one_by_one"
SPARK, SCAN = "few_spark", "few_scan"
DUCKDB_JOIN, DUCKDB_UNION, DUCKDB_ASOF = "few_duckdb_join", "few_duckdb_union", "few_duckdb_asof"
DUCKDBS = [DUCKDB_JOIN, DUCKDB_UNION, DUCKDB_ASOF]
FEW_ENGINES = [SASH, ONE_BY_ONE, SPARK, SCAN, *DUCKDBS]
NAMES = {
    SASH: "Sash",
    ONE_BY_ONE: "Sash, events one by one",
    SPARK: "Spark",
    SCAN: "Spark's scan",
    DUCKDB_JOIN: "range join",
    DUCKDB_UNION: "union and OVER",
    DUCKDB_ASOF: "ASOF",
}
AGGREGATES, LAST, FIVE = "aggregates", "last", "five"
COLUMNS = {
    "TIMESTAMP": "ts",
    "TIMESTAMP_NTZ": "ntz",
    "DATE": "day",
    "BIGINT": "sec",
    "INT": "sec32",
}
"""The columns of one time, by its type; numbers are seconds."""
NUMBERS = ["BIGINT", "INT"]
VALUES = 4
_CALLS = ["sum", "count", "avg", "max", "stddev"]
_DAY = 24 * 60 * 60


@dataclass(frozen=True)
class FewQuery:
    """Aggregates of the days before a label, or the last events before it."""

    asks: str
    time: str = "TIMESTAMP"
    features: int = 1
    days: int = 7

    @property
    def id(self) -> str:
        """A name of a file."""
        return f"{self.asks}-{self.time}-{self.features}-{self.days}"

    def __str__(self) -> str:
        if self.asks == LAST:
            return "the last event"
        if self.asks == FIVE:
            return "the last 5 events of 7 days"
        words = "aggregate" if self.features == 1 else "aggregates"
        time = "" if self.time == "TIMESTAMP" else f", {self.time}"
        return f"{self.features} {words} over {self.days} days{time}"

    @property
    def names(self) -> list[str]:
        """The columns of the answer that are compared."""
        if self.asks == AGGREGATES:
            return [f"f{i}" for i in range(self.features)]
        return ["a0"]

    def sql(self, engine: str) -> str | None:
        """The query in the engine's words, or None if it has none."""
        # DuckDB's timestamps with a time zone are slower than those without
        zoned = engine in DUCKDBS and self.time == "TIMESTAMP"
        t = COLUMNS["TIMESTAMP_NTZ" if zoned else self.time]
        if engine == SCAN:
            return self._scan(t) if self.asks == AGGREGATES else None
        if engine == DUCKDB_ASOF:
            return self._asof(t) if self.asks == LAST else None
        if engine == DUCKDB_UNION:
            return self._union(t) if self.asks == AGGREGATES else None
        if engine == DUCKDB_JOIN:
            return self._join(t) if self.asks != LAST else None
        if engine == SPARK:
            return {AGGREGATES: self._join, LAST: self._spark_asof}.get(self.asks, _none)(t)
        return self._lateral(t)

    def _calls(self) -> Iterator[str]:
        for i in range(self.features):
            yield f"{_CALLS[i % len(_CALLS)]}(e.a{i // len(_CALLS) % VALUES})"

    def _scan(self, t: str) -> str:
        """The columns of the events, added up without keys."""
        values = [f"sum(a{i})" for i in range((self.features - 1) // len(_CALLS) % VALUES + 1)]
        return f"SELECT sum(user_id), max({t}), {', '.join(values)} FROM events"

    def _before(self, t: str) -> str:
        span = str(self.days * _DAY) if self.time in NUMBERS else f"INTERVAL '{self.days}' DAY"
        return f"e.user_id = l.user_id AND e.{t} >= l.{t} - {span} AND e.{t} < l.{t}"

    def _named(self) -> str:
        return ", ".join(f"{call} AS f{i}" for i, call in enumerate(self._calls()))

    def _lateral(self, t: str) -> str:
        if self.asks == AGGREGATES:
            below = f"SELECT {self._named()} FROM events e WHERE {self._before(t)}"
            return f"SELECT l.id, f.* FROM labels l, LATERAL ({below}) f"
        found = f"SELECT e.{t} AS at, e.a0 FROM events e WHERE "
        if self.asks == FIVE:
            below = f"{found}{self._before(t)} ORDER BY e.{t} DESC LIMIT 5"
            return f"SELECT l.id, f.* FROM labels l, LATERAL ({below}) f"
        below = f"{found}e.user_id = l.user_id AND e.{t} <= l.{t} ORDER BY e.{t} DESC LIMIT 1"
        return f"SELECT l.id, f.* FROM labels l LEFT JOIN LATERAL ({below}) f ON true"

    def _join(self, t: str) -> str:
        if self.asks == FIVE:
            return (
                f"SELECT l.id, e.{t} AS at, e.a0 FROM labels l JOIN events e ON "
                f"{self._before(t)} "
                f"QUALIFY row_number() OVER (PARTITION BY l.id ORDER BY e.{t} DESC) <= 5"
            )
        return (
            f"SELECT l.id, {self._named()} FROM labels l LEFT JOIN events e ON "
            f"{self._before(t)} GROUP BY l.id"
        )

    def _union(self, t: str) -> str:
        calls = ", ".join(
            f"{call.replace('e.', '')} OVER w AS f{i}" for i, call in enumerate(self._calls())
        )
        values = ", ".join(f"a{i}" for i in range(VALUES))
        nothing = ", ".join(f"NULL AS a{i}" for i in range(VALUES))
        # a label's columns are NULL, which no aggregate counts
        return (
            f"SELECT id, {', '.join(self.names)} FROM (SELECT id, {calls} FROM ("
            f"SELECT id, user_id, {t}, {nothing} FROM labels UNION ALL "
            f"SELECT NULL, user_id, {t}, {values} FROM events) WINDOW w AS (PARTITION BY user_id "
            f"ORDER BY {t} RANGE BETWEEN INTERVAL '{self.days}' DAY PRECEDING AND "
            "INTERVAL '1 microsecond' PRECEDING)) WHERE id IS NOT NULL"
        )

    def _asof(self, t: str) -> str:
        return (
            f"SELECT l.id, e.{t} AS at, e.a0 FROM labels l ASOF LEFT JOIN events e "
            f"ON e.user_id = l.user_id AND e.{t} <= l.{t}"
        )

    def _spark_asof(self, t: str) -> str:
        return (
            f"SELECT l.id, e.{t} AS at, e.a0 FROM labels l LEFT ASOF JOIN events e "
            f"MATCH_CONDITION (l.{t} >= e.{t}) ON e.user_id = l.user_id"
        )


def _none(_: str) -> None:
    """No words."""


@dataclass(frozen=True)
class FewCell:
    """One engine's time for one query of so many labels."""

    engine: str
    labels: int
    query: FewQuery

    @property
    def id(self) -> str:
        """A name to select cells by."""
        return f"{self.engine}/{self.labels}/{self.query.id}"

    @classmethod
    def load(cls, saved: dict[str, Any]) -> FewCell:
        """From its JSON."""
        return cls(saved["engine"], saved["labels"], FewQuery(**saved["query"]))

    def saved(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


def queries() -> list[FewQuery]:
    """All queries, in the order of the page."""
    spans = [FewQuery(AGGREGATES, "TIMESTAMP", n, days) for n in (1, 5, 20) for days in (7, 90)]
    others = [t for t in COLUMNS if t != "TIMESTAMP"]
    return [
        *spans,
        *(FewQuery(AGGREGATES, time, 5, 7) for time in others),
        FewQuery(LAST),
        FewQuery(FIVE),
    ]


def engines(query: FewQuery, labels: int, has_asof: bool) -> list[str]:
    """The engines that are measured: those that can be the best, and some to compare."""
    plain = query.time == "TIMESTAMP"
    week = plain and query.days == 7
    chosen = [SASH]
    if week and (query.asks != AGGREGATES or query.features == 5):
        chosen.append(ONE_BY_ONE)
    if plain or query.time == "BIGINT":
        chosen.append(DUCKDB_ASOF if query.asks == LAST else DUCKDB_JOIN)
    # beside fewer labels a join compares few pairs, and a window over all events takes longer
    if plain and query.asks == AGGREGATES and query.days == 90 and labels >= 1_000_000:
        chosen.append(DUCKDB_UNION)
    if query.asks == AGGREGATES and week:
        chosen.append(SCAN)
    if query.asks == AGGREGATES and week and query.features <= 5:
        chosen.append(SPARK)
    if query.asks == LAST and has_asof:
        chosen.append(SPARK)
    return chosen
