"""Windows of business days, as the page of window kinds writes them, against plain Python."""

from __future__ import annotations

import importlib
import json
import os
import random
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from pyspark.errors import ArrayIndexOutOfBoundsException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from conftest import REPOSITORY
from sash.plan import explanation

SCHEMA = "id BIGINT, account STRING, at BIGINT, cents BIGINT"
DAY = 24 * 3600
BY_CALENDAR = "ts - since"
IN_SECONDS = (
    "make_interval(0, 0, 0, 0, 0, 0,"
    " CAST(ts AS DECIMAL(18, 6)) - CAST(CAST(since AS TIMESTAMP) AS DECIMAL(18, 6)))"
)


@pytest.fixture
def days(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(REPOSITORY / "examples"))
    return importlib.import_module("business_days")


class Calendar:
    """A random calendar: how many business days a window has, and which days are none."""

    def __init__(self, seed: int, zone: str, first: date, weekend: tuple[int, ...] = (5, 6)):
        self.rng = random.Random(seed)  # noqa: S311
        self.zone, self.first, self.weekend = zone, first, weekend
        self.n = self.rng.randint(1, 8)
        self.holidays = [first + timedelta(days=d) for d in self.rng.sample(range(60), 8)]

    def rows(self, days: range, count: int, start: int = 0) -> Iterator[tuple[Any, ...]]:
        """Payments of these days; many are at midnight, where windows begin."""
        for i in range(start, start + count):
            day = self.first + timedelta(days=self.rng.choice(days))
            clock = time(
                self.rng.choice([0, self.rng.randrange(24)]),
                self.rng.choice([0, self.rng.randrange(60)]),
            )
            at = datetime.combine(day, clock, ZoneInfo(self.zone)).timestamp()
            yield i, self.rng.choice(["a", "b", None]), int(at), self.rng.randrange(100)

    def session(self, spark: SparkSession) -> SparkSession:
        spark = spark.newSession()
        spark.conf.set("spark.sql.session.timeZone", self.zone)
        return spark


def spent(
    days: ModuleType, rows: DataFrame, of: Calendar, width: str, within: int = 40
) -> DataFrame:
    since = days.nth_last_business_day("ts", of.n, within, of.holidays, of.weekend)
    by_time = sash.SlidingWindow.partitionBy("account").orderBy("ts")
    window = by_time.range(preceding=F.expr(width)) & by_time.time(f"{within} days")
    return rows.withColumn("since", since).select(
        "id", F.count("*").over(window).alias("payments"), F.sum("cents").over(window)
    )


def answers(rows: list[Any]) -> dict[int, tuple[int, int]]:
    return {row[0]: (row[1], row[2]) for row in rows}


def by_loop(days: ModuleType, rows: list[Any], of: Calendar) -> dict[int, tuple[int, int]]:
    return days.by_loop(
        [days.Payment(*row) for row in rows], of.n, of.holidays, of.zone, of.weekend
    )


SPRING = date(2026, 2, 16)
# in Jerusalem clocks go back on a Sunday, which is a business day there
CALENDARS = [
    ("America/New_York", SPRING, (5, 6), BY_CALENDAR),
    ("America/Santiago", SPRING, (5, 6), BY_CALENDAR),
    ("Asia/Jerusalem", date(2026, 9, 20), (4, 5), IN_SECONDS),
]


def check_batch(
    spark: SparkSession, days: ModuleType, seed: int, case: tuple[str, date, Any, str]
) -> None:
    zone, first, weekend, width = case
    of = Calendar(seed, zone, first, weekend)
    spark = of.session(spark)
    rows = list(of.rows(range(60), 150))
    payments = spark.createDataFrame(rows, SCHEMA).withColumn("ts", F.timestamp_seconds("at"))
    given = spent(days, payments, of, width)
    assert answers(given.collect()) == by_loop(days, rows, of), (seed, case)
    assert "SlidingWindow" in explanation(given)


@pytest.mark.parametrize("case", CALENDARS)
def test_batch(spark, days, case):
    check_batch(spark, days, 1, case)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(10, 40))
def test_batch_over_more_calendars(spark, days, seed):
    for zone, first, weekend, width in CALENDARS:
        check_batch(spark, days, seed, (zone, first, weekend, width))
        check_batch(spark, days, seed, (zone, first, weekend, IN_SECONDS))


def test_an_interval_of_days_is_an_hour_off_where_clocks_change_on_a_business_day(spark, days):
    """The page says so; the width in seconds is not."""
    of = Calendar(1, "Asia/Jerusalem", date(2026, 10, 25), (4, 5))
    of.n, of.holidays = 1, []
    midnight = int(datetime(2026, 10, 25, tzinfo=ZoneInfo(of.zone)).timestamp())
    rows = [(0, "a", midnight, 1), (1, "a", midnight + 12 * 3600, 2)]
    spark = of.session(spark)
    payments = spark.createDataFrame(rows, SCHEMA).withColumn("ts", F.timestamp_seconds("at"))
    right = by_loop(days, rows, of)
    assert right[1] == (2, 3)
    assert answers(spent(days, payments, of, IN_SECONDS).collect()) == right
    assert answers(spent(days, payments, of, BY_CALENDAR).collect())[1] == (1, 2)


DELAY = 3
"""Of the watermark, in days."""


def write(of: Calendar, folder: Path, files: int) -> list[list[tuple[Any, ...]]]:
    """A file for each batch, with rows of its days and of days that are past."""
    folder.mkdir()
    batches = []
    for n in range(files):
        rows = list(of.rows(range(max(0, 8 * n - 16), 8 * n + 8), 40, start=100 * n))
        path = folder / f"{n}.json"
        keys = [column.split()[0] for column in SCHEMA.split(", ")]
        path.write_text("".join(json.dumps(dict(zip(keys, r, strict=True))) + "\n" for r in rows))
        os.utime(path, (1e9 + n, 1e9 + n))
        batches.append(rows)
    return batches


def passed_by(batches: list[list[tuple[Any, ...]]]) -> list[int]:
    """The watermark of each batch."""
    marks = [0]
    for rows in batches:
        marks.append(max(marks[-1], max(at for _, _, at, _ in rows) - DELAY * DAY))
    return marks


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["append", "update"])
@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(2, 8))]
)
def test_a_stream_with_late_rows(streaming, days, tmp_path, mode, seed):
    case = CALENDARS[(seed - 1) % len(CALENDARS)]
    of = Calendar(seed, *case[:3])
    streaming.conf.set("spark.sql.session.timeZone", of.zone)
    streaming.conf.set("spark.sql.streaming.noDataMicroBatches.enabled", "false")
    batches = write(of, tmp_path / "in", files=5)
    marks = passed_by(batches)
    in_time = [
        row
        for n, rows in enumerate(batches)
        for row in rows
        if row[2] > marks[max(0, n - 1)]  # the watermark of the batch before
    ]
    late = sum(map(len, batches)) - len(in_time)
    assert late > 0, "vacuous"
    stream = (
        streaming.readStream.schema(SCHEMA)
        .option("maxFilesPerTrigger", 1)
        .json(str(tmp_path / "in"))
        .withColumn("ts", F.timestamp_seconds("at"))
        .withWatermark("ts", f"{DELAY} days")
    )
    given: list[Any] = []
    query = (
        spent(days, stream, of, case[3], within=40)
        .writeStream.foreachBatch(lambda rows, _: given.extend(rows.collect()))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .outputMode(mode)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    counts = [progress["observedMetrics"]["sash.0"] for progress in query.recentProgress]
    assert sum(count.rowsDropped for count in counts) == late
    right = by_loop(days, in_time, of)
    if mode == "append":
        assert len(given) == len(answers(given))
        passed = {row[0] for row in in_time if row[2] <= marks[len(batches) - 1]}
        right = {key: answer for key, answer in right.items() if key in passed}
    else:
        assert len(given) > len(answers(given)), "no row out of order has changed an answer"
    assert answers(given) == right
    assert right


def test_a_bound_that_is_too_short_and_no_days_are_errors(spark, days):
    of = Calendar(1, "UTC", SPRING)
    spark = of.session(spark)
    payments = spark.sql(
        "SELECT 1 AS id, 'a' AS account, TIMESTAMP '2026-03-02' AS ts, 5 AS cents"
    )
    for n, within, index in [(5, 6, 4), (0, 14, -1), (-3, 14, -4)]:
        of.n, of.holidays = n, []
        query = spent(days, payments, of, BY_CALENDAR, within)
        with pytest.raises(ArrayIndexOutOfBoundsException, match=f"The index {index} is out"):
            query.collect()


def test_a_payment_without_a_time_has_a_window_without_rows(spark, days):
    of = Calendar(1, "UTC", SPRING)
    rows = [(1, "a", None, 5), (2, "a", 0, 7)]
    payments = of.session(spark).createDataFrame(rows, SCHEMA)
    payments = payments.withColumn("ts", F.timestamp_seconds("at"))
    given = spent(days, payments, of, BY_CALENDAR).collect()
    assert answers(given) == {1: (0, None), 2: (1, 7)}
