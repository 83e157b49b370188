"""A stream answers when rows leave as the batch does, also after late rows and restarts."""

from __future__ import annotations

import random
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession

import pages
import sash
from changes_model import Arrival, answers
from streaming import to_parquet
from test_changes import SCHEMA, asked, same
from windows import setting

START = datetime(2026, 3, 1)
SECOND = timedelta(seconds=1)


def drawn(rng: random.Random, files: range) -> list[list[Arrival]]:
    """Files of rows; some come so late that the watermark has passed them."""
    return [
        [
            Arrival(
                100 * n + i,
                rng.choice(["a", "b", None]),
                rng.choice([None] + [START + (10 * n + rng.randint(-45, 10)) * SECOND] * 15),
                rng.choice([None, 1, 2, 3]),
            )
            for i in range(12)
        ]
        for n in files
    ]


def write(spark: SparkSession, folder: Path, files: list[list[Arrival]]) -> None:
    for rows in files:
        made = spark.createDataFrame(rows, SCHEMA).coalesce(1)
        made.write.mode("append").parquet(str(folder / "in"))


def stream(spark: SparkSession, folder: Path, **options: Any) -> DataFrame:
    rows = spark.readStream.schema(SCHEMA).options(**options).parquet(str(folder / "in"))
    return rows.withWatermark("t", "20 seconds")


def run(changes: DataFrame, folder: Path) -> list[dict[str, int]]:
    query = to_parquet(changes, folder, availableNow=True)
    query.awaitTermination()
    for progress in query.recentProgress:
        operators = [operator["operatorName"] for operator in progress["stateOperators"]]
        assert operators == ["transformWithStateExec"]
    return [p["observedMetrics"]["sash.0"].asDict() for p in query.recentProgress]


def end(at: datetime) -> list[Arrival]:
    return [Arrival(-1, "end", at, None)]


@pytest.mark.parametrize(
    ("seed", "window", "closed"),
    [
        (1, 30, "right"),
        pytest.param(2, 7, "right", marks=pytest.mark.slow),
        pytest.param(3, 90, "both", marks=pytest.mark.slow),
        *(
            pytest.param(seed, window, closed, marks=pytest.mark.thorough)
            for seed in range(10, 20)
            for window, closed in ((1, "both"), (25, "right"))
        ),
    ],
)
def test_a_stream_is_the_batch_over_the_rows_in_time(
    streaming: SparkSession, tmp_path: Path, seed: int, window: int, closed: Any
) -> None:
    rng = random.Random(seed)  # noqa: S311
    files = drawn(rng, range(5 if seed == 1 else 9))
    far = START + timedelta(days=1)
    dropped = 0
    for some in (files[:3], files[3:], [end(far), end(far + SECOND)]):
        write(streaming, tmp_path, some)
        changes = asked(
            stream(streaming, tmp_path, maxFilesPerTrigger=1), f"{window} seconds", closed=closed
        )
        dropped += sum(batch["rowsDropped"] for batch in run(changes, tmp_path))
    found = streaming.read.parquet(str(tmp_path / "out")).collect()
    entered = {row.id for row in found if row.change == "enter"}
    rows = [row for file in files for row in file]
    in_time = [row for row in rows if row.id in entered]
    late = [row for row in rows if row.t is not None and row.id not in entered]
    assert 0 < len(late) <= dropped
    assert len(in_time) > len(rows) / 2

    def leaves(at: datetime) -> datetime:
        return at + window * SECOND + timedelta(microseconds=closed == "both")

    expected = answers(in_time, leaves)
    same(found, expected)
    table = streaming.createDataFrame(in_time, SCHEMA)
    same(asked(table, timedelta(seconds=window), closed=closed), expected)


@pytest.mark.slow
def test_a_stream_that_begins_with_a_table(streaming: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(5)  # noqa: S311
    rows = [
        Arrival(i, rng.choice("ab"), START + 4 * i * SECOND, rng.choice([None, 1, 2]))
        for i in range(60)
    ]
    until = START + 100 * SECOND
    table = streaming.createDataFrame([row for row in rows if row.t <= until], SCHEMA)
    live = [row for row in rows if row.t > until]

    def begun(rows: DataFrame) -> DataFrame:
        return asked(sash.warm_start(rows, table, by="t", until=until), "30 seconds")

    for some in (live[:15], live[15:], end(START + timedelta(days=1))):
        write(streaming, tmp_path, [some])
        run(begun(stream(streaming, tmp_path)), tmp_path)
    expected = answers(rows, lambda at: at + 30 * SECOND)
    same(streaming.read.parquet(str(tmp_path / "out")), [a for a in expected if a[2] > until])
    batch = begun(streaming.createDataFrame(live, SCHEMA))
    same(batch, expected)


def test_what_a_stream_refuses(streaming: SparkSession, tmp_path: Path) -> None:
    write(streaming, tmp_path, [end(START)])
    changes = asked(stream(streaming, tmp_path), "30 seconds")
    writer = changes.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "c"))
    with pytest.raises(AnalysisException, match="rows have left their windows; write in append"):
        writer.outputMode("update").start()
    with (
        setting(streaming, "spark.sash.stream.keyTimeToLive", "30s"),
        pytest.raises(AnalysisException, match="before its rows have left; unset it"),
    ):
        writer.outputMode("append").start()
    plain = streaming.readStream.schema(SCHEMA).parquet(str(tmp_path / "in"))
    with pytest.raises(AnalysisException, match="call withWatermark on the event time"):
        asked(plain, "30 seconds")


@pytest.mark.parametrize(
    ("window", "closed"), [(4, "right"), (30, "right"), (10, "both")], ids=str
)
def test_another_length_needs_the_past(
    streaming: SparkSession, tmp_path: Path, window: int, closed: Any
) -> None:
    # a row is answered, and waits in the state to leave at the time of the earlier length
    write(streaming, tmp_path, [[Arrival(1, "a", START, 1)], end(START + 25 * SECOND)])
    first = asked(stream(streaming, tmp_path), "10 seconds")
    run(first, tmp_path)
    write(streaming, tmp_path, [end(START + timedelta(days=1))])
    other = asked(stream(streaming, tmp_path), f"{window} seconds", closed=closed)
    with pytest.raises(PySparkException, match="rows of the past"):
        run(other, tmp_path)
    run(first, tmp_path)
    found = streaming.read.parquet(str(tmp_path / "out")).where("k = 'a'").collect()
    assert sorted((row.t, row.change, row.n) for row in found) == [
        (START, "enter", 1),
        (START + 10 * SECOND, "leave", 0),
    ]


@pytest.mark.slow
def test_the_sql_of_the_page_on_a_stream(streaming: SparkSession, tmp_path: Path) -> None:
    """It is the last statement of docs/when-rows-leave.md."""
    text = pages.path("when-rows-leave").read_text(encoding="utf-8")
    *_, (_, code) = re.findall(r"```(sql)\n(.*?)```\n", text, re.DOTALL)
    moves, query = code.partition("ORDER BY user, at\n")[0].split(";")
    rng = random.Random(8)  # noqa: S311
    far = START + timedelta(days=1)
    for more in [*drawn(rng, range(0, 60, 10)), end(far), end(far + SECOND)]:
        spread = [row._replace(t=row.t and START + (row.t - START) * 20) for row in more]
        write(streaming, tmp_path, [spread])
    failed = stream(streaming, tmp_path, maxFilesPerTrigger=1).withColumnsRenamed(
        {"k": "user", "t": "at"}
    )
    failed.createOrReplaceTempView("failed")
    streaming.sql(moves)
    run(streaming.sql(query), tmp_path / "sql")
    ours = asked(stream(streaming, tmp_path, maxFilesPerTrigger=1), "1 hour")
    run(ours.select("k", "t", "change", "n"), tmp_path / "python")
    by_sql, by_python = (
        streaming.read.parquet(str(tmp_path / name / "out")) for name in ("sql", "python")
    )
    same(by_sql, by_python.collect())
    assert {row.change for row in by_sql.collect()} == {"enter", "leave"}
    assert by_python.count() > 20
