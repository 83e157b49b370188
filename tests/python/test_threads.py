"""Rows that leave a window for Python while its task is in need of their memory."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import threads

pytestmark = pytest.mark.slow

ROUNDS = int(os.environ.get("SASH_TEST_ROUNDS", "3"))


@pytest.mark.parametrize("memory", ["heap", pytest.param("off-heap", marks=pytest.mark.thorough)])
def test_rows_spill_while_python_reads_them(
    run_python: Callable[..., subprocess.CompletedProcess[str]], memory: str
) -> None:
    run = run_python(str(Path(threads.__file__)), memory, str(ROUNDS), timeout=300 + 12 * ROUNDS)
    assert run.returncode == 0, run.stderr
    results = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    assert len(results) == 2 * len(threads.WAYS)
    for result in results:
        assert result["wrong"] == 0, result
        if result["way"] not in threads.SORTED_BELOW:
            assert result["spills"] > 0, f"vacuous: {result}"
