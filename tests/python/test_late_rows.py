"""The late rows of a stream go to a folder, each once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from killed_labels import EVENTS, LABELS, read
from killed_late import counted, drawn, over
from killed_together import BATCHES_A_RUN, lives_of
from kills import in_utc, last_batch
from streaming import to_parquet
from test_label_kills import ROWS, end, save

SETTING = "spark.sash.stream.lateRowsPath"
SCHEMA = "lab BIGINT, user STRING, ts TIMESTAMP, more STRING"
START = datetime(2026, 3, 1)
KINDS = ["over", "hops", "labels", "counted"]


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


def of_two_hours(rows: DataFrame) -> DataFrame:
    window = sash.SlidingWindow.partitionBy("user").orderBy("ts").time("2 hours")
    return rows.select("lab", F.count("*").over(window).alias("n"))


@pytest.mark.slow
def test_a_late_row_counts_in_later_windows(streaming: SparkSession, tmp_path: Path) -> None:
    settings = {SETTING: str(tmp_path / "late"), "spark.sash.stream.lateRows": "count"}
    for key, value in settings.items():
        streaming.conf.set(key, value)
    try:
        run(streaming, tmp_path, [at(1, 0), at(2, 60)], of_two_hours)
        run(streaming, tmp_path, [at(3, 5), at(4, 90)], of_two_hours)
    finally:
        for key in settings:
            streaming.conf.unset(key)
    answers = streaming.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(tuple(row) for row in answers) == [(1, 1), (2, 3)]
    late = streaming.read.parquet(str(tmp_path / "late")).select("row.lab").collect()
    assert [row.lab for row in late] == [3], "it has no answer"


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
        check_counted(in_utc(spark), folder / "counted")


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


def lines_of_batches(folder: Path) -> Iterator[list[str]]:
    """The lines of each batch.

    Mostly a batch has one file. It has two if the stream was killed when the source had noted a
    file, and the query had not planned its batch.
    """
    files = sorted((folder / "labels").glob("*.json"))
    first = 0
    for number in range(last_batch(folder, "offsets") + 1):
        planned = (folder / "checkpoint" / "offsets" / str(number)).read_text()
        end = json.loads(planned.splitlines()[-1])["logOffset"] + 1
        yield [line for file in files[first:end] for line in file.read_text().splitlines()]
        first = end
    assert first == len(files), "rows were not read"


def check_counted(session: SparkSession, folder: Path) -> None:
    """Each answer is the batch query's over the rows that had come, by batches."""
    of_batch = [[json.loads(line) for line in lines] for lines in lines_of_batches(folder)]
    passed = [datetime.min]  # by the watermark, in each batch and in the one behind
    for of in of_batch:
        times = [datetime.fromisoformat(row["ts"]) - timedelta(hours=1) for row in of]
        passed.append(max([passed[-1], *times]))
    rows = []
    for number, of in enumerate(of_batch):
        for row in of:
            time = datetime.fromisoformat(row["ts"])
            answered = next(
                (i for i in range(number, len(passed)) if time <= passed[i]), len(passed)
            )
            rows.append((row["user"], time, row["lab"], number, answered))
    come = session.createDataFrame(
        rows, "user string, ts timestamp, lab long, number int, answered int"
    )
    at_each = come.withColumn("until", F.explode(F.expr(f"sequence(number, {len(passed)})")))
    batch = counted(at_each, "until").join(come.select("lab", "answered"), "lab")
    expected = batch.where("until = answered").drop("until", "answered").collect()
    ours = session.read.parquet(str(folder / "out")).collect()
    answers = {row.lab: tuple(row) for row in ours}
    assert answers == {row.lab: tuple(row) for row in expected if row.lab in answers}
