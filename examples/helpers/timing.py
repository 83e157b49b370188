"""Timing a query under different settings of one Spark session."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import DataFrame, SparkSession

Settings = Mapping[str, str]
SEGMENT_TREE_KEY = "spark.sql.window.segmentTree.enabled"
SASH: Settings = {"spark.sash.enabled": "true", SEGMENT_TREE_KEY: "false"}
SPARK: Settings = {"spark.sash.enabled": "false", SEGMENT_TREE_KEY: "false"}
SEGMENT_TREE: Settings = {"spark.sash.enabled": "false", SEGMENT_TREE_KEY: "true"}

RUNS = 4
ENOUGH = 8.0
"""After so many seconds a query runs no more: what warms the JVM up is then a small part."""


@contextmanager
def settings(spark: SparkSession, values: Settings) -> Iterator[None]:
    """Set configuration values for the duration of a block."""
    before = {key: spark.conf.get(key, None) for key in values}
    for key, value in values.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            if old is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, old)


@contextmanager
def step(title: str) -> Iterator[None]:
    """Say what is going on, and how long it took."""
    print(f"{title} … ", end="", flush=True)
    start = time.perf_counter()
    yield
    print(f"{time.perf_counter() - start:.1f} s", flush=True)


def timed(query: Callable[[], DataFrame]) -> float:
    """Seconds to compute every row of a query: nothing is kept, nothing is skipped."""
    start = time.perf_counter()
    query().write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def repeated(query: Callable[[], DataFrame], *before: float) -> list[float]:
    """Seconds of each run of a query, after the runs before: the first ones warm the JVM up."""
    seconds = list(before)
    while len(seconds) < RUNS and sum(seconds) < ENOUGH:
        seconds.append(timed(query))
    return seconds
