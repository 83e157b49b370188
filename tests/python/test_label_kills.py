"""A stream of labels and events that is killed again and again answers each label once."""

from __future__ import annotations

import json
import os
import random
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from killed_labels import EVENTS, LABELS, features, read
from kills import KILLS, SEED, Killed

START = datetime(2026, 3, 1)
END = -1
FILES_A_KILL = 4
"""More than a run commits before it is killed."""
ROWS = {"labels": 40, "events": 200}
"""Of a file, which holds an hour."""

pytestmark = pytest.mark.slow


def write(folder: Path, name: str, rng: random.Random, files: int) -> None:
    """A file an hour in random order, and at last a row that lets the watermark pass all."""
    (folder / name).mkdir()
    for hour in range(files + 1):
        path = folder / name / f"{hour:03}.json"
        is_last = hour == files
        rows = [
            {
                "user": rng.choice(["a", "b", "c", None]),
                "ts": str(START + timedelta(hours=hour, minutes=rng.randrange(0, 60, 5))),
                "amount": rng.randrange(100),
                "lab": hour * 1000 + i,
            }
            for i in range(ROWS[name])
        ]
        if is_last:
            end = START + timedelta(days=files)
            rows = [{"user": "a", "ts": str(end), "amount": 0, "lab": END}]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        # a stream reads files in the order of their times
        os.utime(path, (1_700_000_000 + hour, 1_700_000_000 + hour))


def test_a_stream_of_labels_that_is_killed_answers_each_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    rng = random.Random(SEED)  # noqa: S311
    print(f"SASH_TEST_SEED={SEED} SASH_TEST_KILLS={KILLS}")
    files = KILLS * FILES_A_KILL
    for name in ROWS:
        write(tmp_path, name, rng, files)
    killed = Killed(Path(__file__).with_name("killed_labels.py"), tmp_path, rng)
    for _ in range(KILLS):
        killed.run_and_kill(str(tmp_path))
    killed.finish(str(tmp_path), "--finish")

    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    answers = session.read.parquet(str(tmp_path / "out")).collect()
    ours = {row.lab: tuple(row) for row in answers}
    assert len(ours) == len(answers), "labels are answered twice"
    tables = [
        read(session, tmp_path / name, schema, stream=False)
        for name, schema in (("labels", LABELS), ("events", EVENTS))
    ]
    expected = {row.lab: tuple(row) for row in features(*tables).collect()}
    del expected[END]
    assert sorted(expected.keys() - ours.keys()) == [], "labels are lost"
    assert ours == expected
    assert len(ours) == files * ROWS["labels"]
    assert any(row[3] for row in ours.values())
