"""A window's rows pass through Python below an aggregate that takes the window's memory.

Run as `threads.py heap|off-heap ROUNDS`, it prints a line of JSON for each way through Python.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

import sash

ROWS = 24000
SCHEMA = "id long, k int, c long, s string"


def session(*, off_heap: bool) -> SparkSession:
    settings = {
        "spark.ui.enabled": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "200",
        "spark.buffer.pageSize": "64k",
        "spark.testing.memory": str((8 if off_heap else 2) << 20),
        "spark.testing.reservedMemory": "0",
        "spark.memory.fraction": "0.8",
        "spark.memory.storageFraction": "0",
        "spark.memory.offHeap.enabled": str(off_heap).lower(),
        "spark.memory.offHeap.size": "1600k",
        # memory that a task has not given back fails the task
        "spark.unsafe.exceptionOnMemoryLeak": "true",
    }
    return sash.configure(
        SparkSession.builder.master("local[1]").config(map=settings)
    ).getOrCreate()


def windowed(spark: SparkSession, frame: str) -> DataFrame:
    return spark.sql(
        f"SELECT id, k, sum(id) OVER (PARTITION BY k ORDER BY o, id {frame}) AS c, s FROM "
        "(SELECT id, IF(id % 4 = 0, id, hash(id)) AS o, IF(id % 4 = 0, 7, pmod(hash(id, 1), 5)) "
        f"AS k, repeat('x', pmod(hash(id, 2), 90)) AS s FROM range(0, {ROWS}, 1, 1))"
    )


def same(frames: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    return frames


WAYS: dict[str, Callable[[DataFrame], DataFrame]] = {
    "mapInPandas": lambda df: df.mapInPandas(same, SCHEMA),
    "applyInPandas": lambda df: df.groupBy("k").applyInPandas(lambda group: group, SCHEMA),
    "Python UDF": lambda df: df.withColumn("c", f.udf(lambda c: c, "long")("c")),
}

SORTED_BELOW = ["applyInPandas"]
"""Ways that want the keys in order, so that it is Spark's sort which gives way first."""


def answer(df: DataFrame) -> tuple[DataFrame, list[int]]:
    grouped = df.groupBy(f.concat("s", "id").alias("g")).agg(
        f.max("id").alias("id"), f.sum("c").alias("c")
    )
    total = grouped.agg(f.count("g"), f.sum("id"), f.sum("c"))
    return total, list(total.collect()[0])


def spilled(plan: Any) -> int:
    """Bytes that Sash's operators of an executed plan moved to disk."""
    name = plan.nodeName()
    if name == "AdaptiveSparkPlan":
        return spilled(plan.executedPlan())
    if name.endswith("QueryStage"):
        return spilled(plan.plan())
    own = 0
    if name in ("Ordering", "SlidingWindow"):
        own = plan.metrics().apply("spillSize").value()
    children = plan.children()
    return own + sum(spilled(children.apply(i)) for i in range(children.size()))


def main(memory: str, rounds: int) -> None:
    spark = session(off_heap=memory == "off-heap")
    for name, way in WAYS.items():
        for frame in ("ROWS 5 PRECEDING", "ROWS BETWEEN 2000 PRECEDING AND 2000 FOLLOWING"):
            spark.conf.set("spark.sash.enabled", "false")
            expected = answer(windowed(spark, frame))[1]
            spark.conf.set("spark.sash.enabled", "true")
            wrong = spills = 0
            for _ in range(rounds):
                df, found = answer(way(windowed(spark, frame)))
                wrong += found != expected
                spills += spilled(df._jdf.queryExecution().executedPlan()) > 0
            result = {"way": name, "frame": frame, "wrong": wrong, "spills": spills}
            print(json.dumps(result), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
