"""Tables at random, queries over them, and changes of their rows, each key a log of its own."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

import sash
from sash.changed_query import ChangedQuery

COLUMNS = "id BIGINT, k BIGINT, t BIGINT, x BIGINT"
TIMES = """
    SELECT *, CAST(t AS INT) AS i, timestamp_seconds(1772000000 + t) AS ts,
      TIMESTAMP_NTZ'2026-03-07 23:59:50' + make_dt_interval(0, 0, 0, t) AS ntz,
      DATE'2024-02-15' + CAST(t AS INT) AS d,
      TIMESTAMP'2026-03-07 12:00:00' + make_dt_interval(0, t) AS h
    FROM {rows}"""
"""A time in each type; ``h`` crosses the beginning of summer time in New York."""
ZONE = "America/New_York"
LAST = 40
KEYS = 12
MANY = 1_200
"""Keys, where each round changes hundreds of them."""

OVER = "SELECT id, k, {t}, {call} OVER (PARTITION BY k ORDER BY {order} {frame}) AS a FROM events"


@dataclass(frozen=True)
class Query:
    """A query, as SQL or as a function that makes one.

    Attributes:
        time: The column of its time, as the spans have it; None if their ends are open.
        tables: The tables that change.
    """

    text: str | Callable[[SparkSession], DataFrame]
    time: str | None
    tables: tuple[str, ...] = ("events",)


def _over(time: str, frame: str, order: str = "{t}", call: str = "sum(x)") -> Query:
    by = order.format(t=time)
    return Query(OVER.format(t=time, call=call, order=by, frame=frame), time)


def _joined(spark: SparkSession, of: str = "events") -> DataFrame:
    events, labels = spark.table(of).select("k", "ts", "x"), spark.table("labels")
    labels = labels.select("id", "k", "ts")
    rows = sash.window_join(
        labels, events, on="k", by="ts", n=(F.count("*"), "5 seconds"), s=(F.sum("x"), None)
    )
    return sash.as_of(rows, events, on="k", by="ts", tolerance="7 seconds", v=F.lit(1))


def _ahead(spark: SparkSession) -> DataFrame:
    events, labels = spark.table("events").select("k", "ts", "x"), spark.table("labels")
    return sash.as_of(
        labels.select("id", "k", "ts"),
        events,
        on="k",
        by="ts",
        direction="forward",
        at=F.col("ts"),
    )


def _centred(spark: SparkSession) -> DataFrame:
    by = sash.SlidingWindow.partitionBy("k").orderBy("ts")
    return spark.table("events").select(
        "id", "k", "ts", F.sum("x").over(by.time("6 seconds", center=True)).alias("a")
    )


def _kind(kind: str, order: str = "ts, id") -> Query:
    return Query(
        f"SELECT id, k, ts, sum(x) OVER (PARTITION BY k, {kind} ORDER BY {order}) AS a "
        "FROM events",
        "ts",
    )


def _kind_of_one(kind: str) -> Query:
    """Over rows of which no two have one time, since the kind is by row and by time."""
    rows = "SELECT k, ts, sum(x) AS x FROM events GROUP BY k, ts"
    return Query(
        f"SELECT k, ts, sum(x) OVER (PARTITION BY k, {kind} ORDER BY ts) AS a FROM ({rows})",
        "ts",
    )


_BOTH = ("events", "labels")
_LATERAL = """SELECT l.id, l.k, l.{t}, f.* FROM labels l, LATERAL (
    SELECT sum(e.x) AS s, count(*) AS n FROM events e
    WHERE e.k = l.k AND {range}) f"""
QUERIES = {
    "range": _over("t", "RANGE 5 PRECEDING"),
    "range int": _over("i", "RANGE BETWEEN 3 PRECEDING AND 2 FOLLOWING"),
    "range before": _over("t", "RANGE BETWEEN 6 PRECEDING AND 2 PRECEDING"),
    "range after": _over("t", "RANGE BETWEEN 2 FOLLOWING AND 6 FOLLOWING"),
    "range desc": _over("t", "RANGE BETWEEN 5 PRECEDING AND 1 FOLLOWING", "{t} DESC"),
    "range last": _over("t", "RANGE 5 PRECEDING", "{t} NULLS LAST"),
    "range seconds": _over("ts", "RANGE INTERVAL 5 SECONDS PRECEDING"),
    "range ntz": _over(
        "ntz", "RANGE BETWEEN INTERVAL 4 SECONDS PRECEDING AND INTERVAL 2 SECONDS FOLLOWING"
    ),
    "range day of hours": _over("h", "RANGE INTERVAL 1 DAY PRECEDING"),
    "range day of hours after": _over(
        "h", "RANGE BETWEEN CURRENT ROW AND INTERVAL 1 DAY FOLLOWING"
    ),
    "range days": _over("d", "RANGE 5 PRECEDING"),
    "range month": _over("d", "RANGE INTERVAL 1 MONTH PRECEDING"),
    "range month after": _over("d", "RANGE BETWEEN CURRENT ROW AND INTERVAL 1 MONTH FOLLOWING"),
    "range month of hours after": Query(
        """SELECT id, k, m, sum(x) OVER (PARTITION BY k ORDER BY m RANGE BETWEEN CURRENT ROW AND
             INTERVAL 1 MONTH FOLLOWING) AS a
           FROM (SELECT *, TIMESTAMP'2026-01-28 00:00:00' + make_dt_interval(0, t * 20) AS m
             FROM events)""",
        "m",
    ),
    "growing": _over("t", ""),
    "shrinking": _over("t", "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"),
    "half open": _over("t", "RANGE BETWEEN UNBOUNDED PRECEDING AND 3 FOLLOWING"),
    "half open desc": _over(
        "t", "RANGE BETWEEN 3 PRECEDING AND UNBOUNDED FOLLOWING", "{t} DESC NULLS FIRST"
    ),
    "rows": _over("t", "ROWS 3 PRECEDING", "{t}, id"),
    "rows after": _over("t", "ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING", "{t}, id"),
    "rows around": _over("t", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING", "{t} DESC, id"),
    "lag": _over("t", "", "{t}, id", "lag(x, 2)"),
    "lead": _over("t", "", "{t}, id", "lead(x)"),
    "row_number": _over("t", "", "{t}, id", "row_number()"),
    "rank": _over("t", "", "{t}", "rank()"),
    "percent_rank": _over("t", "", "{t}", "percent_rank()"),
    "ntile": _over("t", "", "{t}, id", "ntile(3)"),
    "median": _over("t", "RANGE 5 PRECEDING", call="median(x)"),
    "distinct": _over("t", "RANGE 5 PRECEDING", call="count(DISTINCT x)"),
    "whole key": Query("SELECT id, k, t, sum(x) OVER (PARTITION BY k) AS a FROM events", None),
    "no key": Query(
        "SELECT id, t, sum(x) OVER (ORDER BY t RANGE 2 PRECEDING) AS a FROM events", "t"
    ),
    "two frames": Query(
        """SELECT id, k, t, sum(x) OVER (PARTITION BY k ORDER BY t RANGE 3 PRECEDING) AS a,
             count(*) OVER (PARTITION BY k ORDER BY t RANGE BETWEEN 1 FOLLOWING AND 6 FOLLOWING)
             AS b FROM events""",
        "t",
    ),
    "two keys": Query(
        """SELECT id, k, x, t, sum(x) OVER (PARTITION BY k ORDER BY t RANGE 3 PRECEDING) AS a,
             count(*) OVER (PARTITION BY k, x ORDER BY t RANGE 6 PRECEDING) AS b FROM events""",
        "t",
    ),
    "two times": Query(
        """SELECT id, k, t, x, sum(x) OVER (PARTITION BY k ORDER BY t RANGE 3 PRECEDING) AS a,
             count(*) OVER (PARTITION BY k ORDER BY x RANGE 1 PRECEDING) AS b FROM events""",
        None,
    ),
    "windows over windows": Query(
        """SELECT id, k, t, max(a) OVER (PARTITION BY k ORDER BY t RANGE BETWEEN 2 PRECEDING AND
             1 FOLLOWING) AS b FROM (SELECT *, sum(x) OVER (PARTITION BY k ORDER BY t
             RANGE 3 PRECEDING) AS a FROM events)""",
        "t",
    ),
    "a condition on windows below": Query(
        """SELECT id, k, t, max(x) OVER (PARTITION BY k ORDER BY t RANGE 2 PRECEDING) AS b
           FROM (SELECT *, sum(x) OVER (PARTITION BY k ORDER BY t RANGE 3 PRECEDING) AS a
             FROM events) WHERE a % 3 <> 0""",
        "t",
    ),
    "a key of windows below": Query(
        """SELECT id, k, t, count(*) OVER (PARTITION BY k, a % 2 ORDER BY t RANGE 2 PRECEDING)
             AS b
           FROM (SELECT *, sum(x) OVER (PARTITION BY k ORDER BY t RANGE 3 PRECEDING) AS a
             FROM events)""",
        "t",
    ),
    "conditions": Query(
        """SELECT id, k, t, a * 2 AS a FROM (
             SELECT *, sum(x) OVER (PARTITION BY k ORDER BY t RANGE 4 PRECEDING) AS a
             FROM events WHERE x <> 3) WHERE id % 2 = 0 AND a > 4""",
        "t",
    ),
    "computed": Query(
        """SELECT id, g, at, sum(y) OVER (PARTITION BY g ORDER BY at RANGE 6 PRECEDING) AS a
           FROM (SELECT id, k % 4 AS g, t * 2 AS at, x + 1 AS y FROM events
             WHERE k IS NOT NULL)""",
        "at",
    ),
    "union": Query(
        """SELECT *, sum(x) OVER (PARTITION BY k ORDER BY t RANGE 4 PRECEDING) AS a FROM (
             SELECT id, k, t, x FROM events WHERE x > 1 UNION ALL
             SELECT id, k, t + 1, -x FROM labels UNION ALL SELECT id, k, t, 0 FROM fixed)""",
        "t",
        _BOTH,
    ),
    "union with itself": Query(
        """SELECT *, sum(x) OVER (PARTITION BY k ORDER BY t RANGE 4 PRECEDING) AS a FROM (
             SELECT id, k, t, x FROM events UNION ALL SELECT id, x, t - 3, k FROM events)""",
        "t",
    ),
    "common table": Query(
        """WITH e AS (SELECT id, k, t, x FROM events WHERE x > 1)
           SELECT *, sum(x) OVER (PARTITION BY k ORDER BY t RANGE 4 PRECEDING) AS a FROM (
             SELECT * FROM e UNION ALL SELECT id, k, t + 2, x FROM e)""",
        "t",
    ),
    "join below": Query(
        """SELECT e.id, f.x AS g, e.t, sum(e.x) OVER (PARTITION BY f.x ORDER BY e.t
             RANGE 4 PRECEDING) AS a FROM events e LEFT JOIN fixed f ON e.k = f.k""",
        "t",
    ),
    "join above": Query(
        """SELECT e.*, f.x AS g FROM (SELECT id, k, t, x, sum(x) OVER (PARTITION BY k ORDER BY t
             RANGE 4 PRECEDING) AS a FROM events) e JOIN fixed f ON e.x = f.x""",
        "t",
    ),
    "lateral": Query(_LATERAL.format(t="t", range="e.t >= l.t - 5 AND e.t < l.t"), "t", _BOTH),
    "lateral around": Query(
        _LATERAL.format(t="t", range="e.t >= l.t - 2 AND e.t <= l.t + 4"), "t", _BOTH
    ),
    "lateral seconds": Query(
        _LATERAL.format(
            t="ts", range="e.ts > l.ts - INTERVAL 5 SECONDS AND e.ts <= l.ts AND e.x > 1"
        ),
        "ts",
        _BOTH,
    ),
    "lateral own": Query(
        _LATERAL.format(t="t", range="e.t >= l.t - l.x AND e.t < l.t"), None, _BOTH
    ),
    "scalar": Query(
        """SELECT id, k, t, (SELECT max(x) FROM events e WHERE e.k = l.k AND e.t <= l.t
             AND e.t > l.t - 4) AS a FROM labels l WHERE x > 0""",
        "t",
        _BOTH,
    ),
    "last row": Query(
        """SELECT l.id, l.k, l.t, f.id AS of FROM labels l LEFT JOIN LATERAL (
             SELECT e.id FROM events e WHERE e.k = l.k AND e.t <= l.t AND e.t > l.t - 9
             ORDER BY e.t DESC, e.id LIMIT 1) f""",
        "t",
        _BOTH,
    ),
    "window_join": Query(_joined, "ts", _BOTH),
    "ahead": Query(_ahead, "ts", _BOTH),
    "labels alone": Query(partial(_joined, of="fixed"), "ts", ("labels",)),
    "centred": Query(_centred, "ts"),
    "session": _kind_of_one("gap_window(INTERVAL 3 SECONDS)"),
    "delta": _kind("delta_window(x, 2)"),
    "punctuation": _kind("punctuation_window(x = 3)"),
    "predicate": _kind("predicate_window(sum(x), s -> s <= 8)"),
    "groups": _kind("groups_window(1, 1)", "ts"),
    "count": _kind("count_window(3)"),
    "sawtooth": _kind("time_window(INTERVAL 5 SECONDS, hop => INTERVAL 3 SECONDS)", "ts"),
    "closed": _kind("time_window(INTERVAL 5 SECONDS, 'left')", "ts"),
    "and": _kind_of_one("window_and(time_window(INTERVAL 5 SECONDS), count_window(3))"),
    "exclude": _kind("time_window(INTERVAL 5 SECONDS), window_exclude('current row')", "ts"),
    "slide": _kind("count_window(3), window_slide(2)"),
    "own width": _kind("range_window(make_dt_interval(0, 0, 0, x))", "ts"),
    "hops": Query(
        """SELECT k, window.start AS start, sum(x) AS a, count(*) AS n FROM events
           GROUP BY k, window(ts, '7 seconds', '2 seconds')""",
        "start",
    ),
    "hops with computed columns": Query(
        """SELECT k, window.start AS start, second(window.end) % 3 AS e, sum(x) AS a,
             max(sum(x)) OVER (PARTITION BY k, second(window.end) % 3 ORDER BY window.start) AS b
           FROM events GROUP BY k, window(ts, '7 seconds', '2 seconds')""",
        "start",
    ),
    "hop struct": Query(
        """SELECT k, window, count(*) AS n FROM events
           GROUP BY k, window(ts, '6 seconds', '3 seconds') HAVING count(*) > 1""",
        "window.start",
    ),
    "tumbling": Query(
        """SELECT k, window.end AS until, sum(x) AS a FROM events
           GROUP BY k, window(ts, '4 seconds')""",
        "until",
    ),
    "windows over hops": Query(
        """SELECT k, start, sum(a) OVER (PARTITION BY k ORDER BY start
             RANGE INTERVAL 4 SECONDS PRECEDING) AS b FROM (
             SELECT k, window.start AS start, sum(x) AS a FROM events
             GROUP BY k, window(ts, '6 seconds', '2 seconds'))""",
        "start",
    ),
    "hops over windows": Query(
        """SELECT k, window.start AS start, sum(a) AS b, count(*) AS n FROM (
             SELECT k, ts, sum(x) OVER (PARTITION BY k ORDER BY ts
               RANGE INTERVAL 3 SECONDS PRECEDING) AS a FROM events)
           GROUP BY k, window(ts, '6 seconds', '2 seconds')""",
        None,
    ),
    "tumbling windows over windows": Query(
        """SELECT k, window.end AS until, max(a) AS b FROM (
             SELECT k, ts, count(*) OVER (PARTITION BY k ORDER BY ts, id
               ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING) AS a FROM events)
           GROUP BY k, window(ts, '4 seconds')""",
        None,
    ),
    "groups of answers": Query(
        """SELECT k, t, a, count(*) AS n FROM (SELECT k, t, sum(x) OVER (PARTITION BY k
             ORDER BY t RANGE 3 PRECEDING) AS a FROM events) GROUP BY k, t, a""",
        "t",
    ),
    "groups of answers of a key": Query(
        """SELECT k, a, count(*) AS n FROM (SELECT k, count(*) OVER (PARTITION BY k
             ORDER BY t RANGE 3 PRECEDING) AS a FROM events) GROUP BY k, a""",
        None,
    ),
    "groups of days": Query(
        "SELECT k, d, sum(x) AS a, count(DISTINCT x) AS n FROM events GROUP BY k, d", "d"
    ),
    "distinct rows": Query("SELECT DISTINCT k, d, x FROM events", "d"),
}


@dataclass
class Tables:
    """Tables whose rows change at random."""

    spark: SparkSession
    seed: int
    keys: int = KEYS
    rows: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311
        self._next = 0
        # some queries join each row with each row of `fixed`
        for name, keys in {"events": self.keys, "labels": self.keys, "fixed": KEYS}.items():
            self.rows[name] = [self._row() for _ in range(keys * 8)]
            self._show(name)

    def change(self) -> dict[str, DataFrame]:
        """Change both tables, and return the changed rows of each."""
        return {name: self._changed(name) for name in ("events", "labels")}

    def _changed(self, name: str) -> DataFrame:
        log, rows = [], self.rows[name]
        chosen = self._random
        for _ in range(chosen.randint(1, 6) * self.keys // KEYS):
            action = chosen.choice(["insert", "delete", "value", "time", "key", "twice"])
            at = chosen.randrange(len(rows))
            old = rows[at]
            if action in ("insert", "twice"):
                # a second row of the same key and time as another
                new = (self._id(), old[1], old[2], self._value())
                rows.append(new if action == "twice" else self._row())
                log.append((*rows[-1], "insert"))
            elif action == "delete":
                rows.pop(at)
                log.append((*old, "delete"))
            else:
                drawn = self._row()
                place = {"value": 3, "time": 2, "key": 1}[action]
                new = (*old[:place], drawn[place], *old[place + 1 :])
                rows[at] = new
                log += [(*old, "update_preimage"), (*new, "update_postimage")]
        self._show(name)
        changes = self.spark.createDataFrame(log, f"{COLUMNS}, _change_type STRING")
        return self.spark.sql(TIMES, rows=changes)

    def _row(self) -> tuple[Any, ...]:
        chosen = self._random
        key = None if chosen.random() < 0.08 else chosen.randrange(self.keys)
        time = None if chosen.random() < 0.08 else chosen.randrange(LAST)
        return (self._id(), key, time, self._value())

    def _id(self) -> int:
        self._next += 1
        return self._next

    def _value(self) -> int:
        return self._random.randrange(6)

    def _show(self, name: str) -> None:
        rows = self.spark.createDataFrame(self.rows[name], COLUMNS)
        self.spark.sql(TIMES, rows=rows).createOrReplaceTempView(name)


def plain(rows: DataFrame) -> list[tuple[Any, ...]]:
    """The rows, with times as numbers, which no clock of this process changes."""
    columns = []
    for of in rows.schema:
        if of.dataType == TimestampType():
            columns.append(F.unix_micros(of.name).alias(of.name))
        elif of.name == "window":
            ends = (F.unix_micros(f"window.{end}").alias(end) for end in ("start", "end"))
            columns.append(F.struct(*ends).alias("window"))
        else:
            columns.append(F.col(of.name))
    return [tuple(row) for row in rows.select(*columns).collect()]


def made(spark: SparkSession, query: Query) -> DataFrame:
    """The query over the tables as they are."""
    return spark.sql(query.text) if isinstance(query.text, str) else query.text(spark)


KEY_TYPES = {
    "STRING": "concat('k', k)",
    "STRING COLLATE UTF8_LCASE": "IF(id % 2 = 0, 'K', 'k') || CAST(k AS STRING)",
    "INT": "CAST(k AS INT)",
    "DECIMAL(9, 2)": "CAST(k AS DECIMAL(9, 2)) / 4",
    "DATE": "date_from_unix_date(CAST(k AS INT))",
    "TIMESTAMP": "timestamp_seconds(k)",
    "TIMESTAMP_NTZ": "CAST(timestamp_seconds(k) AS TIMESTAMP_NTZ)",
    "BINARY": "CAST(CAST(k AS STRING) AS BINARY)",
    "BOOLEAN": "k > 5",
    "DOUBLE": "CASE WHEN k < 3 THEN -0D WHEN k < 6 THEN 0D WHEN k < 9 THEN DOUBLE('NaN') "
    "ELSE k END",
    "STRUCT<a: BIGINT, b: DOUBLE>": "named_struct('a', k % 2, 'b', IF(k > 6, -0D, NULL))",
}
TIME_TYPES = {
    "TINYINT": ("CAST(t - 20 AS TINYINT)", "CAST({} AS TINYINT)"),
    "SMALLINT": ("CAST(t - 20 AS SMALLINT)", "CAST({} AS SMALLINT)"),
    "INT": ("CAST(t AS INT)", "{}"),
    "BIGINT": ("t - 9223372036854775802", "{}L"),
    "DATE": ("DATE'2024-02-15' + CAST(t AS INT)", "{}"),
    "TIMESTAMP": ("TIMESTAMP'2026-03-07 12:00:00' + make_dt_interval(0, t)", "INTERVAL {} HOURS"),
    "TIMESTAMP_NTZ": (
        "TIMESTAMP_NTZ'2026-03-07 12:00:00' + make_dt_interval(0, t)",
        "INTERVAL {} HOURS",
    ),
    "DECIMAL(9, 2)": ("CAST(t AS DECIMAL(9, 2))", "CAST({} AS DECIMAL(9, 2))"),
    "DOUBLE": ("IF(t > 35, DOUBLE('NaN'), CAST(t - 20 AS DOUBLE))", "{}D"),
}
TYPED = [
    """SELECT id, key, time, sum(x) OVER (PARTITION BY key ORDER BY time
       RANGE BETWEEN {a} PRECEDING AND {b} FOLLOWING) AS a FROM {events}""",
    """SELECT id, key, time, sum(x) OVER (PARTITION BY key ORDER BY time DESC
       RANGE BETWEEN CURRENT ROW AND {b} FOLLOWING) AS a FROM {events}""",
    "SELECT id, key, time, count(*) OVER (PARTITION BY key ORDER BY time) AS n FROM {events}",
    """SELECT id, key, time, lag(x) OVER (PARTITION BY key ORDER BY time, id) AS a,
       max(x) OVER (PARTITION BY key ORDER BY time RANGE {a} PRECEDING) AS b FROM {events}""",
    "SELECT id, time, sum(x) OVER (PARTITION BY 'all' ORDER BY time RANGE {a} PRECEDING) AS a "
    "FROM {events}",
    "SELECT id, key, count(*) OVER (PARTITION BY key ORDER BY key) AS n FROM {events}",
    "SELECT key, time, sum(x) AS a FROM {events} GROUP BY key, time",
    """SELECT w.*, g.y FROM (SELECT id, key, time, x, sum(x) OVER (PARTITION BY key ORDER BY time
         RANGE {a} PRECEDING) AS a FROM {events}) w JOIN (SELECT x, count(*) AS y FROM fixed
         GROUP BY x) g ON w.x = g.x""",
    """SELECT l.id, l.key, l.time, f.a FROM {labels} l, LATERAL (SELECT sum(e.x) AS a
         FROM {events} e WHERE e.key = l.key AND e.time <= l.time AND e.time > l.time - {a}) f""",
    """SELECT l.id, l.key, l.time, f.a FROM {labels} l, LATERAL (SELECT max(e.x) AS a
         FROM {events} e WHERE e.key = l.key AND e.time >= l.time) f""",
]
"""Queries over keys and times of any type."""


def typed(spark: SparkSession, key: str, time: str, text: str) -> str:
    """A query over some types of the key and of the time, between two distances."""
    of_time, distance = TIME_TYPES[time]
    columns = f"CAST({KEY_TYPES[key]} AS {key}) AS key, {of_time} AS time"
    tables = {t: f"(SELECT id, x, {columns} FROM {t})" for t in ("events", "labels")}
    return text.format(a=distance.format(5), b=distance.format(2), **tables)


def differing(whole: DataFrame, old: DataFrame, work: ChangedQuery) -> int:
    """The number of rows that a refreshed table has too many, or too few."""
    keys, time = work.spans.columns[:-2], work.plan.timeName()
    spans = work.spans.toDF(*(f"key_{i}" for i in range(len(keys))), "first", "last")
    inside = F.lit(True)
    for i, of in enumerate(keys):
        inside &= F.col(f"key_{i}").eqNullSafe(F.col(of))
    first, last = F.col("first"), F.col("last")
    if time is not None:
        within = (F.col(time) >= F.coalesce(first, F.col(time))) & (
            F.col(time) <= F.coalesce(last, F.col(time))
        )
        without = F.col(time).isNull() & (first.isNull() | last.isNull())
        inside &= F.coalesce(within, F.lit(False)) | without
    kept = old.join(spans, inside, "left_anti")
    found = kept.unionAll(work.answers())
    return found.exceptAll(whole).count() + whole.exceptAll(found).count()
