"""The recipe of an answer when rows leave, on a stream: against plain Python."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from pyspark.sql import SparkSession

import pages
from streaming import to_parquet

START = datetime(2026, 3, 1)
HOUR = timedelta(hours=1)
FAR = START + timedelta(days=9)


class Failed(NamedTuple):
    user: str | None
    at: datetime | None


def drawn(rng: random.Random, n: int) -> list[Failed]:
    """A file of rows, with equal times; some come so late that the watermark has passed them."""
    minutes = [200 * n + 20 * rng.randint(-16, 10) for _ in range(12)]
    times = [rng.choice([None] + 15 * [START + timedelta(minutes=m)]) for m in minutes]
    return [Failed(rng.choice(["a", "b", None]), time) for time in times]


def answers(rows: list[Failed]) -> list[tuple[object, ...]]:
    """The user, the time, the change and the count of each answer."""

    def count(user: object, at: datetime | None) -> int:
        return sum(
            row.user == user
            and (at is None if row.at is None else at is not None and at - HOUR < row.at <= at)
            for row in rows
        )

    came = {(row.user, row.at) for row in rows}
    gone = {(row.user, row.at + HOUR) for row in rows if row.at} - came
    moves = [(*row, "enter") for row in rows] + [(*pair, "leave") for pair in gone]
    return [(*move, count(*move[:2])) for move in moves]


@pytest.mark.slow
def test_the_recipe_on_a_stream(streaming: SparkSession, tmp_path: Path) -> None:
    recipe = pages.path("recipes").read_text("utf-8").partition("## An answer when rows leave")[2]
    code = recipe.split("```sql\n")[2].partition("ORDER BY user, at\n")[0]
    moves, query = code.split(";")
    rng = random.Random(8)  # noqa: S311
    files = [drawn(rng, n) for n in range(6)]
    come = [*files, [Failed("end", FAR)], [Failed("end", FAR + HOUR)]]
    for i, rows in enumerate(come):
        frame = streaming.createDataFrame(rows, "user STRING, at TIMESTAMP").coalesce(1)
        frame.write.mode("append").parquet(str(tmp_path / "in"))
        if i not in (2, 5, 7):  # the stream is started three times
            continue
        stream = streaming.readStream.schema(frame.schema).option("maxFilesPerTrigger", 1)
        failed = stream.parquet(str(tmp_path / "in")).withWatermark("at", "20 minutes")
        failed.createOrReplaceTempView("failed")
        streaming.sql(moves.replace("CREATE", "CREATE OR REPLACE"))
        run = to_parquet(streaming.sql(query), tmp_path, availableNow=True)
        run.awaitTermination()
        operators = {o["operatorName"] for p in run.recentProgress for o in p["stateOperators"]}
        assert operators == {"transformWithStateExec"}
    out = streaming.read.parquet(str(tmp_path / "out")).collect()
    found = [tuple(row) for row in out if row.user != "end"]
    entered = [Failed(*row[:2]) for row in found if row[2] == "enter"]
    all_rows = [row for file in files for row in file if row.at]
    assert len(all_rows) / 2 < len(entered) < len(all_rows)
    assert sorted(found, key=str) == sorted(answers(entered), key=str)
    assert sum(row[2] == "leave" for row in found) > 10
