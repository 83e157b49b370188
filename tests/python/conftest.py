"""What the tests share: one session with the installed package's jar."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import sash

REPOSITORY = Path(__file__).parents[2]
QUIET = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.log.level": "ERROR",
}
# what would bring jars, or another mode, into a test from the outside
_SPARK_VARIABLES = ("SPARK_", "PYSPARK_")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out thorough tests, unless all are to run."""
    if os.environ.get("SASH_TEST") == "all":
        return
    left_out = [item for item in items if item.get_closest_marker("thorough")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    warehouse = tmp_path_factory.mktemp("warehouse")
    builder = SparkSession.builder.master("local[2]").config(map=QUIET)
    builder = builder.config("spark.sql.warehouse.dir", str(warehouse))
    session = sash.configure(builder).getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def run_python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run Python in a process of its own: for what a JVM or a session decides once."""

    def run(
        *arguments: str,
        env: Mapping[str, str] | None = None,
        python: str = sys.executable,
        timeout: int = 300,
    ) -> subprocess.CompletedProcess[str]:
        clean = {k: v for k, v in os.environ.items() if not k.startswith(_SPARK_VARIABLES)}
        # also what lies beside the interpreter: spark-submit looks for python3 there
        clean["PATH"] = f"{Path(python).parent}{os.pathsep}{clean['PATH']}"
        return subprocess.run(
            [python, *arguments],
            env={**clean, **(env or {})},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    return run
