"""A stream of windows into a table of Delta, where there is a Delta for this Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fetch

PROGRAM = Path(__file__).with_name("delta_stream.py")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not fetch.delta(), reason="there is no Delta for this Spark"),
]


def test_a_stream_into_delta_that_goes_on_gives_what_the_batch_gives(run_python, tmp_path):
    done = run_python(str(PROGRAM), str(tmp_path), timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    told = json.loads(done.stdout.splitlines()[-1])
    first, both = told["rows"]
    assert both > first > 100
    assert told["updates"] >= 4


@pytest.mark.thorough
def test_the_windows_of_changed_keys_are_answered_in_batch(run_python, tmp_path):
    program = PROGRAM.with_name("delta_changes.py")
    done = run_python(str(program), str(tmp_path), timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["changed"] == 3
    assert told["rows"] > 30


@pytest.mark.thorough
def test_the_recipe_of_the_latest_answers(run_python, tmp_path):
    program = PROGRAM.with_name("delta_latest.py")
    done = run_python(str(program), str(tmp_path), timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["keys"] == 3
    assert told["changed"] == 3  # each key in the second file
