"""The check of every accelerated query: Sash ran it, and its rows are Spark's."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout

from pyspark.errors import AnalysisException, PySparkRuntimeError
from pyspark.sql import DataFrame, Row, SparkSession

from sash.plan import explanation


def assert_slides_as_spark(spark: SparkSession, query: Callable[[], DataFrame]) -> list[Row]:
    """Run ``query`` with Sash and without; return the rows, which must be the same."""
    df = query()
    ours = df.collect()
    assert "SlidingWindow" in explanation(df)
    assert sorted(ours) == sorted(_plain(spark, query))
    assert ours, "a query without rows proves nothing"
    return ours


def _plain(spark: SparkSession, query: Callable[[], DataFrame]) -> list[Row]:
    """The rows of Spark's own operators."""
    analyzed = query()
    with setting(spark, "spark.sash.enabled", "false"):
        try:
            return _without_sash(query())
        except (AnalysisException, PySparkRuntimeError):
            # it calls functions of Sash's, which Spark's operators run once they are known
            if not type(spark).__module__.startswith("pyspark.sql.connect"):
                return _without_sash(analyzed)
    # a client's query is analyzed anew for each action
    with setting(spark, "spark.sash.window.algorithm", "recalculate"):
        return query().collect()


def _without_sash(df: DataFrame) -> list[Row]:
    rows = df.collect()
    printed = io.StringIO()
    with redirect_stdout(printed):
        df.explain()
    assert "SlidingWindow" not in printed.getvalue()
    return rows


@contextmanager
def setting(spark: SparkSession, key: str, value: str) -> Iterator[None]:
    """A setting of the session for a while."""
    spark.conf.set(key, value)
    try:
        yield
    finally:
        spark.conf.unset(key)
