"""Windows are answered when rows leave, too: against plain Python, in batch and on a stream."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from changes_model import Arrival, answers
from windows import setting

START = datetime(2026, 3, 1)
SCHEMA = "id INT, k STRING, t TIMESTAMP, x INT"
HOUR = timedelta(hours=1)


def asked(rows: DataFrame, window: Any, **more: Any) -> DataFrame:
    return sash.on_change(
        rows,
        partition_by="k",
        order_by="t",
        window=window,
        n=F.count("*"),
        s="sum(x)",
        d=F.count_distinct("x"),
        **more,
    ).select("id", "k", "t", "change", "n", "s", "d")


def same(found: DataFrame | list[Any], expected: list[Any]) -> None:
    given = found.collect() if isinstance(found, DataFrame) else found
    assert sorted(map(repr, map(tuple, given))) == sorted(map(repr, map(tuple, expected)))


KINDS = {
    "BIGINT": (lambda n: n, 4, lambda n: n + 4),
    "INT": (lambda n: n, 4, lambda n: n + 4),
    # most rows never leave: their type ends before that
    "TINYINT": (lambda n: 100 + n, 17, lambda n: n + 17 if n + 17 < 128 else None),
    "SMALLINT": (lambda n: n, 40_000, lambda n: None),
    "DATE": (lambda n: date(2026, 3, 1) + timedelta(n), "4 days", lambda d: d + timedelta(4)),
    "TIMESTAMP": (lambda n: START + n * HOUR, "4 hours", lambda t: t + 4 * HOUR),
    "TIMESTAMP_NTZ": (lambda n: START + n * HOUR, timedelta(hours=4), lambda t: t + 4 * HOUR),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("closed", ["right", "both"])
def test_each_type_of_time(spark: SparkSession, kind: str, closed: Any) -> None:
    time, window, leaves = KINDS[kind]
    unit = {"DATE": timedelta(1), "TIMESTAMP": timedelta(microseconds=1)}.get(kind, 1)
    unit = timedelta(microseconds=1) if kind == "TIMESTAMP_NTZ" else unit
    rng = random.Random(kind)  # noqa: S311
    rows = [
        Arrival(
            i,
            rng.choice(["a", "b", None]),
            rng.choice([None, *(time(n) for n in range(25))]),
            rng.choice([None, 1, 2, 3]),
        )
        for i in range(40)
    ]

    def end(at: Any) -> Any:
        of = leaves(at)
        if closed == "right" or of is None:
            return of
        return None if kind == "TINYINT" and of == 127 else of + unit

    df = spark.createDataFrame(rows, SCHEMA.replace("TIMESTAMP", kind))
    found = asked(df, window, closed=closed)
    assert found.schema["t"].dataType == df.schema["t"].dataType
    expected = answers(rows, end)
    same(found, expected)
    assert kind == "SMALLINT" or any(row[3] == "leave" for row in expected)
    assert "SlidingWindow" in sash.explanation(found)
    assert "stays with Spark" not in sash.explanation(found)


@pytest.mark.parametrize("window", ["1 day", "24 hours", timedelta(days=1)])
def test_a_day_has_24_hours_where_clocks_change(spark: SparkSession, window: Any) -> None:
    with setting(spark, "spark.sql.session.timeZone", "America/New_York"):
        rows = spark.sql("""
            SELECT id, 'a' k, timestamp_seconds(1772946000 + id * 3600) t, 1 x  -- from 8 March on
            FROM range(60)""")
        found = asked(rows, window).selectExpr("unix_seconds(t) div 3600 AS h", "change", "n")
        counts = {row.h - 1772946000 // 3600: row.n for row in found.collect()}
    hours = range(60 + 24)
    assert counts == {h: min(h + 1, 24) - max(h - 59, 0) for h in hours}


def test_columns_are_passed_through(spark: SparkSession) -> None:
    rows = spark.sql("""
        SELECT 1 id, named_struct('a', 1, 'b', array(1, NULL)) st, map('a', 1) m, 'x' `a.b`,
          cast(1 AS DECIMAL(9, 2)) after, 1.5D gone, TIMESTAMP '2026-03-01' `t s`, X'00' b""")
    found = sash.on_change(
        rows,
        partition_by=["a.b", "id"],
        order_by="t s",
        window="1 hour",
        now=F.count("*"),
        until=F.max("st"),
        place="first(gone)",
    )
    assert found.columns == [*rows.columns, "change", "now", "until", "place"]
    nulls = {field.name: field.nullable for field in found.schema}
    kept = {"id", "a.b", "change", "now"}
    assert {name for name, is_nullable in nulls.items() if not is_nullable} == kept
    assert [found.schema[name].dataType for name in rows.columns] == [
        field.dataType for field in rows.schema
    ]
    entered, left = found.orderBy("t s").collect()
    assert entered[: len(rows.columns)] == rows.collect()[0]
    assert entered[len(rows.columns) :] == ("enter", 1, entered.st, 1.5)
    assert left.asDict() == {
        **dict.fromkeys(found.columns),
        "id": 1,
        "a.b": "x",
        "t s": datetime(2026, 3, 1, 1),
        "change": "leave",
        "now": 0,
    }


def test_any_aggregate(spark: SparkSession) -> None:
    """Rows that leave are in no window: they do not even count as NULL."""
    rows = spark.createDataFrame(
        [("a", 1, 5), ("a", 2, None), ("a", 4, 7)], "k STRING, t INT, x INT"
    )
    largest = sash.Monoid(lambda x: x, lambda a, b: F.greatest(a, b), lambda a: a)
    found = sash.on_change(
        rows,
        partition_by=[],
        order_by="t",
        window=5,
        first=F.first("x"),
        last=F.last("x"),
        every=F.collect_list(F.coalesce("x", F.lit(0))),
        big="count_if(x > 5)",
        nulls=F.count_if(F.col("x").isNull()),
        median=F.median("x"),
        own=largest("x"),
        mean=sash.functions.geometric_mean("x"),
    )
    changes = [tuple(row)[4:] for row in found.where("change = 'leave'").orderBy("t").collect()]
    assert changes == [
        (None, 7, [0, 7], 1, 1, 7.0, 7, pytest.approx(7)),
        (7, 7, [7], 1, 0, 7.0, 7, pytest.approx(7)),
        (None, None, [], 0, 0, None, None, None),
    ]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"partition_by": 3}, "`partition_by`"),
        ({"partition_by": ["k", 3]}, "`partition_by`"),
        ({"partition_by": lambda: F.lit(3)}, "`partition_by`"),
        ({"partition_by": "other"}, "a column of df"),
        ({"order_by": None}, "`order_by`"),
        ({"order_by": "k"}, "no key"),
        ({"order_by": "f"}, "timestamps, dates or whole numbers"),
        ({"window": 3}, "since t is timestamp"),
        ({"window": "0 hours"}, "more than 0"),
        ({"window": timedelta(days=-1)}, "more than 0"),
        ({"window": "hourly"}, "an interval as in"),
        ({"window": "1 month"}, "months have several"),
        ({"window": "2 years"}, "months have several"),
        ({"window": "900000000 weeks"}, "100,000 years"),
        ({"window": "1 hour", "order_by": "d"}, "whole days, since d is date"),
        ({"window": 10**30, "order_by": "x"}, "`window`"),
        ({"window": "1 hour", "order_by": "x"}, "`window`"),
        ({"closed": "left"}, "'right' or 'both'"),
        ({"change": 3}, "`change`"),
        ({"change": "X"}, "no other column has"),
        ({"n": 3}, "`n`"),
        ({"T": lambda: F.count("*")}, "no other column has"),
        (
            {"n": lambda: F.col("x")},
            "UNSUPPORTED_EXPR_FOR_WINDOW|not a window function|aggregate",
        ),
        ({"n": lambda: F.row_number()}, "is about the window of an aggregate"),
        ({"n": "sum(y)"}, "UNRESOLVED_COLUMN"),
    ],
    ids=str,
)
def test_a_wrong_argument_is_named(
    spark: SparkSession, wrong: dict[str, Any], named: str
) -> None:
    rows = spark.sql("SELECT 'a' k, TIMESTAMP '2026-03-01' t, DATE '2026-03-01' d, 1 x, 1.5D f")
    given = {"partition_by": "k", "order_by": "t", "window": "1 hour", "n": F.count("*")}
    made = {name: value() if callable(value) else value for name, value in wrong.items()}
    with pytest.raises(PySparkException, match=named):
        sash.on_change(rows, **{**given, **made}).schema  # noqa: B018


def test_errors_of_frames(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, 2, 3)], "k INT, t INT, x INT")
    with pytest.raises(PySparkException, match="named aggregates"):
        sash.on_change(rows, partition_by="k", order_by="t", window=1)
    with pytest.raises(PySparkException, match="columns by name"):
        sash.on_change(rows, partition_by="k", order_by="t", window=1, n=F.sum(rows["x"]))
    with pytest.raises(PySparkException, match="a name that no other column has"):
        asked(rows.select("*", "x"), 1)
    with pytest.raises(PySparkException, match="a Spark DataFrame"):
        asked([], 1)  # type: ignore[arg-type]
