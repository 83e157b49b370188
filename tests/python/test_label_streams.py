"""Features at label times on a stream: the query of the training set, the same answers."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, PySparkValueError, StreamingQueryException
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

import sash
from killed_labels import EVENTS, LABELS, drawn, features, read

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
HOURS = 24
PER_FILE = 8  # hours
KINDS = (("labels", LABELS), ("events", EVENTS))


def _write(folder: Path, rows: int, seed: int) -> None:
    """A file per eight hours. Their times differ, since a stream reads them in that order."""
    folder.mkdir()
    draw = random.Random(seed)  # noqa: S311
    for part in range(HOURS // PER_FILE):
        file = folder / f"{part}.json"
        with file.open("w", encoding="utf-8") as out:
            for row in drawn(draw, part * PER_FILE, PER_FILE, rows // 3):
                out.write(json.dumps(row) + "\n")
        written = time.time() - HOURS + part
        os.utime(file, (written, written))


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    _write(tmp_path / "events", 300, seed=1)
    _write(tmp_path / "labels", 60, seed=2)
    return tmp_path


@pytest.fixture(autouse=True)
def settings(spark: SparkSession) -> Iterator[None]:
    values = {
        "spark.sql.session.timeZone": "UTC",
        "spark.sash.stream.buckets": "4",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    }
    before = {key: spark.conf.get(key, None) for key in values}
    for key, value in values.items():
        spark.conf.set(key, value)
    yield
    for key, old in before.items():
        if old is None:
            spark.conf.unset(key)
        else:
            spark.conf.set(key, old)


def _run(frame: DataFrame, name: str, tables: Path) -> None:
    writer = frame.writeStream.format("parquet").option("path", str(tables / "out"))
    writer = writer.option("checkpointLocation", str(tables / "checkpoint"))
    query = writer.outputMode("append").trigger(availableNow=True).queryName(name).start()
    query.awaitTermination()


@contextmanager
def _hidden(tables: Path) -> Iterator[None]:
    """The last eight hours are not there yet."""
    last = [tables / kind / "2.json" for kind in ("labels", "events")]
    hidden = [path.read_bytes() for path in last]
    for path in last:
        path.unlink()
    yield
    for path, content in zip(last, hidden, strict=True):
        path.write_bytes(content)


def test_a_stream_answers_labels_as_the_batch_does(spark: SparkSession, tables: Path) -> None:
    batch = features(
        read(spark, tables / "labels", LABELS, stream=False),
        read(spark, tables / "events", EVENTS, stream=False),
    )
    expected = {row.lab: row for row in batch.collect()}

    def stream() -> DataFrame:
        return features(
            read(spark, tables / "labels", LABELS, stream=True),
            read(spark, tables / "events", EVENTS, stream=True),
        )

    plan = stream()._jdf.queryExecution().analyzed().toString()
    assert plan.count("TransformWithState") == 1, plan
    with _hidden(tables):
        _run(stream(), "before", tables)
        first = spark.read.parquet(str(tables / "out")).count()
    _run(stream(), "after", tables)
    answered = spark.read.parquet(str(tables / "out")).collect()
    assert 0 < first < len(answered)
    assert len(answered) > len(expected) // 2
    assert len({row.lab for row in answered}) == len(answered)
    assert {row.lab: row for row in answered} == {row.lab: expected[row.lab] for row in answered}


@pytest.mark.slow
def test_in_update_mode_the_last_answer_of_a_label_is_the_batchs(
    spark: SparkSession, tables: Path
) -> None:
    """A label is answered at once, and again if events that come later change its answer."""
    later = tables / "events" / "2.json"
    events = later.read_bytes()
    later.unlink()
    given: list[Row] = []

    def run() -> None:
        rows = [read(spark, tables / n, s, stream=True) for n, s in KINDS]
        writer = features(*rows).writeStream.outputMode("update")
        writer = writer.foreachBatch(lambda batch, _: given.extend(batch.collect()))
        writer = writer.option("checkpointLocation", str(tables / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()

    run()
    first = {row.lab: row for row in given}
    later.write_bytes(events)
    run()
    expected = features(*(read(spark, tables / n, s, stream=False) for n, s in KINDS)).collect()
    assert {row.lab: row for row in given} == {row.lab: row for row in expected}
    assert len(given) > len(first) == len(expected)  # all labels were answered, and some again
    assert first != {row.lab: row for row in expected}


def test_what_a_stream_cannot_answer_says_why(spark: SparkSession, tables: Path) -> None:
    def view(name: str, folder: str, schema: str, stream: bool, watermark: bool = True) -> None:
        frame = read(spark, tables / folder, schema, stream)
        if watermark:
            frame = frame.withWatermark("ts", "1 hour")
        frame.createOrReplaceTempView(name)

    def fails(lower: str, text: str) -> None:
        query = f"""
            SELECT * FROM l JOIN LATERAL (
                SELECT sum(amount) FROM e
                WHERE e.user = l.user AND e.ts >= {lower} AND e.ts < l.ts)
        """
        with pytest.raises(AnalysisException, match=text):
            spark.sql(query)

    view("e", "events", EVENTS, stream=True)
    view("l", "labels", LABELS, stream=False)
    fails("l.ts - INTERVAL 1 HOUR", "the rows around it are none; read both as streams")
    view("l", "labels", LABELS, stream=True, watermark=False)
    fails("l.ts - INTERVAL 1 HOUR", "has no watermark; call withWatermark on it")
    view("l", "labels", LABELS, stream=True)
    fails("l.ts - INTERVAL '1' MONTH", "counts months, which vary in length; write days or hours")
    fails("l.ts - make_dt_interval(0, lab)", "is at another distance for each row")
    other = "timestamp_seconds(l.lab)"
    fails(
        f"date_trunc('day', {other})",
        r"two values, date_trunc..day., timestamp_seconds.l.lab.. and l.ts.* cut to a unit of it",
    )
    fails("date_trunc('eon', l.ts)", "belong to two values, date_trunc..eon., l.ts. and l.ts")
    fails("date_trunc('day', l.ts) - INTERVAL '1' MONTH", "counts months, which vary in length")
    fails("l.ts + INTERVAL 1 HOUR", "ends before it begins: l.ts . INTERVAL '01' HOUR to l.ts")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Berlin")
    fails("l.ts - INTERVAL 1 DAY", "counts days, which vary in length in Europe/Berlin")
    local = (
        r"a difference of e.ts counts by the clock of Europe/Berlin.* as in e.ts >= l.ts - INTER"
    )
    with pytest.raises(AnalysisException, match=local):
        spark.sql(
            "SELECT (SELECT count(*) FROM e WHERE e.user = l.user "
            "AND l.ts - e.ts BETWEEN INTERVAL 1 HOUR AND INTERVAL 2 HOURS) FROM l"
        )
    fails("l.ts - INTERVAL 24 HOURS", r"write make_interval.0, 0, 0, 0, 24. for 24 hours")
    week = {"n": (F.count("*"), "168 hours")}
    sash.window_join(spark.table("l"), spark.table("e"), on="user", by="ts", **week)
    spark.sql(
        f"SELECT (SELECT count(*) FROM e WHERE {OWN}) FROM l".replace(
            "INTERVAL 1 HOUR", "make_interval(0, 0, 0, 0, 24)"
        )
    )
    spark.conf.set("spark.sql.session.timeZone", "America/St_Johns")
    fails(
        "date_trunc('day', l.ts) - INTERVAL 1 HOUR",
        r"no end of a range moves back .* date_trunc..day., l.ts. does when clocks change in "
        "America/St_Johns; set spark.sql.session.timeZone to UTC",
    )


OWN = "e.user = l.user AND e.ts >= l.ts - INTERVAL 1 HOUR AND e.ts < l.ts"


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (f"l, LATERAL (SELECT amount FROM e WHERE {OWN} LIMIT 3)", "LIMIT 3 takes any rows"),
        (f"l, LATERAL (SELECT amount FROM e WHERE {OWN} LIMIT 1)", "LIMIT 1 takes any row"),
        (f"l, LATERAL (SELECT amount FROM e WHERE {OWN})", "it takes the rows as they are"),
        (
            f"l, LATERAL (SELECT amount, count(*) FROM e WHERE {OWN} GROUP BY amount)",
            "GROUP BY e.amount makes several rows",
        ),
        (
            "l, LATERAL (SELECT count(*) FROM e WHERE e.user = l.user)",
            "it compares no range of event times with the outer row",
        ),
        (
            "l, LATERAL (SELECT count(*) FROM e WHERE e.user = l.user AND e.ts > l.ts)",
            r"e.ts has no upper end.* add one, as in e.ts < l.ts . INTERVAL 1 HOUR",
        ),
        (
            "l, LATERAL (SELECT count(*) FROM e WHERE e.amount >= l.lab AND e.amount < l.lab)",
            "compares e.amount, which is of type BIGINT",
        ),
        ("l WHERE EXISTS (SELECT 1 FROM e WHERE e.user = l.user)", "`EXISTS`.*no range of event"),
        (f"l WHERE lab NOT IN (SELECT amount FROM e WHERE {OWN})", "`IN`.*write NOT EXISTS"),
        (
            f"l LEFT JOIN LATERAL (SELECT count(*) n FROM e WHERE {OWN}) f ON n > rand()",
            "has the condition .f.n > rand.... which is not deterministic; join ON true",
        ),
        (
            f"l, LATERAL (SELECT count(*) FROM e WHERE {OWN} AND rand() < 0.5)",
            "invalid: .rand.. < 0.5BD. is not deterministic; compute it as a column",
        ),
        (
            f"(SELECT sum((SELECT count(*) FROM e WHERE {OWN})) FROM l)",
            "`scalar subquery`.*GROUP BY or aggregates",
        ),
    ],
)
def test_each_refusal_says_what_to_write(
    spark: SparkSession, tables: Path, query: str, why: str
) -> None:
    for name, folder, schema in (("l", "labels", LABELS), ("e", "events", EVENTS)):
        frame = read(spark, tables / folder, schema, stream=True)
        frame.withWatermark("ts", "1 hour").createOrReplaceTempView(name)
    with pytest.raises(AnalysisException, match=why):
        spark.sql(f"SELECT * FROM {query}")


def test_complete_mode_names_the_subquery(spark: SparkSession, tables: Path) -> None:
    for name, folder, schema in (("l", "labels", LABELS), ("e", "events", EVENTS)):
        frame = read(spark, tables / folder, schema, stream=True)
        frame.withWatermark("ts", "1 hour").createOrReplaceTempView(name)
    for select in ("count(*) FROM e WHERE {}", "amount FROM e WHERE {} ORDER BY e.ts LIMIT 1"):
        select = select.format(OWN)
        frame = spark.sql(f"SELECT * FROM l, LATERAL (SELECT {select})")
        with pytest.raises(AnalysisException) as caught:
            frame.writeStream.format("memory").queryName("c").outputMode("complete").start()
        assert f"LATERAL (SELECT {select})" in str(caught.value)


def test_the_explanation_names_the_call(spark: SparkSession, tables: Path) -> None:
    labels, events = (
        read(spark, tables / folder, schema, stream=True).withWatermark("ts", "1 hour")
        for folder, schema in (("labels", LABELS), ("events", EVENTS))
    )
    feature = (F.count("*"), "1 hour")
    said = sash.explanation(sash.window_join(labels, events, on="user", by="ts", n=feature))
    assert "slides on a stream: window_join (SELECT count(1) …) by " in said


def test_the_event_time_need_not_be_selected(spark: SparkSession, tables: Path) -> None:
    frame = read(spark, tables / "events", EVENTS, stream=True)
    frame.withWatermark("ts", "1 hour").createOrReplaceTempView("e")
    over = "sum(amount) OVER (PARTITION BY user ORDER BY amount ROWS 3 PRECEDING)"
    with pytest.raises(AnalysisException, match="ORDER BY ts, which has a watermark") as caught:
        spark.sql(f"SELECT user, {over} FROM e")
    assert "select it" not in str(caught.value)
    with pytest.raises(AnalysisException, match="and select it below the window"):
        spark.sql(f"SELECT user, {over} FROM (SELECT user, amount FROM e)")


def test_a_stream_answers_chains_and_orders_of_several_columns(
    spark: SparkSession, tables: Path
) -> None:
    last = "ORDER BY e.ts DESC, e.amount NULLS LAST LIMIT 1"
    query = f"""
        SELECT l.lab, a.n, b.m, c.amount AS last
        FROM l, LATERAL (SELECT count(*) n FROM e WHERE {OWN}) a
        LEFT JOIN LATERAL (
            SELECT max(amount) m FROM e WHERE {OWN} HAVING count(*) < a.n + 1) b ON true
        LEFT JOIN LATERAL (SELECT * FROM (SELECT e.amount FROM e WHERE {OWN} {last}) z
            WHERE z.amount > a.n) c ON true"""

    def asked(stream: bool) -> DataFrame:
        for name, folder, schema in (("l", "labels", LABELS), ("e", "events", EVENTS)):
            frame = read(spark, tables / folder, schema, stream)
            frame.withWatermark("ts", "1 hour").createOrReplaceTempView(name)
        return spark.sql(query)

    expected = {row.lab: row for row in asked(stream=False).collect()}
    frame = asked(stream=True)
    plan = frame._jdf.queryExecution().analyzed().toString()
    assert plan.count("TransformWithState") == 1, plan
    _run(frame, "chain", tables)
    answered = spark.read.parquet(str(tables / "out")).collect()
    assert len(answered) > len(expected) // 2
    assert len({row.last for row in answered}) > 2
    assert {row.lab: row for row in answered} == {row.lab: expected[row.lab] for row in answered}


def test_a_stream_answers_several_rows_for_each_label(spark: SparkSession, tables: Path) -> None:
    wide = "e.user = l.user AND l.ts - e.ts <= INTERVAL 9 HOURS AND e.ts < l.ts"
    query = f"""
        SELECT l.lab, a.ts, a.amount, b.n
        FROM l LEFT JOIN LATERAL (SELECT e.ts, e.amount FROM e WHERE {wide}
            ORDER BY e.ts DESC, e.amount NULLS LAST LIMIT 3) a ON a.amount > 1
        LEFT JOIN LATERAL (SELECT count(*) n FROM e WHERE {wide}) b ON b.n > 1"""

    def asked(stream: bool) -> DataFrame:
        for name, folder, schema in (("l", "labels", LABELS), ("e", "events", EVENTS)):
            frame = read(spark, tables / folder, schema, stream)
            frame.withWatermark("ts", "1 hour").createOrReplaceTempView(name)
        return spark.sql(query)

    frame = asked(stream=True)
    assert frame._jdf.queryExecution().analyzed().toString().count("TransformWithState") == 1
    _run(frame, "rows", tables)
    answered = spark.read.parquet(str(tables / "out")).collect()
    labels = {row.lab for row in answered}
    expected = [row for row in asked(stream=False).collect() if row.lab in labels]
    assert sorted(map(str, answered)) == sorted(map(str, expected))
    assert len(answered) > len(labels) > 20


def test_a_stream_answers_whether_events_exist(spark: SparkSession, tables: Path) -> None:
    query = f"""
        SELECT lab, EXISTS (SELECT 1 FROM e WHERE {OWN} AND e.amount > 50) AS has FROM l
        WHERE NOT EXISTS (SELECT 1 FROM e WHERE {OWN} AND e.amount < 10)"""

    def asked(stream: bool) -> DataFrame:
        for name, folder, schema in (("l", "labels", LABELS), ("e", "events", EVENTS)):
            frame = read(spark, tables / folder, schema, stream)
            frame.withWatermark("ts", "1 hour").createOrReplaceTempView(name)
        return spark.sql(query)

    _run(asked(stream=True), "exists", tables)
    answered = {row.lab: row.has for row in spark.read.parquet(str(tables / "out")).collect()}
    expected = {row.lab: row.has for row in asked(stream=False).collect()}
    assert len(expected) // 2 < len(answered) < 60
    assert len(set(answered.values())) > 1
    assert answered == {lab: expected[lab] for lab in answered}


def test_streams_and_tables_of_events_are_not_asked_together(
    spark: SparkSession, tables: Path
) -> None:
    for name, folder, schema, stream in (
        ("l", "labels", LABELS, True),
        ("e", "events", EVENTS, True),
        ("t", "events", EVENTS, False),
    ):
        frame = read(spark, tables / folder, schema, stream)
        frame.withWatermark("ts", "1 hour").createOrReplaceTempView(name)

    def n(events: str) -> str:
        return f"SELECT count(*) n_{events} FROM {events} x WHERE x.user = l.user AND x.ts < l.ts"

    maximum = "SELECT max(amount) FROM t"
    for query in (
        f"SELECT lab, ({n('e')}), ({n('t')}) FROM l",
        f"SELECT lab, n_e, n_t FROM l, LATERAL ({n('e')}), LATERAL ({n('t')})",
        f"SELECT lab, n_e, n_t FROM l, LATERAL ({n('t')}), LATERAL ({n('e')})",
    ):
        with pytest.raises(AnalysisException, match="the events are no stream"):
            spark.sql(query)
    assert spark.sql(f"SELECT lab, ({n('e')}), ({maximum}) FROM l").isStreaming
    assert spark.sql(f"SELECT lab, ({n('t')}) FROM l").isStreaming


def _streams(spark: SparkSession, tables: Path, stream: bool) -> tuple[DataFrame, DataFrame]:
    return tuple(
        read(spark, tables / folder, schema, stream).withWatermark("ts", "1 hour")
        for folder, schema in (("labels", LABELS), ("events", EVENTS))
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        lambda labels, events: sash.as_of(
            labels,
            events,
            on="user",
            by=("ts", "amount"),
            direction="nearest",
            tolerance="3 hours",
            nulls_equal=True,
            y="amount",
        ),
        lambda labels, events: sash.window_join(
            labels,
            events,
            on="user",
            by="ts",
            outcome=(F.sum("amount"), ("1 hour", "5 hours")),
            past=(F.count("*"), (None, "-1 hour")),
            n=(F.count("*"), "7 hours"),
        ),
    ],
    ids=["as_of", "window_join"],
)
def test_a_stream_looks_ahead_and_takes_further_columns(
    spark: SparkSession, tables: Path, asked: Callable[..., DataFrame]
) -> None:
    expected = {row.lab: row for row in asked(*_streams(spark, tables, stream=False)).collect()}
    frame = asked(*_streams(spark, tables, stream=True))
    plan = frame._jdf.queryExecution().analyzed().toString()
    assert plan.count("TransformWithState") == 1, plan
    _run(frame, "ahead", tables)
    answered = spark.read.parquet(str(tables / "out")).collect()
    assert len(answered) > len(expected) // 2
    assert {row.lab: row for row in answered} == {row.lab: expected[row.lab] for row in answered}


def _cut(labels: DataFrame, events: DataFrame) -> DataFrame:
    """Features whose windows begin or end with an hour or a day, in columns of the labels."""
    ts, hour = F.col("ts"), F.expr("INTERVAL 1 HOUR")
    ends = {
        "day": F.date_trunc("day", ts - 3 * hour),
        "midnight": F.to_timestamp(F.to_date("ts")),
        "known": ts - hour,
        "hour": F.date_trunc("hour", "ts"),
        "later": F.date_trunc("hour", ts + 2 * hour),
    }
    return sash.window_join(
        labels.withColumns(ends).where("lab >= 0"),
        events,
        on="user",
        by="ts",
        n=(F.count("*"), "day"),
        spend=(F.sum("amount"), ("midnight", "known")),
        kinds=(F.count_distinct("amount"), ("-5 hours", "hour")),
        outcome=(F.max("amount"), ("hour", "later")),
    )


@pytest.mark.slow
def test_windows_begin_and_end_with_a_unit(spark: SparkSession, tables: Path) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
    expected = {row.lab: row for row in _cut(*_streams(spark, tables, stream=False)).collect()}
    with _hidden(tables):
        _run(_cut(*_streams(spark, tables, stream=True)), "before", tables)
        first = spark.read.parquet(str(tables / "out")).count()
    frame = _cut(*_streams(spark, tables, stream=True))
    assert frame._jdf.queryExecution().analyzed().toString().count("TransformWithState") == 1
    _run(frame, "after", tables)
    answered = spark.read.parquet(str(tables / "out")).collect()
    assert 0 < first < len(answered) > len(expected) // 2
    assert {row.lab: row for row in answered} == {row.lab: expected[row.lab] for row in answered}
    assert min(len({getattr(row, name) for row in answered}) for name in ("n", "kinds")) > 2


@pytest.mark.slow
def test_another_unit_does_not_go_on_from_the_state(spark: SparkSession, tables: Path) -> None:
    def asked(unit: str) -> DataFrame:
        labels, events = _streams(spark, tables, stream=True)
        labels = labels.withColumn("start", F.date_trunc(unit, "ts"))
        n = (F.count("*"), "start")
        return sash.window_join(labels, events, on="user", by="ts", n=n).drop("start")

    with _hidden(tables):
        _run(asked("hour"), "hours", tables)
    with pytest.raises(StreamingQueryException, match=r"date_trunc\('(hour|day)', ts\)"):
        _run(asked("day"), "days", tables)


def test_a_stream_joins_no_rows_one_by_one(spark: SparkSession, tables: Path) -> None:
    labels, events = _streams(spark, tables, stream=True)
    of = {"on": "user", "by": "ts"}
    n = (F.count("*"), "1 hour")
    above = (lambda label: F.count_if(F.col("amount") > label("lab")), "1 hour")
    for call in (
        lambda: sash.as_of(labels, events, **of, known="ts", y="amount"),
        lambda: sash.as_of(labels, events, **of, valid_to="ts", y="amount"),
        lambda: sash.window_join(labels, events, **of, known="ts", n=n),
        lambda: sash.window_join(labels, events, **of, n=above),
    ):
        with pytest.raises(PySparkValueError, match="since labels or events are streams"):
            call()
