"""Streams in SQL alone: the source, its watermark, its name; and a checkpoint's partitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from versions import SPARK, since

pytestmark = [
    pytest.mark.slow,
    since(4, 1, "SQL has streams since Spark 4.1"),
]
SINCE_42 = since(4, 2, "Spark has it since 4.2")

# the queries of `make test-long`; the others are thorough
SAMPLE = {"over", "hops", "lateral"}


def sampled(name: str, *more: str, kept: bool = True) -> object:
    """A test's query, which only the thorough tests ask if it is not in the sample."""
    marks = [] if kept and name in SAMPLE else [pytest.mark.thorough]
    return pytest.param(name, *more, marks=marks)


DELAY = "DELAY OF INTERVAL 5 MINUTES"
STREAMS = {
    "events": f"STREAM events WATERMARK at {DELAY}",
    "named": f"STREAM(events) WITH (maxFilesPerTrigger = 1) WATERMARK at {DELAY}",
    "computed": f"STREAM texts WATERMARK to_timestamp(text) AS at {DELAY}",
    "filtered": f"(SELECT * FROM STREAM events WHERE x > 3) WATERMARK at {DELAY}",
    "labels": f"STREAM labels WATERMARK at {DELAY}",
}
"""Each stream as a query names it, ..."""
TABLES = {
    "events": "events",
    "named": "events",
    "computed": "(SELECT *, to_timestamp(text) AS at FROM texts)",
    "filtered": "(SELECT * FROM events WHERE x > 3)",
    "labels": "labels",
}
"""... and the batch query names the same rows."""

OVER = (
    "SELECT k, at, x, sum(x) OVER (PARTITION BY k ORDER BY at RANGE {range}) AS y FROM {events}"
)
TEN = "INTERVAL 10 MINUTES PRECEDING"
HOPS = """SELECT k, window(at, '1 hour', '5 minutes') AS w, count(DISTINCT x % 4) AS n
    FROM {events} GROUP BY k, window(at, '1 hour', '5 minutes')"""
LATERAL = """SELECT l.k, l.at, f.* FROM {labels} AS l, LATERAL (
    SELECT sum(e.x) AS y, count(*) AS n, median(x) AS m FROM {events} AS e WHERE e.k = l.k
    AND e.at >= l.at - INTERVAL 10 MINUTES AND e.at < l.at) AS f"""
QUERIES = {
    "over": OVER.replace("{range}", TEN),
    "options of the source": OVER.replace("{range}", TEN).replace("{events}", "{named}"),
    "a computed time": OVER.replace("{range}", TEN).replace("{events}", "{computed}"),
    "a subquery": OVER.replace("{range}", TEN).replace("{events}", "{filtered}"),
    "an alias": """SELECT e.k, e.at, median(DISTINCT e.x) OVER (
        PARTITION BY e.k ORDER BY e.at ROWS 3 PRECEDING) AS y FROM {events} AS e""",
    "a common table": f"WITH t AS (SELECT * FROM {{events}}) {HOPS.replace('{events}', 't')}",
    "hops": HOPS,
    "session": """SELECT k, at, count(*) OVER (
        PARTITION BY k, gap_window('4 minutes') ORDER BY at) AS n FROM {events}""",
    "budget": """SELECT k, at, sum(x) OVER (
        PARTITION BY k, predicate_window(sum(x), total -> total < 90) ORDER BY at) AS n
        FROM {events}""",
    "delta": """SELECT k, at, count(*) OVER (
        PARTITION BY k, delta_window(x, 9) ORDER BY at) AS n FROM {events}""",
    "lateral": LATERAL,
    "exists": """SELECT l.* FROM {labels} AS l WHERE EXISTS (SELECT 1 FROM {events} AS e
        WHERE e.k = l.k AND e.at >= l.at - INTERVAL 3 MINUTES AND e.at < l.at)""",
}


@pytest.fixture
def tables(streaming: SparkSession, tmp_path: Path) -> SparkSession:
    """A session with tables of events and labels, which the test may add rows to."""
    for name, columns in {
        "events": "k STRING, at TIMESTAMP, x INT",
        "others": "k STRING, at TIMESTAMP, x INT",
        "texts": "k STRING, text STRING, x INT",
        "labels": "k STRING, at TIMESTAMP",
    }.items():
        streaming.sql(f"DROP TABLE IF EXISTS {name}")
        place = f"USING parquet LOCATION '{tmp_path / name}'"
        streaming.sql(f"CREATE TABLE {name} ({columns}) {place}")
    add(streaming, "events", 0, 60)
    streaming.sql("INSERT INTO texts SELECT k, string(at), x FROM events")
    add_labels(streaming, 0, 60)
    return streaming


def add(spark: SparkSession, table: str, first: int, until: int) -> None:
    """Rows of some minutes, in one file."""
    columns = f"concat('k', id % 3), {minute('id')}, int(id * 7 % 31)"
    spark.sql(f"INSERT INTO {table} SELECT {columns} FROM range({first}, {until}, 1, 1)")


def add_labels(spark: SparkSession, first: int, until: int) -> None:
    """A label for every seventh minute."""
    ids = f"range({first}, {until}, 1, 1) WHERE id % 7 = 0"
    spark.sql(f"INSERT INTO labels SELECT concat('k', id % 3), {minute('id')} FROM {ids}")


def minute(of: object) -> str:
    """The time of a minute, in SQL."""
    return f"(TIMESTAMP '2026-03-01 09:00:00' + make_interval(0, 0, 0, 0, 0, {of}))"


def asked(
    query: DataFrame, folder: Path, mode: str = "append", partitions: int = 2
) -> Counter[Row]:
    """The answers of a stream since its checkpoint, which Sash's operator gave."""
    answers = folder / f"answers {len(list(folder.glob('answers *')))}"

    def write(batch: DataFrame, number: int) -> None:
        batch.write.parquet(str(answers / f"batch={number}"))

    running = (
        query.writeStream.outputMode(mode)
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .foreachBatch(write)
        .start()
    )
    running.awaitTermination()
    assert {name for p in running.recentProgress for name in p.observedMetrics} == {"sash.0"}
    operators = [o for p in running.recentProgress for o in p["stateOperators"]]
    assert {o["operatorName"] for o in operators} == {"transformWithStateExec"}
    assert {o["numShufflePartitions"] for o in operators} == {partitions}
    return Counter(query.sparkSession.read.parquet(str(answers)).drop("batch").collect())


def until(rows: DataFrame, last: int) -> Counter[Row]:
    """The rows that a watermark at this minute has passed."""
    time = "w.end" if "w" in rows.columns else "at"
    return Counter(rows.where(f"{time} <= {minute(last)}").collect())


@pytest.mark.parametrize("name", [sampled(name) for name in QUERIES])
def test_a_query_over_streams_in_sql_answers_as_over_tables(tables, tmp_path, name):
    query = QUERIES[name]
    stream = tables.sql(query.format(**STREAMS))
    assert stream.isStreaming
    batch = tables.sql(query.format(**TABLES))
    last = 51 if "{labels}" in query else 54  # the slower watermark
    expected = until(batch, last)
    assert sum(expected.values()) > 3
    assert asked(stream, tmp_path) == expected


@pytest.mark.parametrize(
    "name", [sampled(n, kept=n == "over") for n in ("over", "hops", "session")]
)
def test_update_mode_answers_a_stream_in_sql_at_once(tables, tmp_path, name):
    answers = asked(tables.sql(QUERIES[name].format(**STREAMS)), tmp_path, "update")
    assert answers == Counter(tables.sql(QUERIES[name].format(**TABLES)).collect())


@pytest.fixture
def named(tables: SparkSession) -> Iterator[SparkSession]:
    """A session in which sources of streams have names."""
    tables.conf.set("spark.sql.streaming.queryEvolution.enableSourceEvolution", "true")
    if SPARK < (4, 3):
        tables.conf.set("spark.sql.streaming.offsetLog.formatVersion", "2")
    yield tables
    tables.conf.unset("spark.sql.streaming.queryEvolution.enableSourceEvolution")
    tables.conf.unset("spark.sql.streaming.offsetLog.formatVersion")


def union_of(*sources: str) -> str:
    each = (f"SELECT * FROM STREAM {s} IDENTIFIED BY from_{s}" for s in sources)
    return f"({' UNION ALL '.join(each)}) WATERMARK at {DELAY}"


@SINCE_42
def test_named_sources_change_places_come_and_go(named, tmp_path):
    """A source that its place told apart would go on from the offsets of another."""
    query, answers = QUERIES["over"], Counter[Row]()
    for sources, rows in (
        (["events"], {}),
        (["others", "events"], {"others": (56, 76), "events": (60, 80)}),
        (["events", "others"], {"others": (80, 100), "events": (78, 90)}),
        (["others"], {"others": (100, 120)}),
    ):
        for table, minutes in rows.items():
            add(named, table, *minutes)
        answers += asked(named.sql(query.format(events=union_of(*sources))), tmp_path)
    both = "(SELECT * FROM events UNION ALL SELECT * FROM others)"
    assert answers == until(named.sql(query.format(events=both)), 114)


@SINCE_42
@pytest.mark.parametrize(
    ("name", "mode"),
    [
        sampled("over", "append"),
        sampled("over", "update", kept=False),
        sampled("session", "append"),
        sampled("hops", "append", kept=False),
        sampled("hops", "update"),
        sampled("lateral", "append", kept=False),
    ],
)
def test_a_checkpoint_goes_on_with_another_number_of_partitions(tables, tmp_path, name, mode):
    """A key's state is found by its bucket, whichever number of tasks there is."""
    answers = {}
    for partitions, first in ((2, 60), (5, 80), (1, 100)):
        if partitions != 2:
            checkpoint = str(tmp_path / "checkpoint")
            tables._streamingCheckpointManager.repartition(checkpoint, partitions)
        add(tables, "events", first, first + 20)
        add_labels(tables, first, first + 20)
        given = asked(tables.sql(QUERIES[name].format(**STREAMS)), tmp_path, mode, partitions)
        answers |= {row[:2]: row for row in given}
    batch = tables.sql(QUERIES[name].format(**TABLES))
    expected = until(batch, 114) if mode == "append" else Counter(batch.collect())
    assert Counter(answers.values()) == expected
