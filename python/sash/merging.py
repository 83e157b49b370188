"""Merges answers of a query into a table that has older ones."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import reduce
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import DateType

from sash.changed_query import ChangedQuery, plans_of
from sash.errors import value_error
from sash.label_columns import column, has, quoted, same_name

_ACTION = "_sash_action"
_COUNT = "_sash_count"
_NEW = "_sash_new"
_MOST = 0.5
"""The share of a table's bytes near the changes above which a whole run may be quicker."""
_LOG = logging.getLogger("sash")


def merged(query: ChangedQuery, into: str, ids: list[str]) -> tuple[int, int, int, int, int]:
    """Merge a query's answers within its spans into a table.

    Returns:
        The numbers of rows that were read, of answers that were computed, and of answers that
        were inserted, updated and deleted.
    """
    names = query.rows.columns
    table = query.spark.table(into)
    ids = [_own_name(query.rows, name) for name in ids]
    for name in names:
        if not has(table, name):
            raise value_error("into", f"a table with the query's column {name}", table.columns)
    types = {field.name: field.dataType for field in query.rows.schema}
    stored = table.select(*(column(name).cast(types[name]).alias(name) for name in names))
    near = query.near(stored)
    # where no file has a row near the changes, all answers are new, and none is compared
    is_told = _tells(query, ids)
    is_new = is_told and query.plans.isNone(near._jdf)
    if not is_new:
        _warn(query, near, table, into)
    new, old = query.answers(), query.within(stored)
    compared = new.withColumn(_ACTION, F.lit("insert")) if is_new else _compared(new, old, ids)
    # rows alone: Spark 4.1 plans no MERGE from a view whose plan reads a table of Iceberg
    rows = compared.localCheckpoint(eager=False)
    _refuse_coarse(query, rows, table)
    if is_new:
        counts = _counted(rows, ids).agg(F.sum(_COUNT), F.max(_COUNT)).collect()
        ((count, most),) = counts
        done = {"insert": count} if count else {}
        is_twice = bool(count) and most > 1
    else:
        actions = rows.groupBy(_ACTION).count().collect()
        done = {row[_ACTION]: row["count"] for row in actions}
        is_twice = "twice" in done
    if is_twice:
        _refuse_twice("into", old, ids)
        _refuse_twice("query", new, ids)
    read = query.plans.rowsRead(compared._jdf, table._jdf)
    inserted, updated, deleted = (done.get(of, 0) for of in ("insert", "update", "delete"))
    computed = inserted + updated + done.pop("same", 0)
    rows = rows.where(F.col(_ACTION) != "same")
    if done:
        if not is_told:
            _refuse_taken(rows, near if query.plan.timeName() in ids else stored, ids)
        # a MERGE where all are new, too: a refresh beside this one may have inserted them by now.
        # Old rows are looked up among these; where all are new, none is
        count = sum(done.values()) if updated or deleted else 0
        view = f"sash_refresh_{uuid4().hex}"
        rows.createOrReplaceTempView(view)
        try:
            merge = f"MERGE INTO {into} t USING {view} s {_clauses(names, ids, done)}"
            query.merge(merge, table, rows, [*map(quoted, ids)], count)
        finally:
            query.spark.catalog.dropTempView(view)
    return read, computed, inserted, updated, deleted


def _own_name(rows: DataFrame, name: str) -> str:
    """The name of a column as the query writes it, or an error that names ``id``."""
    own = same_name(rows, name, rows.columns)
    if own is None:
        raise value_error("id", f"columns of the query ({', '.join(rows.columns)})", name)
    return own


def _warn(query: ChangedQuery, near: DataFrame, table: DataFrame, into: str) -> None:
    """Say so where a whole run may be quicker."""
    share = query.plans.share(near._jdf, table._jdf)
    if share > _MOST:
        _LOG.warning(
            "refresh reads between the first time of the changes and the last, where files with "
            f"{share:.0%} of the bytes of {into} have answers. If most keys have changes, a "
            "whole run of the query, written over the table, may be quicker."
        )


def _refuse_coarse(query: ChangedQuery, rows: DataFrame, table: DataFrame) -> None:
    """Refuse a table of dates for times of a day, which no span tells apart there."""
    name = query.plan.timeName()
    if name is None:
        return
    time = column(name)
    asked, stored = (of.select(time).schema[0].dataType for of in (rows, table))
    if stored != DateType() or asked == DateType():
        return
    if not rows.where(~time.eqNullSafe(time.cast(stored).cast(asked))).isEmpty():
        of = asked.simpleString()
        raise value_error("into", f"a table whose {name} is {of}, as in the query", "date")


def _clauses(names: list[str], ids: list[str], done: Iterable[str]) -> str:
    """The condition of the MERGE, and the clauses that have something to do."""
    names, ids = [*map(quoted, names)], [*map(quoted, ids)]
    on = " AND ".join(f"t.{of} <=> s.{of}" for of in ids)
    among = f"sash_among({', '.join(f't.{of}' for of in ids)})"
    new = ", ".join(f"t.{name} = s.{name}" for name in names)
    values = ", ".join(f"s.{name}" for name in names)
    clauses = {
        "delete": f"MATCHED AND s.{_ACTION} = 'delete' THEN DELETE",
        "update": f"MATCHED THEN UPDATE SET {new}",
        "insert": f"NOT MATCHED AND s.{_ACTION} <> 'delete' "
        f"THEN INSERT ({', '.join(names)}) VALUES ({values})",
    }
    when = (f"WHEN {text}" for action, text in clauses.items() if action in done)
    return f"ON {on} AND {among} {' '.join(when)}"


def _tells(query: ChangedQuery, ids: list[str]) -> bool:
    """Whether rows of one id lie in the same span, where all of them were compared."""
    time = query.plan.timeName()
    return {*query.plan.keyNames()} <= {*ids} and (time is None or time in ids)


def _refuse_taken(rows: DataFrame, stored: DataFrame, ids: list[str]) -> None:
    """Refuse answers whose id another row of the table has, too, outside their span.

    An inserted answer's id is in no row, and an updated or deleted one's in the old row alone.
    """
    same = [F.col(f"t.{quoted(of)}").eqNullSafe(F.col(f"s.{quoted(of)}")) for of in ids]
    is_new = F.col(f"s.{_ACTION}") == "insert"
    of_id = (
        stored.alias("t")
        .join(rows.alias("s"), same)
        .groupBy(*(F.col(f"t.{quoted(of)}") for of in ids))
    )
    taken = of_id.agg(F.count("*").alias(_COUNT), F.max(is_new).alias(_NEW))
    one = taken.where(F.col(_NEW) | (F.col(_COUNT) > 1)).head()
    if one is not None:
        found = _named(ids, list(one)[: len(ids)])
        raise value_error("id", "columns that tell all answers apart", f"{found} twice")


def _refuse_twice(argument: str, rows: DataFrame, ids: list[str]) -> None:
    """Refuse rows if two of them have the same id."""
    counted = _counted(rows, ids).orderBy(F.desc(_COUNT)).head()
    if counted is not None and counted[-1] > 1:
        found = f"{counted[-1]} rows of {_named(ids, list(counted)[:-1])}"
        raise value_error(argument, f"rows that id={ids} tells apart", found)


def _counted(rows: DataFrame, ids: list[str]) -> DataFrame:
    return rows.groupBy(*map(column, ids)).agg(F.count("*").alias(_COUNT))


def _named(ids: list[str], values: list[Any]) -> str:
    return ", ".join(f"{of} = {value!r}" for of, value in zip(ids, values, strict=True))


def _compared(new: DataFrame, old: DataFrame, ids: list[str]) -> DataFrame:
    """The new rows, and the old ones that are gone, with what is to be done with each."""
    sides = []
    for is_new, rows in ((True, new), (False, old)):
        keys = (column(of).alias(f"id_{i}") for i, of in enumerate(ids))
        row = F.struct(*map(column, rows.columns)).alias("row")
        sides.append(rows.select(*keys, row, F.lit(is_new).alias("is_new")))
    by_id = Window.partitionBy(*(f"id_{i}" for i in range(len(ids)))).orderBy("is_new")
    of_new = F.col("is_new")
    pairs = reduce(DataFrame.unionAll, sides).select(
        "row",
        F.lag("row").over(by_id).alias("before"),
        (F.lag("is_new").over(by_id) == of_new).alias("is_twice"),
        F.when(~of_new, F.lead("is_new").over(by_id).isNull()).alias("is_gone"),
    )
    spark = new.sparkSession
    compared = type(new)(plans_of(spark, pairs).compared(pairs._jdf), spark)
    action = (
        F.when(F.col("is_twice"), "twice")
        .when(F.col("is_gone").isNotNull(), F.when(F.col("is_gone"), "delete"))
        .when(F.col("before").isNull(), "insert")
        .when(~F.col("same"), "update")
        .otherwise("same")
    )
    rows = compared.select("row", action.alias(_ACTION))
    return rows.where(F.col(_ACTION).isNotNull()).select("row.*", _ACTION)
