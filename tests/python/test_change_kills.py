"""A stream that is killed again and again answers once when rows come and when they leave."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from killed_changes import changes
from killed_labels import LABELS, read
from killed_late import drawn
from kills import in_utc
from test_label_kills import END, ROWS, run_killed, save

pytestmark = pytest.mark.slow


def write(folder: Path, rng: random.Random, hours: range) -> None:
    for hour in hours:
        save(folder / "labels", hour, drawn(rng, hour, ROWS["labels"]))


def test_a_stream_of_changes_that_is_killed_answers_each_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    run_killed("killed_changes.py", tmp_path, write)

    session = in_utc(spark)
    late = session.read.parquet(str(tmp_path / "late")).select("row.*").where("after = 0")
    dropped = [row.lab for row in late.collect()]
    rows = read(session, tmp_path / "labels", LABELS, stream=False).where(f"lab <> {END}")
    in_time = rows.where(~rows.lab.isin(dropped))
    ours = sorted(map(str, session.read.parquet(str(tmp_path / "out")).collect()))
    assert ours == sorted(map(str, changes(in_time).collect()))
    print(f"{len(dropped)} of {rows.count()} rows are late, {len(ours)} answers")
    assert 0 < len(dropped) < rows.count() / 2
    assert sum("change='leave'" in row for row in ours) > 10
