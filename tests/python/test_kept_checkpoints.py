"""A stream goes on from a checkpoint that an earlier version of Sash has left."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import kept
from restarts import LAST, SCHEMA

VERSIONS = sorted(path.stem for path in kept.FOLDER.glob("*.zip"))


def test_the_first_version_is_kept() -> None:
    assert VERSIONS[0] == "0.1.0"


@pytest.mark.slow
@pytest.mark.parametrize("name", kept.QUERIES)
@pytest.mark.parametrize("version", VERSIONS)
def test_the_rest_is_answered_as_in_batch(
    streaming: SparkSession, tmp_path: Path, version: str, name: str
) -> None:
    before = kept.unpack(version, name, tmp_path)
    query, files = kept.QUERIES[name], kept.rows()
    after = kept.answer(streaming, tmp_path, query, files[kept.FILES :])
    table = streaming.createDataFrame([row for file in files for row in file], SCHEMA)
    batch = {str(row[0]): tuple(row) for row in query(table).collect()}
    ended = {i for i, row in batch.items() if row[1] < LAST}
    assert before
    assert after
    assert [str(row[0]) for row in after if row != batch[str(row[0])]] == []
    assert sorted(before + [str(row[0]) for row in after]) == sorted(ended)
