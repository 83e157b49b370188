"""In real-time mode (Spark 4.3) queries run with the jar as they do without it, and OVER, too."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from real_time import BEHIND, HOT, ROWS
from versions import since

PROGRAM = Path(__file__).with_name("real_time.py")

pytestmark = since(4, 3, "state in real-time mode has come with Spark 4.3")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("real_time")
    subprocess.run([sys.executable, str(PROGRAM), str(folder)], check=True, timeout=1500)
    answers: dict[str, Any] = json.loads((folder / "found").read_text(encoding="utf-8"))
    return answers


def test_over_is_answered_row_by_row_with_sparks_check_on(found):
    def last_three(i: int, k: int) -> int:
        return sum([x for j, of, _, x in ROWS if of == k and j <= i][-3:])

    assert sorted(found["over"]) == [[i, last_three(i, k)] for i, k, _, _ in ROWS]


def test_a_key_with_many_pending_rows(found):
    assert sorted(found["hot"]) == [
        [i, sum(range(max(0, i - 2), i + 1))] for i in range(len(HOT))
    ]


def test_rows_behind_the_watermark_of_their_batch(found):
    assert sorted(found["behind"]) == sorted(BEHIND)


def test_hops_stay_with_spark(found):
    assert len(found["hops true"]) == 3 * len(ROWS)
    assert sorted(found["hops true"]) == sorted(found["hops false"])


def test_a_query_without_a_window(found):
    assert sorted(found["plain"]) == [[i, x + 1] for i, _, _, x in ROWS]


def test_append_mode_is_refused_with_a_remedy(found):
    text = found["append"]
    assert (
        "sum(x) OVER (PARTITION BY k ORDER BY t ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)" in text
    )
    assert "in real-time mode" in text
    assert "write in update mode, or with another trigger" in text
