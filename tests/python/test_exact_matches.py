"""as_of with a tolerance of 0, and the tolerance that streams need."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PySparkValueError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from test_label_streams import ROCKSDB

NONE = [0, "0 seconds", "0 days", timedelta(0)]
DIRECTIONS = ["backward", "forward", "nearest"]
# an expression that makes a time of a number of days
TIMES = {
    "date": "date_add(DATE'2026-03-01', int(n))",
    "timestamp": "TIMESTAMP'2026-03-01 12:00:00' + make_dt_interval(int(n))",
    "timestamp_ntz": "TIMESTAMP_NTZ'2026-03-01 12:00:00' + make_dt_interval(int(n))",
    "int": "int(n)",
    "bigint": "n",
    "double": "double(n)",
    "decimal": "CAST(n AS DECIMAL(9, 2))",
}
NUMBERS = ("int", "bigint", "double", "decimal")


def _rows(spark: SparkSession, kind: str, name: str, numbers: list[int]) -> DataFrame:
    of = spark.createDataFrame([("a", n) for n in numbers], ["k", "n"])
    return of.selectExpr("k", f"{TIMES[kind]} AS t", f"n AS {name}")


@pytest.mark.parametrize(
    ("kind", "direction"),
    [
        pytest.param(kind, direction, marks=[] if n % 3 == m else [pytest.mark.slow])
        for n, kind in enumerate(TIMES)
        for m, direction in enumerate(DIRECTIONS)
    ],
)
def test_a_tolerance_of_nothing_finds_exact_matches(spark, kind, direction):
    labels = _rows(spark, kind, "label", [1, 3, 4, 9])
    events = _rows(spark, kind, "event", [2, 3, 9, 10])

    def found(tolerance: object, **given: bool) -> dict[int, int | None]:
        rows = sash.as_of(
            labels,
            events,
            on="k",
            by="t",
            tolerance=tolerance,
            direction=direction,
            event="event",
            **given,
        )
        assert "SlidingWindow" in rows._jdf.queryExecution().executedPlan().toString()
        return {row.label: row.event for row in rows.collect()}

    for tolerance in NONE[:1] if kind in NUMBERS else NONE:
        assert found(tolerance) == {1: None, 3: 3, 4: None, 9: 9}
    assert found(0, allow_exact_matches=False) == dict.fromkeys((1, 3, 4, 9))


def test_exact_matches_that_are_known_and_valid(spark):
    labels = spark.createDataFrame([(1,), (3,), (4,)], ["t"])
    events = spark.createDataFrame([(1, 2), (3, 3), (4, 9)], ["t", "other"])

    def found(**given: str) -> dict[int, int | None]:
        rows = sash.as_of(labels, events, on=[], by="t", tolerance=0, other="other", **given)
        return {row.t: row.other for row in rows.collect()}

    assert found(known="other") == {1: None, 3: 3, 4: None}
    assert found(valid_to="other") == {1: 2, 3: None, 4: 9}


def test_a_span_of_nothing_is_the_labels_own_time(spark):
    labels = _rows(spark, "timestamp", "label", [1, 3])
    events = _rows(spark, "timestamp", "event", [2, 3, 3])
    for none in NONE:
        rows = sash.window_join(
            labels, events, on="k", by="t", closed="both", n=(F.count("*"), none)
        )
        assert {row.label: row.n for row in rows.collect()} == {1: 0, 3: 2}
        with pytest.raises(PySparkValueError, match="closed='both' takes 0"):
            sash.window_join(labels, events, on="k", by="t", n=(F.count("*"), none))


@pytest.fixture
def streams(spark: SparkSession, tmp_path: Path) -> Callable[[str, str], DataFrame]:
    """Labels and events as streams."""
    session = spark.newSession()
    for key, value in {
        "spark.sql.session.timeZone": "UTC",
        "spark.sash.stream.buckets": "4",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    }.items():
        session.conf.set(key, value)

    def read(name: str, column: str) -> DataFrame:
        numbers = [1, 3, 4, 9, 99] if name == "labels" else [2, 3, 9, 10, 99]
        rows = _rows(session, "timestamp", column, numbers)
        rows.coalesce(1).write.parquet(str(tmp_path / name))
        stream = session.readStream.schema(rows.schema).parquet(str(tmp_path / name))
        return stream.withWatermark("t", "1 second")

    return read


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_streams_have_exact_matches(streams, tmp_path, direction):
    labels, events = streams("labels", "label"), streams("events", "event")
    rows = sash.as_of(
        labels, events, on="k", by="t", tolerance="0 seconds", direction=direction, event="event"
    )
    writer = rows.writeStream.format("memory").queryName(f"exact_{direction}")
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    found = labels.sparkSession.table(f"exact_{direction}").collect()
    assert {row.label: row.event for row in found} == {1: None, 3: 3, 4: None, 9: 9}


def test_what_a_stream_lacks_is_said_of_the_argument(streams):
    labels, events = streams("labels", "label"), streams("events", "event")
    of = {"on": "k", "by": "t"}
    for direction in DIRECTIONS[1:]:
        with pytest.raises(PySparkValueError, match="`tolerance` should be how far after the"):
            sash.as_of(labels, events, **of, direction=direction, event="event")
    with pytest.raises(PySparkValueError, match="`n` should be how far after the label"):
        sash.window_join(labels, events, **of, n=(F.count("*"), (0, None)))
    with pytest.raises(AnalysisException, match=r"`events` in `window_join` is .* counts months"):
        sash.window_join(labels, events, **of, n=(F.count("*"), "2 months"))
    with pytest.raises(AnalysisException, match=r"`events` in `as_of` is .* counts months"):
        sash.as_of(labels, events, **of, tolerance="2 months", event="event")


@pytest.mark.parametrize(
    ("kind", "events", "nearest"),
    [
        ("DOUBLE", ["4.0", "Infinity"], "4.0"),
        ("DOUBLE", ["4.0", "NaN"], "4.0"),
        ("DOUBLE", ["4.0", "1e35"], "4.0"),
        ("DOUBLE", ["4.9999999996", "5.0000000001"], "5.0000000001"),
        ("DECIMAL(20, 15)", ["4.9999999996", "5.0000000001"], "5.0000000001"),
        ("INT", ["4", "7"], "4"),
        ("BIGINT", ["-9223372036854775808", "9223372036854775807"], "9223372036854775807"),
    ],
)
def test_the_nearest_of_numbers_of_two_types(spark, kind, events, nearest):
    labels = spark.sql("SELECT 5L AS t")
    values = ", ".join(f"(CAST('{event}' AS {kind}), '{event}')" for event in events)
    others = spark.sql(f"SELECT * FROM VALUES {values} AS r(t, event)")
    rows = sash.as_of(labels, others, on=[], by="t", direction="nearest", event="event")
    assert [row.event for row in rows.collect()] == [nearest]
