"""`ASOF JOIN … MATCH_CONDITION`, which Spark has since 4.3: Sash's rows are Spark's."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession

from sash.plan import explanation
from versions import since
from windows import setting

pytestmark = [
    pytest.mark.slow,
    since(4, 3, "Spark has ASOF JOIN since 4.3"),
]

NUMBERS = ["0", "1", "2", "4", "7"]
FLOATS = [*NUMBERS, "-0.0", "0.5", "'NaN'", "'Infinity'"]
DAYS = [f"DATE'2026-03-{d:02d}'" for d in (1, 2, 9, 28)]
WORDS = ["''", "'a'", "'A'", "'b'", "'bb'", "'c'"]
# values of each type that has an order
TYPES: dict[str, list[str]] = {
    **dict.fromkeys(["TINYINT", "SMALLINT", "INT", "BIGINT", "DECIMAL(10,2)"], NUMBERS),
    **dict.fromkeys(["FLOAT", "DOUBLE"], FLOATS),
    **dict.fromkeys(["DATE", "TIMESTAMP", "TIMESTAMP_NTZ"], DAYS),
    "TIME": [f"'{h:02d}:00:00'" for h in (0, 1, 5, 23)],
    "INTERVAL DAY TO SECOND": [f"INTERVAL '{n}' DAY" for n in NUMBERS],
    "INTERVAL YEAR TO MONTH": [f"INTERVAL '{n}' MONTH" for n in NUMBERS],
    **dict.fromkeys(["STRING", "BINARY"], WORDS),
    "STRING COLLATE UTF8_LCASE": ["''", "'a'", "'b'", "'B'", "'c'"],
    "BOOLEAN": ["true", "false"],
    "ARRAY<INT>": ["array()", "array(1)", "array(1, 2)", "array(1, 0, 9)", "array(2)"],
    "STRUCT<a: INT, b: STRING>": [f"struct({a}, '{b}')" for a in (1, 2) for b in "xy"],
}
OPERATORS = [">=", ">", "<=", "<"]
JOINS = ["LEFT ASOF JOIN", "ASOF JOIN"]


@pytest.fixture
def asof(spark: SparkSession) -> Iterator[SparkSession]:
    with (
        setting(spark, "spark.sql.join.asofJoin.enabled", "true"),
        setting(spark, "spark.sql.timeType.enabled", "true"),
        setting(spark, "spark.sql.shuffle.partitions", "2"),
        setting(spark, "spark.sql.codegen.wholeStage", "false"),
        setting(spark, "spark.sql.adaptive.enabled", "false"),
    ):
        yield spark


def tables(spark: SparkSession, columns: dict[str, list[str]], seed: str) -> None:
    """Twelve rows on the left, and twelve on the right."""
    draw = random.Random(seed)  # noqa: S311
    for name in ("l", "r"):
        rows = ", ".join(
            "(" + ", ".join(draw.choice(v) for v in columns.values()) + ")" for _ in range(12)
        )
        query = f"SELECT * FROM VALUES {rows} AS t({', '.join(columns)})"
        spark.sql(query).createOrReplaceTempView(name)


def same(spark: SparkSession, query: str) -> DataFrame:
    """The frame with Sash, whose rows are Spark's."""
    with setting(spark, "spark.sash.enabled", "false"):
        expected = sorted(str(row) for row in spark.sql(query).collect())
    df = spark.sql(query)
    assert sorted(str(row) for row in df.collect()) == expected, query
    return df


def assert_ran(df: DataFrame, joins: int = 1) -> None:
    """Sash ran so many of the joins."""
    plan = df._jdf.queryExecution().executedPlan().toString()
    assert plan.count("SlidingWindow") == joins, explanation(df)


def shown(kind: str) -> str:
    """The found value, alike for all values that are equal."""
    return {
        "STRING COLLATE UTF8_LCASE": "upper(r.s)",
        "FLOAT": "r.s + 0",
        "DOUBLE": "r.s + 0",
    }.get(kind, "r.s")


def forms(operator: str, left: str, right: str) -> Iterator[str]:
    """The joins by an operator: inner and left, by ON and USING, with the sides exchanged."""
    turned = operator.translate(str.maketrans("<>", "><"))
    for n, (form, condition) in enumerate(
        [
            ("", f"{left} {operator} {right}"),
            ("ON l.k = r.k", f"{right} {turned} {left}"),
            ("ON l.k = r.k AND r.x > 1 AND l.x < 2", f"{left} {operator} {right}"),
            ("USING (k)", f"{left} {operator} {right}"),
        ]
    ):
        join = JOINS[(n + OPERATORS.index(operator)) % 2]
        yield f"FROM l {join} r MATCH_CONDITION ({condition}) {form}"


def together(columns: str, joins: list[str]) -> str:
    """One query of several joins, which Spark plans at once."""
    return " UNION ALL ".join(f"SELECT {n} n, {columns} {j}" for n, j in enumerate(joins))


@pytest.mark.parametrize("kind", TYPES)
def test_each_type_and_operator(asof, kind):
    values = [*(f"CAST({v} AS {kind})" for v in TYPES[kind]), f"CAST(NULL AS {kind})"]
    tables(asof, {"k": ["1", "2", "NULL"], "s": values, "x": ["1", "2"]}, seed=kind)
    joins = [join for operator in OPERATORS for join in forms(operator, "l.s", "r.s")]
    df = same(asof, together(f"string(l.s), string({shown(kind)})", joins))
    # Spark subtracts the fields of a struct one by one, and its row may be another one
    alike = not kind.startswith(("ARRAY", "STRUCT"))
    assert_ran(df, len(joins) if alike else len(joins) // 2)
    assert ("values by < or <=" in explanation(df)) != alike


def test_pairs(asof):
    tables(asof, {"k": ["1", "2"], "t": NUMBERS, "q": ["0", "1", "2"], "x": ["1", "2"]}, seed="p")
    joins = [j for operator in OPERATORS for j in forms(operator, "(l.t, l.q)", "(r.t, r.q)")]
    assert_ran(same(asof, together("l.t, l.q, r.t, r.q", joins)), len(joins))


def test_pairs_with_nulls_and_words(asof):
    words = ["'a'", "'b'", "'c'", "NULL"]
    tables(
        asof, {"k": ["1", "2"], "t": [*NUMBERS, "NULL"], "q": words, "x": ["1", "2"]}, seed="w"
    )
    for left, right in (("(l.t, l.q)", "(r.t, r.q)"), ("(l.q, l.t)", "(r.q, r.t)")):
        joins = [j for operator in OPERATORS for j in forms(operator, left, right)]
        df = same(asof, together("l.t, l.q, r.t, r.q", joins))
        assert_ran(df, len(joins) // 2)
        assert "values by < or <=" in explanation(df)


def test_values_beside_another(asof):
    """Small tables with the right rows."""
    right = "VALUES (0, 1, 'v1.0'), (0, 2, 'v1.1'), (5, 1, 'v1.2') AS r(t, q, v)"
    for query, expected in (
        (
            f"SELECT l.t, r.v FROM VALUES (0, 5), (3, 1) AS l(t, q) ASOF JOIN {right} "
            "MATCH_CONDITION ((l.t, l.q) >= (r.t, r.q))",
            [(0, "v1.1"), (3, "v1.1")],
        ),
        (
            "SELECT l.s, r.s FROM VALUES ('b') AS l(s) "
            "ASOF JOIN VALUES ('a'), ('c'), ('d') AS r(s) MATCH_CONDITION (l.s <= r.s)",
            [("b", "c")],
        ),
        (
            "SELECT l.s, r.s FROM VALUES (false) AS l(s) "
            "ASOF JOIN VALUES (false), (true) AS r(s) MATCH_CONDITION (l.s <= r.s)",
            [(False, False)],
        ),
    ):
        df = same(asof, query)
        assert sorted(df.collect()) == expected
        assert_ran(df)


def test_no_column_is_read_for_nobody(asof, tmp_path):
    columns = ["id % 3 AS k", "id * 7 % 20 AS s", *(f"id + {i} AS c{i}" for i in range(9))]
    for name, rows in (("l", 30), ("r", 40)):
        asof.range(rows).selectExpr(*columns).write.parquet(str(tmp_path / name))
        asof.read.parquet(str(tmp_path / name)).createOrReplaceTempView(name)
    for join in JOINS:
        for operator in OPERATORS:
            df = same(
                asof,
                f"SELECT l.s, r.c4 FROM l {join} r MATCH_CONDITION (l.s {operator} r.s) "
                "ON l.k = r.k WHERE l.c1 > 9",
            )
            assert_ran(df)
            plan = df._jdf.queryExecution().executedPlan().toString()
            assert "ReadSchema: struct<k:bigint,s:bigint,c4:bigint>" in plan
            assert "GreaterThan(c1,9)" in plan


def test_nothing_is_before_minus_infinity(asof):
    """Spark alone answers 5.0 (differences-from-spark.md)."""
    df = asof.sql(
        "SELECT r.s FROM VALUES (double('-Infinity')) AS l(s) ASOF JOIN "
        "VALUES (double('-Infinity')), (5D) AS r(s) MATCH_CONDITION (l.s <= r.s)"
    )
    assert [row.s for row in df.collect()] == [float("-inf")]
    assert_ran(df)


def test_a_condition_between_both_sides_is_left_to_spark(asof):
    tables(asof, {"k": ["1", "2"], "s": NUMBERS, "x": NUMBERS}, seed="both")
    query = "SELECT * FROM l ASOF JOIN r MATCH_CONDITION (l.s >= r.s) ON l.k = r.k AND l.x < r.x"
    assert (
        "left to Spark: ASOF JOIN (l.s >= r.s AND l.k = r.k AND l.x < r.x): ranges of two "
        "expressions, and a window has one: r.x, r.s"
    ) in explanation(same(asof, query))
