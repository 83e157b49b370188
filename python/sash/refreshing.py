"""Tables of windows, refreshed by the rows that have changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sash.arguments import plain, require_frame
from sash.changed_query import ChangedQuery, plans_of
from sash.errors import type_error, value_error
from sash.merging import merged


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
    version = plain(since)
    if not isinstance(version, int) or isinstance(version, bool):
        raise type_error("since", "a version of the table, an int", since)
    spark = table.sparkSession
    name = plans_of(spark, table).tableName(table._jdf)
    expected = "a Delta table of the catalog, as spark.table('events')"
    if name is None:
        raise value_error("table", expected, table)
    try:
        (last,) = spark.sql(f"DESCRIBE HISTORY {name} LIMIT 1").collect()
    except AnalysisException as error:
        raise value_error("table", expected, name) from error
    if not 0 <= version <= last.version:
        raise value_error("since", f"a version of the table, from 0 to {last.version}", version)
    feed = spark.read.option("readChangeFeed", True).option("endingVersion", last.version)
    # a feed begins at a version of the table
    first = min(version + 1, last.version)
    rows = feed.option("startingVersion", first).table(name)
    later = rows.where(F.col("_commit_version") > version)
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
        The answers anew, and the spans of time in each key that they replace. Spark keeps the
        spans in memory until nothing refers to them.

    Cost:
        The changed rows are read once, and once more for each place where the query reads their
        table, and their spans are computed at once. The tables are read when the answers are,
        from the first time of a span to the last, as far as windows reach.

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
    work = ChangedQuery(query, changes)
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
    without an answer deleted. Where the table has no file with times near the changes, and ``id``
    has the key and the time, all are new, and none is compared. If it fails it changes nothing,
    and it may run again.

    Args:
        query: As for ``refreshed``.
        changes: As for ``refreshed``.
        into: The name of the table of answers, which takes MERGE (Delta, Iceberg). It has the
            query's columns, and perhaps others, which stay as they are.
        id: The columns that no two answers have in common, NULL or not.

    Returns:
        The numbers of keys and spans whose answers may have changed, of rows that were read and
        answers that were computed, and of rows that were inserted, updated and deleted. Where
        none is, there was no MERGE. If files with times between the first change and the last
        have more than half of the table's bytes, a warning of the logger ``sash`` says so before
        the answers are computed.

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
    work = ChangedQuery(query, changes)
    return RefreshSummary(work.keys, work.count, *merged(work, into, ids))
