"""The check of every accelerated query: Sash ran it, and its rows are Spark's."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import DataFrame, Row, SparkSession

from sash.plan import explanation


def assert_slides_as_spark(spark: SparkSession, query: Callable[[], DataFrame]) -> list[Row]:
    """Run ``query`` with Sash and without; return the rows, which must be the same."""
    df = query()
    ours = df.collect()
    assert "SlidingWindow" in explanation(df)
    spark.conf.set("spark.sash.enabled", "false")
    try:
        plain = query()
        assert "SlidingWindow" not in explanation(plain)
        assert sorted(ours) == sorted(plain.collect())
    finally:
        spark.conf.unset("spark.sash.enabled")
    assert ours, "a query without rows proves nothing"
    return ours
