"""A Connect client needs nothing but the jar on its server."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import QUIET

TESTS = Path(__file__).parent

# classic and Connect sessions do not mix in one process
CLIENT = f"""
import datetime
import sys
sys.path.insert(0, {str(TESTS)!r})
import sash
from pyspark.errors import (
    AnalysisException, PySparkRuntimeError, PySparkTypeError, PySparkValueError)
from pyspark.sql import SparkSession, Window, functions as F
from sash.plan import explanation
from windows import assert_slides_as_spark

builder = SparkSession.builder.remote("local[2]").config(map={QUIET!r})
"""

QUERIES = """
assert type(spark).__module__.startswith("pyspark.sql.connect")
assert sash.is_active(spark)
assert sash.inactive_reason(spark) is None
try:
    sash.configure(spark)
    raise SystemExit("a session passed for a builder")
except PySparkTypeError as error:
    assert "SparkSession.builder, got SparkSession" in str(error)
df = spark.range(100).selectExpr("id % 3 AS k", "id AS ts", "id * 7 % 11 AS x")
w = Window.partitionBy("k").orderBy("ts").rowsBetween(-2, 0)
rows = assert_slides_as_spark(spark, lambda: df.select(
    "ts",
    F.sum("x").over(w).alias("plain"),
    sash.sliding_agg("x", "sum", w).alias("named"),
    sash.sliding_agg(F.col("x"), F.sum, w).alias("made")))
assert all(row.plain == row.named == row.made for row in rows)
spread = sash.Monoid(
    lambda x: F.struct(x.alias("lo"), x.alias("hi")),
    lambda a, b: F.struct(F.least(a.lo, b.lo).alias("lo"), F.greatest(a.hi, b.hi).alias("hi")),
    lambda a: a.hi - a.lo)
rows = assert_slides_as_spark(spark, lambda: df.select(
    "ts",
    sash.sliding_agg("x", spread, w).alias("ours"),
    sash.functions.value_range("x").over(w).alias("plain")))
assert all(row.ours == row.plain for row in rows)
(row,) = df.agg(spread("x"), F.max("x") - F.min("x")).collect()
assert row[0] == row[1]
sash.testing.check_monoid(df.select("x"), spread)
try:
    sash.testing.check_monoid(df.select("x"), sash.Monoid(lambda x: x, lambda a, b: a - b))
    raise SystemExit("a difference passed for associative")
except AssertionError as error:
    assert "combine(a, combine(b, c)) = " in str(error)
df.createOrReplaceTempView("t")
for refused in (
    lambda: sash.changed(df, since=0),
    lambda: sash.refreshed("SELECT * FROM t", {"t": df}),
    lambda: sash.refresh(df, {"t": df}, into="t", id="x")):
    try:
        refused()
        raise SystemExit("a client of Connect refreshed a table")
    except PySparkRuntimeError as error:
        assert "a client of Connect has none. Run it where the server runs" in str(error)
assert_slides_as_spark(spark, lambda: spark.sql(
    "SELECT ts, sliding_agg(x, 'max') OVER (ORDER BY ts RANGE 9 PRECEDING) FROM t"))
assert "slides: sum(x)" in explanation(df.select(F.sum("x").over(w)))
budget = sash.SlidingWindow.partitionBy("k").orderBy("ts").predicate(lambda total: total <= 12)
last_nine = sash.SlidingWindow.partitionBy("k").orderBy("ts").count(9)
windows = df.select(
    "x",
    sash.sliding_agg("x", F.collect_list, last_nine).alias("nine"),
    sash.sliding_agg("x", "sum", budget).alias("spent")).collect()
assert all(row.nine[-1] == row.x and len(row.nine) <= 9 for row in windows)
assert all(row.x <= row.spent <= 12 for row in windows)
by_ts = sash.SlidingWindow.partitionBy("k").orderBy("ts")
kinds = [
    by_ts.count(3), by_ts.time(4), by_ts.session(5), by_ts.delta("x", 2), by_ts.groups(1),
    by_ts.punctuation(F.col("x") == 3), by_ts.predicate(F.sum("x"), lambda s: s <= 12),
    by_ts.count(3) & by_ts.session(5), by_ts.count(3) | by_ts.session(5),
    by_ts.rows("x"), by_ts.range("x"), by_ts.time(4).exclude("ties"), by_ts.count(3).slide(2)]
for kind in kinds:
    named = sash.sliding_agg("x", "max", kind)
    both = df.select(F.max("x").over(kind).alias("over"), named.alias("named")).collect()
    assert all(row.over == row.named for row in both), kind
days = F.sequence(F.to_date("ts"), F.date_sub(F.to_date("ts"), 6), F.expr("INTERVAL -1 DAY"))
no_day = datetime.date(2026, 4, 1)  # a Wednesday, which no window counts
since = F.filter(days, lambda day: (F.weekday(day) < 5) & ~day.isin([no_day]))[1]
two_days = by_ts.range(F.expr("ts - since")) & by_ts.time("7 days")
rows = spark.sql("SELECT 1 AS k, TIMESTAMP '2026-03-30' + make_dt_interval(id, 9) AS ts, id "
                 "FROM range(8)").withColumn("since", since)
in_two = rows.select("id", F.collect_list("id").over(two_days).alias("ids")).orderBy("id")
assert [row.ids[0] for row in in_two.collect()] == [0, 0, 0, 1, 3, 3, 3, 4], in_two.collect()
try:
    df.select(sash.sliding_agg("x", "maxx", w)).collect()
    raise SystemExit("an unknown monoid passed")
except AnalysisException as error:
    assert "'max'" in str(error)
try:
    sash.sliding_agg(3, "max", w)
    raise SystemExit("a number passed for a column")
except PySparkTypeError as error:
    assert "`col`" in str(error)
labels = spark.range(20).selectExpr("id % 3 AS k", "id * 5 AS ts", "id")
rows = assert_slides_as_spark(spark, lambda: sash.window_join(
    labels, df, on="k", by="ts", n=(F.count("*"), 9), total=(F.sum("x"), None)))
assert {row.n for row in rows} >= {0, 3}
rows = assert_slides_as_spark(spark, lambda: sash.as_of(labels, df, on="k", by="ts", at="ts"))
assert all(row.at == min(row.ts - (row.ts - row.k) % 3, 99 - (99 - row.k) % 3)
           for row in rows if row.ts >= row.k)
try:
    sash.window_join(labels, df, on="k", by="ts", n=(F.sum("id"), 9))
    raise SystemExit("a column of the labels passed for one of the events")
except AnalysisException as error:
    assert "`id`" in str(error)
features = {"n": (F.col("x"), 9), "m": (F.sum("x"), 9)}
for wrong, text in [
    (lambda: sash.window_join(labels, df, on="k", by="ts", **features), "an aggregate over"),
    (lambda: sash.as_of(labels, df, on="k", by="ts", at=F.max("x")), "and no aggregate"),
    (lambda: sash.window_join(labels, df.withColumn("ts", F.lit(True)), on="k", by="ts",
                              m=features["m"]), "a column of dates, timestamps or numbers"),
    (lambda: sash.window_join(labels, df.withColumn("k", F.lit(True)), on="k", by="ts",
                              m=features["m"]), "columns that can be compared"),
]:
    try:
        wrong()
        raise SystemExit(f"this passed: {text}")
    except PySparkValueError as error:
        assert text in str(error), error
for window in (by_ts.count(3), by_ts.count(3) & by_ts.session(5)):
    assert " at 0x" not in repr(window), window
for again in (SparkSession.builder.remote("local[2]"), builder):
    assert sash.configure(again).getOrCreate().range(3).count() == 3
"""


@pytest.fixture
def run_client(run_python):
    """Run a script against a server of its own, and see that it ends well."""

    def run(make_session: str, script: str) -> None:
        # the server then takes a free port, and the client asks it which
        env = {"SPARK_TESTING": "yes"}
        result = run_python(
            "-c", f"{CLIENT}\n{make_session}\n{script}\nprint('all done')", env=env
        )
        assert result.returncode == 0, result.stdout + result.stderr
        assert result.stdout.splitlines()[-1] == "all done"

    return run


@pytest.mark.slow
def test_configure_reaches_the_server_of_a_local_remote(run_client):
    # PySpark warns about the static settings of QUIET, but not about the jar
    strict = r"""
import warnings
warnings.filterwarnings("error", message=r"Failed to set spark\.jars")
"""
    run_client(f"{strict}spark = sash.configure(builder).getOrCreate()", QUERIES)


@pytest.mark.slow
def test_the_jar_alone_is_enough(run_client):
    run_client('spark = builder.config("spark.jars", sash.jar_path()).getOrCreate()', QUERIES)


@pytest.mark.slow
@pytest.mark.thorough
def test_without_the_jar_sash_is_not_active(run_client):
    run_client("spark = builder.getOrCreate()", "assert '--jars' in sash.inactive_reason(spark)")
