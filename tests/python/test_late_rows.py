"""The late rows of a stream go to a folder, each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from killed_labels import EVENTS, LABELS, read
from killed_late import drawn, over
from killed_together import BATCHES_A_RUN, lives_of
from kills import in_utc
from streaming import to_parquet
from test_label_kills import ROWS, end, save

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
    columns = ["query", "watermark", "missed", "windows", "row", "operator", "batch"]
    assert late.columns == columns
    row = late.select("row.*").collect()
    assert [tuple(r) for r in row] == [at(3, 5)]
    # merged later: the batch query over all rows answers the late row, too
    answered = streaming.read.parquet(str(tmp_path / "out"))
    assert sorted(r.lab for r in answered.collect()) == [1, 2]
    everything = streaming.read.schema(SCHEMA).parquet(str(tmp_path / "in"))
    assert over(everything).where("lab = 3").collect() != []


def hops(rows: DataFrame) -> DataFrame:
    window = F.window("ts", "20 minutes", "10 minutes")
    return rows.groupBy(window).agg(F.sum("lab").alias("labs"))


@pytest.mark.slow
def test_a_row_that_is_late_for_one_of_two_hops_is_kept_once(
    streaming: SparkSession, tmp_path: Path
) -> None:
    streaming.conf.set(SETTING, str(tmp_path / "late"))
    try:
        run(streaming, tmp_path, [at(1, 0), at(2, 60)], hops)
        # the watermark has passed minute 50, where the first window of 45 and of 5 ends
        run(streaming, tmp_path, [at(4, 45), at(8, 5), at(16, 200)], hops)
    finally:
        streaming.conf.unset(SETTING)
    answers = streaming.read.parquet(str(tmp_path / "out")).collect()
    ends = {(row.window.end - START) // timedelta(minutes=1): row.labs for row in answers}
    assert ends == {10: 1, 20: 1, 60: 4, 70: 2, 80: 2}
    late = streaming.read.parquet(str(tmp_path / "late")).select("row.lab", "missed", "windows")
    assert sorted(tuple(row) for row in late.collect()) == [(4, 1, 2), (8, 2, 2)]


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
@pytest.mark.thorough
def test_streams_that_are_killed_keep_each_late_row_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    program = Path(__file__).with_name("killed_late.py")
    for killed, kills in lives_of(program, tmp_path, *KINDS):
        folder = killed.folder
        for kind in KINDS:
            killed.arguments[kind] = [kind]
            files = BATCHES_A_RUN * (kills + 1)
            for hour in range(files):
                for name, count in ROWS.items():
                    save(folder / kind / name, hour, drawn(killed.rng, hour, count))
            end(folder / kind, files)
        for _ in range(kills):
            killed.kill()
        killed.finish(*KINDS)
        for kind in KINDS:
            check_late_rows(in_utc(spark), folder / kind, kind)


def check_late_rows(session: SparkSession, folder: Path, kind: str) -> None:
    """Each row is answered, or kept once."""
    late = session.read.parquet(str(folder / "late"))
    if kind == "labels":
        events = late.where("row.source = 0").select("row.amount")
        assert events.count() < read(session, folder / "events", EVENTS, stream=False).count()
        late = late.where("row.source = -1")
    kept = late.select("row.lab", "missed", "windows").collect()
    dropped = [row.lab for row in kept if row.missed == row.windows]
    out = [row.lab for row in session.read.parquet(str(folder / "out")).collect()]
    rows = read(session, folder / "labels", LABELS, stream=False)
    labels = {row.lab for row in rows.where("lab >= 0").collect()}
    print(f"{kind}: {len(kept)} of {len(labels)} rows are late")
    assert len(kept) == len({row.lab for row in kept}) > 0, "kept twice, or never"
    if kind == "hops":  # a window of each row alone is an answer
        missed = {row.lab: row.missed for row in kept}
        assert any(row.missed < row.windows == 3 for row in kept), "none is partly late"
        answered = Counter(lab for lab in out if lab >= 0)
        assert {lab: answered[lab] + missed.get(lab, 0) for lab in labels} == dict.fromkeys(
            labels, 3
        )
    else:
        assert len(out) == len(set(out)), "answered twice"
        assert all(row.missed is None and row.windows is None for row in kept)
        dropped = [row.lab for row in kept]
    assert not set(out) & set(dropped), "answered and late"
    assert ({*out} | set(dropped)) - {-1} == labels, "rows are lost"
