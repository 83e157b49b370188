"""A stream of windows into a table of Delta, where there is a Delta for this Spark."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

import fetch

PROGRAM = Path(__file__).with_name("delta_stream.py")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not fetch.delta(), reason="there is no Delta for this Spark"),
]


def last_line(run_python, program, *arguments):
    """The JSON at the end of what a program prints, which has to succeed."""
    path = PROGRAM.with_name(f"{program}.py")
    done = run_python(str(path), *map(str, arguments), timeout=900)
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_a_stream_into_delta_that_goes_on_gives_what_the_batch_gives(run_python, tmp_path):
    told = last_line(run_python, PROGRAM.stem, tmp_path)
    first, both = told["rows"]
    assert both > first > 100
    assert told["updates"] >= 4


@pytest.mark.thorough
def test_the_windows_of_changed_keys_are_answered_in_batch(run_python, tmp_path):
    told = last_line(run_python, "delta_changes", tmp_path)
    assert told["changed"] == 3
    assert told["rows"] > 30


@pytest.mark.thorough
def test_the_recipe_of_the_latest_answers(run_python, tmp_path):
    told = last_line(run_python, "delta_latest", tmp_path)
    assert told["keys"] == 3
    assert told["changed"] == 3  # each key in the second file


@pytest.mark.thorough
def test_a_table_of_windows_is_refreshed_after_changes(run_python, tmp_path):
    told = last_line(run_python, "delta_refresh", tmp_path)
    assert min(told.values()) > 10


@pytest.mark.thorough
def test_the_recipe_for_dbt_merges_the_answers_that_change(run_python, tmp_path):
    assert last_line(run_python, "delta_refresh", tmp_path, "dbt")["rows"] > 500


@pytest.mark.thorough
def test_a_refresh_that_stops_between_two_steps_runs_again(run_python, tmp_path):
    told = last_line(run_python, "delta_refresh", tmp_path, "stops")
    assert told["old"] > 10
    assert told["new"] == 1  # the temporary view is left
    assert told["later"]["old"] > 8


@pytest.mark.thorough
@pytest.mark.parametrize("place", ["before", "within", "after"])
def test_a_refresh_that_was_killed_runs_again(run_python, tmp_path, place):
    program = str(PROGRAM.with_name("delta_refresh.py"))
    since = str(last_line(run_python, "delta_refresh", tmp_path, "make")["since"])
    table = tmp_path / "features"
    before = {path for path in table.rglob("*") if path.is_file()}

    def has_begun():
        new = {path for path in table.rglob("*") if path.is_file()} - before
        if place == "before":
            return (tmp_path / "features").exists()
        wanted = ".parquet" if place == "within" else ".json"
        return any(path.suffix == wanted for path in new)

    killed = subprocess.Popen([sys.executable, program, str(tmp_path), since])
    try:
        while killed.poll() is None and not has_begun():
            time.sleep(0.01)
    finally:
        killed.kill()
        killed.wait()
    assert last_line(run_python, "delta_refresh", tmp_path, since)["rows"] > 500
