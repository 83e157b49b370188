"""Every way in which the jar comes into a session, and every feature in each of them."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import sash
from conftest import QUIET, REPOSITORY
from every_session import SETUP, STATEMENTS, wrong

HERE = Path(__file__).parent
SCRIPTS = Path(sys.executable).parent
HIVE = {"spark.sql.catalogImplementation": "hive"}
SETTINGS = {**QUIET, "spark.log.level": "OFF"}
LOCAL = {**SETTINGS, "spark.master": "local[1]"}
# the row of 1970 is not after the first watermark, and late
STREAM = {"in the stream's session": "{}", "rows": "1 2 3"}


def catalogs(sampled: dict[str, str], other: dict[str, str]) -> list[object]:
    """The settings of both catalogs, of which the thorough tests alone have the second."""
    names = {True: "hive", False: "in memory"}
    return [
        pytest.param(sampled, id=names[sampled is HIVE]),
        pytest.param(other, id=names[other is HIVE], marks=pytest.mark.thorough),
    ]


@pytest.fixture
def said(run_python: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path):
    """What a session with some settings says."""

    def ask(settings: dict[str, str]) -> dict[str, object]:
        told = run_python(str(HERE / "every_session.py"), json.dumps({**SETTINGS, **settings}))
        assert told.returncode == 0, told.stderr[-3000:]
        return json.loads(told.stdout.splitlines()[-1])

    return ask


def check_classic(told: dict[str, object]) -> None:
    assert told["active"]
    assert told["wrong"] == {"session": {}, "cloned session": {}, "new session": {}}
    assert told["stream"] == STREAM
    syntax, script = told["errors"]
    assert syntax.startswith("ParseException: ")
    assert "[PARSE_SYNTAX_ERROR]" in syntax
    assert "INVALID_VARIABLE_DECLARATION.ONLY_AT_BEGINNING" in script
    assert "Undeclared" not in script
    for points in told["points"].values():
        assert points == dict.fromkeys(points, True)


@pytest.mark.slow
def test_a_session_with_hive(said):
    check_classic(said({**LOCAL, **HIVE}))


@pytest.mark.slow
@pytest.mark.thorough
def test_a_session_without_hive(said):
    check_classic(said(LOCAL))


@pytest.mark.slow
@pytest.mark.parametrize("catalog", catalogs({}, HIVE))
def test_a_session_that_names_the_extension_too(said, catalog):
    extension = {"spark.sql.extensions": "io.sash.spark.SashExtensions"}
    check_classic(said({**LOCAL, **catalog, **extension}))


@pytest.mark.slow
@pytest.mark.parametrize("catalog", catalogs(HIVE, {}))
def test_a_connect_session(said, catalog):
    told = said({**catalog, "spark.remote": "local[1]"})
    assert told["active"]
    assert told["wrong"] == {"session": {}}


def test_the_points_are_those_that_the_sources_name():
    from every_session import extension_points

    sources = "\n".join(
        f.read_text(encoding="utf-8")
        for f in (REPOSITORY / "scala/spark/features").glob("*.scala")
    )
    used = set(re.findall(r"extensions\.inject(\w+)", sources))
    looked_at = set(re.findall(r'"(\w+)": \w+(?:\(\))?\.', _source_of(extension_points)))
    # the parser shows itself: without it no name is known with Hive on Spark 4.2.0
    assert used - {"Parser"} == looked_at


def _source_of(function: Callable[..., object]) -> str:
    import inspect

    return inspect.getsource(function)


def _script() -> str:
    """The statements, each answer behind a line with the feature's name."""
    lines = [*SETUP]
    for feature, (statement, _) in STATEMENTS.items():
        lines += [f'SELECT "@{feature}@"', statement]
    return ";\n".join(lines) + ";\n"


def _parts(output: str) -> dict[str, str]:
    parts = re.split("@(.*?)@", output)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _environment(tmp_path: Path) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
    return {**clean, "PATH": f"{SCRIPTS}{os.pathsep}{clean['PATH']}", "HOME": str(tmp_path)}


def _settings(settings: dict[str, str]) -> list[str]:
    return [word for k, v in settings.items() for word in ("--conf", f"{k}={v}")]


@pytest.mark.slow
def test_the_spark_sql_shell(tmp_path):
    script = tmp_path / "script.sql"
    script.write_text(_script(), encoding="utf-8")
    told = subprocess.run(
        [SCRIPTS / "spark-sql", "--jars", sash.jar_path(), *_settings(LOCAL), "-f", script],
        env=_environment(tmp_path),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert told.returncode == 0, told.stderr[-3000:]
    assert wrong(_parts(told.stdout)) == {}


@contextmanager
def _thrift_server(tmp_path: Path) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {**LOCAL, "spark.hadoop.hive.server2.thrift.port": str(port)}
    command = [
        SCRIPTS / "spark-submit",
        "--class",
        "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2",
        *("--jars", sash.jar_path()),
        *_settings(settings),
        "spark-internal",
    ]
    server = subprocess.Popen(
        command,
        env=_environment(tmp_path),
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 120
        while socket.socket().connect_ex(("127.0.0.1", port)) != 0:
            assert server.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.2)
        yield port
    finally:
        server.terminate()
        server.wait(60)


@pytest.mark.slow
def test_a_thrift_server(tmp_path):
    script = tmp_path / "script.sql"
    script.write_text(_script(), encoding="utf-8")
    with _thrift_server(tmp_path) as port:
        told = subprocess.run(
            [
                *(SCRIPTS / "beeline", "-u", f"jdbc:hive2://127.0.0.1:{port}", "-n", "someone"),
                *("--silent=true", "--showHeader=false", "--outputformat=tsv2", "-f", script),
            ],
            env=_environment(tmp_path),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert wrong(_parts(told.stdout)) == {}, told.stderr[-3000:]


def test_the_statements_find_a_session_without_sash():
    told = dict.fromkeys(STATEMENTS, "AnalysisException: UNRESOLVED_ROUTINE")
    assert wrong(told).keys() == STATEMENTS.keys()
    assert shutil.which("spark-sql", path=str(SCRIPTS))
