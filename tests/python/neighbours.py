"""Windows beside Iceberg, Comet and Delta, each in a session with the other plugin's settings.

Run as `neighbours.py NAME FOLDER`, it prints a line of JSON: rows that were compared, and the
operators of the plan. test_neighbours.py reads it.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession

import fetch
import sash
from streaming import session

OVER = """SELECT *, sum(x) OVER w AS total, min(x) OVER w AS least FROM {events}
    WINDOW w AS (PARTITION BY k ORDER BY ts RANGE INTERVAL 1 HOUR PRECEDING)
"""
ROWS = """SELECT id, id % 7 AS k, id * 31 % 101 AS x,
    TIMESTAMP '2026-03-01' + make_interval(0, 0, 0, 0, 0, 0, id * 10) AS ts
    FROM range({first}, {until}, 1, 2)"""


def made(spark: SparkSession, first: int, until: int) -> DataFrame:
    """Rows of ten seconds each."""
    return spark.sql(ROWS.format(first=first, until=until))


def as_spark(spark: SparkSession, query: str) -> Counter[Row]:
    """The answers of Spark without Sash."""
    spark.conf.set("spark.sash.enabled", "false")
    answers = spark.sql(query).collect()
    spark.conf.set("spark.sash.enabled", "true")
    return Counter(answers)


def plan(spark: SparkSession, query: str) -> str:
    return spark.sql(f"EXPLAIN {query}").head()[0]


def of_stream(rows: DataFrame, events: str, folder: Path, write: Callable) -> None:
    """Run OVER on a stream to its end, and see that Sash ran it."""
    rows.withWatermark("ts", "10 minutes").createOrReplaceTempView(events)
    writer = rows.sparkSession.sql(OVER.format(events=events)).writeStream.option(
        "checkpointLocation", str(folder / "checkpoint")
    )
    query = write(writer.trigger(availableNow=True))
    query.awaitTermination()
    assert {name for p in query.recentProgress for name in p.observedMetrics} == {"sash.0"}


def answered(spark: SparkSession, table: str) -> str:
    """The batch query over the rows that the watermark of a stream has passed."""
    last = f"(SELECT max(ts) - INTERVAL 10 MINUTES FROM {table})"
    return f"SELECT * FROM ({OVER.format(events=table)}) WHERE ts <= {last}"


def iceberg(folder: Path) -> dict[str, object]:
    spark = session(
        {
            "spark.jars": ",".join(map(str, fetch.iceberg())),
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions"
            ".IcebergSparkSessionExtensions",
            "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
            "spark.sql.catalog.ice.type": "hadoop",
            "spark.sql.catalog.ice.warehouse": str(folder / "warehouse"),
        }
    )
    spark.sql(
        "CREATE TABLE ice.db.events (id BIGINT, k BIGINT, x BIGINT, ts TIMESTAMP) USING "
        "iceberg PARTITIONED BY (hours(ts))"
    )
    made(spark, 0, 2000).writeTo("ice.db.events").append()
    over = OVER.format(events="ice.db.events")
    # a window is written: its rows, and then a MERGE of them
    spark.sql(f"CREATE TABLE ice.db.features USING iceberg AS {over}")
    made(spark, 2000, 2500).writeTo("ice.db.events").append()
    merge = f"""MERGE INTO ice.db.features AS f USING ({over}) AS u ON f.id = u.id
        WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"""
    plans = [plan(spark, over), plan(spark, merge)]
    spark.sql(merge)
    merged = Counter(spark.table("ice.db.features").collect())
    assert merged == as_spark(spark, over)
    # a table is changed by MERGE, and a window reads it
    spark.sql("""MERGE INTO ice.db.events AS e
        USING (SELECT id FROM ice.db.events WHERE id % 5 = 0) AS u ON e.id = u.id
        WHEN MATCHED THEN UPDATE SET x = e.x + 1000""")
    changed = Counter(spark.sql(over).collect())
    assert changed == as_spark(spark, over) != merged
    refreshed = refreshed_in_iceberg(spark)
    made(spark, 0, 2500).writeTo("ice.db.source").using("iceberg").create()
    stream = spark.readStream.format("iceberg").load("ice.db.source")
    spark.sql(f"CREATE TABLE ice.db.answers USING iceberg AS {over} LIMIT 0")
    of_stream(stream, "events", folder, lambda writer: writer.toTable("ice.db.answers"))
    answers = Counter(spark.table("ice.db.answers").collect())
    assert answers == as_spark(spark, answered(spark, "ice.db.source"))
    counts = [len(merged), len(changed), len(answers)]
    ours = [text.count("SlidingWindow") for text in plans]
    return {"rows": counts, "ours": ours, "refreshed": refreshed}


def refreshed_in_iceberg(spark: SparkSession) -> int:
    """Answers from before the rows changed are refreshed, as docs/refresh.md does it."""
    over = OVER.format(events="ice.db.events")
    (since,) = spark.sql(
        "SELECT snapshot_id FROM ice.db.events.snapshots ORDER BY committed_at LIMIT 1"
    ).head()
    old = OVER.format(events=f"ice.db.events VERSION AS OF {since}")
    for table in ("refreshed", "replaced"):
        spark.sql(f"CREATE TABLE ice.db.{table} USING iceberg AS {old}")
    spark.sql(f"""CALL ice.system.create_changelog_view(
        table => 'db.events', changelog_view => 'events_changes',
        options => map('start-snapshot-id', '{since}'),
        identifier_columns => array('id'), compute_updates => true)""")
    changes = {"ice.db.events": spark.table("events_changes")}
    done = sash.refresh(over, changes, into="ice.db.refreshed", id="id")
    assert done.inserted == 500
    assert done.updated > 500
    new = sash.refreshed(over, changes)
    new.spans.createOrReplaceTempView("spans")
    spark.sql("""DELETE FROM ice.db.replaced f WHERE EXISTS (SELECT 1 FROM spans s
        WHERE s.k <=> f.k AND f.ts >= s.first AND f.ts <= s.last)""")
    new.answers.writeTo("ice.db.replaced").append()
    expected = as_spark(spark, over)
    for table in ("refreshed", "replaced"):
        assert Counter(spark.table(f"ice.db.{table}").collect()) == expected
    return len(expected)


def delta(folder: Path) -> dict[str, object]:
    spark = session(
        {
            "spark.jars": ",".join(map(str, fetch.delta())),
            "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
            # of the log of a small table, in place of 50
            "spark.databricks.delta.snapshotPartitions": "2",
        }
    )
    table, answers = f"delta.`{folder / 'events'}`", str(folder / "answers")
    for first in (0, 1000):
        made(spark, first, first + 1000).write.format("delta").mode("append").save(
            str(folder / "events")
        )
        stream = spark.readStream.format("delta").load(str(folder / "events"))
        of_stream(stream, "events", folder, lambda writer: writer.format("delta").start(answers))
    given = Counter(spark.read.format("delta").load(answers).collect())
    assert given == as_spark(spark, answered(spark, table))
    return {"rows": [len(given)], "ours": [1]}


def comet(folder: Path) -> dict[str, object]:
    spark = session(
        {
            "spark.jars": ",".join(map(str, fetch.comet())),
            "spark.driver.extraClassPath": ":".join(map(str, fetch.comet())),
            "spark.plugins": "org.apache.spark.CometPlugin",
            "spark.shuffle.manager": "org.apache.spark.sql.comet.execution.shuffle"
            ".CometShuffleManager",
            "spark.comet.exec.shuffle.enabled": "true",
            "spark.memory.offHeap.enabled": "true",
            "spark.memory.offHeap.size": "1g",
        }
    )
    made(spark, 0, 200_000).write.parquet(str(folder / "events"))
    spark.read.parquet(str(folder / "events")).createOrReplaceTempView("events")
    over = OVER.format(events="events")
    rows = spark.sql(over)
    answers = Counter(rows.collect())
    # the last plan of adaptive execution, with conversions of columns to rows
    text = rows._jdf.queryExecution().executedPlan().toString()
    assert answers == as_spark(spark, over)
    seconds = {}
    for name, setting in (("spark", "false"), ("sash", "true")):
        for beside, comet_on in (("", "false"), (" and comet", "true")):
            spark.conf.set("spark.sash.enabled", setting)
            spark.conf.set("spark.comet.enabled", comet_on)
            runs = []
            for _ in range(3):
                begin = time.perf_counter()
                spark.sql(over).write.format("noop").mode("overwrite").save()
                runs.append(time.perf_counter() - begin)
            seconds[name + beside] = round(min(runs), 2)
    return {"rows": [len(answers)], "plan": text, "seconds": seconds}


if __name__ == "__main__":
    name, folder = sys.argv[1:]
    told = {"iceberg": iceberg, "delta": delta, "comet": comet}[name](Path(folder))
    print(json.dumps(told))
