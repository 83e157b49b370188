"""A name of Sash's that a user has is the user's; without Sash each function says so."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException, PySparkRuntimeError
from pyspark.sql import functions as F
from pyspark.sql.types import LongType

import sash
import signatures
from conftest import QUIET
from windows import setting

NAMES = [
    "product",
    "m4",
    "max_count",
    "value_range",
    "time_window",
    "sliding_agg",
    "sash_version",
]

# what each function of the package is called with, where `df` has the columns id and ts
CALLS = {
    **dict(signatures.calls()),
    "sliding_agg": 'sash.sliding_agg("id", "sum", w.count(3))',
    "aggregate's name": 'sash.sliding_agg("id", "sum", Window.orderBy("id").rowsBetween(-2, 0))',
    "Monoid": 'sash.Monoid(lambda x: x, lambda a, b: a + b)("id")',
    "time": 'sash.sliding_agg("id", F.sum, w.time(3))',
    "delta": 'sash.sliding_agg("id", F.sum, w.delta("id", 3))',
    "punctuation": 'sash.sliding_agg("id", F.sum, w.punctuation("id"))',
    "session": 'sash.sliding_agg("id", F.sum, w.session(3))',
    "predicate": 'sash.sliding_agg("id", F.sum, w.predicate(lambda s: s < 3))',
    "groups": 'sash.sliding_agg("id", F.sum, w.groups(1))',
    "rows": 'sash.sliding_agg("id", F.sum, w.rows(1))',
    "range": 'sash.sliding_agg("id", F.sum, w.range(1))',
    "exclude": 'sash.sliding_agg("id", F.sum, w.count(3).exclude("ties"))',
    "slide": 'sash.sliding_agg("id", F.sum, w.count(3).slide(2))',
    "min_periods": 'sash.sliding_agg("id", F.sum, w.count(3).min_periods(2))',
    "check_monoid": "sash.testing.check_monoid(df, sash.Monoid(lambda x: x, lambda a, b: a + b))",
}
EACH = f"""
import sash
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession, Window, functions as F
from sash import functions as f
from sash.plan import explanation

def check(spark, *remedies):
    df, w = spark.range(3), sash.SlidingWindow.orderBy("id")
    for name, call in {CALLS!r}.items():
        try:
            eval(call)
        except PySparkRuntimeError as error:
            for remedy in remedies:
                assert remedy in str(error), (name, error)
        else:
            raise SystemExit(f"{{name}} said nothing")
    said = explanation(df)
    for remedy in remedies:
        assert remedy in said, said
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_registered_function_is_the_one_that_runs(spark, name):
    df = spark.range(3)
    spark.udf.register(name, lambda x: x * 1000, LongType())
    try:
        answers = [
            spark.sql(f"SELECT {name}(id) AS y FROM range(3)"),
            df.select(F.call_function(name, "id").alias("y")),
            df.select(F.expr(f"{name}(id)").alias("y")),
            df.selectExpr(f"`{name}`(id) AS y"),
        ]
        for answer in answers:
            assert [row.y for row in answer.collect()] == [0, 1000, 2000]
        # Spark's and Sash's own are called by other names
        assert df.where("id > 0").agg(F.product("id")).head()[0] == 2.0
        assert df.agg(sash.functions.value_range("id")).head()[0] == 2
    finally:
        spark.sql(f"DROP TEMPORARY FUNCTION {name}")


def test_a_function_of_the_catalogue_is_the_one_that_runs(spark):
    assert spark.sql("SELECT geometric_mean(2.0D)").head()[0] == 2.0
    assert not spark.catalog.functionExists("geometric_mean")
    spark.sql("CREATE FUNCTION geometric_mean(x DOUBLE) RETURNS DOUBLE RETURN x * 100")
    try:
        assert spark.catalog.functionExists("geometric_mean")
        assert spark.sql("SELECT geometric_mean(2.0D)").head()[0] == 200.0
        assert spark.sql("SELECT (SELECT geometric_mean(2.0D))").head()[0] == 200.0
        assert "io.sash" not in str(spark.sql("DESCRIBE FUNCTION geometric_mean").collect())
    finally:
        spark.sql("DROP FUNCTION geometric_mean")
    assert spark.sql("SELECT geometric_mean(2.0D)").head()[0] == 2.0
    assert "Usage: geometric_mean(x)" in str(
        spark.sql("DESCRIBE FUNCTION geometric_mean").collect()
    )


def test_views_over_a_name_of_sash(spark):
    query = "SELECT geometric_mean(id) AS g FROM range(4, 5)"
    for kind in ("TEMPORARY", ""):
        spark.sql(f"CREATE {kind} VIEW of_sash AS {query}")
        try:
            assert spark.table("of_sash").head()[0] == 4.0
        finally:
            spark.sql("DROP VIEW of_sash")
    spark.sql(f"CREATE TEMPORARY FUNCTION of_sash(x INT) RETURNS DOUBLE RETURN ({query})")
    try:
        assert spark.sql("SELECT of_sash(1)").head()[0] == 4.0
    finally:
        spark.sql("DROP TEMPORARY FUNCTION of_sash")


def test_switched_off_no_name_is_known(spark):
    windows = "SELECT sum(id) OVER (PARTITION BY delta_window(id, 2) ORDER BY id) FROM range(5)"
    queries = [
        "SELECT geometric_mean(1)",
        "SELECT sash_version()",
        "DESCRIBE FUNCTION m4",
        windows,
    ]
    spark.createDataFrame([], "id INT")  # makes this session the active one
    with setting(spark, "spark.sash.enabled", "false"):
        for query in queries:
            with pytest.raises(AnalysisException) as caught:
                spark.sql(query)
            assert caught.value.getCondition() == "UNRESOLVED_ROUTINE"
        with pytest.raises(PySparkRuntimeError, match=r"spark\.sash\.enabled is false"):
            sash.functions.geometric_mean("id")
    spark.sql(windows).collect()


CLASSIC = f"""
spark = SparkSession.builder.master("local[1]").config(map={QUIET!r}).getOrCreate()
check(spark, "sash.configure", "spark-submit --jars", "python -m sash install")
"""
SERVED = f"""
spark = SparkSession.builder.remote("local[1]").config(map={QUIET!r}).getOrCreate()
check(spark, "sash.configure", "--jars", "python -m sash install")
"""
SWITCHED_OFF = f"""
builder = SparkSession.builder.remote("local[1]").config(map={QUIET!r})
spark = sash.configure(builder.config("spark.sash.enabled", "false")).getOrCreate()
check(spark, "spark.sash.enabled is false", "spark.conf.set")
spark.conf.set("spark.sash.enabled", "true")
assert spark.range(4, 5).select(f.geometric_mean("id")).head()[0] == 4.0
spark.sql("CREATE FUNCTION geometric_mean(x DOUBLE) RETURNS DOUBLE RETURN x * 100")
assert spark.range(1).select(F.call_function("geometric_mean", F.lit(2.0))).head()[0] == 200.0
assert spark.range(4, 5).select(f.geometric_mean("id")).head()[0] == 4.0
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        pytest.param(CLASSIC, id="jvm"),
        pytest.param(SERVED, id="server", marks=pytest.mark.thorough),
        pytest.param(SWITCHED_OFF, id="off", marks=pytest.mark.thorough),
    ],
)
def test_each_function_says_that_sash_is_not_there(run_python, script):
    result = run_python("-c", EACH + script, env={"SPARK_TESTING": "yes"})
    assert result.returncode == 0, result.stdout + result.stderr
