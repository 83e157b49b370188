"""The law of `as_of` and `window_join` with all their arguments, classic and through Connect."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import join_law

pytestmark = pytest.mark.slow

ROUNDS = 100 if os.environ.get("SASH_TEST") == "all" else 4
SEED = 20261127


def test_random_calls_have_the_answers_of_plain_loops(spark):
    assert join_law.check(spark, ROUNDS, SEED) == 2 * ROUNDS


def test_random_calls_have_the_answers_of_plain_loops_through_connect(run_python):
    program = Path(__file__).with_name("join_law.py")
    # the server then takes a free port, and the client asks it which
    env = {"SPARK_TESTING": "yes", "PYTHONPATH": str(program.parent)}
    done = run_python(str(program), str(ROUNDS // 2), str(SEED + 1), env=env, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[-1]) == 2 * (ROUNDS // 2)
