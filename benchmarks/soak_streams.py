"""The soak's rows, its three streams, and the batch queries that must have the same answers.

Keys come, go and come again. Some rows are out of order, and some are late.
"""

import json
import shutil
import threading
import time
from bisect import bisect_left
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery

import sash

ROWS = "id BIGINT, k BIGINT, ts TIMESTAMP, x BIGINT, age INT"
LABELS = "lab BIGINT, user BIGINT, at TIMESTAMP, age INT"
SPEED = 60
"""Seconds of event time in a second: an hour of soak has 60 hours of events."""
EVERY = 10
"""Seconds between two files."""
START = 1_767_225_600
"""The end of the history, in seconds since 1970: the stream's first row is later."""
PAST = 10 * 3600
"""Seconds of event time in the history."""
IN_TIME, LATE, LONG_LATE = range(3)
"""How old a row is when it comes: minutes, up to three hours, more than six hours."""
_MILLION = 1_000_000


class Rows:
    """Writes files as time goes on, from a thread of its own."""

    def __init__(self, folder: Path, rate: int, seed: int = 1) -> None:
        self._folder = folder
        self._rate = rate
        self._rng = np.random.default_rng(seed)
        self._ids = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def begin(self) -> None:
        """Write the history, and go on with live rows."""
        for name in "past", "rows", "labels":
            (self._folder / name).mkdir()
        self._write("past", self._rows(START - PAST, START, self._rate * PAST // SPEED, 0))
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        began = time.monotonic()
        file = 0
        while not self._over.wait(max(0.0, began + (file + 1) * EVERY - time.monotonic())):
            at = START + file * EVERY * SPEED
            # a first watermark is there before the first late row comes
            late = 0.01 if file * EVERY >= 60 else 0
            rows = self._rows(at, at + EVERY * SPEED, self._rate * EVERY, late)
            labels = self._rows(at, at + EVERY * SPEED, self._rate * EVERY // 5, late)
            labels = labels.drop_columns(["x"]).rename_columns(["lab", "user", "at", "age"])
            self._write("rows", rows)
            self._write("labels", labels)
            file += 1

    def _rows(self, start: int, end: int, count: int, late: float) -> pa.Table:
        """Rows of some seconds of event time; no two of them have one time."""
        rng = self._rng
        ids = np.arange(self._ids, self._ids + count)
        self._ids += count
        at = rng.integers(start, end, count)
        age = rng.choice(3, count, p=[1 - 2 * late, late, late])
        back = np.choose(
            age,
            [
                np.where(rng.random(count) < 0.2, rng.integers(0, 300, count), 0),
                rng.integers(1200, 3 * 3600, count),
                rng.integers(6 * 3600, 12 * 3600, count),
            ],
        )
        micros = (at - np.minimum(back, at - (START - PAST))) * _MILLION + ids % _MILLION
        if start < START:  # the history ends by START
            micros = np.minimum(micros, START * _MILLION - count + np.arange(count))
        return pa.table(
            {
                "id": ids,
                "k": self._keys(at, count),
                "ts": pa.array(micros, pa.timestamp("us", tz="UTC")),
                "x": rng.integers(0, 100, count),
                "age": pa.array(age, pa.int32()),
            }
        )

    def _keys(self, at: np.ndarray, count: int) -> np.ndarray:
        """Ten keys stay. A new one comes each minute, and one of 200 minutes ago goes.

        Some that have gone come again, once or more, after hours.
        """
        rng = self._rng
        newest = (at - START + PAST) // 60
        kind = rng.choice(3, count, p=[0.3, 0.69, 0.01])
        staying = -1 - rng.integers(0, 10, count)
        again = newest - rng.integers(1000, 3000, count)
        choices = [staying, newest - rng.integers(0, 200, count), again]
        return np.asarray(1_000_000 + np.choose(kind, choices))

    def _write(self, name: str, rows: pa.Table) -> None:
        """A file is there once it is complete: Spark reads no name that begins with a dot."""
        number = len(list((self._folder / name).glob("*.parquet")))
        path = self._folder / name / f".{number:06d}.parquet"
        pq.write_table(rows, path)
        path.rename(path.with_name(path.name[1:]))


DELAY = "10 minutes"
LIVE = "3 hours"
LIVE_SETTING = "spark.sash.stream.keyTimeToLive"
UNTIL = str(datetime.fromtimestamp(START, timezone.utc).replace(tzinfo=None))


def over(rows: DataFrame, *keys: str) -> DataFrame:
    """Frames of rows and of time, multisets, window kinds and totals, in one operator."""
    order = Window.partitionBy("k", *keys).orderBy("ts")
    kinds = sash.SlidingWindow.partitionBy("k", *keys).orderBy("ts")
    last_50, last_100 = order.rowsBetween(-49, 0), order.rowsBetween(-99, 0)
    hour, session = kinds.time("1 hour"), kinds.session("15 minutes")
    budget = kinds.predicate("sum", lambda total: total <= 500, col="x")
    x = F.col("x")
    return rows.select(
        "id",
        "k",
        "ts",
        F.sum(x).over(last_50).alias("sum_50"),
        F.max(x).over(last_100).alias("max_100"),
        F.count_distinct(x).over(last_100).alias("distinct_100"),
        F.avg(x).over(hour).alias("avg_hour"),
        F.median(x).over(hour).alias("median_hour"),
        F.stddev(x).over(kinds.time("10 minutes") & kinds.count(20)).alias("stddev"),
        F.count("*").over(session).alias("in_session"),
        F.count("*").over(budget).alias("in_budget"),
        F.lag(x).over(order).alias("before"),
        F.row_number().over(order).alias("number"),
    )


def hop() -> Column:
    return F.window("ts", "1 hour", "5 minutes")


def hops(rows: DataFrame, window: Column) -> DataFrame:
    """Some rows are late for some of their windows only."""
    windows = rows.groupBy("k", window)
    found = windows.agg(F.count("*").alias("n"), F.sum("x").alias("s"), F.max("x").alias("m"))
    return found.select("k", F.col("window.start").alias("start"), "n", "s", "m")


def labels(of: DataFrame, rows: DataFrame) -> DataFrame:
    """The rows of the two hours before each label."""
    return of.sparkSession.sql(
        """
        SELECT l.lab, l.user, l.at, f.* FROM {of} l, LATERAL (
            SELECT count(*) AS n, sum(e.x) AS s, count(DISTINCT e.x) AS d, max(e.x) AS m
            FROM {rows} e
            WHERE e.k = l.user AND e.ts >= l.at - INTERVAL 2 HOURS AND e.ts < l.at) f
        """,
        of=of,
        rows=rows,
    )


def run(name: str, spark: SparkSession, folder: Path) -> StreamingQuery:
    """Start a stream, or go on with its checkpoint. Each has its folder for late rows."""
    spark.conf.set("spark.sash.stream.lateRowsPath", str(folder / "late" / name))
    return STREAMS[name](spark, folder)


def read(spark: SparkSession, folder: Path, name: str) -> DataFrame:
    schema, time = (LABELS, "at") if name == "labels" else (ROWS, "ts")
    rows = spark.readStream.schema(schema).parquet(str(folder / name))
    return rows.withWatermark(time, DELAY)


def _start_over(spark: SparkSession, folder: Path) -> StreamingQuery:
    past = spark.read.schema(ROWS).parquet(str(folder / "past"))
    spark.conf.set(LIVE_SETTING, LIVE.replace(" hours", "h"))
    warm = sash.warm_start(read(spark, folder, "rows"), past, by="ts", until=UNTIL)
    query = _to_parquet(over(warm), folder, "over")
    spark.conf.unset(LIVE_SETTING)
    return query


def _start_labels(spark: SparkSession, folder: Path) -> StreamingQuery:
    found = labels(read(spark, folder, "labels"), read(spark, folder, "rows"))
    return _to_parquet(found, folder, "labels")


def _start_hops(spark: SparkSession, folder: Path) -> StreamingQuery:
    offsets = folder / "checkpoint" / "hops" / "offsets"
    (folder / "offsets").mkdir(exist_ok=True)

    def keep(rows: DataFrame, batch: int) -> None:
        # Spark lets old offsets go; they say which watermark each row met
        shutil.copy(offsets / str(batch), folder / "offsets" / str(batch))
        rows.write.mode("overwrite").parquet(str(folder / "out" / "hops" / f"batch={batch}"))

    found = hops(read(spark, folder, "rows"), hop())
    return _start(found.writeStream.outputMode("update").foreachBatch(keep), folder, "hops")


def _to_parquet(rows: DataFrame, folder: Path, name: str) -> StreamingQuery:
    written = rows.writeStream.format("parquet").option("path", str(folder / "out" / name))
    return _start(written, folder, name)


def _start(written: Any, folder: Path, name: str) -> StreamingQuery:
    written = written.option("checkpointLocation", str(folder / "checkpoint" / name))
    query: StreamingQuery = written.trigger(processingTime=f"{EVERY} seconds").start()
    return query


STREAMS = {"over": _start_over, "hops": _start_hops, "labels": _start_labels}


Found = dict[str, dict[str, int]]


def check(spark: SparkSession, folder: Path, watermarks: dict[str, str]) -> Found:
    """How many answers and late rows each stream has, and how many answers differ.

    ``watermarks`` has the last watermark of each stream: later rows wait for theirs.
    """
    rows = spark.read.schema(ROWS).parquet(str(folder / "rows"))
    of_hops = windows(spark, folder)
    in_time = hops(of_hops.where("open"), F.col("window"))
    answers = {
        "over": lambda late: _over(spark, folder, rows, late, watermarks["over"]),
        "hops": lambda late: in_time,
        "labels": lambda late: _labels(spark, folder, rows, late, watermarks["labels"]),
    }
    found = {}
    for name, right in answers.items():
        late = _late(spark, folder, name).cache()
        given = _given(spark, folder, name)
        found[name] = {"late": late.count(), **_compared(given, right(late))}
        late.unpersist()
    late = spark.read.parquet(str(folder / "late/hops")).select("row.id", "missed", "windows")
    missed = F.count_if(~F.col("open")).alias("missed")
    closed = of_hops.groupBy("id").agg(missed, F.count("*").alias("windows")).where("missed > 0")
    found["late rows of hops"] = {"late": late.count(), **_compared(late, closed)}
    return found


def _compared(given: DataFrame, expected: DataFrame) -> dict[str, int]:
    given, expected = given.cache(), expected.cache()
    found = {
        "answers": given.count(),
        "expected": expected.count(),
        "wrong": given.exceptAll(expected).count(),
        "missing": expected.exceptAll(given).count(),
    }
    for frame in given, expected:
        frame.unpersist()
    return found


def _late(spark: SparkSession, folder: Path, name: str) -> DataFrame:
    return spark.read.parquet(str(folder / "late" / name)).select("row.*")


def _given(spark: SparkSession, folder: Path, name: str) -> DataFrame:
    """The answers of a stream; in update mode the last one of each window."""
    given = spark.read.parquet(str(folder / "out" / name))
    if name == "over":
        return _rounded(given)
    if name == "labels":
        return given
    last = Window.partitionBy("k", "start").orderBy(F.desc("batch"))
    numbered = given.withColumn("back", F.row_number().over(last))
    return numbered.where("back = 1").drop("back", "batch")


def _over(
    spark: SparkSession, folder: Path, live: DataFrame, late: DataFrame, watermark: str
) -> DataFrame:
    """A key begins anew after a pause that is longer than its time to live."""
    past = spark.read.schema(ROWS).parquet(str(folder / "past"))
    after = F.col("ts") > _time(UNTIL)
    rows = _without(live.where(after), late, "id").unionAll(past)
    pause = F.expr("ts - lag(ts) OVER (PARTITION BY k ORDER BY ts)")
    begins = (pause > F.expr(f"INTERVAL {LIVE}")).cast("int")
    life = F.sum(F.coalesce("begins", F.lit(0))).over(Window.partitionBy("k").orderBy("ts"))
    lives = rows.withColumn("begins", begins).withColumn("life", life)
    due = after & (F.col("ts") <= _time(watermark))
    return _rounded(over(lives, "life").where(due))


def _rounded(answers: DataFrame) -> DataFrame:
    """The last bits of a deviation depend on the grouping in which it is added up."""
    return answers.withColumn("stddev", F.round("stddev", 6))


def _labels(
    spark: SparkSession, folder: Path, rows: DataFrame, late: DataFrame, watermark: str
) -> DataFrame:
    asked = spark.read.schema(LABELS).parquet(str(folder / "labels"))
    due = _without(asked.where(F.col("at") <= _time(watermark)), late, "lab")
    # late events have the names of the labels' columns, and no id; their times are their own
    events = late.where("source >= 0").select(F.col("user").alias("k"), F.col("at").alias("ts"))
    in_time = rows.join(events, ["k", "ts"], "left_anti").select(rows.columns)
    return labels(due, in_time)


def _without(rows: DataFrame, late: DataFrame, column: str) -> DataFrame:
    """No row of the other table has a value in the column."""
    return rows.join(late.select(column).where(F.col(column).isNotNull()), column, "left_anti")


def _time(of: str) -> Column:
    return F.lit(of).cast("timestamp")


def windows(spark: SparkSession, folder: Path) -> DataFrame:
    """Each row, once for each of its windows, and whether the window was ``open`` for it.

    A stream that is hours behind has a watermark that is as old, and then a row that comes hours
    late is late for its earlier windows only. So the age of a row does not say this.
    """
    rows = spark.read.schema(ROWS).parquet(str(folder / "rows"))
    passed = spark.createDataFrame(sorted(_passed(folder).items()), "file STRING, passed BIGINT")
    marked = rows.withColumn("file", F.col("_metadata.file_name")).join(passed, "file")
    windows = marked.withColumn("window", hop())
    ends, passed_at = F.col("window.end"), F.timestamp_millis("passed")
    return windows.withColumn("open", ends > passed_at)


def _passed(folder: Path) -> dict[str, int]:
    """For each file of rows, the watermark that drops its late rows, in milliseconds.

    This is the watermark of the batch before.
    """
    log = sorted(_logged(folder / "offsets"), key=lambda path: int(path.name))
    noted = [_offsets(path) for path in log]
    ends = [end for _, end in noted]
    watermarks = [0, *(watermark for watermark, _ in noted)]
    return {
        name: watermarks[bisect_left(ends, number)]
        for name, number in _files(folder / "checkpoint" / "hops" / "sources" / "0").items()
    }


def _offsets(path: Path) -> tuple[int, int]:
    """The watermark of a batch, and the last number that it reads of the source's log."""
    _, batch, source = path.read_text(encoding="utf-8").splitlines()
    return json.loads(batch)["batchWatermarkMs"], json.loads(source)["logOffset"]


def _files(log: Path) -> dict[str, int]:
    """The names of the files that the source has read, with their numbers in its log."""
    lines = [line for path in _logged(log) for line in path.read_text().splitlines()[1:]]
    entries = [json.loads(line) for line in lines]
    return {Path(entry["path"]).name: entry["batchId"] for entry in entries}


def _logged(log: Path) -> list[Path]:
    """The entries of a log of Spark's. Names of checksums begin with a dot."""
    return [path for path in log.iterdir() if not path.name.startswith(".")]
