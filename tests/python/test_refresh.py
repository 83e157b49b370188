"""A refreshed table has the rows of the whole query, run anew."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict

import numpy as np
import pytest
from pyspark.errors import (
    AnalysisException,
    PySparkTypeError,
    PySparkValueError,
)
from pyspark.sql import functions as F

import refreshes
import sash
from conftest import REPOSITORY
from refreshes import QUERIES
from sash import merging
from sash.changed_query import ChangedQuery
from versions import since


@pytest.fixture
def clocks(spark):
    """A session in a time zone whose clocks change."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", refreshes.ZONE)
    session.conf.set("spark.sql.shuffle.partitions", "2")
    return session


def law(spark, names, seed, rounds, keys=refreshes.KEYS):
    """Refresh answers round by round; count the logs, which are the changed keys."""
    tables = refreshes.Tables(spark, seed, keys)
    answers = {name: answered(spark, name) for name in names}
    logs = 0
    for n in range(rounds):
        changes = tables.change()
        for name in names:
            query = QUERIES[name]
            new = sash.refreshed(
                refreshes.made(spark, query), {t: changes[t] for t in query.tables}
            )
            spans = refreshes.plain(new.spans)
            columns = new.answers.columns
            places = [columns.index(key) for key in new.spans.columns[:-2]]
            of_key = defaultdict(list)
            for *key, first, last in spans:
                of_key[tuple(key)].append((first, last))
            time = time_of(query, columns)
            kept = [
                row
                for row in answers[name]
                if not inside(time(row), of_key[tuple(row[i] for i in places)])
            ]
            answers[name] = [*kept, *refreshes.plain(new.answers)]
            expected = Counter(answered(spark, name))
            found = Counter(answers[name])
            assert found == expected, (
                f"{name}, seed {seed}, round {n}: "
                f"missing {list(expected - found)[:9]}, too many {list(found - expected)[:9]}, "
                f"spans {spans[:9]}"
            )
            logs += len({span[:-2] for span in spans})
    return logs


def answered(spark, name):
    return refreshes.plain(refreshes.made(spark, QUERIES[name]))


def time_of(query, columns):
    """A function from a row to its time; None if the ends of the spans are open."""
    outer, _, part = (query.time or "").partition(".")

    def time(row):
        value = row[columns.index(outer)] if outer else None
        return value[part] if part and value is not None else value

    return time


def inside(time, spans):
    """Whether a row of a time lies in a span of its key, as Refreshed's docstring says it."""
    if time is None:
        return any(first is None or last is None for first, last in spans)
    return any(
        (first is None or first <= time) and (last is None or time <= last)
        for first, last in spans
    )


def test_refreshed_answers_are_those_of_the_whole_query(clocks):
    seed = random.randrange(10**6)  # noqa: S311
    chosen = random.Random(seed).sample(sorted(QUERIES), 4)  # noqa: S311
    assert law(clocks, chosen, seed, rounds=2) > 5


@pytest.mark.slow
def test_more_queries_are_refreshed_again_and_again(clocks):
    seed = random.randrange(10**6)  # noqa: S311
    chosen = random.Random(seed).sample(sorted(QUERIES), 16)  # noqa: S311
    assert law(clocks, chosen, seed, 3, refreshes.MANY) > 10_000


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(QUERIES))
def test_each_query_is_refreshed_again_and_again(clocks, name):
    seed = random.randrange(10**6)  # noqa: S311
    assert law(clocks, [name], seed, 5, refreshes.MANY) >= 5  # without a key one a round


def typed_law(spark, seed, queries):
    """Over keys and times of types that are drawn."""
    drawn = random.Random(seed)  # noqa: S311
    spans = 0
    for _ in range(queries):
        key, time = drawn.choice([*refreshes.KEY_TYPES]), drawn.choice([*refreshes.TIME_TYPES])
        text = drawn.choice(refreshes.TYPED)
        query = refreshes.typed(spark, key, time, text)
        tables = refreshes.Tables(spark, drawn.randrange(10**6))
        try:
            before = spark.sql(query)
            old = spark.createDataFrame(before.collect(), before.schema)
        except AnalysisException:  # of Spark: no such distance between these
            continue
        changes = tables.change()
        names = ("events", "labels") if "LATERAL" in text else ("events",)
        work = ChangedQuery(query, {name: changes[name] for name in names})
        wrong = refreshes.differing(spark.sql(query), old, work)
        assert wrong == 0, f"seed {seed}, {key}, {time}: {query}"
        spans += work.count
    return spans


@pytest.mark.slow
def test_keys_and_times_may_have_any_type(clocks):
    seed = random.randrange(10**6)  # noqa: S311
    assert typed_law(clocks, seed, 8) > 0


ENDS = {
    "months": (
        *("UTC", "ts", "1 MONTH"),
        ["2026-01-30 23:00", "2026-01-31 01:00", "2026-02-28 12:00", "2026-03-05 00:00"],
    ),
    "months down": (
        *("UTC", "ts DESC", "1 MONTH"),
        ["2026-03-31 01:00", "2026-03-30 23:00", "2026-02-28 12:00", "2026-02-24 00:00"],
    ),
    "days": (
        *(refreshes.ZONE, "ts", "1 DAY"),
        ["2026-03-07 02:30", "2026-03-07 03:00", "2026-03-08 03:15", "2026-03-10 00:00"],
    ),
}
"""The first row's window ends after the third row, and the second row's would before it."""


@pytest.mark.parametrize("name", ENDS)
def test_an_answer_depends_on_a_row_before_whose_window_ends_later(spark, name):
    zone, order, distance, (first, *others, far) = ENDS[name]
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    query = f"""SELECT k, ts, count(*) OVER (PARTITION BY k ORDER BY {order}
        RANGE BETWEEN CURRENT ROW AND INTERVAL {distance} FOLLOWING) AS n FROM ended"""

    def rows(*times):
        return session.sql(" UNION ALL ".join(f"SELECT 1 k, TIMESTAMP'{t}' ts" for t in times))

    for before, after, changed, kind in (
        ([first, *others], others, first, "delete"),
        (others, [first, *others], first, "insert"),
        ([first, *others], [first, *others, far], far, "insert"),
    ):
        rows(*before).createOrReplaceTempView("ended")
        old = session.createDataFrame(session.sql(query).collect(), "k INT, ts TIMESTAMP, n LONG")
        rows(*after).createOrReplaceTempView("ended")
        late = rows(changed).withColumn("_change_type", F.lit(kind))
        work = ChangedQuery(session.sql(query), {"ended": late})
        assert refreshes.differing(session.sql(query), old, work) == 0, (kind, changed)


def spans_of(query, changes):
    new = sash.refreshed(query, changes)
    return [tuple(row) for row in new.spans.orderBy("first").collect()]


@pytest.mark.parametrize(
    ("frame", "first", "last"),
    [
        ("RANGE 5 PRECEDING", 20, 25),
        ("RANGE BETWEEN 5 PRECEDING AND 3 FOLLOWING", 17, 25),
        ("RANGE BETWEEN CURRENT ROW AND 3 FOLLOWING", 17, 20),
        ("RANGE BETWEEN 5 PRECEDING AND 2 PRECEDING", 20, 25),
        ("RANGE UNBOUNDED PRECEDING", 20, None),
        ("RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", None, 20),
        ("ROWS 3 PRECEDING", 20, None),
        ("ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING", None, 20),
    ],
)
def test_a_span_is_the_change_and_the_windows_that_hold_it(late, frame, first, last):
    query = f"SELECT k, t, count(*) OVER (PARTITION BY k ORDER BY t {frame}) AS n FROM spanned"
    assert spans_of(query, {"spanned": late}) == [(1, first, last)]


@pytest.mark.parametrize("time", ["CAST(day AS TIMESTAMP)", "at"])
def test_a_row_of_a_union_changes_answers_of_its_other_tables(spark, time):
    """Where the key or another column gives one table its times, the other has its own."""
    spark.sql(
        "SELECT 'a' AS acc, DATE'2026-03-01' AS day, TIMESTAMP'2026-03-01 09:00' AS at, 5 AS x"
    ).createOrReplaceTempView("trades")
    spark.sql(
        "SELECT 'a' AS acc, DATE'2026-03-01' AS day, TIMESTAMP'2026-03-01' AS at, 150 AS x"
    ).createOrReplaceTempView("openings")
    changes = spark.table("openings").withColumn("_change_type", F.lit("insert"))
    for other in ("at", "at - INTERVAL 1 YEAR", "TIMESTAMP'2026-04-01' - (at - day)"):
        query = f"""SELECT acc, day, at, o, sum(x) OVER (PARTITION BY acc, day ORDER BY o) AS s
            FROM (SELECT acc, day, at, {other} AS o, x FROM trades
            UNION ALL SELECT acc, day, {time}, {time}, x FROM openings)"""
        whole = {*map(tuple, spark.sql(query).collect())}
        old = query.replace("FROM openings", "FROM openings WHERE false")
        before = {*map(tuple, spark.sql(old).collect())}
        answers = {*map(tuple, sash.refreshed(query, {"openings": changes}).answers.collect())}
        assert whole - before <= answers <= whole


@pytest.mark.parametrize("of", ["hash(z)", "CAST(z AS STRING)", "z"])
def test_a_value_made_of_a_key_tells_equal_keys_apart(late, of):
    """Both zeros are one group, and two texts: only the key itself cuts the spans."""
    late.sparkSession.sql("SELECT k * -0.0D AS z, t FROM spanned").createOrReplaceTempView(
        "zeros"
    )
    changes = late.selectExpr("k * -0.0D AS z", "t", "_change_type")
    new = sash.refreshed(f"SELECT {of} AS s, t FROM zeros GROUP BY z, t", {"zeros": changes})
    assert new.spans.columns == (["s"] if of == "z" else []) + ["first", "last"]


REFUSED = {
    "SELECT k, t, rand() AS r, count(*) OVER (PARTITION BY k ORDER BY t) AS n FROM spanned": (
        "may have another value in each run"
    ),
    "SELECT k, t FROM spanned WHERE t < unix_micros(current_timestamp())": (
        "has another value in each run"
    ),
    "SELECT k, t, count(*) OVER (PARTITION BY k ORDER BY t) AS n FROM spanned LIMIT 3": (
        "where each row may depend on any other"
    ),
    "SELECT count(*) AS n FROM spanned": "it has aggregates over all rows",
    "SELECT t, count(*) OVER (PARTITION BY k ORDER BY t) AS n FROM spanned": (
        "select the key, too"
    ),
    # both zeros are one key, and two texts
    "SELECT CAST(z AS STRING) AS s, t, count(*) OVER (PARTITION BY z ORDER BY t) AS n FROM "
    "(SELECT k * -0.0D AS z, t FROM spanned)": "select the key, too",
    "SELECT k, t FROM spanned WHERE t = (SELECT max(t) FROM spanned)": (
        "a subquery reads a changed table"
    ),
    "SELECT a.k, a.t FROM spanned a JOIN spanned b ON a.t = b.t": "a join of a changed table",
    "SELECT b.id AS t FROM range(9) b LEFT JOIN spanned a ON a.t = b.id": (
        "a join of a changed table"
    ),
    "SELECT n, count(*) AS m FROM (SELECT count(*) OVER (PARTITION BY k ORDER BY t) AS n "
    "FROM spanned) GROUP BY n": "select the key, too",
    "SELECT k, session_window(at, '5 seconds') AS s, count(*) AS n FROM (SELECT k, "
    "timestamp_seconds(t) AS at FROM spanned) GROUP BY k, session_window(at, '5 seconds')": (
        "it groups by session_window"
    ),
    "SELECT id FROM range(9)": "the query reads no table spanned",
}


@pytest.fixture
def late(spark):
    spark.range(40).selectExpr("1 AS k", "id AS t").createOrReplaceTempView("spanned")
    return spark.table("spanned").where("t = 20").withColumn("_change_type", F.lit("insert"))


@pytest.mark.parametrize("query", REFUSED)
def test_spans_do_not_say_what_such_a_query_changes(late, query):
    with pytest.raises(AnalysisException) as error:
        sash.refreshed(query, {"spanned": late})
    assert error.value.getCondition() == "INVALID_PARAMETER_VALUE.PATTERN"
    assert REFUSED[query] in str(error.value)


QUERY = "SELECT k, t, count(*) OVER (PARTITION BY k ORDER BY t) AS n FROM spanned"


def test_changes_are_both_images_of_the_tables_columns(late):
    def refused(changes, text, error=PySparkValueError):
        with pytest.raises(error, match=text):
            sash.refreshed(QUERY, changes)

    refused([late], "`changes` should be a dict", PySparkTypeError)
    refused({}, "the changed rows of one table at least")
    refused({1: late}, "a dict from names of tables", PySparkTypeError)
    refused({"spanned": QUERY}, r"`changes\['spanned'\]` should be a Spark", PySparkTypeError)
    refused({"spanned": late.drop("_change_type")}, "rows with a column _change_type")
    refused({"spanned": late.drop("k")}, "rows with the table's column k")
    refused({"spanned": late.withColumn("t", F.lit("x"))}, "rows whose t is bigint")
    refused({"spanned": late.withColumn("_change_type", F.lit("upsert"))}, "is one of insert,")
    half = late.withColumn("_change_type", F.lit("update_postimage"))
    refused({"spanned": half}, "the old and the new row of each update")
    refused({"nowhere": late}, "nowhere", AnalysisException)
    before = late.withColumn("_change_type", F.lit("UPDATE_BEFORE"))
    both = before.union(late.withColumn("_change_type", F.lit("UPDATE_AFTER")))
    assert spans_of(QUERY, {"spanned": both}) == [(1, 20, None)]


@pytest.mark.parametrize("window", ["PARTITION BY k ORDER BY t", "ORDER BY t", ""])
def test_no_changes_leave_all_answers_as_they_are(late, window):
    query = f"SELECT k, t, count(*) OVER ({window}) AS n FROM spanned"
    new = sash.refreshed(query, {"spanned": late.where("t < 0")})
    assert new.answers.isEmpty()
    assert new.spans.isEmpty()


@pytest.mark.parametrize("frame", ["", "RANGE 2 PRECEDING"])
def test_the_delete_of_the_page_leaves_the_rows_outside_of_the_spans(spark, frame):
    page = (REPOSITORY / "docs" / "refresh.md").read_text(encoding="utf-8")
    (condition,) = re.findall(r'DELETE FROM features f WHERE (EXISTS.*?)"""', page, re.DOTALL)
    query = f"""SELECT user, day, count(*) OVER (PARTITION BY user ORDER BY day {frame}) AS n
        FROM visits"""
    days = "SELECT id % 3 AS user, IF(id < 6, NULL, id) AS day FROM range(30)"
    spark.sql(days).createOrReplaceTempView("visits")
    spark.createDataFrame(
        spark.sql(query).collect(), "user LONG, day LONG, n LONG"
    ).createOrReplaceTempView("features")
    late = spark.sql("SELECT * FROM VALUES (1L, 9L), (2L, 20L) AS v(user, day)")
    spark.sql(days).union(late).createOrReplaceTempView("visits")
    new = sash.refreshed(query, {"visits": late.withColumn("_change_type", F.lit("insert"))})
    new.spans.createOrReplaceTempView("spans")
    kept = spark.sql(f"SELECT * FROM features f WHERE NOT {condition}")
    found = Counter(map(tuple, kept.union(new.answers).collect()))
    assert found == Counter(map(tuple, spark.sql(query).collect()))


def test_spans_join_where_they_meet(late, spark):
    times = spark.sql(
        "SELECT 1 AS k, t, 'delete' AS _change_type FROM VALUES (3), (5), (8) AS v(t)"
    )
    times = times.withColumn("t", F.col("t").cast("bigint"))
    query = QUERY.replace("ORDER BY t", "ORDER BY t RANGE 2 PRECEDING")
    assert spans_of(query, {"spanned": times}) == [(1, 3, 7), (1, 8, 10)]


def test_only_the_rows_within_reach_are_read(late):
    query = QUERY.replace("ORDER BY t", "ORDER BY t RANGE 2 PRECEDING")
    new = sash.refreshed(query, {"spanned": late})
    plan = new.answers._jdf.queryExecution().optimizedPlan().toString()
    assert ">= 18" in plan
    assert "<= 22" in plan
    assert [row.n for row in new.answers.orderBy("t").collect()] == [3, 3, 3]


def test_each_spelling_of_a_name_is_the_changed_table(late):
    both = "(SELECT k, t FROM spanned UNION ALL SELECT k, t + 10 FROM Spanned)"
    query = QUERY.replace("ORDER BY t", "ORDER BY t RANGE 2 PRECEDING").replace("spanned", both)
    assert spans_of(query, {"spanned": late}) == [(1, 20, 22), (1, 30, 32)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("map('a', 1)", "map('a', 2)"),
        ("array(parse_json('1'))", "array(parse_json('2'))"),
        ("array(make_interval(0, 1))", "array(make_interval(0, 0, 0, 30))"),
        ("0D", "-0D"),
        ("named_struct('a', 0F)", "named_struct('a', -0F)"),
        ("'ann' COLLATE UTF8_LCASE", "'Ann' COLLATE UTF8_LCASE"),
        pytest.param(
            "'a' COLLATE UTF8_BINARY_RTRIM",
            "'a ' COLLATE UTF8_BINARY_RTRIM",
            marks=since(4, 1, "collations that trim have come with Spark 4.1"),
        ),
        ("CAST(NULL AS INT)", "0"),
        ("DOUBLE('NaN')", "1D"),
    ],
)
def test_values_that_became_others_are_updated_of_any_type(spark, old, new):
    def action(before, after):
        rows = (spark.sql(f"SELECT 1 AS id, {value} AS v") for value in (after, before))
        # Python has no type of an interval
        ((action,),) = merging._compared(*rows, ["id"]).select("_sash_action").collect()
        return action

    assert [action(old, new), action(new, old)] == ["update", "update"]
    assert [action(old, old), action(new, new)] == ["same", "same"]


def test_a_refresh_says_how_much_it_reads_and_when_a_whole_run_is_quicker(
    spark, tmp_path, caplog
):
    spark.range(0, 100, 1, 2).selectExpr("id % 4 AS k", "id AS t").write.parquet(
        str(tmp_path / "rows")
    )
    spark.read.parquet(str(tmp_path / "rows")).createOrReplaceTempView("filed")

    def refreshed_at(times, frame):
        query = QUERY.replace("ORDER BY t", f"ORDER BY t {frame}").replace("spanned", "filed")
        answers = spark.sql(query).coalesce(1).write.partitionBy("t")
        answers.saveAsTable("answered", path=str(tmp_path / times))
        spark.sql("ANALYZE TABLE answered COMPUTE STATISTICS NOSCAN")
        late = spark.table("filed").where(times).withColumn("_change_type", F.lit("insert"))
        try:
            return sash.refresh(query, {"filed": late}, into="answered", id="t")
        finally:
            spark.sql("DROP TABLE answered")

    # a file of two has times to 48, and nine of the answers' files
    assert refreshed_at("t = 40", "RANGE 8 PRECEDING") == (1, 1, 50, 3, 0, 0, 0)
    assert not caplog.records
    assert refreshed_at("t < 4", "").read == 100
    assert "files with 100% of the bytes of answered have answers" in caplog.text


def test_an_id_may_be_named_count(spark):
    spark.sql("SELECT 1 AS k, id AS t, 7 AS count FROM range(9)").createOrReplaceTempView(
        "sevens"
    )
    query = "SELECT k, t, count, sum(t) OVER (PARTITION BY k ORDER BY t) AS s FROM sevens"
    spark.sql(query).createOrReplaceTempView("answered_sevens")
    late = spark.table("sevens").where("t = 3").withColumn("_change_type", F.lit("insert"))
    for name in ("count", "COUNT"):
        with pytest.raises(PySparkValueError, match="6 rows of count = 7"):
            sash.refresh(query, {"sevens": late}, into="answered_sevens", id=name)


def test_a_table_of_dates_has_no_answers_of_several_times_of_a_day(spark):
    """Spans of time would take rows of the day for changed ones that are none."""
    spark.sql(
        "SELECT 1 AS k, timestamp_seconds(id) AS at FROM range(40)"
    ).createOrReplaceTempView("timed")
    query = """SELECT k, at, count(*) OVER (PARTITION BY k ORDER BY at
        RANGE INTERVAL 2 SECONDS PRECEDING) AS n FROM timed"""
    spark.sql(f"SELECT k, CAST(at AS DATE) AS at, n FROM ({query})").createOrReplaceTempView(
        "dated"
    )
    late = spark.table("timed").where("at = timestamp_seconds(20)")
    late = late.withColumn("_change_type", F.lit("insert"))
    with pytest.raises(PySparkValueError, match="a table whose at is timestamp, as in the query"):
        sash.refresh(query, {"timed": late}, into="dated", id=["k", "at"])


def test_arguments_of_changed_and_refresh(spark, late):
    for wrong, text, error in [
        (lambda: sash.changed("spanned", since=1), "`table` should be a Spark", PySparkTypeError),
        (lambda: sash.changed(late, since=True), "`since` should be a version", PySparkTypeError),
        (lambda: sash.changed(late, since=1), "a Delta table of the catalog", PySparkValueError),
        (lambda: sash.changed(late, since=np.int64(1)), "a Delta table", PySparkValueError),
        (
            lambda: sash.changed(spark.table("spanned"), since=1),
            "a Delta table",
            PySparkValueError,
        ),
        (lambda: merged(late, into=3), "`into` should be the name", PySparkTypeError),
        (lambda: merged(late, id=3), "`id` should be the name", PySparkTypeError),
        (lambda: merged(late, id=[]), "one column at least", PySparkValueError),
        (lambda: merged(late, id="x"), "columns of the query", PySparkValueError),
        (lambda: merged(late), "with the query's column n", PySparkValueError),
    ]:
        with pytest.raises(error, match=text):
            wrong()


def merged(late, **more):
    return sash.refresh(QUERY, {"spanned": late}, **{"into": "spanned", "id": "t", **more})
