"""Windows divided among tasks, even one key of them: Spark's rows on every PySpark."""

from __future__ import annotations

import pytest
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.window import WindowSpec

import sash

SPLIT = "spark.sash.window.split"
THRESHOLD = "spark.sash.window.splitThreshold"
ENABLED = "spark.sash.enabled"
FIRST, LAST = Window.unboundedPreceding, Window.unboundedFollowing


def ordered() -> WindowSpec:
    return Window.orderBy("t", "id")


FRAMES = {
    "running": lambda: ordered().rowsBetween(FIRST, 0),
    "near": lambda: ordered().rowsBetween(-70, 0),
    "around": lambda: ordered().rowsBetween(-3, 90),
    "rest": lambda: ordered().rowsBetween(0, LAST),
    "peers": lambda: Window.orderBy("t"),
    "range": lambda: Window.orderBy("t").rangeBetween(-40, 0),
    "ahead": lambda: Window.orderBy(F.desc("t")).rangeBetween(-5, 30),
}
POSITIONS = {
    "row_number": lambda: F.row_number(),
    "rank": lambda: F.rank(),
    "dense_rank": lambda: F.dense_rank(),
    "percent_rank": lambda: F.percent_rank(),
    "cume_dist": lambda: F.cume_dist(),
    "ntile": lambda: F.ntile(7),
    "lag": lambda: F.lag("x", 60, -1),
    "lead": lambda: F.lead("x"),
}


@pytest.fixture
def divided(spark: SparkSession):
    """The session, where each window without PARTITION BY is divided among seven tasks."""
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set(THRESHOLD, "0")
    spark.conf.set("spark.sql.shuffle.partitions", "7")
    yield spark
    spark.conf.unset(THRESHOLD)
    spark.conf.unset(ENABLED)
    spark.conf.set("spark.sql.shuffle.partitions", before)


@pytest.fixture
def always(divided: SparkSession):
    """The session, where windows with PARTITION BY are divided, too."""
    divided.conf.set(SPLIT, "always")
    yield divided
    divided.conf.unset(SPLIT)


def table(spark: SparkSession) -> DataFrame:
    return spark.range(0, 400, 1, 3).selectExpr(
        "id", "int(pmod(id * 97, 150)) AS t", "if(id % 9 = 0, NULL, int(id % 13)) AS x"
    )


def rows(frame: DataFrame, expected_lines: int | None) -> list:
    if expected_lines is not None:
        lines = sash.plan.explanation(frame).splitlines()
        assert len([line for line in lines if "in many tasks" in line]) >= expected_lines, lines
    return sorted(frame.collect(), key=str)


def same_rows(spark: SparkSession, make) -> None:
    spark.conf.set(ENABLED, "true")
    actual = rows(make(table(spark)), expected_lines=1)
    spark.conf.set(ENABLED, "false")
    assert actual == rows(make(table(spark)), expected_lines=None)


@pytest.mark.parametrize("frame", FRAMES)
def test_aggregates_over_a_frame(divided: SparkSession, frame: str):
    over = FRAMES[frame]()
    calls = [F.sum("x"), F.max("x"), F.count("*"), F.first("x", ignorenulls=True)]
    if frame in ("peers", "range", "ahead"):
        calls.pop()  # peers come in any order
    same_rows(
        divided,
        lambda t: t.select("id", *(c.over(over).alias(f"c{i}") for i, c in enumerate(calls))),
    )


def test_positions_in_one_query(divided: SparkSession):
    same_rows(
        divided,
        lambda t: t.select("id", *(c().over(ordered()).alias(n) for n, c in POSITIONS.items())),
    )


def test_a_condition_above_and_an_order(divided: SparkSession):
    def query(t: DataFrame) -> DataFrame:
        running = t.withColumn("s", F.sum("x").over(ordered().rowsBetween(-50, 0)))
        return running.where("x > 6").orderBy("t", "id").select("id", "s")

    same_rows(divided, query)
    divided.conf.set(ENABLED, "true")
    assert [r.id for r in query(table(divided)).collect()] == [
        r.id for r in table(divided).where("x > 6").orderBy("t", "id").collect()
    ]


def test_one_task_where_one_function_is_not_divided(divided: SparkSession):
    frame = table(divided).select(
        F.nth_value("x", 2).over(ordered()), F.sum("x").over(ordered().rowsBetween(-5, 0))
    )
    assert "in one task: nth_value" in sash.plan.explanation(frame)


def one_key(spark: SparkSession) -> DataFrame:
    """Nine rows of ten have key 1, some have none, and each other key has few."""
    key = "if(id % 10 < 9, 1, if(id % 20 = 9, NULL, id)) AS k"
    return table(spark).selectExpr(key, "*")


def test_one_key_that_holds_most_rows(always: SparkSession):
    by_key = Window.partitionBy("k").orderBy("t", "id")
    calls = {n: c().over(by_key) for n, c in POSITIONS.items()} | {
        "sum": F.sum("x").over(by_key),
        "near": F.max("x").over(by_key.rowsBetween(-70, 3)),
        "rest": F.count("x").over(by_key.rowsBetween(0, LAST)),
        "range": F.sum("x").over(Window.partitionBy("k").orderBy("t").rangeBetween(-40, 5)),
    }
    same_rows(
        always,
        lambda _: one_key(always).select("id", *(c.alias(n) for n, c in calls.items())),
    )


def test_a_group_by_above_a_divided_key(always: SparkSession):
    running = F.sum("x").over(Window.partitionBy("k").orderBy("id"))
    same_rows(
        always,
        lambda _: (
            one_key(always).withColumn("s", running).groupBy("k").agg(F.max("s"), F.count("*"))
        ),
    )


def test_a_key_in_one_task_says_why(always: SparkSession):
    frame = one_key(always).select(F.sum("x").over(Window.partitionBy("k")))
    assert "each key in one task: it has no ORDER BY" in sash.plan.explanation(frame)
    always.conf.set(SPLIT, "on")
    assert "task" not in sash.plan.explanation(frame.select("*"))


@pytest.mark.parametrize("ends", ["hours", "before"])
def test_windows_at_another_tables_times(always: SparkSession, ends: str):
    of = {
        "hours": "e.at >= l.at - INTERVAL 23 HOURS AND e.at < l.at",
        "before": "e.at < l.at",
    }
    at = "TIMESTAMP'2026-03-05' + make_dt_interval(0, t) AS at"
    zone = always.conf.get("spark.sql.session.timeZone")
    always.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        one_key(always).selectExpr("*", at).createOrReplaceTempView("label_rows")
        one_key(always).selectExpr("k", "t + 3 AS t", "x", at).createOrReplaceTempView(
            "event_rows"
        )
        query = (
            "SELECT l.id, f.* FROM label_rows l, LATERAL (SELECT sum(e.x) AS s, count(*) AS c "
            f"FROM event_rows e WHERE e.k = l.k AND {of[ends]}) f"
        )
        same_rows(always, lambda _: always.sql(query))
    finally:
        always.conf.set("spark.sql.session.timeZone", zone)
