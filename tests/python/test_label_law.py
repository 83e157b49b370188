"""The law of windows at another table's times, on this PySpark, classic and through Connect."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import label_law

pytestmark = pytest.mark.slow

ROUNDS = 100 if os.environ.get("SASH_TEST") == "all" else 6
SEED = 20261126


def test_random_queries_have_sparks_answers(spark):
    assert label_law.check(spark, ROUNDS, SEED) >= 0.8 * ROUNDS


def test_random_queries_have_sparks_answers_through_connect(run_python):
    program = Path(__file__).with_name("label_law.py")
    # the server then takes a free port, and the client asks it which
    env = {"SPARK_TESTING": "yes", "PYTHONPATH": str(program.parent)}
    done = run_python(str(program), str(ROUNDS), str(SEED + 1), env=env, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[-1]) >= 0.8 * ROUNDS
