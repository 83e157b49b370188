"""Flights that arrive late are answered as in batch; of three million, a part runs here."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import fetch
from streaming import ROCKS, to_parquet

pytestmark = pytest.mark.slow

WHOLE = os.environ.get("SASH_TEST_FLIGHTS") == "all"
SCHEMA = "id BIGINT, origin STRING, destination STRING, scheduled TIMESTAMP, delay BIGINT"
JANUARY = 508_288
ALL = 3_000_000


@pytest.fixture(scope="module")
def utc(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKS)
    session.conf.set("spark.sash.stream.buckets", "16")
    return session


def flights(number: int) -> pd.DataFrame:
    """The first by schedule, in the order in which they arrive."""
    rows = pd.read_parquet(fetch.flights()).iloc[:number]
    rows.insert(0, "id", range(len(rows)))
    rows["scheduled"] = pd.to_datetime("2001" + rows.date, format="%Y%m%d%H%M").astype(
        "datetime64[us]"
    )
    arrived = rows.scheduled + pd.to_timedelta(rows.delay, unit="min")
    return rows.loc[
        arrived.sort_values(kind="stable").index,
        ["id", "origin", "destination", "scheduled", "delay"],
    ]


def features(rows: DataFrame) -> DataFrame:
    last = Window.partitionBy("origin").orderBy("scheduled", "id").rowsBetween(-99, 0)
    three_hours = (
        "{} OVER (PARTITION BY origin ORDER BY scheduled "
        "RANGE BETWEEN INTERVAL 3 HOURS PRECEDING AND CURRENT ROW)"
    )
    return rows.select(
        "id",
        F.avg("delay").over(last).alias("mean"),
        F.max("delay").over(last).alias("worst"),
        F.expr(three_hours.format("count(*)")).alias("flights_3h"),
        F.expr(three_hours.format("sum(delay)")).alias("delay_3h"),
        F.expr(three_hours.format("min(destination)")).alias("first_3h"),
    )


def write(files: list[pd.DataFrame], folder: Path) -> None:
    """Files whose ages are in the order of their rows' arrivals."""
    folder.mkdir()
    for n, file in enumerate(files):
        path = folder / f"{n:05}.parquet"
        file.to_parquet(path, index=False)
        os.utime(path, (1e9 + n, 1e9 + n))


def late_rows(files: list[pd.DataFrame], delay: timedelta) -> set[int]:
    """What a batch brings at or before the watermark of the batch before: two batches back."""
    late: set[int] = set()
    for n in range(2, len(files)):
        watermark = max(file.scheduled.max() for file in files[: n - 1]) - delay
        late.update(files[n].id[files[n].scheduled <= watermark])
    return late


@pytest.mark.parametrize(
    ("rows", "rows_a_file", "hours"),
    [
        # the greatest delay is 28 hours
        pytest.param(
            ALL if WHOLE else JANUARY,
            50_000,
            30,
            id="a watermark that covers all",
            marks=[] if WHOLE else pytest.mark.thorough,
        ),
        pytest.param(JANUARY if WHOLE else 40_000, 1_600, 0, id="a watermark that does not"),
    ],
)
def test_late_flights_are_answered_as_in_batch(utc, tmp_path, rows, rows_a_file, hours):
    arrived = flights(rows)
    files = [arrived.iloc[at : at + rows_a_file] for at in range(0, rows, rows_a_file)]
    write(files, tmp_path / "in")
    delay = timedelta(hours=hours)
    stream = (
        utc.readStream.schema(SCHEMA)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(tmp_path / "in"))
        .withWatermark("scheduled", f"{hours} hours")
    )
    utc.conf.set("spark.sql.streaming.numRecentProgressUpdates", str(len(files) + 10))
    query = to_parquet(features(stream), tmp_path, availableNow=True)
    query.awaitTermination()
    operators = [p["stateOperators"] for p in query.recentProgress if p["stateOperators"]]
    assert len(operators) >= len(files)
    assert {o["operatorName"] for batch in operators for o in batch} == {"transformWithStateExec"}

    late = late_rows(files, delay)
    # of two operators one above the other the lower drops what is late
    dropped = [sum(o["numRowsDroppedByWatermark"] for o in batch) for batch in operators]
    assert sum(dropped) == len(late)
    assert bool(late) == (hours == 0)
    # the rows within the delay are not answered
    answered = arrived.id[arrived.scheduled <= arrived.scheduled.max() - delay]
    ids = utc.createDataFrame(pd.DataFrame({"id": sorted({*answered} - late)}))
    in_time = arrived[~arrived.id.isin(late)]
    in_time.to_parquet(tmp_path / "in_time.parquet", index=False)
    utc.conf.set("spark.sash.enabled", "false")
    try:
        batch = features(utc.read.schema(SCHEMA).parquet(str(tmp_path / "in_time.parquet")))
        expected = batch.join(ids, "id", "left_semi").toPandas().sort_values("id")
    finally:
        utc.conf.unset("spark.sash.enabled")
    ours = utc.read.parquet(str(tmp_path / "out")).toPandas().sort_values("id")
    print(f"{len(ours):,} of {rows:,} flights answered, {len(late):,} late")
    assert len(ours) > rows * 0.9
    pd.testing.assert_frame_equal(ours.reset_index(drop=True), expected.reset_index(drop=True))
