"""Queries in real-time mode, in a process of their own: what they give, as JSON in a file."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import sash
from streaming import CONF

ROWS = [(i, i % 2, f"2026-03-01 09:00:{5 * i:02d}", i) for i in range(10)]
HOT = [(i, 0, f"2026-03-01 09:{i // 60:02d}:{i % 60:02d}", i) for i in range(300)]
BEFORE = [(0, 0, "2026-03-01 09:00:00", 1), (1, 0, "2026-03-01 09:01:00", 2)]
AFTER = [(2, 0, "2026-03-01 09:00:40", 4), (3, 0, "2026-03-01 09:00:30", 8)]
"""Rows behind the watermark of the batch in which they come, and not behind the one before."""
BEHIND = [[0, 1], [1, 3], [2, 5], [1, 7], [3, 9], [2, 13], [1, 14]]
SECONDS = 240


def events(spark: SparkSession, rows: Sequence[tuple[Any, ...]] = ROWS) -> DataFrame:
    """A source that real-time mode takes, with the rows in it; Python has none of its own."""
    stream = source(spark)
    add(spark, stream, rows)
    return columns(spark, stream).withWatermark("t", "10 minutes")


def source(spark: SparkSession) -> Any:
    jvm = spark._jvm
    name = "org.apache.spark.sql.execution.streaming.sources.LowLatencyMemoryStream$"
    strings = jvm.org.apache.spark.sql.Encoders.STRING()
    return getattr(getattr(jvm, name), "MODULE$").apply(spark._jsparkSession, 1, strings)


def add(spark: SparkSession, stream: Any, rows: Sequence[tuple[Any, ...]]) -> None:
    jvm = spark._jvm
    lines = jvm.java.util.ArrayList()
    for row in rows:
        lines.add(",".join(map(str, row)))
    stream.addData(jvm.scala.jdk.javaapi.CollectionConverters.asScala(lines).toSeq())


def columns(spark: SparkSession, stream: Any) -> DataFrame:
    columns = [("i", "BIGINT"), ("k", "INT"), ("t", "TIMESTAMP"), ("x", "INT")]
    fields = F.split("value", ",")
    return DataFrame(stream.toDF(), spark).select(
        *(fields[i].cast(of).alias(name) for i, (name, of) in enumerate(columns))
    )


def over(rows: DataFrame) -> DataFrame:
    window = Window.partitionBy("k").orderBy("t").rowsBetween(-2, 0)
    return rows.select("i", F.sum("x").over(window).alias("s"))


def hops(rows: DataFrame) -> DataFrame:
    counts = rows.groupBy("k", F.window("t", "60 seconds", "20 seconds"))
    of = counts.agg(F.count("*").alias("n"), F.sum("x").alias("s"))
    return of.select("k", F.date_format("window.start", "HH:mm:ss").alias("start"), "n", "s")


def plain(rows: DataFrame) -> DataFrame:
    return rows.select("i", (F.col("x") + 1).alias("y"))


def run(
    query: DataFrame, folder: Path, expected: int, later: Callable[[], None] | None = None
) -> list[list[Any]]:
    """What the query gives, until as many rows as that are there.

    ``later`` is called once, when the first batch has ended.
    """
    folder.mkdir()
    path = folder / "rows"
    path.touch()

    def write(row: Any) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(list(row)) + "\n")

    writer = query.writeStream.foreach(write).outputMode("update")
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    running = writer.trigger(realTime="5 seconds").start()
    until = time.monotonic() + SECONDS
    while running.isActive and time.monotonic() < until:
        if later is not None and running.lastProgress is not None:
            later()
            later = None
        if path.read_text(encoding="utf-8").count("\n") >= expected:
            break
        time.sleep(0.2)
    error = running.exception()
    running.stop()
    if error is not None:
        raise error
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def main(folder: Path) -> dict[str, Any]:
    # all tasks of a query run at once
    builder = SparkSession.builder.master("local[4]").config(map=CONF)
    builder = builder.config("spark.sql.shuffle.partitions", "1")
    spark = sash.configure(builder).getOrCreate()
    # Spark sets it itself in this mode
    spark.conf.unset("spark.sql.streaming.stateStore.providerClass")
    found: dict[str, Any] = {"over": run(over(events(spark)), folder / "over", len(ROWS))}
    found["hot"] = run(over(events(spark, HOT)), folder / "hot", len(HOT))
    stream = source(spark)
    add(spark, stream, BEFORE)
    behind = over(columns(spark, stream).withWatermark("t", "10 seconds"))
    found["behind"] = run(
        behind, folder / "behind", len(BEHIND), lambda: add(spark, stream, AFTER)
    )
    found["plain"] = run(plain(events(spark)), folder / "plain", len(ROWS))
    for on in "true", "false":
        spark.conf.set("spark.sash.enabled", on)
        found[f"hops {on}"] = run(hops(events(spark)), folder / f"hops-{on}", 3 * len(ROWS))
    spark.conf.set("spark.sash.enabled", "true")
    try:
        query = over(events(spark)).writeStream.foreach(print)
        query.trigger(realTime="5 seconds").start()
    except AnalysisException as error:
        found["append"] = str(error)
    spark.stop()
    return found


if __name__ == "__main__":
    at = Path(sys.argv[1])
    (at / "found").write_text(json.dumps(main(at)), encoding="utf-8")
