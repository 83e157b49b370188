"""Tables of windows, refreshed by the rows that have changed."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta, timezone
from typing import Any, NamedTuple
from uuid import uuid4

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DateType, IntegralType, TimestampType

from sash.arguments import require_frame
from sash.errors import type_error, value_error
from sash.label_columns import column, has
from sash.loaded import missing

_TYPE = "_change_type"
# of Delta's change feed, and of Iceberg's changelog view
_IMAGES = {
    "insert": 0,
    "delete": 0,
    "update_preimage": -1,
    "update_postimage": 1,
    "update_before": -1,
    "update_after": 1,
}
_NO_LAST = 2**63 - 1
"""No limit; the least BIGINT is none, either."""
_ACTION = "_sash_action"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MOST = 0.5
"""Of a table's answers; a whole run is quicker where more of them lie near the changes."""
_LOG = logging.getLogger("sash")
_CHANGES = "a dict from names of tables to their changed rows"


class Refreshed(NamedTuple):
    """The answers of a query that may be others now, and the spans that they replace.

    Attributes:
        answers: The answers anew, in the query's columns.
        spans: The columns of the key, ``first`` and ``last``. All answers of a key from ``first``
            to ``last``, both included, are among ``answers``; others have not changed. NULL
            stands for no limit, and such a span holds the rows without a time, too.
    """

    answers: DataFrame
    spans: DataFrame


class RefreshSummary(NamedTuple):
    """What ``refresh`` did."""

    keys: int
    """The keys of the spans."""
    spans: int
    """The spans of time whose answers may have been others."""
    read: int
    """The rows that scans of the query's tables gave for these answers."""
    answers: int
    """The answers that were computed anew."""
    inserted: int
    updated: int
    deleted: int


def changed(table: DataFrame, /, *, since: int) -> DataFrame:
    """Return the rows of a Delta table that have changed since a version, old and new.

    Args:
        table: A table of the catalog with a change feed, as ``spark.table("events")``.
        since: The last version whose rows are answered already. Later ones are read, up to the
            table's latest one.

    Returns:
        The table's columns, and ``_change_type``: insert, delete, update_preimage or
        update_postimage. Any other DataFrame with such rows will do for ``refresh``, too.

    Raises:
        PySparkTypeError: an argument is of the wrong type.
        PySparkValueError: ``table`` is no Delta table, or ``since`` is no version of it.
        AnalysisException: the table has no change feed (``delta.enableChangeDataFeed``).
        PySparkRuntimeError: the session is one of Connect, or has no jar of Sash.
    """
    require_frame("table", table)
    if not isinstance(since, int) or isinstance(since, bool):
        raise type_error("since", "a version of the table, an int", since)
    spark = table.sparkSession
    name = _plans(spark, table).tableName(table._jdf)
    facts = "col_name = 'Provider' AND lower(data_type) = 'delta'"
    if name is None or spark.sql(f"DESCRIBE EXTENDED {name}").where(facts).isEmpty():
        expected = "a Delta table of the catalog, as spark.table('events')"
        raise value_error("table", expected, table if name is None else name)
    (last,) = spark.sql(f"DESCRIBE HISTORY {name} LIMIT 1").collect()
    if not 0 <= since <= last.version:
        raise value_error("since", f"a version of the table, from 0 to {last.version}", since)
    feed = spark.read.option("readChangeFeed", True).option("endingVersion", last.version)
    # a feed begins at a version of the table
    first = min(since + 1, last.version)
    rows = feed.option("startingVersion", first).table(name)
    later = rows.where(F.col("_commit_version") > since)
    return later.drop("_commit_version", "_commit_timestamp")


def refreshed(query: DataFrame | str, changes: Mapping[str, DataFrame], /) -> Refreshed:
    """Return the answers of a query that may be others, since rows of its tables have changed.

    An answer may be another one if a changed row, old or new, lies in its window. These answers
    are computed from the rows of their windows alone.

    Args:
        query: A DataFrame or SQL over the tables as they are now: scans, conditions, computed
            columns, unions, windows (OVER, the kinds, LATERAL, ``window_join``, ``as_of``),
            GROUP BY, and columns and conditions above them. Its columns have the key and the
            time of its windows.
        changes: For each table that has changed, by the name that the query reads it by, the
            changed rows: the table's columns, and ``_change_type``. An update has two rows, the
            old one and the new one.

    Returns:
        The answers anew, and the spans of time in each key that they replace. The spans are
        persisted; ``spans.unpersist()`` frees them.

    Cost:
        The changed rows are read twice, and their spans are computed at once. The tables are read
        when the answers are, from the first time of a span to the last, as far as windows reach.

    Raises:
        PySparkTypeError: an argument is of the wrong type.
        PySparkValueError: the changes lack a column of the table, or an image of an update.
        AnalysisException: spans of time do not say which answers change; the message names the
            part of the query, and what to write instead.
        PySparkRuntimeError: the session is one of Connect, or has no jar of Sash.

    Example:
        >>> rows = spark.sql("SELECT 'Ann' AS who, id AS day, id AS x FROM range(100)")
        >>> rows.createOrReplaceTempView("steps")
        >>> late = rows.where("day = 40").withColumn("_change_type", F.lit("insert"))
        >>> query = '''SELECT who, day, sum(x) OVER (
        ...     PARTITION BY who ORDER BY day RANGE 2 PRECEDING) AS total FROM steps'''
        >>> new = sash.refreshed(query, {"steps": late})
        >>> new.spans.show()
        +---+-----+----+
        |who|first|last|
        +---+-----+----+
        |Ann|   40|  42|
        +---+-----+----+
        <BLANKLINE>
        >>> new.answers.orderBy("day").show()
        +---+---+-----+
        |who|day|total|
        +---+---+-----+
        |Ann| 40|  117|
        |Ann| 41|  120|
        |Ann| 42|  123|
        +---+---+-----+
        <BLANKLINE>
    """
    work = _Work(query, changes)
    return Refreshed(work.answers(), work.spans)


def refresh(
    query: DataFrame | str,
    changes: Mapping[str, DataFrame],
    /,
    *,
    into: str,
    id: str | Iterable[str],  # noqa: A002
) -> RefreshSummary:
    """Bring a table of a query's answers up to date, after rows of the query's tables changed.

    The answers that may be others are computed (see ``refreshed``), compared with the table's,
    and merged into it by one MERGE: new answers are inserted, other ones updated, and rows
    without an answer deleted. If it fails it changes nothing, and it may run again.

    Args:
        query: As for ``refreshed``.
        changes: As for ``refreshed``.
        into: The name of the table of answers, which takes MERGE (Delta, Iceberg). It has the
            query's columns, and perhaps others, which stay as they are.
        id: The columns that no two answers have in common, NULL or not.

    Returns:
        The numbers of keys and spans whose answers may have changed, of rows that were read and
        answers that were computed, and of rows that were inserted, updated and deleted. Where
        none is, there was no MERGE. If more than half of the table's rows lie between the first
        time of the changes and the last, a warning of the logger ``sash`` says so before the
        answers are computed.

    Raises:
        PySparkTypeError: an argument is of the wrong type.
        PySparkValueError: as in ``refreshed``; the table lacks a column of the query; or two
            answers have one id. Nothing has changed then.
        AnalysisException: as in ``refreshed``, or there is no such table.
        PySparkRuntimeError: the session is one of Connect, or has no jar of Sash.
    """
    if not isinstance(into, str):
        raise type_error("into", "the name of a table", into)
    ids = [id] if isinstance(id, str) or not isinstance(id, Iterable) else [*id]
    if not all(isinstance(name, str) for name in ids):
        raise type_error("id", "the name of a column, or several", id)
    if not ids:
        raise value_error("id", "one column at least", id)
    with _Work(query, changes) as work:
        return work.merged(into, ids)


class _Work:
    """A query, and the spans whose answers may be others now.

    Used in a ``with``, it frees what it has persisted at the end.
    """

    def __init__(self, query: object, changes: object) -> None:
        if not isinstance(changes, Mapping):
            raise type_error("changes", _CHANGES, changes)
        if not changes:
            raise value_error("changes", "the changed rows of one table at least", changes)
        for name, rows in changes.items():
            if not isinstance(name, str):
                raise type_error("changes", _CHANGES, name)
            require_frame(f"changes[{name!r}]", rows)
        self._spark = spark = next(iter(changes.values())).sparkSession
        asked: Any = query
        self.query: Any = spark.sql(asked) if isinstance(asked, str) else asked
        require_frame("query", self.query)
        self._plans = plans = _plans(spark, self.query)
        jvm: Any = spark._jvm
        of_tables = jvm.java.util.HashMap()
        for name, rows in changes.items():
            of_tables[name] = _rows(spark, name, rows)._jdf
        self._plan = plans.of(self.query._jdf, of_tables)
        self.spans = self._frame(self._plan.spans()).persist()
        self._persisted = [self.spans]
        (row,) = self._frame(self._plan.bounds(self.spans._jdf)).collect()
        # any ends, where there is no span
        self.keys, self.count, self._least, self._greatest = (value or 0 for value in row)

    def __enter__(self) -> _Work:
        return self

    def __exit__(self, *_: object) -> None:
        for rows in self._persisted:
            rows.unpersist()

    def answers(self) -> DataFrame:
        return self._frame(self._plan.answers(self.spans._jdf, self._least, self._greatest))

    def merged(self, into: str, ids: list[str]) -> RefreshSummary:
        """Merge the answers into a table."""
        names = self.query.columns
        table = self._spark.table(into)
        for name in ids:
            if name not in names:
                raise value_error("id", f"columns of the query ({', '.join(names)})", name)
        for name in names:
            if not has(table, name):
                raise value_error(
                    "into", f"a table with the query's column {name}", table.columns
                )
        answers = self._persist(self.answers())
        types = {field.name: field.dataType for field in answers.schema}
        stored = table.select(*(column(name).cast(types[name]).alias(name) for name in names))
        old = self._frame(
            self._plan.within(stored._jdf, self.spans._jdf, self._least, self._greatest)
        )
        _counted("into", old, ids)
        near, stays = self._near(stored).count(), table.count()
        if near > stays * _MOST:
            _LOG.warning(
                "refresh reads between the first time of the changes and the last, where "
                f"{near:,} of the {stays:,} answers of {into} lie. A whole run of the query, "
                "written over the table, is likely to be quicker."
            )
        computed = _counted("query", answers, ids)
        # rows alone: Spark 4.1 plans no MERGE from a view whose plan reads a table of Iceberg
        rows = _compared(answers, old, ids).localCheckpoint()
        done = {row[_ACTION]: row["count"] for row in rows.groupBy(_ACTION).count().collect()}
        if "insert" in done:
            self._refuse_taken(rows.where(F.col(_ACTION) == "insert"), stored, ids)
        if done:
            self._merge(rows, into, ids, names)
        counts = (done.get(action, 0) for action in ("insert", "update", "delete"))
        read = self._plans.rowsRead(answers._jdf)
        return RefreshSummary(self.keys, self.count, read, computed, *counts)

    def _refuse_taken(self, inserted: DataFrame, stored: DataFrame, ids: list[str]) -> None:
        """Refuse new answers whose id a row of the table has that stays as it is."""
        if self._plan.timeName() in ids:
            stored = self._near(stored)
        same = [F.col(f"t.{_quoted(of)}").eqNullSafe(F.col(f"s.{_quoted(of)}")) for of in ids]
        taken = stored.alias("t").join(inserted.alias("s"), same, "left_semi").head()
        if taken is not None:
            found = _named(ids, [taken[of] for of in ids])
            raise value_error("id", "columns that tell all answers apart", f"{found} twice")

    def _near(self, stored: DataFrame) -> DataFrame:
        """The answers between the first time of the spans and the last."""
        for limit in self._limits():
            stored = stored.where(limit)
        return stored

    def _merge(self, rows: DataFrame, into: str, ids: list[str], names: list[str]) -> None:
        equal = " AND ".join(f"t.{_quoted(name)} <=> s.{_quoted(name)}" for name in ids)
        new = ", ".join(f"t.{_quoted(name)} = s.{_quoted(name)}" for name in names)
        columns = ", ".join(map(_quoted, names))
        values = ", ".join(f"s.{_quoted(name)}" for name in names)
        limits = (f"t.{limit}" for limit in self._limits())
        view = f"sash_refresh_{uuid4().hex}"
        rows.createOrReplaceTempView(view)
        try:
            self._spark.sql(f"""
                MERGE INTO {into} t USING {view} s ON {" AND ".join([equal, *limits])}
                WHEN MATCHED AND s.{_ACTION} = 'delete' THEN DELETE
                WHEN MATCHED THEN UPDATE SET {new}
                WHEN NOT MATCHED AND s.{_ACTION} <> 'delete'
                  THEN INSERT ({columns}) VALUES ({values})
            """).collect()
        finally:
            self._spark.catalog.dropTempView(view)

    def _limits(self) -> list[str]:
        """Between which times the merged rows of the table lie, for its files' statistics."""
        name, ends = self._plan.timeName(), (self._least, self._greatest)
        # a span without a limit holds rows without a time
        if name not in self.query.columns or any(abs(end) >= _NO_LAST for end in ends):
            return []
        of = self.query.schema[name].dataType
        texts = [_literal(end, of) for end in ends]
        if None in texts:
            return []
        return [f"{_quoted(name)} >= {texts[0]}", f"{_quoted(name)} <= {texts[1]}"]

    def _persist(self, rows: DataFrame) -> DataFrame:
        self._persisted.append(rows.persist())
        return rows

    def _frame(self, rows: Any) -> DataFrame:
        made: DataFrame = type(self.query)(rows, self._spark)
        return made


def _plans(spark: SparkSession, rows: Any) -> Any:
    """The plugin's part, which takes queries apart."""
    if not hasattr(rows, "_jdf"):
        raise PySparkRuntimeError(
            "A table is refreshed by the session that has its query's plan, and a client of "
            "Connect has none. Run it where the server runs, as a job of spark-submit."
        )
    why = missing(spark)
    if why is not None:
        raise PySparkRuntimeError(why)
    jvm: Any = spark._jvm
    return jvm.io.sash.spark.refresh.Refresh


def _rows(spark: SparkSession, name: str, rows: DataFrame) -> DataFrame:
    """The changed rows in the columns of their table."""
    argument = f"changes[{name!r}]"
    if not has(rows, _TYPE):
        raise value_error(argument, f"rows with a column {_TYPE}", rows.columns)
    table = spark.table(name)
    for field in table.schema:
        if not has(rows, field.name):
            raise value_error(
                argument, f"rows with the table's column {field.name}", rows.columns
            )
        found = rows.select(column(field.name)).schema[0].dataType
        if found.simpleString() != field.dataType.simpleString():
            types = f"rows whose {field.name} is {field.dataType.simpleString()}, as in the table"
            raise value_error(argument, types, found.simpleString())
    counts = rows.groupBy(F.lower(F.col(_TYPE).cast("string")).alias("type")).count().collect()
    unknown = [row.type for row in counts if row.type not in _IMAGES]
    if unknown:
        raise value_error(
            argument, f"rows whose {_TYPE} is one of {', '.join(_IMAGES)}", unknown[0]
        )
    if sum(_IMAGES[row.type] * row["count"] for row in counts):
        of_types = {row.type: row["count"] for row in counts}
        raise value_error(argument, "the old and the new row of each update", of_types)
    return rows.select(*(column(field.name) for field in table.schema))


def _counted(argument: str, rows: DataFrame, ids: list[str]) -> int:
    """The number of rows, of which no two may have one id."""
    names = [f"id_{i}" for i in range(len(ids))]
    by_id = rows.groupBy(*(column(of).alias(name) for of, name in zip(ids, names, strict=True)))
    counted = by_id.agg(F.count("*").alias("n"))
    most = F.max_by(F.struct(*names), "n"), F.max("n")
    (row,) = counted.agg(F.coalesce(F.sum("n"), F.lit(0)).alias("rows"), *most).collect()
    if row.rows and row[2] > 1:
        expected = f"rows that id={ids} tells apart"
        raise value_error(argument, expected, f"{row[2]} rows of {_named(ids, list(row[1]))}")
    return int(row.rows)


def _named(ids: list[str], values: list[Any]) -> str:
    return ", ".join(f"{of} = {value!r}" for of, value in zip(ids, values, strict=True))


def _compared(new: DataFrame, old: DataFrame, ids: list[str]) -> DataFrame:
    """The rows to insert, to update and to delete, with ``action``."""
    sides = []
    for name, rows in (("new", new), ("old", old)):
        keys = (column(of).alias(f"{name}_{i}") for i, of in enumerate(ids))
        sides.append(rows.select(*keys, F.struct(*map(column, rows.columns)).alias(name)))
    same = [F.col(f"new_{i}").eqNullSafe(F.col(f"old_{i}")) for i in range(len(ids))]
    joined = sides[0].join(sides[1], same, "full_outer")
    # maps cannot be compared
    is_map = any("map<" in field.dataType.simpleString() for field in new.schema)
    is_other = F.lit(True) if is_map else ~F.col("new").eqNullSafe(F.col("old"))
    action = (
        F.when(F.col("new").isNull(), "delete")
        .when(F.col("old").isNull(), "insert")
        .when(is_other, "update")
    )
    rows = joined.select(F.coalesce("new", "old").alias("row"), action.alias(_ACTION))
    return rows.where(F.col(_ACTION).isNotNull()).select("row.*", _ACTION)


def _literal(units: int, of: Any) -> str | None:
    """A time in SQL; None where it has no text."""
    try:
        if isinstance(of, TimestampType):
            at = (_EPOCH + timedelta(microseconds=units)).isoformat(sep=" ")
            return f"TIMESTAMP '{at}'"
        if isinstance(of, DateType):
            return f"DATE '{(_EPOCH + timedelta(days=units)).date()}'"
    except OverflowError:
        return None
    return f"{units}L" if isinstance(of, IntegralType) else None


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
