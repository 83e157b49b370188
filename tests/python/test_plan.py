"""`explain` says which windows Sash runs, and why Spark keeps the others."""

from __future__ import annotations

import pandas as pd
import pytest
from pyspark.errors import IllegalArgumentException
from pyspark.sql import Window
from pyspark.sql import functions as F
from pyspark.sql.functions import pandas_udf

import sash
from sash.plan import explanation

MIXED = """
    SELECT max(id) OVER w, rank() OVER (ORDER BY id), sum(id) OVER (ORDER BY id)
    FROM range(9) WINDOW w AS (ORDER BY id ROWS 2 PRECEDING)"""


def test_explain_prints_what_slides_and_what_does_not(spark, capsys):
    sash.explain(spark.sql(MIXED))
    lines = capsys.readouterr().out.splitlines()
    # the windows of a node have lines of their own
    assert lines[0].startswith("SlidingWindow [], [id ASC NULLS FIRST]")
    assert "\n".join(lines).count("max(id)") == 1
    assert any(line.startswith("slides: max(id)") for line in lines)
    left = [line for line in lines if line.startswith("left to Spark: ")]
    assert any("RANK()" in line and "ranking" in line for line in left)
    assert any("sum(id)" in line and "UNBOUNDED PRECEDING" in line for line in left)


def test_a_query_that_has_run_is_explained_as_before(spark):
    over = Window.partitionBy("k").orderBy("id").rowsBetween(-2, 0)
    rows = spark.range(100).withColumn("k", F.col("id") % 3).repartition(3)
    cached = rows.withColumn("a", F.max("id").over(over)).cache()
    df = cached.repartition("k").select(F.min("a").over(over))
    before = explanation(df)
    df.collect()
    assert "== Initial Plan ==" in df._jdf.queryExecution().executedPlan().toString()
    nodes = [line for line in explanation(df).splitlines() if "SlidingWindow" in line]
    assert nodes == [line for line in before.splitlines() if "SlidingWindow" in line]
    cached.unpersist()


def test_explain_leaves_the_session_as_it_was(spark):
    key = "spark.sql.extendedExplainProviders"
    for before in (None, "io.sash.spark.Explain"):
        if before:
            spark.conf.set(key, before)
        try:
            explanation(spark.range(3))
            assert spark.conf.get(key, None) == before
        finally:
            spark.conf.unset(key)


def test_explain_with_sash_off_says_so(spark):
    spark.conf.set("spark.sash.enabled", "false")
    try:
        assert "spark.sash.enabled is false" in explanation(spark.sql(MIXED))
    finally:
        spark.conf.unset("spark.sash.enabled")


def test_a_query_without_windows_says_so(spark):
    assert explanation(spark.range(3)) == "no window"


@pytest.mark.parametrize("algorithm", ["recalculate", "two-stacks-lite"])
def test_the_forced_algorithm_is_shown(spark, algorithm):
    spark.conf.set("spark.sash.window.algorithm", algorithm)
    try:
        said = explanation(
            spark.sql("SELECT max(id) OVER (ORDER BY id ROWS 2 PRECEDING) FROM range(9)")
        )
    finally:
        spark.conf.unset("spark.sash.window.algorithm")
    shown = said.lower().replace(" ", "").replace("-", "")
    assert f":{algorithm.replace('-', '')}" in shown


def test_an_unknown_algorithm_names_the_allowed_ones(spark):
    with pytest.raises(IllegalArgumentException, match="bubble") as caught:
        spark.conf.set("spark.sash.window.algorithm", "bubble")
    for allowed in ("auto", "two-stacks-lite", "slickdeque-inv", "slickdeque-non-inv"):
        assert allowed in str(caught.value)


def test_a_window_in_python_stays_beside_windows_of_a_chain(spark):
    """Windows of a chain of withColumn become one operator, but for aggregates in Python."""

    @pandas_udf("double")
    def mean(values: pd.Series) -> float:
        return values.mean()

    over = Window.partitionBy("k").orderBy("id").rowsBetween(-2, 0)
    rows = spark.range(20).selectExpr("id", "id % 3 AS k", "double(id) AS x")
    chain = (
        rows.withColumn("a", F.sum(F.col("x") + 1).over(over))
        .withColumn("b", mean(F.col("x") + 1).over(over))
        .withColumn("c", F.max(F.col("x") + 2).over(over))
        .withColumn("d", F.avg(F.col("x") + 1).over(over))
    )
    plan = chain._jdf.queryExecution().executedPlan().toString()
    assert plan.count("SlidingWindow [") == 2, plan  # one on either side of Python's


def test_a_query_in_sql_over_streams_is_explained(spark):
    """Spark's own EXPLAIN refuses it."""
    for name in ("l", "e"):
        rate = spark.readStream.format("rate").load().withWatermark("timestamp", "1 minute")
        rate.selectExpr("timestamp AS ts", "value % 2 AS k").createOrReplaceTempView(name)
    df = spark.sql(
        "SELECT l.*, f.n FROM l, LATERAL (SELECT count(*) AS n FROM e WHERE e.k = l.k AND "
        "e.ts >= l.ts - INTERVAL 1 HOUR AND e.ts < l.ts) f"
    )
    assert "slides on a stream: LATERAL (SELECT count(" in sash.explanation(df)


LAST = "SELECT e.x FROM e WHERE e.k = l.k AND e.x < l.n ORDER BY e.x DESC LIMIT {}"


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT * FROM l LEFT JOIN LATERAL (SELECT plus_one(x) AS y FROM ({LAST.format(1)})) f",
        f"SELECT * FROM l LEFT JOIN LATERAL (SELECT plus_one(x) AS y FROM ({LAST.format(2)})) f",
        f"SELECT l.n, (SELECT plus_one(x) FROM ({LAST.format(1)})) AS y FROM l",
        f"SELECT l.n, f.x FROM l LEFT JOIN LATERAL (SELECT * FROM ({LAST.format(2)}) "
        "WHERE plus_one(x) > 5) f",
        "SELECT l.n, f.y FROM l LEFT JOIN LATERAL (SELECT max(e.x) AS y FROM e WHERE e.k = l.k "
        "AND e.x < l.n GROUP BY e.k HAVING plus_one(max(e.x)) > 5) f",
    ],
)
def test_python_is_called_for_a_subquerys_rows_alone(spark, query):
    """Where a label without a row stays, Spark runs the subquery."""
    spark.udf.register("plus_one", lambda x: x + 1, "bigint")  # fails for None
    spark.sql("SELECT id AS n, id % 3 AS k FROM range(12)").createOrReplaceTempView("l")
    spark.sql("SELECT id AS x, id % 2 AS k FROM range(12)").createOrReplaceTempView("e")
    answers = spark.sql(query)
    assert "plus_one runs in Python, for existing rows alone" in sash.explanation(answers)
    assert len(answers.collect()) >= 12
    inner = query.replace("LEFT JOIN", "JOIN")
    if inner != query:
        assert "slides: LATERAL" in sash.explanation(spark.sql(inner))
        assert spark.sql(inner).count() > 0
