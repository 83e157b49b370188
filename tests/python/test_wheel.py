"""The wheel, built and installed in a clean environment, runs a query."""

from __future__ import annotations

import site
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import sash
from conftest import QUIET, REPOSITORY

TESTS = Path(__file__).parent

QUERY = f"""
import sys
import sash
assert sash.__file__.startswith(sys.prefix), sash.__file__
assert sash.jar_path().startswith(sys.prefix), sash.jar_path()
sys.path.insert(0, {str(TESTS)!r})
from pyspark.sql import SparkSession
from windows import assert_slides_as_spark
builder = SparkSession.builder.master("local[2]").config(map={QUIET!r})
spark = sash.configure(builder).getOrCreate()
rows = assert_slides_as_spark(spark, lambda: spark.sql(
    "SELECT id, sum(id) OVER (PARTITION BY id % 2 ORDER BY id ROWS 9 PRECEDING) FROM range(100)"))
print(len(rows))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(directory)]
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", *options, str(REPOSITORY / "python")], check=True
    )
    (built,) = directory.glob("*.whl")
    return built


def test_the_wheel_holds_one_jar_the_types_and_no_tests(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert [name for name in names if name.endswith(".jar")] == [
        f"sash/jars/{Path(sash.jar_path()).name}"
    ]
    assert "sash/py.typed" in names
    assert all(name.startswith(("sash/", "sash_spark-")) for name in names)


def test_the_wheel_requires_no_pyspark_of_its_own(wheel):
    archive = zipfile.ZipFile(wheel)
    (metadata,) = [name for name in archive.namelist() if name.endswith("METADATA")]
    required = [
        line
        for line in archive.read(metadata).decode().splitlines()
        if line.startswith("Requires-Dist") and "extra ==" not in line
    ]
    assert required == []


def test_the_jar_holds_nothing_but_sash():
    files = [name for name in zipfile.ZipFile(sash.jar_path()).namelist() if name[-1] != "/"]
    # two packages of Spark's, from where its private parts can be seen
    ours = ("io/sash/", "META-INF/", "org/apache/spark/sash/", "org/apache/spark/sql/sash/")
    foreign = [name for name in files if not name.startswith(ours)]
    assert foreign == []


def test_a_clean_environment_runs_a_query(wheel, tmp_path, run_python):
    clean = tmp_path / "clean"
    venv.create(clean, with_pip=False)
    python = str(clean / "bin" / "python")
    install = ["install", "--quiet", "--no-deps", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", python, *install], check=True)
    _lend_pyspark(clean)
    result = run_python("-c", QUERY, python=python)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "100"


def _lend_pyspark(environment: Path) -> None:
    """Put our packages on the path of another environment, after its own.

    A line in a .pth file adds a directory and reads no .pth files in it, so that our editable
    Sash does not come along.
    """
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "lent.pth").write_text("\n".join(site.getsitepackages()), encoding="utf-8")
