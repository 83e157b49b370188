"""Streams that begin with a table, fail, start again, forget keys and keep late rows at once."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from restarts import LAST, SCHEMA, START, Restarts, Row, drawn

KEYS = [("k",), ("s",), ("k", "s")]
"""Of operators that stand in one query."""
CALLS = [
    ("sum(x)", " ORDER BY ts RANGE INTERVAL {} SECONDS PRECEDING)"),
    ("median(x)", " ORDER BY ts RANGE INTERVAL {} SECONDS PRECEDING)"),
    ("count(DISTINCT x)", " ORDER BY ts ROWS {} PRECEDING)"),
    ("collect_list(id)", " ORDER BY ts ROWS BETWEEN {} PRECEDING AND 2 PRECEDING)"),
    (
        "sum(x)",
        " ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL {} SECONDS PRECEDING)",
    ),
    ("lag(x, 2)", " ORDER BY ts)"),
    ("row_number()", " ORDER BY ts)"),
    ("count(*)", ", gap_window(INTERVAL {} SECONDS) ORDER BY ts)"),
    ("max(x)", ", window_and(count_window({}), gap_window(INTERVAL 4 SECONDS)) ORDER BY ts)"),
]
FEATURES = {
    "sum_10": (lambda: F.sum("x"), "10 seconds"),
    "max_40": (lambda: F.max("x"), "40 seconds"),
    "distinct_25": (lambda: F.count_distinct("x"), "25 seconds"),
    "median_40": (lambda: F.median("x"), "40 seconds"),
    "ever": (lambda: F.sum("id"), None),
}


class Over:
    """Windows over several keys, hence several operators."""

    def __init__(self, rng: random.Random) -> None:
        self.calls = {
            keys: [(call, rest.format(rng.choice([4, 9, 25]))) for call, rest in some]
            for keys in KEYS[: rng.choice([1, 2, 3])]
            for some in [rng.sample(CALLS, 2)]
        }

    def __call__(self, rows: DataFrame, live: int | None = None) -> DataFrame:
        columns = []
        for keys, calls in self.calls.items():
            part = [] if live is None else [f"part_{'_'.join(keys)}"]
            rows = rows if live is None else divided(rows, live, *keys)
            by = ", ".join([*keys, *part])
            columns += [f"{call} OVER (PARTITION BY {by}{rest}" for call, rest in calls]
        return rows.selectExpr("id", "ts", *(f"{c} AS a{i}" for i, c in enumerate(columns)))


class Labels:
    """Features of every third row, of the other rows of its key."""

    def __init__(self, rng: random.Random) -> None:
        self.names = rng.sample(list(FEATURES), 3)

    def __call__(self, rows: DataFrame, live: int | None = None) -> DataFrame:
        rows = rows if live is None else divided(rows, live, "k")
        on = ["k"] if live is None else ["k", "part_k"]
        features = {name: (FEATURES[name][0](), FEATURES[name][1]) for name in self.names}
        labels = rows.where("id % 3 = 0").select("id", "ts", *on)
        events = rows.where("id % 3 <> 0").select(F.col("id"), "ts", "x", *on)
        answers = sash.window_join(labels, events, on=on, by="ts", **features)
        return answers.select("id", "ts", *self.names)


class OverHops:
    """Windows over the answers of hop windows."""

    def __init__(self, rng: random.Random) -> None:
        self.size = rng.choice([10, 20, 30])
        self.call = rng.choice(["row_number()", "lag(a)", "sum(a)"])

    def __call__(self, rows: DataFrame, live: int | None = None) -> DataFrame:
        hops = rows.groupBy("k", F.window("ts", f"{self.size} seconds", "5 seconds"))
        sums = hops.agg(F.sum("x").alias("a")).selectExpr("k", "a", "window_time(window) AS ts")
        over = f"{self.call} OVER (PARTITION BY k ORDER BY ts) AS b"
        return sums.selectExpr("concat_ws(' ', k, ts) AS id", "ts", "a", over)


def divided(rows: DataFrame, live: int, *keys: str) -> DataFrame:
    """The rows with a number that grows where a key pauses for more than its time to live."""
    by, part = ", ".join(keys), f"part_{'_'.join(keys)}"
    pause = f"ts > lag(ts) OVER (PARTITION BY {by} ORDER BY ts) + INTERVAL {live} SECONDS"
    paused = rows.withColumn("paused", F.expr(f"int(coalesce({pause}, false))"))
    running = f"sum(paused) OVER (PARTITION BY {by} ORDER BY ts)"
    return paused.withColumn(part, F.expr(running)).drop("paused")


def check(
    spark: SparkSession, folder: Path, query: Any, rng: random.Random, live: int | None
) -> None:
    """Each row is answered once, as the query of its time answers it in batch."""
    settings = {} if live is None else {"spark.sash.stream.keyTimeToLive": f"{live}s"}
    if rng.random() < 0.4:
        settings["spark.sash.stream.lateRowsPath"] = str(folder / "late")
    stream = Restarts(spark, folder, settings)
    files = drawn(rng, 8)
    table = [row for file in files for row in file]
    frame = spark.createDataFrame(table, SCHEMA)
    come, begun = 0, datetime.min
    if rng.random() < 0.5:
        come = 2
        begun = stream.until = max(row[3] for row in files[0] + files[1])
        for file in files[:2]:  # they are in the table, too
            stream.come(file)
    expected = {row[0]: tuple(row) for row in query(frame, live).collect()}
    answered: dict[Any, tuple[Any, ...]] = {}
    for step in range(4):
        more = 8 if step == 3 else come + rng.choice([0, 1, 2])
        for file in files[come:more]:
            stream.come(file)
        come = max(come, more)
        if step == 3:
            stream.come([(-1, 0, "a", LAST, 1)])
        for row in stream.run(query, table, fails=rng.random() < 0.3):
            assert row[0] not in answered, "answered twice"
            answered[row[0]] = row
            assert row == expected[row[0]], f"step {step}"
    assert answered.keys() == {row[0] for row in expected.values() if row[1] > begun}


KINDS: list[Callable[[random.Random], Any]] = [Over, Labels, OverHops]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        pytest.param(
            kind, seed, marks=[] if seed == 1 and kind is not Over else [pytest.mark.thorough]
        )
        for kind in KINDS
        for seed in range(1, 9)
    ],
)
def test_each_row_is_answered_once_as_in_batch(
    streaming: SparkSession, tmp_path: Path, kind: Callable[[random.Random], Any], seed: int
) -> None:
    rng = random.Random(seed)  # noqa: S311
    live = None if kind is OverHops else rng.choice([None, 9, 30])
    check(streaming, tmp_path, kind(rng), rng, live)


@pytest.mark.slow
def test_a_batch_fails_where_each_attempt_has_a_state_of_its_own(
    streaming: SparkSession, tmp_path: Path
) -> None:
    setting = "spark.sql.streaming.stateStore.checkpointFormatVersion"
    stream = Restarts(streaming, tmp_path, {setting: "2"})
    table: list[Row] = [(i, i % 2, "a", START + timedelta(seconds=i), i % 5) for i in range(60)]

    def query(rows: DataFrame) -> DataFrame:
        over = "OVER (PARTITION BY k ORDER BY ts ROWS 9 PRECEDING)"
        return rows.selectExpr("id", "ts", f"sum(x) {over} AS total", f"median(x) {over}")

    for some, fails in ((table[:30], False), (table[30:40], True), (table[40:], True)):
        stream.come(some)
        stream.run(query, table, fails)
    batch = {
        row.id: tuple(row) for row in query(streaming.createDataFrame(table, SCHEMA)).collect()
    }
    assert stream.answers == [batch[row[0]] for row in stream.answers]
    assert sorted(row[0] for row in stream.answers) == list(range(50))
