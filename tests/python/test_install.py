"""python -m sash, on a copy of the PySpark installation."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pyspark
import pytest

import sash
from conftest import QUIET
from sash.install import spark_home

RUN = f"""
import sash, sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config(map={QUIET!r}).getOrCreate()
print(sash.is_active(spark))
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A copy whose jars are links, and so takes no time."""
    copy = tmp_path / "spark"
    shutil.copytree(spark_home() / "bin", copy / "bin")
    (copy / "jars").mkdir()
    for jar in (spark_home() / "jars").glob("*.jar"):
        (copy / "jars" / jar.name).symlink_to(jar)
    return copy


@pytest.fixture
def sash_command(run_python, home):
    return lambda *arguments: run_python("-m", "sash", *arguments, env={"SPARK_HOME": str(home)})


def test_jar_prints_the_path(sash_command):
    result = sash_command("jar")
    assert result.returncode == 0
    assert result.stdout == f"{sash.jar_path()}\n"


@pytest.mark.slow
def test_install_gives_every_session_sash_and_uninstall_takes_it(sash_command, run_python, home):
    installed = sash_command("install")
    assert installed.returncode == 0
    assert str(home / "jars" / Path(sash.jar_path()).name) in installed.stdout
    active = run_python("-c", RUN, env={"SPARK_HOME": str(home)})
    assert active.stdout.splitlines()[-1] == "True", active.stderr

    removed = sash_command("uninstall")
    assert removed.returncode == 0
    assert "removed" in removed.stdout
    active = run_python("-c", RUN, env={"SPARK_HOME": str(home)})
    assert active.stdout.splitlines()[-1] == "False", active.stderr


def test_install_replaces_another_version(sash_command, home):
    old = home / "jars" / "sash-spark_2.13-0.0.1.jar"
    old.touch()
    assert sash_command("install").returncode == 0
    assert [jar.name for jar in (home / "jars").glob("sash*")] == [Path(sash.jar_path()).name]


def test_configure_refuses_an_installed_jar_of_another_version(run_python, home):
    (home / "jars" / "sash-spark_2.13-0.0.1.jar").touch()
    script = RUN.replace("SparkSession.builder", "sash.configure(SparkSession.builder)")
    result = run_python("-c", script, env={"SPARK_HOME": str(home)})
    assert result.returncode == 1
    assert "python -m sash install" in result.stderr


def test_uninstall_where_nothing_is_says_so(sash_command, home):
    result = sash_command("uninstall")
    assert result.returncode == 0
    assert result.stdout == f"no jar of Sash in {home / 'jars'}\n"


def test_install_without_a_jars_directory_fails_clearly(sash_command, home):
    shutil.rmtree(home / "jars")
    result = sash_command("install")
    assert result.returncode == 1
    assert result.stderr.startswith("sash: install failed: ")
    assert str(home / "jars") in result.stderr


@pytest.mark.parametrize("arguments", [[], ["remove"]])
def test_an_unknown_command_prints_the_usage(sash_command, arguments):
    result = sash_command(*arguments)
    assert result.returncode == 2
    assert "usage: python -m sash" in result.stderr
    assert os.linesep in result.stderr


def test_jar_needs_no_pyspark(run_python):
    script = """
import runpy, sys
sys.modules["pyspark"] = None
sys.argv = ["sash", *sys.argv[1:]]
runpy.run_module("sash", run_name="__main__")
"""
    result = run_python("-c", script, "jar")
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{sash.jar_path()}\n"
    result = run_python("-c", script, "install")
    assert result.returncode == 1
    assert result.stderr.startswith("sash: install failed: this Python has no PySpark")
    asked = "import sys; sys.modules['pyspark'] = None; import sash; sash.configure"
    assert "Sash needs PySpark" in run_python("-c", asked).stderr


def test_install_under_a_client_of_connect_says_where_the_jar_belongs(run_python, tmp_path):
    # the files of pyspark-client: no core, no jars
    installed = Path(pyspark.__file__).parent
    client = tmp_path / "client" / "pyspark"
    client.mkdir(parents=True)
    for entry in installed.iterdir():
        if entry.is_file():
            shutil.copyfile(entry, client / entry.name)
        elif entry.name not in ("core", "jars", "bin", "__pycache__"):
            (client / entry.name).symlink_to(entry)
    path = os.pathsep.join([str(client.parent), os.environ.get("PYTHONPATH", "")])
    for command in ("install", "uninstall"):
        result = run_python("-m", "sash", command, env={"PYTHONPATH": path})
        assert result.returncode == 1
        assert result.stderr.startswith(f"sash: {command} failed: "), result.stderr
        assert "--jars $(python -m sash jar)" in result.stderr
        assert "server" in result.stderr
