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
from streaming import ROCKS, SHORT

REPOSITORY = Path(__file__).parents[2]
QUIET = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.log.level": "ERROR",
}
# workers of Python import what this environment has
os.environ["PYSPARK_PYTHON"] = sys.executable
# what would bring jars, or another mode, into a test from the outside
_SPARK_VARIABLES = ("SPARK_", "PYSPARK_")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that SASH_TEST does not choose; build.sbt reads it alike."""
    choice = os.environ.get("SASH_TEST")
    if choice not in (None, "quick", "long", "all"):
        raise pytest.UsageError(f"SASH_TEST={choice} is not quick, long or all")

    def is_chosen(item: pytest.Item) -> bool:
        if choice == "all":
            return True
        if item.get_closest_marker("thorough"):
            return False
        is_slow = item.get_closest_marker("slow") is not None
        return choice is None or is_slow == (choice == "long")

    chosen: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        (chosen if is_chosen(item) else left_out).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = chosen


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    warehouse = tmp_path_factory.mktemp("warehouse")
    builder = SparkSession.builder.master("local[2]").config(map={**QUIET, **SHORT})
    builder = builder.config("spark.sql.warehouse.dir", str(warehouse))
    session = sash.configure(builder).getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def streaming(spark: SparkSession) -> SparkSession:
    """A session for streams of few keys."""
    session = spark.newSession()
    session.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKS)
    session.conf.set("spark.sash.stream.buckets", "4")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    return session


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
