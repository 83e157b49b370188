"""The newest features of Spark's SQL beside windows: the same rows, and Sash's operator runs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from pyspark.errors import PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from versions import since

pytestmark = pytest.mark.slow

since_41 = since(4, 1, "Spark 4.1 has it")
since_42 = since(4, 2, "Spark 4.2 has it")
since_43 = since(4, 3, "Spark 4.3 has it")
# of features that are behind a switch
SWITCHES = ("timeType.enabled", "geospatial.enabled", "timestampNanosTypes.enabled")
OVER = "OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)"
ROWS = "OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 PRECEDING)"
POINT = "st_geomfromwkb(unhex(concat('0101000000000000000000F03F00000000000000', hex(64 + id))))"


@pytest.fixture(scope="module")
def newest(spark: SparkSession) -> Iterator[SparkSession]:
    for switch in SWITCHES:
        spark.conf.set(f"spark.sql.{switch}", "true")
    spark.createDataFrame([(1,)], ["x"])  # makes this the session whose switches Spark asks
    spark.range(12).selectExpr(
        "id", "id % 2 AS k", "double(id) AS x", "timestamp_seconds(id * 60) AS ts"
    ).createOrReplaceTempView("r")
    yield spark
    for view in ("r", "times", "nanos", "values_of"):
        spark.catalog.dropTempView(view)
    for switch in SWITCHES:
        spark.conf.unset(f"spark.sql.{switch}")


def slides(df: DataFrame) -> bool:
    plan = df._jdf.queryExecution().executedPlan().toString()
    return "SlidingWindow" in plan or "HopWindows" in plan


def assert_same(session: SparkSession, query: str, **given: Any) -> None:
    """Sash's operator runs the query, with Spark's rows."""
    df = session.sql(query, **given)
    assert slides(df), query
    ours = sorted(map(str, df.collect()))
    session.conf.set("spark.sash.enabled", "false")
    try:
        assert ours == sorted(map(str, session.sql(query, **given).collect())), query
    finally:
        session.conf.set("spark.sash.enabled", "true")
    assert len(ours) > 1


@since_42
@pytest.mark.parametrize(
    "kind",
    [
        "count_window(3)",
        "time_window('2 minutes')",
        "time_window('2 minutes', hop => '2 minutes')",
        "delta_window(x, 2)",
        "punctuation_window(id % 3 = 0)",
        "gap_window('3 minutes')",
        "predicate_window(sum(x), s -> s < 20)",
        "groups_window(2, 0)",
        "rows_window(2)",
        "range_window('2 minutes')",
        "window_and(count_window(2), gap_window('3 minutes'))",
    ],
)
def test_qualify_over_each_kind(newest, kind):
    call = f"sum(x) OVER (PARTITION BY k, {kind} ORDER BY ts)"
    qualified = newest.sql(f"SELECT id, {call} AS s FROM r QUALIFY s > 9")
    assert slides(qualified)
    rows = newest.sql(f"SELECT id, {call} AS s FROM r").where("s > 9").collect()
    assert rows
    assert sorted(qualified.collect()) == sorted(rows)


@since_42
def test_qualify_over_frames(newest):
    assert_same(newest, f"SELECT id, sum(x) {OVER} AS s FROM r QUALIFY s > 9")
    assert_same(newest, f"SELECT id FROM r QUALIFY max(x) {OVER} > 3 AND id > 1")


@since_42
def test_the_nearest_rows_beside_a_window(newest):
    nearest = "FROM r l JOIN r e EXACT NEAREST 1 BY DISTANCE abs(e.id - l.id)"
    call = "sum(l.x) OVER (PARTITION BY l.k ORDER BY l.ts ROWS 2 PRECEDING)"
    assert_same(newest, f"SELECT l.id, e.id AS e, {call} AS s {nearest}")


def test_pipes(newest):
    assert_same(newest, f"FROM r |> EXTEND sum(x) {OVER} AS s |> WHERE s > 9 |> SELECT id, s")
    hops = "GROUP BY window(ts, '10 minutes', '1 minute') AS w |> ORDER BY w"
    assert_same(newest, f"FROM r |> AGGREGATE sum(x) AS s {hops}")


def test_markers_of_parameters(newest):
    frame = "SELECT id, sum(x) OVER (ORDER BY ts {}) AS s FROM r"
    assert_same(newest, frame.format("ROWS :n PRECEDING"), args={"n": 2})
    assert_same(newest, frame.format("ROWS BETWEEN ? PRECEDING AND ? FOLLOWING"), args=[2, 1])
    two = {"n": timedelta(minutes=2)}
    assert_same(newest, frame.format("RANGE :n PRECEDING"), args=two)
    kind = "SELECT sum(x) OVER (PARTITION BY time_window(:w) ORDER BY ts) AS s FROM r"
    sums = newest.sql(kind, args={"w": "2 minutes"}).collect()
    assert sorted(row.s for row in sums)[:4] == [0, 1, 3, 6]


@since_41
def test_recursive_queries(newest):
    numbers = "WITH RECURSIVE n(i) AS ({} UNION ALL SELECT i + 1 FROM n WHERE i < 9) "
    over = "SELECT i, sum(i) OVER (ORDER BY i ROWS 3 PRECEDING) AS s FROM n"
    assert_same(newest, numbers.format("SELECT 1") + over)
    # only Sash's operator runs a kind of window; each round is planned when it runs
    kind = "SELECT c FROM (SELECT id, count(*) OVER (PARTITION BY delta_window(x, 2) ORDER BY id)"
    inside = newest.sql(numbers.format(f"{kind} AS c FROM r) WHERE id = 5") + "SELECT * FROM n")
    assert sorted(row.i for row in inside.collect()) == [3, 4, 5, 6, 7, 8, 9]
    assert not slides(inside)


METRICS = """CREATE OR REPLACE VIEW metrics_of_r WITH METRICS LANGUAGE YAML AS $$
version: "0.1"
source: SELECT k, id DIV 3 AS part, x, sum(x) OVER (PARTITION BY k ORDER BY id ROWS 2 PRECEDING)
  AS recent FROM (SELECT id, id % 2 AS k, double(id) AS x FROM range(12))
dimensions:
  - name: part
    expr: part
measures:
  - name: total
    expr: SUM(x)
  - name: most
    expr: MAX(recent)
$$"""


@since_42
def test_metric_views(newest):
    """Windows in the source of a metric view, and windows over its measures."""
    newest.sql(METRICS)
    try:
        inside = "SELECT part, measure(most) AS most FROM metrics_of_r GROUP BY part"
        assert_same(newest, inside)
        assert sorted(row.most for row in newest.sql(inside).collect()) == [2, 9, 18, 27]
        over = "sum(measure(total)) OVER (ORDER BY part ROWS 1 PRECEDING) AS two"
        assert_same(newest, f"SELECT part, {over} FROM metrics_of_r GROUP BY part")
    finally:
        newest.sql("DROP VIEW metrics_of_r")


VARIANT = "parse_json(concat('{\"a\":', id, '}'))"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (VARIANT, "to_json({})"),
        pytest.param(POINT, "hex(st_asbinary({}))", marks=since_42),
    ],
    ids=["variant", "geometry"],
)
def test_values_that_have_no_order(newest, value, shown):
    newest.sql(f"SELECT id, {value} AS v FROM r").createOrReplaceTempView("values_of")
    calls = [
        f"last(v) {ROWS}",
        f"max_by(v, id) {ROWS}",
        f"get(collect_list(v) {ROWS}, 0)",
    ]
    texts = ", ".join(f"{shown.format(call)} AS c{n}" for n, call in enumerate(calls))
    assert_same(newest, f"SELECT id, {texts} FROM values_of")
    newest_two = newest.sql(
        f"SELECT id, {shown.format(f'get(last_n(v, 2) {ROWS}, 1)')} AS c FROM values_of"
    )
    assert slides(newest_two)
    assert len({row.c for row in newest_two.collect()}) == 11
    before = "LATERAL (SELECT v FROM values_of e WHERE e.id < l.id ORDER BY e.id DESC LIMIT 1) f"
    assert_same(newest, f"SELECT l.id, {shown.format('f.v')} AS c FROM values_of l, {before}")


def _times(newest: SparkSession) -> DataFrame:
    return newest.sql("SELECT id, k, make_time(8, int(id), 0) AS t FROM r")


@since_42
def test_times_of_day(newest):
    _times(newest).createOrReplaceTempView("times")
    assert_same(newest, "SELECT id, count(*) OVER (ORDER BY t ROWS 2 PRECEDING) AS c FROM times")
    within = "e.t >= l.t - INTERVAL '2' MINUTE AND e.t < l.t"
    count = f"LATERAL (SELECT count(*) AS n FROM times e WHERE {within}) f"
    assert_same(newest, f"SELECT l.id, f.n FROM times l, {count}")


@since_42
@pytest.mark.parametrize(
    ("direction", "found"),
    [
        ("backward", [None, None, 0, 1, 2]),
        ("forward", [2, 3, 4, 5, 6]),
        ("nearest", [2, 3, 0, 1, 2]),
    ],
)
def test_as_of_takes_times_of_day(newest, direction, found):
    times = _times(newest)
    events = times.selectExpr("k", "t", "id AS e")
    of = {"on": "k", "by": "t", "direction": direction, "e": "e", "allow_exact_matches": False}
    rows = sash.as_of(times, events, **of).drop("t")
    assert slides(rows)
    assert [row.e for row in sorted(rows.collect(), key=lambda row: row.id)][:5] == found
    near = sash.as_of(times, events, **of, tolerance="1 minute").drop("t")
    assert {row.e for row in near.collect()} == {None}


@since_42
def test_window_join_takes_times_of_day(newest):
    times = _times(newest)
    for span in ("4 minutes", timedelta(minutes=4), ("-4 minutes", 0)):
        counts = sash.window_join(times, times, on="k", by="t", n=(F.count("*"), span)).drop("t")
        assert slides(counts)
        assert sorted(row.n for row in counts.collect()) == [0, 0, 1, 1] + [2] * 8
    with pytest.raises(PySparkValueError, match="`n` should be an interval without months"):
        sash.window_join(times, times, on="k", by="t", n=(F.count("*"), "2 months"))
    with pytest.raises(PySparkValueError, match="two of times of day"):
        sash.window_join(
            times,
            newest.table("r").withColumnRenamed("ts", "t"),
            on="k",
            by="t",
            n=(F.count("*"), None),
        )


@since_43
def test_nanoseconds(newest):
    newest.sql("SELECT id, k, cast(ts AS TIMESTAMP_NTZ(9)) AS t FROM r").createOrReplaceTempView(
        "nanos"
    )
    assert_same(newest, "SELECT id, count(*) OVER (ORDER BY t ROWS 2 PRECEDING) AS c FROM nanos")
    last = "LATERAL (SELECT id AS n FROM nanos e WHERE e.t < l.t ORDER BY e.t DESC LIMIT 1) f"
    assert_same(newest, f"SELECT l.id, f.n FROM nanos l, {last}")
