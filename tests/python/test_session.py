"""configure and is_active; each test has a process of its own, since a JVM loads jars once."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from pyspark.errors import PySparkTypeError
from pyspark.sql import SparkSession

import sash
from conftest import QUIET
from sash import spark_jars
from windows import setting

MAKE = f"""
import json, sys
import sash
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[1]").config(map={QUIET!r})
"""
# the driver's class path is what decides; the executors' list shows what is shipped
TELL = """
loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
print(json.dumps({
    "active": sash.is_active(spark),
    "other": loader.getResource("other.txt") is not None,
    "shipped": spark.sparkContext.getConf().get("spark.jars", ""),
}))
"""


@pytest.fixture
def other_jar(tmp_path: Path) -> Path:
    """A jar of the user's own."""
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / "other.txt").write_text("mine", encoding="utf-8")
    archive = shutil.make_archive(str(tmp_path / "other"), "zip", tmp_path / "content")
    return Path(archive).rename(tmp_path / "other.jar")


@pytest.fixture
def session(run_python):
    """Make a session by a line of Python, and tell what it has."""

    def make(line: str, env: dict[str, str] | None = None) -> dict[str, object]:
        result = run_python("-c", f"{MAKE}\nspark = {line}\n{TELL}", env=env)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout.splitlines()[-1])

    return make


CONFIGURED = "sash.configure(builder).getOrCreate()"


@pytest.mark.slow
def test_without_the_jar_sash_is_not_active(session):
    assert session("builder.getOrCreate()")["active"] is False


def test_configure_for_streams_keeps_state_in_rocksdb():
    store = "spark.sql.streaming.stateStore.providerClass"
    builder = SparkSession.Builder()
    assert sash.configure(builder.remote("sc://elsewhere"), streaming=True) is builder
    assert builder._options[store].endswith(".RocksDBStateStoreProvider")
    assert store not in sash.configure(SparkSession.Builder().remote("sc://elsewhere"))._options
    with pytest.raises(PySparkTypeError, match="`streaming` should be a bool, got str"):
        sash.configure(SparkSession.Builder(), streaming="yes")


def test_configure_makes_it_active_and_twice_is_once(session):
    told = session("sash.configure(sash.configure(builder)).getOrCreate()")
    assert told == {"active": True, "other": False, "shipped": sash.jar_path()}


@pytest.mark.slow
def test_jars_of_the_builder_stay(session, other_jar):
    told = session(f"sash.configure(builder.config('spark.jars', '{other_jar}')).getOrCreate()")
    assert told == {"active": True, "other": True, "shipped": f"{other_jar},{sash.jar_path()}"}


@pytest.mark.slow
@pytest.mark.thorough
def test_jars_of_the_submit_arguments_stay(session, other_jar):
    arguments = f"--jars {other_jar} --name mine pyspark-shell"
    told = session(CONFIGURED, {"PYSPARK_SUBMIT_ARGS": arguments})
    assert told["active"]
    assert told["other"]


@pytest.mark.slow
def test_jars_of_the_defaults_file_stay(session, other_jar, tmp_path):
    defaults = f"spark.app.name x\nspark.jars {other_jar}\n"
    (tmp_path / "spark-defaults.conf").write_text(defaults, encoding="utf-8")
    told = session(CONFIGURED, {"SPARK_CONF_DIR": str(tmp_path)})
    assert told["active"]
    assert told["other"]


def test_a_session_that_runs_with_the_jar_is_left_alone(spark):
    builder = SparkSession.builder
    assert sash.configure(builder) is builder
    assert "spark.jars" not in builder._options
    assert sash.configure(SparkSession.builder).getOrCreate() is spark


@pytest.mark.slow
@pytest.mark.parametrize(
    "stop",
    [
        pytest.param("", id="running"),
        pytest.param(".stop()", id="stopped", marks=pytest.mark.thorough),
    ],
)
def test_a_jvm_without_the_jar_is_a_clear_error(run_python, stop):
    script = f"{MAKE}\nbuilder.getOrCreate(){stop}\nsash.configure(builder)"
    result = run_python("-c", script)
    assert result.returncode == 1
    for remedy in ("restart Python", "spark-submit --jars", "python -m sash install"):
        assert remedy in result.stderr


def test_a_server_elsewhere_is_left_alone():
    builder = sash.configure(SparkSession.builder.remote("sc://example:15002"))
    assert builder._options == {"spark.remote": "sc://example:15002"}


def test_spark_submit_without_the_jar_is_a_clear_error(run_python, tmp_path):
    result = _submit(run_python, tmp_path)
    assert result.returncode != 0
    assert "spark-submit --jars" in result.stdout + result.stderr


def test_spark_submit_with_the_jar(run_python, tmp_path):
    result = _submit(run_python, tmp_path, "--jars", sash.jar_path())
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout.splitlines()[-1])["active"]


def _submit(run_python, tmp_path, *options):
    script = tmp_path / "application.py"
    script.write_text(f"{MAKE}\nspark = {CONFIGURED}\n{TELL}", encoding="utf-8")
    submit = (
        "import subprocess, sys;"
        "from pyspark.find_spark_home import _find_spark_home as home;"
        "sys.exit(subprocess.run([home() + '/bin/spark-submit', *sys.argv[1:]]).returncode)"
    )
    return run_python("-c", submit, *options, str(script))


def test_an_inactive_session_has_a_reason(spark, monkeypatch):
    assert sash.inactive_reason(spark) is None
    with setting(spark, "spark.sash.enabled", "FALSE"):
        assert not sash.is_active(spark)
        assert "spark.sash.enabled is false" in sash.inactive_reason(spark)
    monkeypatch.setattr("sash.loaded.is_loaded", lambda spark: False)
    assert not sash.is_active(spark)
    # the jar is there, so nobody has to fetch it
    assert f"leaves Spark {spark.version} alone" in sash.inactive_reason(spark)
    assert "--jars" not in sash.inactive_reason(spark)
    monkeypatch.setattr("sash.loaded.has_jar", lambda: False)
    assert "spark-submit --jars" in sash.inactive_reason(spark)


@pytest.mark.slow
@pytest.mark.thorough
def test_a_feature_that_is_off_is_a_reason(run_python):
    script = f"""{MAKE}
spark = {CONFIGURED}
assert sash.is_active(spark)
jvm = spark._jvm
status = jvm.io.sash.spark.features.status
windows = getattr(getattr(status, "FeatureName$Windows$"), "MODULE$")
status.FeatureStatus.failed(windows, jvm.java.lang.LinkageError("it is gone"))
assert not sash.is_active(spark)
assert "left to Spark: windows: " in sash.inactive_reason(spark), sash.inactive_reason(spark)
assert "it is gone" in sash.inactive_reason(spark)
"""
    result = run_python("-c", script)
    assert result.returncode == 0, result.stderr


def test_names_that_are_gone_are_a_reason(spark):
    """The single-pass analyzer runs no rules of extensions."""
    with setting(spark, "spark.sql.analyzer.singlePassResolver.enabled", True):
        why = sash.inactive_reason(spark)
        assert why.startswith("left to Spark: functions: "), why
        assert "since spark.sql.analyzer.singlePassResolver.enabled is true" in why
        assert not sash.is_active(spark)
        assert why in sash.explanation(spark.sql("SELECT 1"))
    assert sash.is_active(spark)


@pytest.mark.parametrize("wrong", [None, 3, SparkSession, SparkSession.builder], ids=str)
def test_is_active_wants_a_session(wrong):
    for ask in (sash.is_active, sash.inactive_reason):
        with pytest.raises(PySparkTypeError, match="`spark` should be a SparkSession, got"):
            ask(wrong)


def test_configure_wants_a_builder(spark):
    for wrong in (spark, SparkSession, None, "local[2]"):
        with pytest.raises(
            PySparkTypeError, match=r"configure\(SparkSession\.builder\)"
        ) as caught:
            sash.configure(wrong)
        assert "`builder` should be SparkSession.builder, got" in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("--jars a.jar,b.jar pyspark-shell", "--jars a.jar,b.jar,ours.jar pyspark-shell"),
        ("--conf spark.jars=a.jar -c k=v x.py", "--jars a.jar,ours.jar -c k=v x.py"),
        ("--jars=a.jar --name x.py y.py", "--jars a.jar,ours.jar --name x.py y.py"),
        ("--conf=spark.jars=a.jar x.py", "--jars a.jar,ours.jar x.py"),
        ("--name x pyspark-shell", "--name x pyspark-shell"),
    ],
)
def test_submit_arguments_are_changed_only_where_they_name_jars(monkeypatch, arguments, expected):
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
    assert spark_jars.with_jar("ours.jar", {})[-1] == "ours.jar"
    assert os.environ["PYSPARK_SUBMIT_ARGS"] == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (None, "--jars ours.jar pyspark-shell"),
        ("--name x pyspark-shell", "--jars ours.jar --name x pyspark-shell"),
        ("--jars=a.jar pyspark-shell", "--jars a.jar,ours.jar pyspark-shell"),
        ("--jars a.jar,b.jar pyspark-shell", "--jars a.jar,b.jar,ours.jar pyspark-shell"),
    ],
)
def test_submit_arguments_may_bring_the_jar(monkeypatch, tmp_path, arguments, expected):
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments or "")
    if arguments is None:
        monkeypatch.delenv("PYSPARK_SUBMIT_ARGS")
    for _ in range(2):
        spark_jars.submit_with("ours.jar")
        assert os.environ["PYSPARK_SUBMIT_ARGS"] == expected


@pytest.mark.parametrize("line", ["spark.jars a,b", "spark.jars=a,b", "  spark.jars : a, b "])
def test_the_defaults_file_is_read_as_spark_reads_it(monkeypatch, tmp_path, line):
    text = f"# spark.jars no\nspark.jars.packages x:y:z\n{line}\nspark.app.name x\n"
    (tmp_path / "spark-defaults.conf").write_text(text, encoding="utf-8")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    assert spark_jars.with_jar("ours", {}) == ["a", "b", "ours"]
    assert spark_jars.with_jar("ours", {"spark.jars": "mine"}) == ["mine", "ours"]
    assert spark_jars.with_jar("a", {}) == ["a", "b"]
