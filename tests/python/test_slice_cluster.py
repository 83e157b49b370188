"""Slices of events in a cluster, one of whose executors is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

PROGRAM = Path(__file__).parent / "slice_cluster.py"


def test_slices_that_a_lost_executor_had_are_made_once_more(run_python, tmp_path):
    cases = [f"{tmp_path}/{moment}" for moment in ("events", "answers")]
    done = run_python(str(PROGRAM), *cases, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [line["case"] for line in lines] == ["events", "answers"]
    for line in lines:
        assert line["combined"], line
        assert line["again"] > 0, "nothing was lost"
        assert line["right"], line
