"""What a stream answers depends neither on its trigger nor on the kind of its session."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).with_name("triggers.py")


@pytest.mark.parametrize("kind", ["classic", pytest.param("connect", marks=pytest.mark.thorough)])
def test_every_trigger_and_two_sources_give_what_the_batch_gives(run_python, tmp_path, kind):
    done = run_python(str(PROGRAM), kind, str(tmp_path), timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    compared = json.loads(done.stdout.splitlines()[-1])
    assert list(compared) == ["available now", "processing time", "once", "min", "max"]
    assert all(rows > 200 for rows in compared.values())
