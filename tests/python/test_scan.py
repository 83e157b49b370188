"""``python -m sash scan``: what Sash would do to the queries of Spark's event logs."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

from make_logs import LOGS, NEEDS_4
from sash.__main__ import main
from sash.scan import codecs
from sash.scan.findings import Finding, findings
from sash.scan.logs import logs
from sash.scan.queries import application

KEPT = sorted(LOGS.glob("spark-*.zstd"))
DEMO = LOGS / "rolling_flights.zstd"
WHO = {
    "rows and range": [("window", "Sash")],
    "growing and whole": [("window", "Spark"), ("window", "Spark")],
    "positions": [("window", "Spark")],
    "first of each key": [("window", "Spark")],
    "one partition": [("window", "Sash")],
    "hops": [("hop window", "Sash")],
    "hops of lists": [("hop window", "Spark")],
    "hops of distinct values": [("hop window", "Sash")],
    "many hops": [("hop window", "Sash")],
    "lateral": [("correlated aggregate", "Sash")],
    "scalar subquery": [("correlated aggregate", "Sash")],
    "range join": [("range-join aggregate", "Spark")],
    "merged range join": [("range-join aggregate", "Spark")],
    "as-of join": [("as-of join", "Sash")],
    "many columns": [("window", "Sash")],
}
"""What a scan says of each query; the others have no operator that it knows."""


def scanned(path: Path) -> tuple[list[Finding], list[str]]:
    """The operators of the logs of a path, and what could not be read."""
    faults: list[str] = []
    found = [
        finding
        for log in logs([path])
        for finding in findings(application(log, lambda _: None, faults), faults)
    ]
    return found, faults


def by_query(found: list[Finding]) -> dict[str, list[tuple[str, str]]]:
    said: dict[str, list[tuple[str, str]]] = {}
    for finding in found:
        said.setdefault(finding.description, []).append(
            (finding.operator.kind, finding.verdict.who)
        )
    return said


def plain(log: Path) -> bytes:
    """A kept log, uncompressed."""
    with log.open("rb") as file:
        return b"".join(codecs.chunks(file, "zstd"))


@pytest.fixture(scope="module")
def text() -> bytes:
    return plain(KEPT[-1])


@pytest.mark.parametrize("log", KEPT, ids=lambda log: log.stem)
def test_the_logs_of_each_spark(log):
    found, faults = scanned(log)
    assert faults == []
    no_as_of = "spark-3" in log.name
    expected = {q: w for q, w in WHO.items() if not (no_as_of and q in NEEDS_4)}
    assert by_query(found) == expected
    assert [f.seconds for f in found] == sorted((f.seconds for f in found), reverse=True)


def test_each_spark_has_a_log():
    assert all(not re.search(rb"/work|/home|/tmp|\.local", plain(log)) for log in [*KEPT, DEMO])
    minors = {re.match(r"spark-(\d+\.\d+)", log.name)[1] for log in KEPT}
    assert minors == {"3.5", "4.0", "4.1", "4.2", "4.3"}
    assert all(log.stat().st_size < 200_000 for log in [*KEPT, DEMO])


@pytest.mark.parametrize("log", KEPT, ids=lambda log: log.stem)
def test_frames_rows_and_sizes(log):
    of = {finding.description: finding for finding in scanned(log)[0]}
    calls = of["rows and range"].operator.calls
    assert [call.frame for call in calls] == [
        "ROWS BETWEEN 999 PRECEDING AND CURRENT ROW",
        "RANGE BETWEEN INTERVAL '01' HOUR PRECEDING AND CURRENT ROW",
        "ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING",
    ]
    assert [call.rows for call in calls] == [1000, None, 4]
    assert of["rows and range"].rows == of["hops"].rows == of["many hops"].rows == 200
    assert (of["hops"].operator.panes, of["many hops"].operator.panes) == (5, 60)
    assert of["hops"].operator.detail == "window of 10 s every 2 s"
    assert of["many hops"].operator.detail == "window of 1 h every 1 min"
    assert of["many columns"].operator.hidden + len(of["many columns"].operator.calls) == 30
    assert "does not show" in of["many columns"].verdict.why
    assert of["lateral"].operator.detail.startswith("((ts <= ts) AND (ts > ")
    assert all(finding.seconds > 0 for finding in of.values())
    # a figure of millions of rows says nothing of 200
    assert of["rows and range"].gain is None


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The log of a session of this Spark, which rolls and compresses as Spark's defaults say."""
    folder = tmp_path_factory.mktemp("written")
    (folder / "logs").mkdir()
    script = (
        "from pathlib import Path; import make_logs as m;"
        f"spark = m.builder(Path({str(folder / 'logs')!r}), m.PLAIN).getOrCreate();"
        f"m.run(spark); m.run_stream(spark, Path({str(folder)!r})); spark.stop()"
    )
    subprocess.run([sys.executable, "-c", script], cwd=Path(__file__).parent, check=True)
    return folder / "logs"


@pytest.mark.slow
def test_a_log_as_this_spark_writes_it(written):
    found, faults = scanned(written)
    assert faults == []
    streams = [finding for finding in found if "stream" in finding.description]
    assert by_query([finding for finding in found if finding not in streams]) == WHO
    assert all(finding.spark == pyspark.__version__ for finding in found)
    # the batches of a stream are runs of one query
    (stream,) = streams
    assert (stream.operator.kind, stream.verdict.who) == ("hop window", "Sash")
    assert stream.operator.is_stream
    assert stream.rows == 40
    assert [call.text for call in stream.operator.calls] == ["sum(x)", "max(x)"]


def test_the_gain_of_the_demo_is_the_measured_one():
    """Its log has each question twice: by Sash, and by Spark alone."""
    found, faults = scanned(DEMO)
    assert faults == []
    measured = {}
    for preceding in ("999 PRECEDING", "'7' DAY"):
        sparks, ours = (
            next(f for f in found if f.operator.kind == kind and preceding in _frames(f))
            for kind in ("window", "run by Sash already")
        )
        assert (sparks.verdict.who, sparks.rows, ours.rows) == ("Sash", 336_776, 336_776)
        measured[preceding] = sparks.cpu_seconds / ours.cpu_seconds
        assert sparks.gain.low <= measured[preceding] <= sparks.gain.high
        assert sparks.gain.low > 5
    assert min(measured.values()) > 10
    # the third has fewer rows than any figure
    assert [f.gain for f in found if "'24' HOUR" in _frames(f)] == [None, None]


def _frames(finding: Finding) -> str:
    of = finding.operator
    return " ".join([of.detail, *(call.frame for call in of.calls)])


# compressed logs


@pytest.fixture(scope="module")
def compressed(spark: SparkSession, text: bytes, tmp_path_factory: Any) -> Callable[[str], Path]:
    """A log that a codec of this Spark has written."""
    folder = tmp_path_factory.mktemp("compressed")

    def write(codec: str) -> Path:
        path = folder / f"application.{codec}"
        jvm = spark._jvm
        conf = spark.sparkContext._jsc.sc().conf()
        stream = jvm.org.apache.spark.io.CompressionCodec.createCodec(conf, codec)
        out = stream.compressedContinuousOutputStream(jvm.java.io.FileOutputStream(str(path)))
        for at in range(0, len(text), 1 << 18):
            out.write(bytearray(text[at : at + (1 << 18)]))
            out.flush()
        out.close()
        return path

    return write


@pytest.mark.parametrize("codec", ["zstd", "lz4", "snappy", "lzf"])
def test_each_codec_of_spark(compressed, text, codec):
    path = compressed(codec)
    assert path.stat().st_size < len(text) / 3
    with path.open("rb") as file:
        assert b"".join(codecs.chunks(file, codec)) == text
    found, faults = scanned(path)
    assert (by_query(found), faults) == (WHO, [])


@pytest.mark.parametrize("codec", ["zstd", "lz4", "snappy", "lzf"])
def test_a_compressed_log_that_is_still_written(compressed, codec, tmp_path):
    whole = compressed(codec).read_bytes()
    for share in (0.0001, 0.3, 0.9, 0.999):
        path = tmp_path / f"application.{codec}.inprogress"
        path.write_bytes(whole[: max(1, int(len(whole) * share))])
        found, faults = scanned(path)
        assert faults
        assert set(by_query(found)) <= set(WHO)
        if share == 0.9:
            assert len(found) > 5


@pytest.mark.parametrize("codec", [*sorted(codecs.NAMES), None])
def test_garbage_is_no_log_and_no_crash(codec, tmp_path):
    drawn = random.Random(58)  # noqa: S311
    heads = [b"", b"LZ4Block\x20", b"\x82SNAPPY\0", b"ZV\1", b"\x28\xb5\x2f\xfd", b'{"Event":"']
    for head in heads:
        path = tmp_path / ("log" if codec is None else f"log.{codec}")
        path.write_bytes(head + drawn.randbytes(5000) + b"\n" + drawn.randbytes(100))
        assert scanned(path)[0] == []


def test_without_pyarrow_the_fault_names_it(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert main(["scan", str(KEPT[0])]) == 0
    assert "pip install 'sash-spark[scan]'" in capsys.readouterr().out.replace("\n", " ")


# logs that are cut, broken, or of several parts


def test_a_log_that_is_cut_anywhere(text, tmp_path):
    path = tmp_path / "application.inprogress"
    for at in range(0, len(text), len(text) // 23):
        path.write_bytes(text[:at])
        found, _ = scanned(path)
        assert set(by_query(found)) <= set(WHO)
    path.write_bytes(text[:-30])
    assert by_query(scanned(path)[0]) == WHO


def test_lines_that_are_broken_are_skipped_and_counted(text, tmp_path):
    path = tmp_path / "application"
    lines = text.splitlines(keepends=True)
    broken = [b"\x00\xff\n", b"[1, 2]\n", b'{"Event": "SparkListenerTaskEnd"}\n', lines[5][:40]]
    path.write_bytes(b"".join([*lines[:9], *broken, b"\n", *lines[9:]]))
    found, faults = scanned(path)
    assert by_query(found) == WHO
    assert any("3 lines are no events" in fault for fault in faults)
    assert any("SparkListenerTaskEnd is not as Spark writes it" in fault for fault in faults)


def test_rolling_logs_and_compact_ones(text, tmp_path):
    lines = text.splitlines(keepends=True)
    folder = tmp_path / "logs" / "eventlog_v2_app-1"
    folder.mkdir(parents=True)
    third = len(lines) // 3
    parts = [lines[:third], lines[third : 2 * third], lines[2 * third :]]
    for number, part in enumerate(parts, 9):
        (folder / f"events_{number}_app-1").write_bytes(b"".join(part))
    (folder / "appstatus_app-1").touch()
    assert by_query(scanned(tmp_path)[0]) == WHO
    # a compact part stands for all before it, which may still lie there
    compact = folder / "events_10_app-1.compact"
    compact.write_bytes(b"".join(parts[0] + parts[1]))
    whole, _ = scanned(folder)
    assert by_query(whole) == WHO
    assert sum(len(finding.queries) for finding in whole) == sum(map(len, WHO.values()))
    (folder / "events_9_app-1").unlink()
    (folder / "events_10_app-1").unlink()
    assert by_query(scanned(folder)[0]) == WHO


def test_a_folder_with_other_files(text, tmp_path):
    (tmp_path / "readme.txt").write_text("no log\n")
    (tmp_path / ".hidden").write_bytes(text)
    (tmp_path / "empty").touch()
    shutil.copy(KEPT[0], tmp_path)
    assert len(logs([tmp_path])) == 1


def test_runs_of_one_query_are_one_entry(text, tmp_path):
    """The same queries once more, under other numbers."""

    def later(match: re.Match[str]) -> str:
        return f"{match[1]}{int(match[2]) + 100_000}"

    numbers = r'("executionId": |"accumulatorId": |"ID": |"Stage ID": |"accumUpdates": \[\[)(\d+)'
    again = re.sub(numbers, later, text.decode())
    (tmp_path / "twice").write_bytes(text + again.encode())
    (tmp_path / "once").write_bytes(text)
    once = {f.key: f for f in scanned(tmp_path / "once")[0]}
    twice, _ = scanned(tmp_path / "twice")
    assert len(twice) == len(once)
    for finding in twice:
        assert len(finding.queries) == 2
        assert finding.seconds == pytest.approx(2 * once[finding.key].seconds)


# the command


def test_text(capsys):
    assert main(["scan", str(KEPT[-1])]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"1 log, {sum(map(len, WHO.values()))} operators")
    assert "the frame only grows (UNBOUNDED PRECEDING)" in " ".join(out.split())
    assert all(len(line) <= 98 for line in out.splitlines())


def test_json(capsys):
    assert main(["scan", "--json", str(KEPT[-1])]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["not read"] == []
    (hops,) = [f for f in found["found"] if f["description"] == "hops"]
    assert (hops["kind"], hops["who"], hops["windows of a row"]) == ("hop window", "Sash", 5)
    assert hops["task seconds of its stages"] > 0


def test_the_page_loads_nothing(tmp_path, capsys):
    to = tmp_path / "scan.html"
    assert main(["scan", "--html", str(to), str(KEPT[-1])]) == 0
    html = to.read_text(encoding="utf-8")
    assert html.count("<rect") >= 2 * sum(map(len, WHO.values()))
    assert not re.search(r"https?:|src=|@import|url\(|<script", html)
    assert "(ts &lt;= ts)" in html


@pytest.mark.parametrize("path", ["nowhere", "."])
def test_a_path_without_a_log_is_an_error(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["scan", path]) == 1
    assert re.search("does not exist|has no event log", capsys.readouterr().err)


@pytest.mark.parametrize("found", ["none", "3.5"])
def test_it_needs_no_pyspark(run_python, tmp_path, found):
    """Neither one at all, nor one that Sash can run on."""
    hidden = "sys.modules['pyspark'] = None" if found == "none" else "sys.path.insert(0, '.')"
    for name in ("pyspark", "pyspark/sql"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").touch()
    asked = f"import sys; {hidden}; import runpy; runpy.run_module('sash', run_name='__main__')"
    ran = run_python("-c", asked, "scan", str(KEPT[-1]))
    assert "hop window: Sash" in ran.stdout, ran.stderr


def test_the_help_says_that_nothing_leaves_the_machine(capsys):
    with pytest.raises(SystemExit):
        main(["scan", "--help"])
    assert "nothing leaves this machine" in " ".join(capsys.readouterr().out.split())
