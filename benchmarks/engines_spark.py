"""Spark: with Sash, with its own segment tree, as shipped; its running total, its shuffle."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from cells import BY_HASHING, BY_SORTING, PARTITIONED, SEGMENT_TREE, Query


def session(cores: int, memory: str, with_sash: bool, **more: str) -> SparkSession:
    """A quiet local session; without Sash, its jar is not even on the class path.

    ``more`` has further settings, with dots in their names.
    """
    builder = SparkSession.builder.master(f"local[{cores}]").config(
        map={
            "spark.driver.memory": memory,
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "8",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.log.level": "ERROR",
            "spark.sash.enabled": str(with_sash).lower(),
            **more,
        }
    )
    if with_sash:
        import sash

        builder = sash.configure(builder)
    return builder.getOrCreate()


def read(spark: SparkSession, data: Path) -> DataFrame:
    """The rows of a file, their time in the session's time zone."""
    rows = spark.read.parquet(data.as_uri())
    if dict(rows.dtypes)["ts"] == "timestamp_ntz":
        rows = rows.withColumn("ts", rows["ts"].cast("timestamp"))
    return rows


def versions(spark: SparkSession) -> dict[str, str]:
    """Spark's version and Java's."""
    java = spark.sparkContext._jvm
    assert java is not None
    return {"Spark": spark.version, "Java": java.java.lang.System.getProperty("java.version")}


class SparkEngine:
    """One of the ways in which Spark can run a window, or what comes near to one."""

    def __init__(self, name: str, cores: int, memory: str) -> None:
        self._name = name
        self._spark = session(cores, memory, with_sash=name in BY_HASHING + BY_SORTING)
        if name == SEGMENT_TREE:
            self._spark.conf.set("spark.sql.window.segmentTree.enabled", "true")
        if name in BY_SORTING:
            self._spark.conf.set("spark.sash.ordering.enabled", "false")

    def load(self, data: Path) -> None:
        """Into the cache, partitioned by the key where the name says so."""
        self._spark.catalog.clearCache()
        rows = read(self._spark, data)
        if self._name in PARTITIONED:
            rows = rows.repartition("k")
        rows.cache().createOrReplaceTempView("input")
        rows.count()

    def version(self) -> dict[str, str]:
        """Spark's version and Java's."""
        return versions(self._spark)

    def check(self, query: Query) -> None:
        """The plan has the window, the order and the exchange that the name promises."""
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            self._frame(query).explain()
        plan = text.getvalue()
        above_cache = plan.split("InMemoryTableScan")[0]
        promised = {
            "SlidingWindow": self._name in BY_HASHING + BY_SORTING,
            "Ordering hash + adaptive": self._name in BY_HASHING,
            "Exchange": self._name not in PARTITIONED,
        }
        if any((part in above_cache) != promise for part, promise in promised.items()):
            raise AssertionError(f"{self._name} runs a plan that is not its own:\n{plan}")

    def run(self, query: Query) -> None:
        """The noop sink takes every row, and keeps none."""
        self._frame(query).write.format("noop").mode("overwrite").save()

    def _frame(self, query: Query) -> DataFrame:
        return self._spark.sql(query.sql(self._name))
