"""Fixed queries over a range of another table's rows, on this PySpark and through Connect."""

from __future__ import annotations

from pathlib import Path

import pytest

import lateral_queries

pytestmark = pytest.mark.slow


def test_lateral_queries_have_sparks_answers(spark):
    assert lateral_queries.check(spark) == len(lateral_queries.QUERIES)


@pytest.mark.thorough
def test_lateral_queries_have_sparks_answers_through_connect(run_python):
    program = Path(__file__).with_name("lateral_queries.py")
    # the server then takes a free port, and the client asks it which
    env = {"SPARK_TESTING": "yes", "PYTHONPATH": str(program.parent)}
    done = run_python(str(program), env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.split()[-1]) == len(lateral_queries.QUERIES)
