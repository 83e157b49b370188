"""A stream that begins with a table answers what the batch query answers after it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pyspark.errors import PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import sash
from killed_history import UNTIL as BORDER
from killed_history import features
from killed_labels import EVENTS, LABELS, drawn, read
from killed_together import BATCHES_A_RUN, lives_of
from kills import in_utc
from streaming import to_parquet
from test_label_kills import end
from test_label_kills import save as save_hour

SCHEMA = "id BIGINT, k INT, ts TIMESTAMP, x INT"
START = datetime(2026, 3, 1)
UNTIL = START + timedelta(minutes=10)
KINDS = ["over", "labels", "hops"]
"""Of streams that are killed together."""


def events(spark: SparkSession) -> DataFrame:
    rng = random.Random(7)  # noqa: S311
    rows = [
        (i, rng.choice([None, 0, 1]), START + timedelta(seconds=3 * i), rng.choice([None, 1, 5]))
        for i in range(400)
    ]
    return spark.createDataFrame(rows, SCHEMA)


def over(rows: DataFrame) -> DataFrame:
    of_time = "count(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 2 MINUTES PRECEDING)"
    last = Window.partitionBy("k").orderBy("ts").rowsBetween(-9, 0)
    return rows.select("id", "ts", F.sum("x").over(last), F.expr(of_time))


def session(rows: DataFrame) -> DataFrame:
    gap = sash.SlidingWindow.partitionBy("k").orderBy("ts").session("10 seconds")
    return rows.select("id", "ts", F.count("*").over(gap))


def joined(rows: DataFrame) -> DataFrame:
    labels = rows.where("k = 0").select("id", "k", "ts")
    spent = (F.sum("x"), "3 minutes")
    return sash.window_join(labels, rows.select("k", "ts", "x"), on="k", by="ts", a=spent).drop(
        "k"
    )


def hops(rows: DataFrame) -> DataFrame:
    window = F.window("ts", "4 minutes", "30 seconds")
    return rows.groupBy("k", window).agg(F.sum("x")).select("k", "window.end", "sum(x)")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("of", "time"),
    [
        (over, "ts"),
        pytest.param(session, "ts", marks=pytest.mark.thorough),
        pytest.param(joined, "ts", marks=pytest.mark.thorough),
        (hops, "end"),
    ],
)
def test_a_stream_goes_on_from_a_table(
    streaming: SparkSession,
    tmp_path: Path,
    of: Callable[[DataFrame], DataFrame],
    time: str,
) -> None:
    past, live = tmp_path / "past", tmp_path / "in"
    rows = events(streaming)
    rows.where(F.col("ts") <= UNTIL).withColumn("more", F.lit(1)).write.parquet(str(past))

    def begin() -> None:
        stream = streaming.readStream.schema(SCHEMA).parquet(str(live))
        stream = stream.withWatermark("ts", "20 seconds")
        table = streaming.read.parquet(str(past))
        begun = sash.warm_start(stream, table, by="ts", until=UNTIL)
        to_parquet(of(begun), tmp_path, availableNow=True).awaitTermination()

    for ids in ("id BETWEEN 150 AND 260", "id > 260"):  # the first ones are in the table, too
        rows.where(ids).coalesce(1).write.mode("append").parquet(str(live))
        begin()
    late = START + timedelta(seconds=3 * 399 - 20)
    expected = of(rows).where((F.col(time) > UNTIL) & (F.col(time) <= late)).collect()
    assert sorted(map(str, streaming.read.parquet(str(tmp_path / "out")).collect())) == sorted(
        map(str, expected)
    )
    without = of(rows.where(F.col("ts") > UNTIL)).where(F.col(time) <= late).collect()
    assert sorted(map(str, without)) != sorted(map(str, expected))


def test_in_batch_it_is_the_union(spark: SparkSession) -> None:
    rows = events(spark)
    begun = sash.warm_start(rows, rows.withColumn("more", F.lit(1)), by="ts", until=str(UNTIL))
    assert begun.count() == rows.count()
    assert begun.columns == rows.columns


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({"by": "tss"}, PySparkValueError, "a column of the stream (id, k, ts, x)"),
        ({"by": "x"}, PySparkValueError, "a TIMESTAMP column of the stream, where it is INT"),
        ({"by": 3}, PySparkTypeError, "the name of a column"),
        ({"until": 3}, PySparkTypeError, "a string as in '2026-03-01 00:00:00'"),
    ],
)
def test_arguments_are_checked(
    spark: SparkSession, given: dict[str, object], error: type[Exception], text: str
) -> None:
    rows = events(spark)
    with pytest.raises(error) as caught:
        sash.warm_start(rows, rows, **{"by": "ts", "until": UNTIL, **given})
    assert text in str(caught.value)


def test_a_stream_is_no_history(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().withColumnRenamed("timestamp", "ts")
    for rows in (stream, events(spark)):
        with pytest.raises(PySparkValueError, match="`history` should be a table, read without"):
            sash.warm_start(rows, stream, by="ts", until=UNTIL)


def test_the_table_has_the_columns_of_the_stream(spark: SparkSession) -> None:
    rows = events(spark)
    for table, text in (
        (rows.drop("x"), "the stream's column x"),
        (
            rows.withColumn("x", F.col("x").cast("long")),
            "a table whose x is int, as in the stream",
        ),
    ):
        with pytest.raises(PySparkValueError) as caught:
            sash.warm_start(rows, table, by="ts", until=UNTIL)
        assert text in str(caught.value)


def write(folder: Path, rng: random.Random, hours: int) -> None:
    """Write the table, and files of which the first have rows of the table, too."""
    for name in ("labels", "events"):
        rows = {hour: list(drawn(rng, hour, 1, 60)) for hour in range(hours)}
        past = [row for of in rows.values() for row in of if str(row["ts"]) <= str(BORDER)]
        save_hour(folder / f"past_{name}", 0, past)
        for hour in range(3, hours):
            save_hour(folder / name, hour, rows[hour])
    end(folder, hours)


@pytest.mark.slow
def test_streams_that_are_killed_read_the_table_once(spark: SparkSession, tmp_path: Path) -> None:
    program = Path(__file__).with_name("killed_history.py")
    for killed, kills in lives_of(program, tmp_path, *KINDS):
        for kind in KINDS:
            killed.arguments[kind] = [kind]
            write(killed.folder / kind, killed.rng, 3 + BATCHES_A_RUN * (kills + 1))
        for _ in range(kills):
            killed.kill()
        killed.finish(*KINDS)
        for kind in KINDS:
            check(in_utc(spark), killed.folder / kind, kind)


def check(session: SparkSession, folder: Path, kind: str) -> None:
    """The answers behind the table are the batch query's over all rows."""

    def all_rows(name: str, schema: str) -> DataFrame:
        rows = read(session, folder / name, schema, stream=False)
        later = rows.where((F.col("ts") > BORDER) & (F.col("lab") != -1))
        table = read(session, folder / f"past_{name}", schema, stream=False)
        return later.unionByName(table)

    events = all_rows("events", f"{EVENTS}, lab long").drop("lab")
    batch = features(kind, all_rows("labels", LABELS), events).where(F.col("ts") > BORDER)
    answers = session.read.parquet(str(folder / "out")).collect()
    assert Counter(map(tuple, answers)) == Counter(map(tuple, batch.collect()))
    print(f"{kind}: {len(answers)} rows")
