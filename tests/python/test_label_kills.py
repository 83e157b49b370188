"""A stream of labels and events that is killed again and again answers each label once."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from killed_labels import EVENTS, LABELS, START, drawn, features, read
from kills import KILLS, SEED, Killed, answers_once, in_utc

END = -1
FILES_A_KILL = 4
"""They come before each run, so that it has a batch to commit."""
ROWS = {"labels": 40, "events": 200}
"""Of a file, which holds an hour."""

pytestmark = [pytest.mark.slow, pytest.mark.thorough]

Write = Callable[[Path, random.Random, range], None]
"""Writes the files of some hours to a folder."""


def write(folder: Path, rng: random.Random, hours: range) -> None:
    """Write a file of labels and one of events for each hour, in random order."""
    for name, count in ROWS.items():
        for hour in hours:
            save(folder / name, hour, drawn(rng, hour, 1, count))


def end(folder: Path, hour: int) -> None:
    """Rows that the watermark does not pass: they let it pass all others."""
    time = str(START + timedelta(days=hour))
    for name in ROWS:
        save(folder / name, hour, [{"user": "a", "ts": time, "amount": 0, "lab": END}])


def save(folder: Path, hour: int, rows: Iterable[dict[str, object]]) -> None:
    """Write a file of rows, which a stream finds as a whole."""
    folder.mkdir(exist_ok=True)
    # a stream reads files in the order of their times, and none whose name begins so
    hidden = folder / f"_{hour}"
    hidden.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.utime(hidden, (1_700_000_000 + hour, 1_700_000_000 + hour))
    hidden.rename(folder / f"{hour:03}.json")


def run_killed(program: str, folder: Path, write: Write) -> None:
    """Kill a stream over files again and again, and let it run to its end."""
    rng = random.Random(SEED)  # noqa: S311
    print(f"SASH_TEST_SEED={SEED} SASH_TEST_KILLS={KILLS}")
    files = KILLS * FILES_A_KILL
    killed = Killed(Path(__file__).with_name(program), folder, rng)
    for first in range(0, files, FILES_A_KILL):
        write(folder, rng, range(first, first + FILES_A_KILL))
        killed.run_and_kill()
    end(folder, files)
    killed.finish()


def test_a_stream_of_labels_that_is_killed_answers_each_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    run_killed("killed_labels.py", tmp_path, write)

    session = in_utc(spark)
    ours = {label: tuple(row) for label, row in answers_once(session, tmp_path).items()}
    tables = [
        read(session, tmp_path / name, schema, stream=False)
        for name, schema in (("labels", LABELS), ("events", EVENTS))
    ]
    expected = {row.lab: tuple(row) for row in features(*tables).collect()}
    del expected[END]
    assert sorted(expected.keys() - ours.keys()) == [], "labels are lost"
    assert ours == expected
    assert len(ours) == KILLS * FILES_A_KILL * ROWS["labels"]
    assert any(row[3] for row in ours.values())
