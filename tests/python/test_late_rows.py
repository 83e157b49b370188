"""The late rows of a stream go to a folder, each once."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from killed_labels import EVENTS, LABELS, read
from killed_late import drawn, over
from kills import KILLS, SEED, Killed, in_utc
from streaming import to_parquet
from test_label_kills import FILES_A_KILL, ROWS, end, save

SETTING = "spark.sash.stream.lateRowsPath"
SCHEMA = "lab BIGINT, user STRING, ts TIMESTAMP, more STRING"
START = datetime(2026, 3, 1)
KINDS = ["over", "hops", "labels"]


def at(lab: int, minute: int) -> tuple[int, str, datetime, str]:
    return lab, "a", START + timedelta(minutes=minute), f"row {lab}"


def run(
    spark: SparkSession,
    folder: Path,
    rows: list[tuple[int, str, datetime, str]],
    of: Callable[[DataFrame], DataFrame] = over,
) -> None:
    arrived = spark.createDataFrame(rows, SCHEMA).coalesce(1)
    arrived.write.mode("append").parquet(str(folder / "in"))
    stream = spark.readStream.schema(SCHEMA).parquet(str(folder / "in"))
    answers = of(stream.withWatermark("ts", "10 minutes"))
    to_parquet(answers, folder, availableNow=True).awaitTermination()


def with_late_rows(spark: SparkSession, folder: Path) -> DataFrame:
    """The late rows of a stream that answers others."""
    spark.conf.set(SETTING, str(folder / "late"))
    try:
        run(spark, folder, [at(1, 0), at(2, 60)])
        run(spark, folder, [at(3, 5), at(4, 120)])
    finally:
        spark.conf.unset(SETTING)
    return spark.read.parquet(str(folder / "late"))


@pytest.mark.slow
def test_late_rows_are_kept_with_all_columns(streaming: SparkSession, tmp_path: Path) -> None:
    late = with_late_rows(streaming, tmp_path)
    assert late.columns == ["query", "watermark", "row", "operator", "batch"]
    row = late.select("row.*").collect()
    assert [tuple(r) for r in row] == [at(3, 5)]
    # merged later: the batch query over all rows answers the late row, too
    answered = streaming.read.parquet(str(tmp_path / "out"))
    assert sorted(r.lab for r in answered.collect()) == [1, 2]
    everything = streaming.read.schema(SCHEMA).parquet(str(tmp_path / "in"))
    assert over(everything).where("lab = 3").collect() != []


def counted(rows: DataFrame) -> DataFrame:
    window = sash.SlidingWindow.partitionBy("user").orderBy("ts").time("2 hours")
    return rows.select("lab", F.count("*").over(window).alias("n"))


@pytest.mark.slow
def test_a_late_row_counts_in_later_windows(streaming: SparkSession, tmp_path: Path) -> None:
    settings = {SETTING: str(tmp_path / "late"), "spark.sash.stream.lateRows": "count"}
    for key, value in settings.items():
        streaming.conf.set(key, value)
    try:
        run(streaming, tmp_path, [at(1, 0), at(2, 60)], counted)
        run(streaming, tmp_path, [at(3, 5), at(4, 90)], counted)
    finally:
        for key in settings:
            streaming.conf.unset(key)
    answers = streaming.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(tuple(row) for row in answers) == [(1, 1), (2, 3)]
    late = streaming.read.parquet(str(tmp_path / "late")).select("row.lab").collect()
    assert [row.lab for row in late] == [3], "it has no answer"


def test_a_column_that_parquet_cannot_hold_is_refused(
    streaming: SparkSession, tmp_path: Path
) -> None:
    rows = streaming.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
    odd = rows.withColumn("i", F.make_interval(F.lit(1)))
    streaming.conf.set(SETTING, str(tmp_path / "late"))
    try:
        with pytest.raises(AnalysisException, match=r"column i of type INTERVAL.*cast it"):
            to_parquet(
                odd.selectExpr("count(*) OVER (ORDER BY timestamp ROWS 3 PRECEDING)"), tmp_path
            )
    finally:
        streaming.conf.unset(SETTING)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS if KILLS > 2 else [KINDS[SEED % len(KINDS)]])
def test_a_stream_that_is_killed_keeps_each_late_row_once(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    rng = random.Random(SEED)  # noqa: S311
    print(f"SASH_TEST_SEED={SEED} SASH_TEST_KILLS={KILLS}: {kind}")
    files = (KILLS if KILLS > 2 else 1) * FILES_A_KILL
    killed = Killed(Path(__file__).with_name("killed_late.py"), tmp_path, rng)
    for first in range(0, files, FILES_A_KILL):
        for hour in range(first, first + FILES_A_KILL):
            for name, count in ROWS.items():
                save(tmp_path / name, hour, drawn(rng, hour, count))
        killed.run_and_kill(kind)
    end(tmp_path, files)
    killed.finish(kind)

    session = in_utc(spark)
    late = session.read.parquet(str(tmp_path / "late"))
    if kind == "labels":
        events = late.where("row.source = 0").select("row.amount")
        assert events.count() < read(session, tmp_path / "events", EVENTS, stream=False).count()
        late = late.where("row.source = -1")
    dropped = [row.lab for row in late.select("row.lab").collect()]
    out = session.read.parquet(str(tmp_path / "out")).select("lab").collect()
    answered = {row.lab for row in out}
    rows = read(session, tmp_path / "labels", LABELS, stream=False)
    labels = {row.lab for row in rows.where("lab >= 0").collect()}
    print(f"{len(dropped)} of {len(labels)} rows are late")
    assert len(dropped) == len(set(dropped)) > 0, "kept twice, or never"
    assert not answered & set(dropped), "answered and late"
    assert (answered | set(dropped)) - {-1} == labels, "rows are lost"
