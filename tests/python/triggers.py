"""One stream under every trigger, and two streams in one, of a classic or a Connect session.

Run as `triggers.py classic|connect FOLDER`, it prints a line of JSON for what it has compared.
"""

from __future__ import annotations

import json
import random
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import sash
from streaming import CONF, to_parquet

SCHEMA = "id BIGINT, k BIGINT, ts TIMESTAMP, x BIGINT"
START = datetime(2026, 3, 1)
FILES = 4
TRIGGERS: dict[str, dict] = {
    "available now": {"availableNow": True},
    "processing time": {"processingTime": "100 milliseconds"},
    "once": {"once": True},
}
Answers = dict[int, tuple]


def features(rows: DataFrame) -> DataFrame:
    by_time = sash.SlidingWindow.partitionBy("k").orderBy("ts").time("30 seconds")
    by_rows = Window.partitionBy("k").orderBy("ts", "id").rowsBetween(-9, -1)
    return rows.select(
        "id",
        F.sum("x").over(by_rows).alias("sum"),
        sash.sliding_agg("x", "max", by_time).alias("max"),
        sash.sliding_agg("x", "count", by_time).alias("count"),
    )


def made(seed: int, slow: int = 1) -> list[pd.DataFrame]:
    """Files of a minute each, a ``slow``-th of one; rows are up to 20 seconds late."""
    rng = random.Random(seed)  # noqa: S311
    return [
        pd.DataFrame(
            {
                "id": 1_000_000 * seed + 1000 * n + i,
                "k": rng.randrange(3),
                "ts": START + timedelta(seconds=60 * n // slow + rng.randrange(60) - 20),
                "x": rng.randrange(100),
            }
            for i in range(150)
        )
        for n in range(FILES)
    ]


def write(spark: SparkSession, files: list[pd.DataFrame], folder: Path) -> None:
    for file in files:
        rows = spark.createDataFrame(file, SCHEMA).coalesce(1)
        rows.write.mode("append").parquet(str(folder))


def stream(spark: SparkSession, folder: Path, seconds: int) -> DataFrame:
    return (
        spark.readStream.schema(SCHEMA)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(folder))
        .withWatermark("ts", f"{seconds} seconds")
    )


def run(spark: SparkSession, rows: DataFrame, folder: Path, trigger: dict) -> Answers:
    """Run a stream until it has nothing left to do, and return its answers by id."""
    query = to_parquet(features(rows), folder, **trigger)
    if "processingTime" in trigger:
        query.processAllAvailable()
        query.stop()
    else:
        query.awaitTermination()
    operators = [o for p in query.recentProgress for o in p["stateOperators"]]
    assert {o["operatorName"] for o in operators} == {"transformWithStateExec"}
    answers = [tuple(row) for row in spark.read.parquet(str(folder / "out")).collect()]
    by_id = {answer[0]: answer for answer in answers}
    assert len(by_id) == len(answers)
    return by_id


def batch(spark: SparkSession, rows: pd.DataFrame, until: datetime) -> Answers:
    """What the batch answers to the rows until a time."""
    answered = set(rows.id[rows.ts <= until])
    answers = features(spark.createDataFrame(rows, SCHEMA)).collect()
    return {row.id: tuple(row) for row in answers if row.id in answered}


def compare_triggers(spark: SparkSession, folder: Path) -> dict[str, int]:
    files = made(1)
    rows = pd.concat(files)
    counts = {}
    for name, trigger in TRIGGERS.items():
        here = folder / name
        # once is one batch: what the watermark passes with it, the next one answers
        once = name == "once"
        for each in [[file] for file in files] if once else [files]:
            write(spark, each, here / "in")
            ours = run(spark, stream(spark, here / "in", 40), here, trigger)
        latest = pd.concat(files[:-1]).ts.max() if once else rows.ts.max()
        expected = batch(spark, rows, latest - timedelta(seconds=40))
        assert ours == expected, name
        counts[name] = len(expected)
    return counts


def late(left: list[pd.DataFrame], right: list[pd.DataFrame], of_both) -> tuple[set, datetime]:
    """The rows that come late, and the last watermark; ``of_both`` is min or max."""
    gone: set[int] = set()
    watermarks = [datetime.min, datetime.min]
    for n in range(FILES):
        both = pd.concat([left[n], right[n]])
        # it is the watermark of the batch before that a row is late by
        gone.update(both.id[[ts.to_pydatetime() <= watermarks[-2] for ts in both.ts]])
        latest = [pd.concat(side[: n + 1]).ts.max().to_pydatetime() for side in (left, right)]
        delays = [timedelta(seconds=20), timedelta(seconds=40)]
        new = of_both(ts - delay for ts, delay in zip(latest, delays, strict=True))
        watermarks.append(max(new, watermarks[-1]))
    return gone, watermarks[-1]


def compare_unions(spark: SparkSession, folder: Path) -> dict[str, int]:
    """The right stream lags more and more: by the faster watermark its rows are late."""
    left, right = made(1), made(2, slow=3)
    write(spark, left, folder / "left")
    write(spark, right, folder / "right")
    counts = {}
    for policy, of_both in {"min": min, "max": max}.items():
        spark.conf.set("spark.sql.streaming.multipleWatermarkPolicy", policy)
        both = stream(spark, folder / "left", 20).union(stream(spark, folder / "right", 40))
        ours = run(spark, both, folder / policy, {"availableNow": True})
        gone, until = late(left, right, of_both)
        assert bool(gone) == (policy == "max")
        rows = pd.concat([*left, *right])
        rows = rows[~rows.id.isin(gone)]
        expected = batch(spark, rows, until)
        assert ours == expected, policy
        counts[policy] = len(expected)
    assert counts["min"] != counts["max"]
    return counts


def main() -> None:
    kind, folder = sys.argv[1], Path(sys.argv[2])
    builder = SparkSession.builder.config(map=CONF)
    builder = builder.remote("local[2]") if kind == "connect" else builder.master("local[2]")
    spark = sash.configure(builder).getOrCreate()
    is_connect = type(spark).__module__.startswith("pyspark.sql.connect")
    assert is_connect == (kind == "connect")
    print(json.dumps(compare_triggers(spark, folder) | compare_unions(spark, folder)))
    spark.stop()


if __name__ == "__main__":
    main()
