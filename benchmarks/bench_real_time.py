"""The latency of OVER in real-time mode beside Spark's own operators, row by row.

    make bench-real-time

Spark's aggregate by key, and windows that are written by hand with transformWithState: a list of
the last rows, and a ring whose sum is kept. Needs PySpark 4.3, so the target runs it in that
version's environment, beside a Kafka broker. The broker notes when it takes a row and when it
takes its answer. Writes real_time.json, and a
section of stream.md, to docs/benchmarks.
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer
from kafka.admin import NewTopic
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import engines
import machine
from harness import Store, flags, is_chosen, section, table
from progress import Progress

WINDOWS = (10, 1_000, 100_000)
SOURCE = Path(__file__).parent / "real_time" / "LastRows.scala"


@dataclass(frozen=True)
class Query:
    """A query over rows with the columns ``sent``, ``k``, ``t`` and ``x``.

    Attributes:
        name: Who runs it.
        window: How many rows of each key it holds; 0 if it has no window.
        make: The query. ``sent`` is its first column, and the answer its last one.
        slow: Whether a row costs the whole window, so that fewer rows a second can come.
    """

    name: str
    window: int
    make: Callable[[DataFrame], DataFrame]
    slow: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.window}"


def queries() -> list[Query]:
    found = [
        Query("no state", 0, lambda rows: rows.select("sent", "x")),
        Query("Spark: sum(x) GROUP BY k", 0, _aggregate),
    ]
    for n in WINDOWS:
        slow = n == max(WINDOWS)
        found += [
            Query("Sash: OVER (… ROWS …)", n, _over(n)),
            Query("transformWithState, a list", n, _by_hand("list", n), slow),
            Query("transformWithState, a ring", n, _by_hand("ring", n)),
        ]
    return found


def _aggregate(rows: DataFrame) -> DataFrame:
    """Spark's own state: a sum of each key."""
    return rows.groupBy("k").agg(F.max("sent").alias("sent"), F.sum("x").alias("s"))


def _over(n: int) -> Callable[[DataFrame], DataFrame]:
    def made(rows: DataFrame) -> DataFrame:
        window = Window.partitionBy("k").orderBy("t").rowsBetween(1 - n, 0)
        return rows.select("sent", F.sum("x").over(window).alias("s"))

    return made


def _by_hand(name: str, n: int) -> Callable[[DataFrame], DataFrame]:
    """Scala, since Spark refuses Python's transformWithState in real-time mode."""

    def made(rows: DataFrame) -> DataFrame:
        by_hand = getattr(rows.sparkSession._jvm.io.sash.benchmarks.LastRows, name)
        return DataFrame(by_hand(rows._jdf, n), rows.sparkSession)

    return made


def compiled(folder: Path, spark_home: Path) -> Path:
    """The jar of the queries in Scala, by the compiler that is among Spark's jars."""
    jar = folder / "last_rows.jar"
    scalac = ["java", "-cp", f"{spark_home}/jars/*", "scala.tools.nsc.Main", "-usejavacp"]
    subprocess.run([*scalac, "-d", str(jar), str(SOURCE)], check=True)
    return jar


KEYS = 10
BROKER = os.environ.get("KAFKA_BOOTSTRAP", "")
PATIENCE = 300
"""Seconds to wait for the first answer."""
WARM_UP = 10
"""Seconds whose rows do not count."""
SLOW = 1
"""Rows a second of a query whose rows cost the whole window."""


def latencies(spark: SparkSession, query: Query, options: argparse.Namespace) -> list[float]:
    """Milliseconds from the broker's taking a row until it takes its answer."""
    rate = min(SLOW, options.rate) if query.slow else options.rate
    topics = [f"{name}-{uuid.uuid4().hex}" for name in ("rows", "answers")]
    admin = KafkaAdminClient(bootstrap_servers=BROKER)
    noted = {"message.timestamp.type": "LogAppendTime"}
    admin.create_topics([NewTopic(t, 1, 1, topic_configs=noted) for t in topics])
    admin.close()
    with tempfile.TemporaryDirectory() as scratch:
        answers = query.make(_rows(spark, topics[0]))
        _fill(spark, answers, query.window, topics[0], scratch)
        running = _to_topic(answers, topics[1], scratch).trigger(realTime="5 minutes").start()
        producer = KafkaProducer(bootstrap_servers=BROKER)
        _send(producer, topics[0], 0)
        _wait_for_answer(running, topics[1])
        begin, since = time.monotonic(), 1000 * (time.time() + WARM_UP)
        for number in range(int((WARM_UP + options.seconds) * rate)):
            _send(producer, topics[0], number)
            time.sleep(max(0.0, begin + (number + 1) / rate - time.monotonic()))
        producer.flush()
        time.sleep(3)
        running.stop()
        if (error := running.exception()) is not None:
            raise error
    came = _source(spark.read, topics[1]).load()
    sent = F.split(F.col("value").cast("string"), ",")[0].cast("bigint")
    rows = came.select(sent.alias("sent"), F.unix_millis("timestamp").alias("came")).collect()
    found = [row.came - row.sent for row in rows if row.sent is not None and row.sent > since]
    if len(found) < 0.9 * options.seconds * rate:
        raise RuntimeError(f"{query}: only {len(found)} rows were answered")
    return found


def _send(producer: KafkaProducer, topic: str, number: int) -> None:
    value = f"{number % KEYS},{number},{1_000_000 * time.time():.0f}"
    producer.send(topic, value.encode())


def _wait_for_answer(query: Any, topic: str) -> None:
    consumer = KafkaConsumer(topic, bootstrap_servers=BROKER, auto_offset_reset="earliest")
    until = time.monotonic() + PATIENCE
    while not consumer.poll(500):
        if (error := query.exception()) is not None:
            raise error
        if time.monotonic() > until:
            raise TimeoutError(f"the first row has no answer: {query.status}")
    consumer.close()


def _fill(spark: SparkSession, answers: DataFrame, window: int, topic: str, scratch: str) -> None:
    """Fill the window of each key with rows of an hour ago, in ordinary batches.

    A second one has later rows, so that the watermark has passed those that fill.
    """
    for rows, minutes in (window, 120), (1, 30):
        if window:
            micros = F.unix_micros(F.now()) - minutes * 60_000_000 + F.col("id")
            value = F.concat_ws(",", F.col("id") % KEYS, F.lit(1), micros).alias("value")
            filling = spark.range(rows * KEYS).coalesce(1).select(value).write.format("kafka")
            filling.option("kafka.bootstrap.servers", BROKER).option("topic", topic).save()
            writer = _with_checkpoint(answers.writeStream.format("noop"), scratch)
            writer.trigger(availableNow=True).start().awaitTermination()


def _source(reader: Any, topic: str) -> Any:
    options = {"kafka.bootstrap.servers": BROKER, "subscribe": topic}
    return reader.format("kafka").options(**options, startingOffsets="earliest")


def _rows(spark: SparkSession, topic: str) -> DataFrame:
    """When the broker took a row, its key, an event time and a value."""
    fields = F.split(F.col("value").cast("string"), ",")
    return (
        _source(spark.readStream, topic)
        .load()
        .select(
            F.unix_millis("timestamp").alias("sent"),
            fields[0].cast("int").alias("k"),
            F.timestamp_micros(fields[2].cast("bigint")).alias("t"),
            fields[1].cast("int").alias("x"),
        )
        .withWatermark("t", "1 minute")
    )


def _to_topic(answers: DataFrame, topic: str, scratch: str) -> Any:
    value = F.concat_ws(",", "sent", answers.columns[-1]).alias("value")
    writer = answers.select(value).writeStream.format("kafka")
    writer = writer.option("kafka.bootstrap.servers", BROKER).option("topic", topic)
    return _with_checkpoint(writer, scratch)


def _with_checkpoint(writer: Any, scratch: str) -> Any:
    return writer.outputMode("update").option("checkpointLocation", f"{scratch}/checkpoint")


def main() -> None:
    options = flags(
        __doc__,
        quick={"seconds": 5, "runs": 1},
        seconds=(40, "of each measured run"),
        rate=(25, "rows a second"),
        jars=("", "Spark's Kafka source, separated by commas"),
    )
    about = {"runs": options.runs, "seconds": options.seconds, "rate": options.rate}
    store = Store(options, "real_time", **about)
    if not options.report:
        _measure(store, options)
    section(options.out / "stream.md", "bench_real_time", _page(store.about, store.results))


def _measure(store: Store, options: argparse.Namespace) -> None:
    asked = [q for q in queries() if str(q) not in store.results and is_chosen(options, str(q))]
    found: dict[str, list[list[float]]] = {str(query): [] for query in asked}
    progress = Progress(options.runs * len(asked))
    with tempfile.TemporaryDirectory() as folder:
        home = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
        more = {
            "spark.sql.shuffle.partitions": "1",
            "spark.jars": ",".join([options.jars, str(compiled(Path(folder), home))]),
            "spark.sash.stream.buckets": "4",
            # ordinary batches fill the windows; real-time mode goes on with this format alone
            "spark.sql.streaming.stateStore.checkpointFormatVersion": "2",
        }
        spark = engines.session(4, "1g", streaming=True, **more)  # all tasks run at once
        for _ in range(options.runs):
            for query in asked:
                runs = found[str(query)]
                runs.append(latencies(spark, query, options))
                progress.advance(1, f"{query}: {_figures(runs)}")
        of = {q: {"name": q.name, "window": q.window, "runs": found[str(q)]} for q in asked}
        store.add({str(q): result for q, result in of.items()}, Spark=spark.version)
        spark.stop()


def _page(about: Mapping[str, Any], found: Mapping[str, Mapping[str, Any]]) -> str:
    """The middle run of each query, by its median."""
    rows = []
    for of in found.values():
        window = f"{of['window']:,}" if of["window"] else ""
        rows.append([of["name"], window, *(f"{ms:.1f}" for ms in _figures(of["runs"]))])
    lines = [
        "# Latency in real-time mode",
        "",
        machine.sentence(dict(about)),
        "",
        "Milliseconds from when a Kafka broker has a row until it has the answer, in update "
        f"mode. {about['rate']} rows a second, {KEYS} keys, {about['seconds']} seconds after a "
        f"warm-up. Of {about['runs']} runs in turns the middle one. `make bench-real-time` "
        "writes this section.",
        "",
        "The windows hold a number of rows of each key, which came before the measured rows. "
        "*A list* is a transformWithState that keeps the rows in a ListState, and adds them up "
        f"for each row; of the largest window {SLOW} row a second came. *A ring* is one that "
        "keeps the sum, too, and subtracts the row that leaves. Both are Scala, and take rows "
        "in the order in which they come.",
        "",
        *table(["query", "rows in the window", "median", "99 of 100"], rows),
    ]
    return "\n".join(lines + _worst(found)) + "\n"


def _worst(found: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """How much longer than the ring Sash takes at most, if both were measured."""
    by_name = [(of["name"], of["window"], _figures(of["runs"])) for of in found.values()]
    rings = {window: took for name, window, took in by_name if name.endswith("ring")}
    pairs = [(took, rings[w]) for n, w, took in by_name if n.startswith("Sash") and w in rings]
    if not pairs:
        return []
    median, p99 = (max(ours[i] / ring[i] for ours, ring in pairs) for i in range(2))
    return [
        "",
        f"Sash takes at most {median:.2f} of the ring's median, and {p99:.2f} of its 99 of 100.",
    ]


def _figures(runs: list[list[float]]) -> tuple[float, float]:
    """The median and the 99 of 100 of the middle run."""
    run = sorted(runs, key=statistics.median)[len(runs) // 2]
    return statistics.median(run), statistics.quantiles(run, n=100)[98]


if __name__ == "__main__":
    main()
