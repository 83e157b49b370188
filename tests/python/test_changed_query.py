"""A stream whose query changes on one checkpoint, and which is killed in between."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from killed_labels import LABELS, START, drawn, read
from killed_versions import features
from kills import KILLS, SEED, Killed, answers_once, in_utc
from test_label_kills import FILES_A_KILL, end, save


@pytest.mark.slow
def test_versions_of_a_query_that_are_killed_answer_each_row_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    rng = random.Random(SEED)  # noqa: S311
    print(f"SASH_TEST_SEED={SEED} SASH_TEST_KILLS={KILLS}")
    kills = max(1, KILLS // 3)  # of each version
    hours = 3 * kills * FILES_A_KILL
    rows = {hour: list(drawn(rng, hour, 2, 60)) for hour in range(hours)}
    killed = Killed(Path(__file__).with_name("killed_versions.py"), tmp_path, rng)
    arguments: list[str] = []
    for version in ("1", "2", "3"):
        arguments = [version]
        if version == "3":
            # a batch that has run, and is not committed, is the earlier query's
            killed.finish("2")
            # all rows until the last file, for some an hour more
            until = str(START + timedelta(hours=hours * 2 // 3))
            past = [row for of in rows.values() for row in of if str(row["ts"]) <= until]
            save(tmp_path / "past", 0, past)
            arguments += [until]
        for first in range(0, hours // 3, FILES_A_KILL):
            at = (int(version) - 1) * hours // 3 + first
            for hour in range(at, at + FILES_A_KILL):
                save(tmp_path / "labels", hour, rows[hour])
            killed.run_and_kill(*arguments)
    end(tmp_path, hours)
    killed.finish(*arguments)

    session = in_utc(spark)
    ours = answers_once(session, tmp_path)
    live = read(session, tmp_path / "labels", LABELS, stream=False).where("lab <> -1").cache()
    assert ours.keys() == {row.lab for row in live.select("lab").collect()}
    for version in ("1", "2", "3"):
        of = {lab: tuple(row) for lab, row in ours.items() if row.version == version}
        batch = features(live, version).where(F.col("lab").isin(list(of)))
        assert of == {row.lab: tuple(row) for row in batch.collect()}, version
        print(f"version {version}: {len(of)} rows")
    assert {row.version for row in ours.values()} >= {"1", "3"}
