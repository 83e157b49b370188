"""A query whose tables have changed, and the spans of time whose answers may be others now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

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
_CHANGES = "a dict from names of tables to their changed rows"


class ChangedQuery:
    """A query, and the spans whose answers may be others now."""

    def __init__(self, query: object, changes: object) -> None:
        if not isinstance(changes, Mapping):
            raise type_error("changes", _CHANGES, changes)
        if not changes:
            raise value_error("changes", "the changed rows of one table at least", changes)
        for name, rows in changes.items():
            if not isinstance(name, str):
                raise type_error("changes", _CHANGES, name)
            require_frame(f"changes[{name!r}]", rows)
        self.spark = spark = next(iter(changes.values())).sparkSession
        asked: Any = query
        self.rows: Any = spark.sql(asked) if isinstance(asked, str) else asked
        require_frame("query", self.rows)
        self.plans = plans = plans_of(spark, self.rows)
        jvm: Any = spark._jvm
        of_tables = jvm.java.util.HashMap()
        for name, rows in changes.items():
            of_tables[name] = _rows(spark, name, rows)._jdf
        self.plan = plans.of(self.rows._jdf, of_tables)
        self._spans = spans = self.plan.spans()
        self.keys, self.count = spans.keys(), spans.count()
        self.spans = self.frame(spans.rows())

    def answers(self) -> DataFrame:
        """The answers anew that lie in the spans."""
        return self.frame(self.plan.answers(self._spans))

    def within(self, rows: DataFrame) -> DataFrame:
        """The rows of a table of answers that lie in the spans."""
        return self.frame(self.plan.within(rows._jdf, self._spans))

    def near(self, rows: DataFrame) -> DataFrame:
        """The rows between the first time of the spans and the last."""
        return self.frame(self.plan.near(rows._jdf, self._spans))

    def merge(
        self, text: str, table: DataFrame, rows: DataFrame, ids: list[str], count: int
    ) -> None:
        """Run a MERGE of some answers, ``count`` of them, into the table ``t``."""
        self.plan.merge(text, table._jdf, rows._jdf, ids, count, self._spans)

    def frame(self, rows: Any) -> DataFrame:
        """The plugin's rows, as Python's."""
        made: DataFrame = type(self.rows)(rows, self.spark)
        return made


def plans_of(spark: SparkSession, rows: Any) -> Any:
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
