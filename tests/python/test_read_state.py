"""What is read from a stream's checkpoint, in Python."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from pyspark.errors import AnalysisException, PySparkTypeError, PySparkValueError
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

import sash

START = datetime(2026, 3, 1)
SCHEMA = "k STRING, part INT, ts TIMESTAMP, x INT"


class Written(NamedTuple):
    """A stream that has come to its end, and the rows that it has read."""

    features: DataFrame
    rows: DataFrame
    checkpoint: Path


def spend(rows: DataFrame) -> DataFrame:
    of_time = "OVER (PARTITION BY k, part ORDER BY ts RANGE INTERVAL 60 SECONDS PRECEDING)"
    total = F.expr(f"sum(x) {of_time}")
    last = sash.SlidingWindow.partitionBy("k", "part").orderBy("ts").count(3)
    return rows.select(
        F.col("k").alias("who"),
        "part",
        "ts",
        (total / 2).alias("half"),
        F.collect_list("x").over(last).alias("xs"),
    )


@pytest.fixture
def written(streaming: SparkSession, tmp_path: Path) -> Written:
    rows = streaming.createDataFrame(
        [
            (k, part, START + timedelta(seconds=20 * i), i)
            for i in range(9)
            for k in "ab"
            for part in (1, 2)
        ],
        SCHEMA,
    )
    rows.write.parquet(str(tmp_path / "in"))
    stream = streaming.readStream.schema(SCHEMA).parquet(str(tmp_path / "in"))
    features = spend(stream.withWatermark("ts", "30 seconds"))
    writer = features.writeStream.format("noop").trigger(availableNow=True)
    writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()
    return Written(features, rows, tmp_path / "checkpoint")


def test_the_last_rows_of_all_keys(written: Written) -> None:
    read = sash.read_state(written.features, written.checkpoint)
    assert not read.isStreaming
    assert read.dtypes == written.features.dtypes
    last = START + timedelta(seconds=160)
    expected = [Row(k, p, last, (5 + 6 + 7 + 8) / 2, [6, 7, 8]) for k in "ab" for p in (1, 2)]
    assert sorted(map(tuple, read.collect())) == sorted(map(tuple, expected))


def test_some_keys_at_a_time(written: Written) -> None:
    at = START + timedelta(seconds=190)
    keys = [("a", 1), ("b", 7)]
    read = sash.read_state(written.features, str(written.checkpoint), keys=keys, at=at)
    rows = {row.who: row for row in read.collect()}
    assert rows["a"] == Row("a", 1, at, (7 + 8) / 2, [6, 7, 8])
    assert rows["b"] == Row("b", 7, at, None, [])
    text = sash.read_state(written.features, written.checkpoint, keys=keys, at=str(at))
    assert sorted(text.collect()) == sorted(read.collect())
    assert sash.read_state(written.features, written.checkpoint, keys=[]).count() == 0


def test_a_time_that_the_stream_has_forgotten(written: Written) -> None:
    with pytest.raises(AnalysisException, match="has let go of rows by 2026-03-01"):
        sash.read_state(written.features, written.checkpoint, at=START).collect()


def test_arguments(written: Written) -> None:
    features, checkpoint = written.features, written.checkpoint
    with pytest.raises(PySparkTypeError, match="`stream` should be a Spark DataFrame"):
        sash.read_state(5, checkpoint)  # type: ignore[arg-type]
    with pytest.raises(PySparkTypeError, match="`checkpoint` should be a string or a path"):
        sash.read_state(features, 5)  # type: ignore[arg-type]
    with pytest.raises(PySparkValueError, match="`keys` should be a list of keys"):
        sash.read_state(features, checkpoint, keys="a")
    with pytest.raises(PySparkTypeError, match="`keys` should be a list of keys"):
        sash.read_state(features, checkpoint, keys=5)  # type: ignore[arg-type]
    with pytest.raises(PySparkTypeError, match="`at` should be a datetime"):
        sash.read_state(features, checkpoint, at=5)  # type: ignore[arg-type]
    with pytest.raises(PySparkTypeError, match="`widths` should be a dict"):
        sash.read_state(features, checkpoint, widths=5)  # type: ignore[arg-type]
    with pytest.raises(AnalysisException, match="no window of the query has each row's own"):
        sash.read_state(features, checkpoint, widths={"x": 5})
    with pytest.raises(AnalysisException, match="it is an ARRAY of STRUCT"):
        sash.read_state(features, checkpoint, keys=["a"]).collect()
    with pytest.raises(AnalysisException, match="above nothing else"):
        sash.read_state(written.rows, checkpoint)


def test_labels(streaming: SparkSession, tmp_path: Path) -> None:
    rows = [("a", START + timedelta(seconds=20 * i), i) for i in range(9)]
    frame = streaming.createDataFrame(rows, "k STRING, ts TIMESTAMP, x INT")
    for name in ("labels", "events"):
        frame.write.parquet(str(tmp_path / name))

    def stream(name: str) -> DataFrame:
        source = streaming.readStream.schema(frame.schema).parquet(str(tmp_path / name))
        return source.withWatermark("ts", "30 seconds")

    recent = (F.sum("x"), "60 seconds")
    features = sash.window_join(
        stream("labels").select("k", "ts"), stream("events"), on="k", by="ts", spent=recent
    )
    writer = features.writeStream.format("noop").trigger(availableNow=True)
    writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()
    at = START + timedelta(seconds=185)
    read = sash.read_state(features, tmp_path / "checkpoint", keys=["a"], at=at)
    assert [(row.k, row.ts, row.spent) for row in read.collect()] == [("a", at, 7 + 8)]


def run(features: DataFrame, checkpoint: Path) -> None:
    writer = features.writeStream.format("noop").trigger(availableNow=True)
    writer.option("checkpointLocation", str(checkpoint)).start().awaitTermination()


def test_open_hop_windows(streaming: SparkSession, tmp_path: Path) -> None:
    schema = "k STRING, ts TIMESTAMP, x INT"
    rows = [(k, START + timedelta(seconds=7 * i), i) for i in range(40) for k in "ab"]
    frame = streaming.createDataFrame(rows, schema)

    def hops(of: DataFrame) -> DataFrame:
        windows = of.groupBy("k", F.window("ts", "60 seconds", "20 seconds"))
        return windows.agg(F.sum("x").alias("s"), F.median("x").alias("m"), F.count("*"))

    (tmp_path / "in").mkdir()
    stream = streaming.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    features = hops(stream.parquet(str(tmp_path / "in")).withWatermark("ts", "30 seconds"))
    for part in range(2):  # the second part after a restart
        some = frame.where(F.col("x").between(20 * part, 20 * part + 19))
        some.write.mode("append").parquet(str(tmp_path / "in"))
        run(features, tmp_path / "checkpoint")
        last = START + timedelta(seconds=7 * (20 * part + 19))
        watermark = last - timedelta(seconds=30)
        so_far = frame.where(F.col("x") < 20 * part + 20)
        expected = hops(so_far).where(F.col("window.end") > F.lit(watermark)).collect()
        read = sash.read_state(features, tmp_path / "checkpoint")
        assert read.dtypes == features.dtypes
        assert len(expected) == 2 * 4
        assert sorted(read.collect()) == sorted(expected)
        one = sash.read_state(features, tmp_path / "checkpoint", keys=["b", "z"])
        assert sorted(one.collect()) == sorted(row for row in expected if row.k == "b")
    with pytest.raises(AnalysisException, match=r"as in window\.end > <time>"):
        sash.read_state(features, tmp_path / "checkpoint", at=START)


def test_each_rows_own_width(streaming: SparkSession, tmp_path: Path) -> None:
    schema = "k STRING, ts TIMESTAMP, width INT, x INT"
    rows = [("a", START + timedelta(seconds=i), 1 + i % 3, i) for i in range(20)]
    streaming.createDataFrame(rows, schema).write.parquet(str(tmp_path / "in"))
    events = streaming.readStream.schema(schema).parquet(str(tmp_path / "in"))
    w = sash.SlidingWindow.partitionBy("k").orderBy("ts")
    own = w.rows("width") & w.count(10)
    spent = F.sum("x").over(own).alias("spent")
    features = events.withWatermark("ts", "5 seconds").select("k", "ts", "width", spent)
    run(features, tmp_path / "checkpoint")
    read = sash.read_state(features, tmp_path / "checkpoint", keys=["a"], widths={"width": 2})
    assert [row.spent for row in read.collect()] == [17 + 18 + 19]
    with pytest.raises(AnalysisException, match=r"named_struct\('width', <INT>\)"):
        sash.read_state(features, tmp_path / "checkpoint", keys=["a"])
