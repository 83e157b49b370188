"""The example of a declarative pipeline, as `spark-pipelines run` runs it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import functions as F

import sash
from conftest import REPOSITORY
from streaming import SHORT
from versions import since

EXAMPLE = REPOSITORY / "examples" / "pipeline"
SQL = (EXAMPLE / "transformations" / "rooms.sql").read_text(encoding="utf-8")

pytestmark = [
    pytest.mark.slow,
    since(4, 2, "WATERMARK in a pipeline's SQL"),
]

REFUSED = """
from pathlib import Path
from pyspark import pipelines as dp
from pyspark.sql import SparkSession, functions as F
import sash

@dp.materialized_view
def refused():
    rows = SparkSession.active().table("readings")
    told = []
    for call in (
        lambda: sash.window_join(rows, rows, on="room", by="at", n=(F.count("*"), "1 hour")),
        lambda: sash.as_of(rows, rows, on="room", by="at", last="celsius"),
        lambda: sash.grid(rows, on="room", by="at", every="1 hour"),
        lambda: sash.warm_start(rows, rows, by="at", until="2026-03-01"),
    ):
        try:
            call()
        except Exception as error:
            told.append(f"{type(error).__name__}: {error}")
    Path("told.txt").write_text("\\n".join(told), encoding="utf-8")
    return rows
"""


@pytest.fixture
def ran(tmp_path):
    """The folder in which the pipeline ran, with one more file."""
    folder = tmp_path / "pipeline"
    shutil.copytree(EXAMPLE, folder)
    (folder / "transformations" / "refused.py").write_text(REFUSED, encoding="utf-8")
    spec = folder / "spark-pipeline.yml"
    text = spec.read_text(encoding="utf-8")
    assert text.count("file:///tmp/sash-pipeline") == 1
    spec.write_text(text.replace("file:///tmp/sash-pipeline", f"file://{tmp_path}/storage"))
    (tmp_path / "events").mkdir()
    settings = {
        # PySpark 4.2 and 4.3 drop options of the command line, if there are more than ten
        "spark.jars": sash.jar_path(),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{tmp_path}/events",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        **SHORT,
    }
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(
        "".join(f"{key} {value}\n" for key, value in settings.items()), encoding="utf-8"
    )
    program = Path(pyspark.__path__[0]) / "bin" / "spark-pipelines"
    outer = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
    done = subprocess.run(
        [str(program), "run", "--spec", str(spec)],
        env={
            **outer,
            "SPARK_CONF_DIR": str(tmp_path / "conf"),
            "PYTHONPATH": str(REPOSITORY / "python"),
            "PYSPARK_PYTHON": sys.executable,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert "Run is COMPLETED" in done.stdout + done.stderr, (done.stdout + done.stderr)[-6000:]
    return tmp_path


def test_a_pipeline_answers_as_the_batch_and_sash_runs_its_windows(spark, ran):
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    queries = dict(re.findall(r"CREATE \w+ \w+ (\w+) AS\n(.*?);", SQL, re.DOTALL))
    assert list(queries) == ["readings", "live", "rolling", "hourly", "smooth", "visits"]
    session.sql(queries["readings"]).createOrReplaceTempView("readings")
    last = session.sql("SELECT max(at) - INTERVAL 5 MINUTES FROM readings").head()[0]
    by_time = "PARTITION BY room ORDER BY at RANGE INTERVAL 30 MINUTES PRECEDING"
    queries |= {
        "medians": f"SELECT *, median(celsius) OVER ({by_time}) AS median FROM readings",
        "sessions": """SELECT *, count(*) OVER (
            PARTITION BY room, gap_window('5 minutes') ORDER BY at) AS so_far FROM readings""",
    }
    for name in ("rolling", "hourly", "smooth", "visits", "medians", "sessions"):
        query = re.sub(
            r"STREAM (\w+) WATERMARK at DELAY OF INTERVAL 5 MINUTES", r"\1", queries[name]
        )
        expected = session.sql(query)
        if name in ("rolling", "medians"):
            expected = expected.where(F.col("at") <= last)
        if name == "hourly":
            expected = expected.where(F.col("hour.end") <= last)
        answers = session.read.parquet(str(ran / "spark-warehouse" / name))
        assert Counter(answers.collect()) == Counter(expected.collect()), name
        assert answers.count() > 1
    [log] = (ran / "events").iterdir()
    plans = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    texts = [plan.get("physicalPlanDescription", "") for plan in plans]
    windows = " ".join(w for text in texts for w in re.findall(r"^Windows: (.*)", text, re.M))
    assert "20 PRECEDING" in windows, "smooth"
    assert re.search(r"LATERAL \( ?SELECT", windows), "visits"
    assert "gap_window" in windows, "sessions"
    states = list((ran / "storage").glob("**/state/0/_sash/windows"))
    assert len(states) == 3, "rolling, hourly and medians"

    told = (ran / "pipeline" / "told.txt").read_text(encoding="utf-8").splitlines()
    assert len(told) == 4
    names = ("window_join", "as_of", "grid", "warm_start")
    words = ("LATERAL", "LIMIT 1", "sequence", "history_until")
    for line, name, word in zip(told, names, words, strict=True):
        assert line.startswith(f"PySparkRuntimeError: sash.{name} looks at the columns"), line
        assert word in line
