"""Monoids of one's own, and the check of their laws; test_connect.py has both for Connect."""

from __future__ import annotations

import pytest
from pyspark.errors import (
    AnalysisException,
    PySparkNotImplementedError,
    PySparkTypeError,
    PySparkValueError,
)
from pyspark.sql import DataFrame, SparkSession, Window, WindowSpec
from pyspark.sql import functions as F

import sash
from sash.testing import check_monoid
from windows import assert_slides_as_spark

SPREAD = sash.Monoid(
    lift=lambda x: F.struct(x.alias("lo"), x.alias("hi")),
    combine=lambda a, b: F.struct(
        F.least(a.lo, b.lo).alias("lo"), F.greatest(a.hi, b.hi).alias("hi")
    ),
    lower=lambda a: a.hi - a.lo,
)
TOTAL = sash.Monoid(lambda x: x, lambda a, b: a + b, identity=0, inverse=lambda w, o: w - o)
GREATEST = sash.Monoid(lambda x: x, lambda a, b: F.greatest(a, b), selective=True)
LEAST = sash.Monoid(
    lambda x: x, lambda a, b: F.when(b < a, b).otherwise(a), selective=lambda a, b: b < a
)
BY_TS = sash.Monoid(
    lift=lambda x: F.struct(x.ts, x.x),
    combine=lambda a, b: F.when(b.x.isNotNull(), b).otherwise(a),
    lower=lambda a: a.x,
)
VECTOR = sash.Monoid(
    lift=lambda x: F.transform(F.array(F.lit(1), x), lambda y: y * 2),
    combine=lambda a, b: F.zip_with(a, b, lambda p, q: p + q),
    lower=lambda a: a[1] / a[0],
)


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return spark.range(200).selectExpr(
        "id % 3 AS k", "id AS ts", "CASE WHEN id % 5 = 0 THEN NULL ELSE id * 7 % 11 END AS x"
    )


@pytest.fixture
def last_three(spark) -> WindowSpec:
    return Window.partitionBy("k").orderBy("ts").rowsBetween(-2, 0)


MONOIDS = [
    pytest.param(SPREAD, "x", lambda: F.max("x") - F.min("x"), id="spread"),
    pytest.param(TOTAL, "x", lambda: F.coalesce(F.sum("x"), F.lit(0)), id="with an inverse"),
    pytest.param(GREATEST, "x", lambda: F.max("x"), id="selective"),
    pytest.param(LEAST, "x", lambda: F.min("x"), id="selective by a function"),
    pytest.param(VECTOR, "x", lambda: F.avg("x"), id="functions in functions"),
]


@pytest.mark.parametrize(("monoid", "column", "theirs"), MONOIDS)
def test_a_monoid_groups_as_sparks_aggregates(df, monoid, column, theirs):
    rows = df.groupBy("k").agg(monoid(column).alias("ours"), theirs().alias("theirs")).collect()
    assert len(rows) == 3
    assert all(row.ours == row.theirs for row in rows)


@pytest.mark.parametrize(("monoid", "column", "theirs"), MONOIDS)
def test_a_monoid_slides(spark, df, last_three, monoid, column, theirs):
    ours = assert_slides_as_spark(
        spark,
        lambda: df.select("ts", sash.sliding_agg(column, monoid, last_three).alias("c")),
    )
    w = Window.partitionBy("k").orderBy("ts").rowsBetween(-2, 0)
    given = F.collect_list("x").over(w)
    rows = {row.ts: row.x for row in df.select("ts", given.alias("x")).collect()}
    expected = {
        ts: spark_says for ts, values in rows.items() for spark_says in [_plain(monoid, values)]
    }
    assert {row.ts: row.c for row in ours} == expected


def _plain(monoid, values):
    if monoid is TOTAL:
        return sum(values)
    if not values:
        return None
    return {
        SPREAD: max(values) - min(values),
        GREATEST: max(values),
        LEAST: min(values),
        VECTOR: sum(values) / len(values),
    }[monoid]


def test_several_columns_are_a_struct(df, last_three):
    last = sash.sliding_agg(F.struct("ts", "x"), BY_TS, last_three)
    theirs = F.last("x", ignorenulls=True).over(last_three)
    rows = df.select(last.alias("ours"), theirs.alias("theirs")).collect()
    assert all(row.ours == row.theirs for row in rows)


def test_types_that_do_not_close(df):
    halves = sash.Monoid(lambda x: x, lambda a, b: (a + b) / 2)
    with pytest.raises(AnalysisException, match=r"combine of `monoid_agg`.*BIGINT.*DOUBLE"):
        df.agg(halves("x"))


def test_a_function_that_returns_no_column(df):
    with pytest.raises(PySparkValueError):
        sash.Monoid(lambda x: 1, lambda a, b: a)("x")  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize("monoid", [SPREAD, TOTAL, GREATEST, LEAST, VECTOR])
def test_laws_that_hold(df, monoid):
    check_monoid(df.select("x"), monoid)


def test_laws_over_several_columns(df):
    check_monoid(df.select("ts", "x"), BY_TS)


@pytest.mark.parametrize(
    ("monoid", "message"),
    [
        (
            sash.Monoid(lambda x: x, lambda a, b: a - b),
            "combine is not associative:\n  a = 1, of 1\n  b = 1, of 1\n  c = 1, of 1\n"
            "  combine(combine(a, b), c) = -1\n  combine(a, combine(b, c)) = 1",
        ),
        (
            sash.Monoid(lambda x: x, lambda a, b: F.greatest(a, b), identity=2),
            "identity is not neutral:\n  a = 1, of 1\n  combine(identity, a) = 2\n  a = 1\n"
            "identity is not neutral:\n  a = 1, of 1\n  combine(a, identity) = 2\n  a = 1",
        ),
        (
            sash.Monoid(lambda x: x, lambda a, b: F.greatest(a, b), inverse=lambda w, o: w),
            "inverse does not leave the rest:\n  a = 2, of 2\n  b = 1, of 1\n"
            "  inverse(combine(a, b), a) = 2\n  b = 1",
        ),
        (
            sash.Monoid(lambda x: x, lambda a, b: a + b, selective=True),
            "combine does not pick an operand:\n  a = 1, of 1\n  b = 1, of 1\n"
            "  combine(a, b) = 2\n  a or b = 1",
        ),
        (
            sash.Monoid(lambda x: x, lambda a, b: F.least(a, b), selective=lambda a, b: b > a),
            "combine does not pick the operand that selective says:\n  a = 1, of 1\n"
            "  b = 2, of 2\n  combine(a, b) = 1\n  b if selective(a, b) else a = 2",
        ),
    ],
    ids=["associative", "identity", "inverse", "selective", "selective by a function"],
)
def test_the_smallest_counterexample(spark, monoid, message):
    df = spark.createDataFrame([(3,), (2,), (1,), (None,), (1,), (40,)], "x INT")
    with pytest.raises(AssertionError) as caught:
        check_monoid(df, monoid)
    assert str(caught.value) == message


def test_counterexamples_that_only_large_values_give(spark):
    df = spark.createDataFrame([(x,) for x in [1, 2, 3, 4, 5, 6, 7, 8, 9, 2**53 + 1]], "x LONG")
    as_double = sash.Monoid(
        lambda x: x,
        lambda a, b: F.greatest(a.cast("double"), b.cast("double")).cast("long"),
        selective=True,
    )
    with pytest.raises(AssertionError, match=str(2**53 + 1)):
        check_monoid(df, as_double)


def test_floats_are_compared_up_to_rounding(spark):
    df = spark.createDataFrame([(0.1,), (0.2,), (0.3,), (float("nan"),)], "x DOUBLE")
    means = sash.Monoid(
        lift=lambda x: F.struct(F.array(x).alias("v"), F.lit(1).alias("n")),
        combine=lambda a, b: F.struct(
            F.zip_with(a.v, b.v, lambda p, q: p + q).alias("v"), (a.n + b.n).alias("n")
        ),
    )
    check_monoid(df, means)
    with pytest.raises(AssertionError, match="not associative"):
        check_monoid(df, means, tolerance=0.0)


def test_inputs_of_any_name_and_type(spark):
    last = sash.Monoid(lambda x: x, lambda a, b: b)
    check_monoid(spark.range(3).withColumnRenamed("id", "a`b"), last)
    check_monoid(spark.sql("SELECT map('a', id, 'b', 0) AS m FROM range(3)"), last)


def test_a_lift_of_other_columns_is_not_checked(spark):
    both = sash.Monoid(lambda row: row.x + F.col("y"), lambda a, b: a + b)
    with pytest.raises(PySparkValueError, match=r"`monoid` should be .* reads its input alone"):
        check_monoid(spark.sql("SELECT id AS x, id AS y FROM range(3)"), both)


def test_what_is_no_monoid(df):
    with pytest.raises(PySparkTypeError, match=r"`monoid`.*got str"):
        check_monoid(df, "max")  # type: ignore[arg-type]


class Larger(sash.Aggregator):
    def lift(self, value):
        return value

    def merge(self, left, right):
        return max(left, right)


def test_an_aggregator_in_python_needs_spark_4_1(spark):
    if hasattr(F, "arrow_udf"):
        pytest.skip("this Spark has Arrow UDFs")
    with pytest.raises(PySparkNotImplementedError, match=r"needs PySpark 4\.1 or later"):
        sash.udaf(Larger(), "int")
