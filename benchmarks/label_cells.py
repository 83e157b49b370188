"""What is measured of windows at another table's times: cells, queries, engines, and the rows."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from harness import BLUE, GREEN, GREY, PINK, VERMILION, counted
from window_cells import SEED
from workers import Engine, Turn

SASH, LATERAL, RANGE_JOIN = "label_sash", "label_lateral", "label_range_join"
DUCKDB_UNION, DUCKDB_JOIN = "label_duckdb_union", "label_duckdb_join"
SPARK_ASOF, DUCKDB_ASOF = "asof_spark", "asof_duckdb"
FEW_SASH, ONE_BY_ONE, FEW_SPARK, SCAN = "few_sash", "few_sash_one_by_one", "few_spark", "few_scan"
FEW_JOIN, FEW_UNION, FEW_ASOF = "few_duckdb_join", "few_duckdb_union", "few_duckdb_asof"
FEW_DUCKDBS = [FEW_JOIN, FEW_UNION, FEW_ASOF]
ASOF_JOIN = {"spark.sql.join.asofJoin.enabled": "true"}
LABEL_ENGINES = {
    SASH: Engine("Sash, LATERAL", BLUE, sash=True, conf=ASOF_JOIN),
    DUCKDB_UNION: Engine("DuckDB, union and OVER", GREEN, "duckdb"),
    DUCKDB_JOIN: Engine("DuckDB, range join", PINK, "duckdb"),
    RANGE_JOIN: Engine("Spark, range join", VERMILION),
    LATERAL: Engine("Spark, LATERAL", GREY),
}
GROWING = [DUCKDB_JOIN, RANGE_JOIN]
"""Engines that join each label with the events of its span."""
ASOF_ENGINES = {
    SASH: LABEL_ENGINES[SASH],
    SPARK_ASOF: Engine("Spark, ASOF JOIN", conf=ASOF_JOIN),
    DUCKDB_ASOF: Engine("DuckDB", kind="duckdb"),
}
_FILES: dict[str, Any] = {"in_memory": False, "counting": True}
FEW_ENGINES = {
    FEW_SASH: Engine("Sash", sash=True, **_FILES),
    ONE_BY_ONE: Engine("Sash, events one by one", sash=True, **_FILES),
    FEW_SPARK: Engine("Spark", conf=ASOF_JOIN, **_FILES),
    SCAN: Engine("Spark's scan", **_FILES),
    FEW_JOIN: Engine("range join", kind="duckdb", **_FILES),
    FEW_UNION: Engine("union and OVER", kind="duckdb", **_FILES),
    FEW_ASOF: Engine("ASOF", kind="duckdb", **_FILES),
}
SPANS = {"1 hour": 1, "7 days": 168, "90 days": 2160}
"""Hours."""
YEAR = 365 * 24 * 60 * 60 * 1_000_000
"""Microseconds."""
COLUMNS = 4
MOST_COMPARED = 200_000
"""Events: over more, answers are not compared."""
_CALLS = ["sum", "count", "avg", "max", "stddev"]


def _calls(count: int, of: str = "") -> list[str]:
    return [f"{_CALLS[i % 5]}({of}a{i // 5 % COLUMNS})" for i in range(count)]


def _named(count: int, of: str = "", prefix: str = "") -> str:
    return ", ".join(f"{call} AS f{prefix}{i}" for i, call in enumerate(_calls(count, of)))


@dataclass(frozen=True)
class Tables:
    """Labels ``id, user_id, ts`` and events ``user_id, ts, a0 … a3``, spread over a year."""

    labels: int
    events: int
    users: int

    def __str__(self) -> str:
        counts = (self.labels, "label"), (self.events, "event"), (self.users, "user")
        return ", ".join(counted(count, what) for count, what in counts)


@dataclass(frozen=True)
class WideTables(Tables):
    """Events that have so many columns of text, too."""

    texts: int

    def __str__(self) -> str:
        return f"{super().__str__()}, {counted(self.texts, 'column')} of text"


@dataclass(frozen=True)
class FewTables(Tables):
    """Times in columns of each type."""


def write(folder: Path, tables: Tables) -> None:
    """Write ``labels.parquet`` and ``events.parquet``, in no order."""
    random = np.random.default_rng(SEED)
    folder.mkdir(parents=True, exist_ok=True)
    is_few = isinstance(tables, FewTables)
    labels = _keyed(random, tables.labels, tables.users, is_few)
    labels.insert_column(0, pl.Series("id", np.arange(tables.labels)))
    events = _keyed(random, tables.events, tables.users, is_few)
    for i in range(COLUMNS):
        events = events.with_columns(pl.Series(f"a{i}", random.normal(size=tables.events)))
    if isinstance(tables, WideTables):
        number = pl.Series("n", np.arange(tables.events))
        events = events.with_columns(
            ("text " + ((number * (i + 3)) % 1009).cast(pl.String)).alias(f"s{i}")
            for i in range(tables.texts)
        )
    for name, frame in (("labels", labels), ("events", events)):
        group = 10**6 if is_few else max(1, len(frame) // 8)
        frame.write_parquet(folder / f"{name}.parquet", row_group_size=group)


def _keyed(random: np.random.Generator, rows: int, users: int, is_few: bool) -> pl.DataFrame:
    start = np.datetime64(datetime(2026, 1, 1), "us")
    ts = start + random.integers(0, YEAR, size=rows).astype("timedelta64[us]")
    frame = pl.DataFrame({"user_id": random.integers(0, users, size=rows), "ts": ts})
    if not is_few:
        return frame
    time, seconds = pl.col("ts"), pl.col("ts").dt.epoch("s")
    return frame.with_columns(
        time.dt.replace_time_zone("UTC"),
        time.alias("ntz"),
        time.cast(pl.Date).alias("day"),
        seconds.alias("sec"),
        seconds.cast(pl.Int32).alias("sec32"),
    )


@dataclass(frozen=True)
class LabelQuery:
    """So many aggregates of the events in each of the spans before a label."""

    spans: tuple[str, ...]
    features: int

    @property
    def id(self) -> str:
        return f"{self.features}-{'-'.join(self.spans)}".replace(" ", "_")

    @property
    def names(self) -> list[str]:
        return [f"f{s}_{i}" for s in range(len(self.spans)) for i in range(self.features)]

    def sql(self, engine: str) -> str:
        if engine in GROWING:
            return self._join()
        if engine == DUCKDB_UNION:
            windows = {f"w{s}": f"INTERVAL '{span}'" for s, span in enumerate(self.spans)}
            calls = ", ".join(
                f"{call} OVER w{s} AS f{s}_{i}"
                for s in range(len(self.spans))
                for i, call in enumerate(_calls(self.features))
            )
            return _union("id, user_id, ts", "ts", self.names, f"*, {calls}", windows)
        subqueries = [
            f"LATERAL (SELECT {_named(self.features, prefix=f'{s}_')} FROM events e WHERE "
            f"e.user_id = l.user_id AND e.ts >= l.ts - INTERVAL '{span}' AND e.ts < l.ts) t{s}"
            for s, span in enumerate(self.spans)
        ]
        return f"SELECT {', '.join(['l.*', *self.names])} FROM labels l, {', '.join(subqueries)}"

    def _join(self) -> str:
        columns = [
            f"{call} FILTER (WHERE e.ts >= l.ts - INTERVAL '{span}') AS f{s}_{i}"
            for s, span in enumerate(self.spans)
            for i, call in enumerate(_calls(self.features))
        ]
        longest = max(self.spans, key=SPANS.__getitem__)
        return (
            f"SELECT l.id, l.user_id, l.ts, {', '.join(columns)} "
            "FROM labels l LEFT JOIN events e "
            f"ON e.user_id = l.user_id AND e.ts >= l.ts - INTERVAL '{longest}' AND e.ts < l.ts "
            "GROUP BY l.id, l.user_id, l.ts"
        )


def _union(columns: str, time: str, names: list[str], calls: str, windows: dict[str, str]) -> str:
    """Labels UNION ALL events; a label's values are NULL, which no aggregate counts."""
    nothing = ", ".join(f"NULL AS a{i}" for i in range(COLUMNS))
    values = ", ".join(f"a{i}" for i in range(COLUMNS))
    frames = ", ".join(
        f"{name} AS (PARTITION BY user_id ORDER BY {time} RANGE BETWEEN {span} "
        "PRECEDING AND INTERVAL '1 microsecond' PRECEDING)"
        for name, span in windows.items()
    )
    return (
        f"SELECT {columns}, {', '.join(names)} FROM (SELECT {calls} "
        f"FROM (SELECT id, user_id, {time}, {nothing} FROM labels UNION ALL "
        f"SELECT NULL, user_id, {time}, {values} FROM events) "
        f"WINDOW {frames}) WHERE id IS NOT NULL"
    )


AGGREGATES, LAST, FIVE = "aggregates", "last", "five"
TIMES = {
    "TIMESTAMP": "ts",
    "TIMESTAMP_NTZ": "ntz",
    "DATE": "day",
    "BIGINT": "sec",
    "INT": "sec32",
}
"""The columns of one time, by its type; numbers are seconds."""


@dataclass(frozen=True)
class FewQuery:
    """Aggregates of the days before a label, or the last events before it."""

    asks: str
    time: str = "TIMESTAMP"
    features: int = 1
    days: int = 7

    @property
    def id(self) -> str:
        return f"{self.asks}-{self.time}-{self.features}-{self.days}"

    def __str__(self) -> str:
        if self.asks == LAST:
            return "the last event"
        if self.asks == FIVE:
            return "the last 5 events of 7 days"
        time = "" if self.time == "TIMESTAMP" else f", {self.time}"
        return f"{counted(self.features, 'aggregate')} over {self.days} days{time}"

    @property
    def names(self) -> list[str]:
        return [f"f{i}" for i in range(self.features)] if self.asks == AGGREGATES else ["a0"]

    def sql(self, engine: str) -> str | None:
        """The query in the engine's words, or None if it has none."""
        # DuckDB's timestamps with a time zone are slower than those without
        zoned = engine in FEW_DUCKDBS and self.time == "TIMESTAMP"
        t = TIMES["TIMESTAMP_NTZ" if zoned else self.time]
        span = f"INTERVAL '{self.days}' DAY"
        if self.time in ("BIGINT", "INT"):
            span = str(self.days * 24 * 60 * 60)
        user = "e.user_id = l.user_id"
        before = f"{user} AND e.{t} >= l.{t} - {span} AND e.{t} < l.{t}"
        named, found = _named(self.features, "e."), f"SELECT l.id, e.{t} AS at, e.a0"
        values = ", ".join(f"sum(a{i})" for i in range((self.features - 1) // 5 % COLUMNS + 1))
        lateral = "SELECT l.id, f.* FROM labels l, LATERAL (SELECT {} FROM events e WHERE {}) f"
        calls = ", ".join(f"{c} OVER w AS f{i}" for i, c in enumerate(_calls(self.features)))
        join = f"SELECT l.id, {named} FROM labels l LEFT JOIN events e ON {before} GROUP BY l.id"
        asof = f"{found} FROM labels l {{}} JOIN events e"
        words: dict[str, dict[str, str]] = {
            AGGREGATES: {
                FEW_SASH: lateral.format(named, before),
                SCAN: f"SELECT sum(user_id), max({t}), {values} FROM events",
                FEW_JOIN: join,
                FEW_SPARK: join,
                FEW_UNION: _union("id", t, self.names, f"id, {calls}", {"w": span}),
            },
            LAST: {
                FEW_SASH: "SELECT l.id, f.* FROM labels l LEFT JOIN LATERAL ("
                f"SELECT e.{t} AS at, e.a0 FROM events e WHERE {user} AND e.{t} <= l.{t} "
                f"ORDER BY e.{t} DESC LIMIT 1) f ON true",
                FEW_ASOF: f"{asof.format('ASOF LEFT')} ON {user} AND e.{t} <= l.{t}",
                FEW_SPARK: f"{asof.format('LEFT ASOF')} MATCH_CONDITION (l.{t} >= e.{t}) "
                f"ON {user}",
            },
            FIVE: {
                FEW_SASH: lateral.format(
                    f"e.{t} AS at, e.a0", f"{before} ORDER BY e.{t} DESC LIMIT 5"
                ),
                FEW_JOIN: f"{found} FROM labels l JOIN events e ON {before} QUALIFY row_number() "
                f"OVER (PARTITION BY l.id ORDER BY e.{t} DESC) <= 5",
            },
        }
        return words[self.asks].get(FEW_SASH if engine == ONE_BY_ONE else engine)


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
_LATERAL = {
    "last": "ORDER BY e.ts DESC LIMIT 1",
    "ties": "ORDER BY e.ts DESC, e.a1 DESC LIMIT 1",
    "five": "AND e.ts > l.ts - INTERVAL '7 days' ORDER BY e.ts DESC LIMIT 5",
}
_DUCKDB = {"last": "e.ts <= l.ts", "ties": "(e.ts, e.a1) <= (l.ts, 'infinity'::DOUBLE)"}


@dataclass(frozen=True)
class AsOfQuery:
    """The time and a value of the events that a form names."""

    form: str

    @property
    def id(self) -> str:
        return self.form

    @property
    def names(self) -> list[str]:
        return ["length(s0)"] if self.form in WIDE_FORMS else ["a0"]

    def sql(self, engine: str) -> str | None:
        """The query in the words in which the engine is quickest, or None if it has none."""
        key, found = "e.user_id = l.user_id", "e.ts AS at, e.a0"
        asof = f"LEFT ASOF JOIN events e MATCH_CONDITION (l.ts >= e.ts) ON {key}"
        if self.form in WIDE_FORMS:
            read = f"SELECT l.id, {_READ[self.form]} FROM labels l {asof}"
            return None if engine == DUCKDB_ASOF else read
        if engine == SPARK_ASOF:
            return f"SELECT l.*, {found} FROM labels l {asof}" if self.form == "last" else None
        if engine == DUCKDB_ASOF and self.form in _DUCKDB:
            join = f"ASOF LEFT JOIN events e ON {key} AND {_DUCKDB[self.form]}"
            return f"SELECT l.*, {found} FROM labels l {join}"
        return (
            "SELECT l.*, t.* FROM labels l LEFT JOIN LATERAL ("
            f"SELECT {found} FROM events e WHERE {key} AND e.ts <= l.ts "
            f"{_LATERAL[self.form]}) t ON true"
        )


@dataclass(frozen=True)
class LabelCell:
    """One engine's time for one query over one pair of tables."""

    engine: str
    tables: Tables
    query: Any

    @property
    def window(self) -> int:
        """Hours of the longest span, with which the cost of a join grows."""
        return max(SPANS[span] for span in self.query.spans)

    @property
    def series(self) -> Any:
        if self.engine in GROWING:
            return self.engine, self.tables, self.query.features
        return None

    @property
    def id(self) -> str:
        tables = "/".join(str(value) for value in asdict(self.tables).values())
        return f"{self.engine}/{tables}/{self.query.id}"

    def __str__(self) -> str:
        return f"{self.tables}, {self.query.id}"

    @property
    def promised(self) -> dict[str, bool]:
        return {"SlidingWindow": {**LABEL_ENGINES, **ASOF_ENGINES}[self.engine].sash}

    @property
    def digest(self) -> str | None:
        return digest(self.query, self.engine) if self.tables.events <= MOST_COMPARED else None

    @classmethod
    def load(cls, saved: dict[str, Any]) -> "LabelCell":
        asked, tables = saved["query"], saved["tables"]
        if "form" in asked:
            of = WideTables if "texts" in tables else Tables
            return cls(saved["engine"], of(**tables), AsOfQuery(**asked))
        query = LabelQuery(tuple(asked["spans"]), asked["features"])
        return cls(saved["engine"], Tables(**tables), query)


def digest(query: Any, engine: str) -> str:
    """The rows of the answer, and the sum and the count of each column."""
    sums = ", ".join(f"coalesce(sum({c}), 0), count({c})" for c in query.names)
    return f"SELECT count(*), {sums} FROM ({query.sql(engine)}) answers"


@dataclass(frozen=True)
class FewCell:
    """One engine's time for one query of so many labels."""

    engine: str
    labels: int
    query: FewQuery
    series = None

    @property
    def id(self) -> str:
        return f"{self.engine}/{self.labels}/{self.query.id}"

    def __str__(self) -> str:
        return f"{self.labels:,} labels, {self.query}"

    @property
    def is_small(self) -> bool:
        """Whether it only compares answers."""
        return self.labels == FEW_SMALL.labels

    @property
    def promised(self) -> dict[str, bool]:
        if self.engine == SCAN:
            return {}
        cut = {"EventSlices": self.engine == FEW_SASH} if self.is_small else {}
        return {"SlidingWindow": FEW_ENGINES[self.engine].sash, **cut}

    @property
    def digest(self) -> str | None:
        compared = self.is_small and self.engine != SCAN
        return digest(self.query, self.engine) if compared else None

    @classmethod
    def load(cls, saved: dict[str, Any]) -> "FewCell":
        return cls(saved["engine"], saved["labels"], FewQuery(**saved["query"]))


FEW_SMALL = FewTables(2_000, 100_000, 200)
"""Over which answers are compared, and cut wherever they can be."""
LARGE = [engine for engine in LABEL_ENGINES if engine != LATERAL]
MIDDLE = Tables(20_000, 200_000, 200)
"""Over more Spark's LATERAL does not end. Over these as-of joins are compared, too."""
SMALL = [
    Tables(10, 10, 2),
    Tables(100, 100, 10),
    Tables(1_000, 1_000, 10),
    Tables(1_000, 10_000, 10),
]


def queries() -> list[LabelQuery]:
    """Every number of features over every span, spans ascending; then all spans at once."""
    found = [LabelQuery((span,), features) for features in (1, 5, 20) for span in SPANS]
    return [*found, LabelQuery(tuple(SPANS), 5)]


def label_turns(labels: int, events: int, users: list[int], cores: int, quick: bool) -> Any:
    """Small tables get one query, since a span is nothing to them."""
    found = [(Tables(labels, events, of), LARGE) for of in users]
    found += [] if quick else [(MIDDLE, [*LABEL_ENGINES])]
    found += [(small, [SASH, LATERAL]) for small in SMALL]
    for tables, engines in found:
        for query in queries() if tables not in SMALL else [LabelQuery(("7 days",), 5)]:
            cells = [LabelCell(engine, tables, query) for engine in engines]
            yield Turn(cores, tables, tables.labels, cells)


def asof_turns(
    labels: int, events: int, users: list[int], cores: int, quick: bool
) -> Iterator[Turn]:
    wide = [(60_000, 6_000)] if quick else [(600_000, 60_000), (1_500_000, 1_500_000)]
    large = [WideTables(labels, events, users[0], 40) for labels, events in wide]
    for tables in [MIDDLE, Tables(labels, events, users[0]), *large]:
        for form in WIDE_FORMS if isinstance(tables, WideTables) else FORMS:
            query = AsOfQuery(form)
            cells = [LabelCell(e, tables, query) for e in ASOF_ENGINES if query.sql(e)]
            yield Turn(cores, tables, tables.labels, cells)


def few_queries() -> list[FewQuery]:
    spans = [FewQuery(AGGREGATES, "TIMESTAMP", n, days) for n in (1, 5, 20) for days in (7, 90)]
    others = [FewQuery(AGGREGATES, time, 5, 7) for time in TIMES if time != "TIMESTAMP"]
    return [*spans, *others, FewQuery(LAST), FewQuery(FIVE)]


def few_engines(query: FewQuery, labels: int, has_asof: bool) -> list[str]:
    """The engines that are measured: those that can be the best, and some to compare."""
    plain, is_last = query.time == "TIMESTAMP", query.asks == LAST
    week = plain and query.days == 7
    aggregates_of_week = query.asks == AGGREGATES and week
    chosen = {
        FEW_SASH: True,
        ONE_BY_ONE: week and (query.asks != AGGREGATES or query.features == 5),
        FEW_ASOF: is_last,
        FEW_JOIN: not is_last and (plain or query.time == "BIGINT"),
        # beside fewer labels a join compares few pairs, and a window of all takes longer
        FEW_UNION: query.asks == AGGREGATES and query.days == 90 and labels >= 1_000_000,
        SCAN: aggregates_of_week,
        FEW_SPARK: (aggregates_of_week and query.features <= 5) or (is_last and has_asof),
    }
    return [engine for engine, is_chosen in chosen.items() if is_chosen]


def few_turns(numbers: list[int], events: int, cores: int, has_asof: bool) -> Iterator[Turn]:
    """First the small tables, over which all engines that follow have one answer."""
    asked = {q: [few_engines(q, n, has_asof) for n in numbers] for q in few_queries()}
    for query, engines in asked.items():
        together = dict.fromkeys(engine for each in engines for engine in each)
        cells = [FewCell(e, FEW_SMALL.labels, query) for e in together]
        yield Turn(cores, FEW_SMALL, FEW_SMALL.labels, cells, runs=0)
    for at, labels in enumerate(numbers):
        for query, engines in asked.items():
            cells = [FewCell(engine, labels, query) for engine in engines[at]]
            yield Turn(cores, FewTables(labels, events, 20_000), labels, cells)


def few_conf(engine: str, tables: Tables) -> dict[str, str]:
    """Where Sash cuts the events of few labels."""
    if not FEW_ENGINES[engine].sash:
        return {}
    cut = "0" if tables == FEW_SMALL else "128MB"
    return {"spark.sash.lateral.sliceThreshold": "-1" if engine == ONE_BY_ONE else cut}
