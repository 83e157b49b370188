"""Two answers to one query, compared row by row."""

from __future__ import annotations

from functools import reduce
from operator import or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DoubleType, FloatType

TOLERANCE = 1e-9


def differences(ours: DataFrame, theirs: DataFrame, key: list[str]) -> DataFrame:
    """Rows of one answer that the other lacks or contradicts; empty when they agree.

    Floats agree within a relative 1e-9, since two engines may group a sum differently.
    Everything else, NULLs included, agrees exactly. ``key`` identifies a row.
    """
    values = [field for field in ours.schema.fields if field.name not in key]
    right = theirs.withColumnsRenamed({field.name: f"spark_{field.name}" for field in values})
    both = ours.withColumn("in_ours", F.lit(True)).join(
        right.withColumn("in_spark", F.lit(True)), key, "full_outer"
    )
    missing = F.isnull("in_ours") | F.isnull("in_spark")
    wrong = [
        ~_same(F.col(field.name), F.col(f"spark_{field.name}"), field.dataType)
        for field in values
    ]
    return both.where(reduce(or_, wrong, missing)).orderBy(*key)


def _same(a: Column, b: Column, kind: DataType) -> Column:
    if not isinstance(kind, (DoubleType, FloatType)):
        return a.eqNullSafe(b)
    close = F.abs(a - b) <= TOLERANCE * F.greatest(F.abs(a), F.abs(b))
    return a.eqNullSafe(b) | F.coalesce(close, F.lit(False))
