"""What has an account spent in its last five business days?

    spark-submit --jars $(python -m sash jar) examples/business_days.py

Weekends and holidays are no business days, so a window is longer over them, and it holds the
payments of these days, too. Each payment computes by Spark's functions the day on which its
window begins. The window is the payment's own width, within a bound of 14 days. So it runs on a
stream as well, whose state holds the payments of the bound.

Seen are the payments around a holiday. All answers of the batch and of the stream are computed
again by a loop in plain Python.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Collection, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from helpers.replay import keep_state, read_stream, run, write_arrivals
from helpers.session import options, session
from helpers.timing import step

ZONE = "America/New_York"
BUSINESS_DAYS, WITHIN = 5, 14
HOLIDAYS = [date(2026, 1, 1), date(2026, 1, 19), date(2026, 2, 16), date(2026, 4, 3)]
WEEKEND = (5, 6)


class Payment(NamedTuple):
    """A payment; ``at`` is its time, in seconds since 1970."""

    id: int
    account: str
    at: int
    cents: int


def nth_last_business_day(
    ts: str,
    n: int,
    within: int,
    holidays: Collection[date],
    weekend: Collection[int] = WEEKEND,
) -> Column:
    """The day of ``ts`` is the first one, if it is a business day. All are within ``within``."""
    today = F.to_date(ts)
    days = F.sequence(today, F.date_sub(today, within - 1), F.expr("INTERVAL -1 DAY"))
    return F.filter(
        days, lambda day: ~F.weekday(day).isin(list(weekend)) & ~day.isin(list(holidays))
    )[n - 1]


def spent(payments: DataFrame) -> DataFrame:
    """The same function for the table and the stream."""
    since = nth_last_business_day("ts", BUSINESS_DAYS, WITHIN, HOLIDAYS)
    by_time = sash.SlidingWindow.partitionBy("account").orderBy("ts")
    last_days = by_time.range(preceding=F.expr("ts - since")) & by_time.time(f"{WITHIN} days")
    return payments.withColumn("since", since).select(
        "id",
        "account",
        "ts",
        "since",
        F.count("*").over(last_days).alias("payments"),
        F.sum("cents").over(last_days).alias("spent"),
    )


def first_day(
    day: date, n: int, holidays: Collection[date], weekend: Collection[int] = WEEKEND
) -> date:
    """The n-th last business day, day by day."""
    while True:
        n -= day.weekday() not in weekend and day not in holidays
        if n == 0:
            return day
        day -= timedelta(days=1)


def by_loop(
    payments: Sequence[Payment],
    n: int,
    holidays: Collection[date],
    zone: str,
    weekend: Collection[int] = WEEKEND,
) -> dict[int, tuple[int, int]]:
    """For each payment, the number and the sum of the payments in its window."""
    answers = {}
    for payment in payments:
        day = datetime.fromtimestamp(payment.at, ZoneInfo(zone)).date()
        begin = datetime.combine(first_day(day, n, holidays, weekend), time(), ZoneInfo(zone))
        window = [
            other.cents
            for other in payments
            if other.account == payment.account and begin.timestamp() <= other.at <= payment.at
        ]
        answers[payment.id] = len(window), sum(window)
    return answers


def made_up_payments(number: int, seed: int = 2026) -> list[Payment]:
    """Payments of the first months of 2026, at any hour of any day."""
    random = np.random.default_rng(seed)
    first = int(datetime(2026, 1, 5, tzinfo=ZoneInfo(ZONE)).timestamp())
    minutes = np.sort(random.integers(60 * 24 * 100, size=number))
    return [
        Payment(
            i, f"account {random.integers(4)}", first + 60 * int(m), int(random.integers(1e4))
        )
        for i, m in enumerate(minutes)
    ]


def of_stream(spark: SparkSession, payments: Sequence[Payment], folder: Path) -> DataFrame:
    """The answers of a stream to which payments come up to a day and a half after others."""
    rows = pd.DataFrame(payments)
    delays = np.random.default_rng(1).integers(36 * 3600, size=len(rows))
    write_arrivals(spark, rows, rows["at"] + delays, 5, folder / "in")
    stream = read_stream(spark, folder / "in").withColumn("ts", F.timestamp_seconds("at"))
    out = str(folder / "out")
    writer = spent(stream.withWatermark("ts", "2 days")).writeStream.format("parquet")
    run(writer.option("path", out), folder / "checkpoint")
    return spark.read.parquet(out)


def agree(answers: DataFrame, expected: dict[int, tuple[int, int]]) -> int:
    """The number of answers; each of them has to be as expected."""
    rows = answers.collect()
    for row in rows:
        assert (row.payments, row.spent) == expected[row.id], row
    return len(rows)


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Answer in batch and on a stream, check, show."""
    parser = options(__doc__)
    parser.add_argument("--payments", type=int, default=1_000, help="how many to make up")
    given = parser.parse_args(arguments)

    made = made_up_payments(given.payments)
    expected = by_loop(made, BUSINESS_DAYS, HOLIDAYS, ZONE)
    payments = spark.createDataFrame(made).withColumn("ts", F.timestamp_seconds("at"))
    with step(f"{len(made):,} payments as a table"):
        answers = spent(payments).cache()
        assert agree(answers, expected) == len(made)
    keep_state(spark)
    with step("The same payments as a stream"), tempfile.TemporaryDirectory() as folder:
        streamed = agree(of_stream(spark, made, Path(folder)), expected)
    print(f"{len(made):,} and {streamed:,} answers agree with a loop in Python.\n")
    around = answers.where("account = 'account 0' AND ts >= '2026-04-01' AND ts < '2026-04-09'")
    around.orderBy("ts").withColumn("ts", F.date_format("ts", "E d MMM HH:mm")).show()


if __name__ == "__main__":
    main(session("business_days", ZONE), sys.argv[1:])
