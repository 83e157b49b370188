"""Timestamps of nanoseconds, which Spark has since 4.3: no NULL is unlike another one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from sash.plan import explanation
from versions import since
from windows import setting

pytestmark = [
    pytest.mark.slow,
    since(4, 3, "Spark has timestamps of nanoseconds since 4.3"),
]

TYPES = ["TIMESTAMP_NTZ(9)", "TIMESTAMP_LTZ(9)", "TIMESTAMP_NTZ(7)"]
# a row keeps room for a NULL, with the bytes of the row before
TIMES = [None, "08:00:00.0000010", "08:00:00.0000010", "08:00:00.0000019", None, "09:00:00", None]


@pytest.fixture
def nanos(spark: SparkSession) -> Iterator[SparkSession]:
    with (
        setting(spark, "spark.sql.timestampNanosTypes.enabled", "true"),
        setting(spark, "spark.sql.timeType.enabled", "true"),
        setting(spark, "spark.sql.adaptive.enabled", "false"),
    ):
        yield spark


def rows(of: str) -> str:
    values = (f"'2026-03-02 {time}'" if time else "NULL" for time in TIMES)
    each = ", ".join(f"({i}, {value})" for i, value in enumerate(values))
    return f"(SELECT i, CAST(s AS {of}) AS t FROM VALUES {each} AS v(i, s))"


def answers(frame: DataFrame) -> list[object]:
    return [row[-1] for row in sorted(frame.collect(), key=lambda row: row[0])]


@pytest.mark.parametrize("of", TYPES)
@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("count(DISTINCT t)", ""),
        ("count(DISTINCT t, 1)", ""),
        ("size(collect_set(t)", ")"),
        ("size(value_counts(t)", ")"),
    ],
)
def test_a_null_leaves_a_window(nanos: SparkSession, of: str, before: str, behind: str) -> None:
    over = f"{before} OVER (ORDER BY i ROWS 1 PRECEDING){behind}"
    frame = nanos.sql(f"SELECT i, {over} AS a FROM {rows(of)}")
    assert "SlidingWindow" in explanation(frame)
    assert answers(frame) == [0, 1, 1, 2, 1, 1, 1]


@pytest.mark.parametrize("of", TYPES)
def test_a_null_leaves_hop_windows(nanos: SparkSession, of: str) -> None:
    window = "window(timestamp_seconds(i), '2 seconds', '1 second')"
    frame = nanos.sql(
        f"SELECT w.start, count(DISTINCT t) AS n FROM (SELECT *, {window} AS w FROM {rows(of)}) "
        "GROUP BY w"
    )
    assert "hops: count DISTINCT" in explanation(frame)
    assert answers(frame) == [0, 1, 1, 2, 1, 1, 1, 0]


@pytest.mark.parametrize("of", TYPES)
def test_nulls_are_one_key(nanos: SparkSession, of: str) -> None:
    """Hashing the bytes of keys would tear their rows apart: Spark sorts them."""
    frame = nanos.sql(
        f"SELECT i, count(*) OVER (PARTITION BY t ORDER BY i ROWS 9 PRECEDING) FROM {rows(of)}"
    )
    said = explanation(frame)
    assert "SlidingWindow" in said
    assert "timestamps of nanoseconds" in said
    assert answers(frame) == [1, 1, 2, 1, 2, 1, 3]


def test_differences_of_nanoseconds_are_compared_by_spark(nanos: SparkSession) -> None:
    """No BIGINT holds such a time, so that no number of microseconds is added to it."""
    known = f"(SELECT * FROM {rows(TYPES[0])} WHERE t IS NOT NULL)"  # Spark groups by NULL twice
    lateral = (
        f"SELECT l.i, f.n FROM {known} l, LATERAL (SELECT count(*) AS n "
        f"FROM {known} e WHERE l.t - e.t <= INTERVAL 1 HOUR AND e.t <= l.t) f"
    )
    ours = answers(nanos.sql(lateral))
    with setting(nanos, "spark.sash.enabled", "false"):
        assert ours == answers(nanos.sql(lateral)) == [2, 2, 3, 4]


TIME = "(SELECT i, to_time('08:00:00') AS t FROM VALUES (1) AS v(i))"
NUMBER = "take a number of it, as in time_diff('MICROSECOND', TIME'00:00:00', time)"


@pytest.mark.parametrize(
    ("query", "remedy"),
    [
        (
            "time_window('1 hour') ORDER BY t",
            "cast it to TIMESTAMP_NTZ, which counts microseconds",
        ),
        ("time_window('1 hour', 'left') ORDER BY t", "cast it to TIMESTAMP_NTZ"),
        ("gap_window('1 hour') ORDER BY t", "cast it to TIMESTAMP_NTZ"),
        ("delta_window(t, INTERVAL 1 HOUR) ORDER BY i", "cast it to TIMESTAMP_NTZ"),
    ],
)
def test_an_order_by_nanoseconds_names_a_remedy(
    nanos: SparkSession, query: str, remedy: str
) -> None:
    with pytest.raises(PySparkException, match=r"TIMESTAMP_NTZ\(9\)") as raised:
        nanos.sql(f"SELECT max(i) OVER (PARTITION BY {query}) FROM {rows(TYPES[0])}").collect()
    assert remedy in str(raised.value)
    with pytest.raises(PySparkException, match="TIME") as raised:
        nanos.sql(f"SELECT max(i) OVER (PARTITION BY {query}) FROM {TIME}").collect()
    assert NUMBER in str(raised.value)


@pytest.mark.parametrize(
    "call", ["rank_in_frame(t)", "ema(i, t, INTERVAL 1 HOUR)", "time_weighted_avg(i, t)"]
)
def test_arguments_of_nanoseconds_name_a_remedy(nanos: SparkSession, call: str) -> None:
    for of, remedy in (
        (TYPES[0], "cast it to TIMESTAMP_NTZ,"),
        (TYPES[1], "cast it to TIMESTAMP,"),
    ):
        with pytest.raises(PySparkException, match="UNEXPECTED_INPUT_TYPE") as raised:
            nanos.sql(
                f"SELECT {call} OVER (ORDER BY i ROWS 1 PRECEDING) FROM {rows(of)}"
            ).collect()
        assert remedy in str(raised.value)


def test_the_remedies_run(nanos: SparkSession) -> None:
    over = "max(i) OVER (PARTITION BY time_window('1 hour') ORDER BY "
    nanos.sql(f"SELECT {over} CAST(t AS TIMESTAMP_NTZ)) FROM {rows(TYPES[0])}").collect()
    number = "time_diff('MICROSECOND', TIME'00:00:00', t)"
    over = "max(i) OVER (PARTITION BY time_window(3600000000) ORDER BY "
    assert answers(nanos.sql(f"SELECT {over} {number}) FROM {TIME}")) == [1]


def test_a_time_of_day_has_a_rank(nanos: SparkSession) -> None:
    times = f"(SELECT i, CAST(t AS TIME) AS t FROM {rows(TYPES[0])})"  # in microseconds
    ranks = "rank_in_frame(t) OVER (ORDER BY i ROWS 9 PRECEDING)"
    assert answers(nanos.sql(f"SELECT i, {ranks} FROM {times}")) == [None, 1, 1, 1, None, 4, None]
