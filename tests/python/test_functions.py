"""sliding_agg in a classic session; test_connect.py has the same for Connect."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException, PySparkTypeError
from pyspark.sql import DataFrame, SparkSession, Window, WindowSpec
from pyspark.sql import functions as F

import sash
from windows import assert_slides_as_spark


@pytest.fixture
def last_three(spark) -> WindowSpec:
    return Window.partitionBy("k").orderBy("ts").rowsBetween(-2, 0)


@pytest.fixture(params=["rows", "range"])
def window(request, spark, last_three) -> WindowSpec:
    next_ten = Window.partitionBy("k").orderBy("ts").rangeBetween(0, 10)
    return last_three if request.param == "rows" else next_ten


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return spark.range(200).selectExpr(
        "id % 3 AS k",
        "id AS ts",
        "CASE WHEN id % 5 = 0 THEN NULL ELSE id * 7 % 11 END AS x",
        "CAST(id % 7 AS STRING) AS s",
    )


@pytest.mark.parametrize(
    "monoid", ["sum", "max", "MIN", "count", "first", "bit_xor", "any_value"]
)
def test_a_name_is_the_aggregate_of_that_name(spark, df, window, monoid):
    rows = assert_slides_as_spark(
        spark,
        lambda: df.select(
            "k",
            "ts",
            sash.sliding_agg("x", monoid, window).alias("ours"),
            F.call_function(monoid, "x").over(window).alias("theirs"),
        ),
    )
    assert all(row.ours == row.theirs for row in rows)


@pytest.mark.parametrize(
    "monoid",
    [F.max, lambda x: F.max_by("s", x), lambda x: F.sum(F.abs(x) + 1)],
    ids=["max", "max_by", "sum of an expression"],
)
def test_a_function_makes_the_aggregate(spark, df, window, monoid):
    rows = assert_slides_as_spark(
        spark,
        lambda: df.select(
            "k",
            "ts",
            sash.sliding_agg(F.col("x"), monoid, window).alias("ours"),
            monoid(F.col("x")).over(window).alias("theirs"),
        ),
    )
    assert all(row.ours == row.theirs for row in rows)


def test_sql_says_the_same(spark, df):
    df.createOrReplaceTempView("readings")
    frame = "PARTITION BY k ORDER BY ts ROWS 2 PRECEDING"
    rows = assert_slides_as_spark(
        spark,
        lambda: spark.sql(
            f"SELECT ts, sliding_agg(x, 'max') OVER ({frame}) AS ours, "
            f"max(x) OVER ({frame}) AS theirs FROM readings"
        ),
    )
    assert all(row.ours == row.theirs for row in rows)


def test_the_documented_answer(spark):
    df = spark.createDataFrame([(1, 5.0), (2, None), (3, 2.0), (4, 3.0)], ["ts", "x"])
    last_two = Window.orderBy("ts").rowsBetween(-1, 0)
    rows = df.select(sash.sliding_agg("x", "sum", last_two)).collect()
    assert [row[0] for row in rows] == [5.0, 5.0, 2.0, 5.0]


@pytest.mark.parametrize(
    ("written", "meant"), [("maxx", "max"), ("summ", "sum"), ("averag", "avg")]
)
def test_an_unknown_monoid_suggests_the_nearest(df, last_three, written, meant):
    with pytest.raises(AnalysisException, match=f"'{meant}'") as caught:
        df.select(sash.sliding_agg("x", written, last_three))
    assert f"`{written}`" in str(caught.value)


def test_a_scalar_function_is_no_monoid(df, last_three):
    with pytest.raises(AnalysisException, match="`upper`"):
        df.select(sash.sliding_agg("s", "upper", last_three))


@pytest.mark.parametrize(
    ("wrong", "argument", "remedy"),
    [
        ({"col": 3}, "col", "Column or the name of one, got int"),
        ({"monoid": None}, "monoid", "'max'.*got None"),
        ({"monoid": lambda x: 7}, "monoid", "returns a Column, got int"),
        ({"window": Window}, "window", r"orderBy\('ts'\).*got the class Window"),
        ({"window": "w"}, "window", "WindowSpec.*got str"),
    ],
    ids=["col", "monoid", "result of monoid", "window class", "window name"],
)
def test_a_wrong_type_names_the_argument_and_the_remedy(last_three, wrong, argument, remedy):
    right = {"col": "x", "monoid": "max", "window": last_three}
    with pytest.raises(PySparkTypeError, match=f"`{argument}`.*{remedy}") as caught:
        sash.sliding_agg(**{**right, **wrong})
    assert caught.value.getCondition() == "NOT_EXPECTED_TYPE"


def test_an_invalid_frame_gives_sparks_own_error(df):
    with pytest.raises(AnalysisException) as caught:
        df.select(sash.sliding_agg("x", "max", Window.orderBy("ts").rowsBetween(3, -3)))
    condition = "DATATYPE_MISMATCH.SPECIFIED_WINDOW_FRAME_WRONG_COMPARISON"
    assert caught.value.getCondition() == condition
