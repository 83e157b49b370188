"""Sash in one session with other plugins, where their jars are: `make test-neighbours`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import fetch

PROGRAM = Path(__file__).with_name("neighbours.py")


@pytest.fixture
def beside(run_python, tmp_path):
    """What the program of a neighbour tells, if its jars were fetched."""

    def run(name):
        if not getattr(fetch, name)():
            pytest.skip(f"there are no jars of {name}")
        done = run_python(str(PROGRAM), name, str(tmp_path), timeout=900)
        assert done.returncode == 0, done.stderr[-4000:]
        told = json.loads(done.stdout.splitlines()[-1])
        print(told)
        return told

    return run


@pytest.mark.slow
def test_windows_read_iceberg_and_write_it_by_merge_and_by_a_stream(beside):
    told = beside("iceberg")
    merged, changed, of_stream = told["rows"]
    assert merged == changed == 2500 > of_stream > 2000
    assert all(told["ours"]), "the plans of the query and of MERGE"
    assert told["refreshed"] == 2500


@pytest.mark.slow
def test_a_delta_table_is_the_source_of_a_stream(beside):
    [rows] = beside("delta")["rows"]
    assert 1500 < rows < 2000


@pytest.mark.slow
def test_comet_scans_and_shuffles_below_a_window(beside):
    told = beside("comet")
    assert told["rows"] == [200_000]
    final = told["plan"].partition("== Initial Plan ==")[0]
    operators = re.findall(r"^[ +*:|()\d-]*(\w+)", final, re.MULTILINE)
    # columns become rows once, above the shuffle, as they do below Spark's window
    order = [
        name
        for name in operators
        if name.startswith(("Comet", "Sliding", "Ordering")) or "ColumnarToRow" in name
    ]
    assert order == [
        "SlidingWindow",
        "Ordering",
        "CometColumnarToRow",
        "CometExchange",
        "CometNativeScan",
    ]
