"""Writes tests/python/logs: event logs of Spark without Sash, one for each version of Spark.

    python tests/python/make_logs.py [DEMO]

runs ``QUERIES`` by the PySpark of this Python, and keeps of its log only what ``sash scan``
reads: no host, user, path or setting. Run it by a Python with PySpark 3.5, 4.0, 4.1, 4.2 and 4.3.
DEMO is the folder of the log of ``make demo``, of which it keeps the three questions.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

LOGS = Path(__file__).parent / "logs"
K = "PARTITION BY k ORDER BY ts"
HOPS = "window(ts, '10 seconds', '2 seconds')"
RANGE = "e.k = l.k AND e.ts <= l.ts AND e.ts > l.ts - INTERVAL 50 SECONDS"
LABELS = "(SELECT * FROM events WHERE i % 10 = 0)"
QUERIES = {
    "rows and range": f"""SELECT sum(x) OVER ({K} ROWS BETWEEN 999 PRECEDING AND CURRENT ROW),
        min(x) OVER ({K} RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW),
        stddev(d) OVER ({K} ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING) FROM events""",
    "growing and whole": f"""SELECT sum(x) OVER ({K}), max(x) OVER (PARTITION BY k),
        avg(d) OVER ({K} ROWS UNBOUNDED PRECEDING) FROM events""",
    "positions": f"""SELECT row_number() OVER ({K}), lag(x) OVER ({K}), ntile(4) OVER ({K}),
        nth_value(x, 2) OVER ({K}) FROM events""",
    "first of each key": f"SELECT * FROM (SELECT *, rank() OVER ({K}) r FROM events) WHERE r < 3",
    "one partition": """SELECT sum(x) OVER (ORDER BY ts ROWS 10 PRECEDING),
        sum(x) OVER (ORDER BY ts) FROM events""",
    "hops": f"SELECT k, {HOPS}, sum(x), max(d) FROM events GROUP BY k, {HOPS}",
    "hops of lists": f"SELECT k, {HOPS}, collect_list(x) FROM events GROUP BY k, {HOPS}",
    "hops of distinct values": f"SELECT {HOPS}, count(DISTINCT x) FROM events GROUP BY {HOPS}",
    "many hops": """SELECT window(ts, '1 hour', '1 minute'), sum(x) FROM events
        GROUP BY window(ts, '1 hour', '1 minute')""",
    "lateral": f"""SELECT l.i, a FROM {LABELS} l,
        LATERAL (SELECT sum(x) a FROM events e WHERE {RANGE})""",
    "scalar subquery": f"""SELECT l.i, (SELECT max(x) FROM events e WHERE e.k = l.k
        AND e.ts <= l.ts) FROM {LABELS} l""",
    "range join": f"""SELECT l.i, sum(e.x) FROM {LABELS} l LEFT JOIN events e ON {RANGE}
        GROUP BY l.i""",
    "merged range join": f"""SELECT /*+ MERGE(e) */ l.i, sum(e.x) FROM {LABELS} l
        JOIN events e ON {RANGE} GROUP BY l.i""",
    "as-of join": f"""SELECT l.i, y FROM {LABELS} l LEFT JOIN LATERAL (SELECT x y FROM events e
        WHERE e.k = l.k AND e.ts <= l.ts ORDER BY e.ts DESC LIMIT 1) ON true""",
    "many columns": "SELECT "
    + ", ".join(f"sum(x + {i}) OVER ({K} ROWS 9 PRECEDING)" for i in range(30))
    + " FROM events",
    "no window": "SELECT k, sum(x) FROM events GROUP BY k",
}
TIMES = ("Executor Run Time", "Executor CPU Time")
_PATH = re.compile(r"file:/[^\s,\]\"]*")
NEEDS_4 = {"as-of join"}
PLAIN = {
    "spark.eventLog.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
}
SETTINGS = {
    **PLAIN,
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
}


def builder(log: Path, settings: Mapping[str, str] = SETTINGS) -> SparkSession.Builder:
    """A session without Sash that writes its event log into a folder."""
    named = SparkSession.builder.master("local[2]").appName("queries")
    for key, value in {**settings, "spark.eventLog.dir": str(log)}.items():
        named = named.config(key, value)
    return named


def register(spark: SparkSession, rows: int = 200) -> None:
    """The table ``events``."""
    spark.sql(
        f"""SELECT id i, id % 7 k, timestamp_seconds(id) ts, int(id % 100) x, double(id) d
        FROM range({rows})"""
    ).createOrReplaceTempView("events")


def run(spark: SparkSession) -> None:
    """Run the queries, each under its name as the job's description."""
    register(spark)
    for name, query in QUERIES.items():
        if name in NEEDS_4 and pyspark.__version__ < "4":
            continue
        spark.sparkContext.setJobDescription(name)
        spark.sql(query).write.format("noop").mode("overwrite").save()


def run_stream(spark: SparkSession, folder: Path) -> None:
    """Hop windows over a stream of two batches, under the description ``stream``."""
    rows = spark.table("events").where("i < 20")
    for _ in range(2):
        rows.coalesce(1).write.mode("append").parquet(str(folder / "rows"))
    read = spark.readStream.schema(rows.schema).option("maxFilesPerTrigger", 1)
    read.parquet(str(folder / "rows")).withWatermark("ts", "1 second").createTempView("streamed")
    query = spark.sql(f"SELECT k, {HOPS}, sum(x), max(x) FROM streamed GROUP BY k, {HOPS}")
    write = query.writeStream.format("noop").queryName("stream").trigger(availableNow=True)
    write.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()


def kept(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """What a scan reads of a log."""
    for event in map(json.loads, (_PATH.sub("file:/data", line) for line in lines)):
        name = event["Event"]
        if name == "SparkListenerLogStart":
            yield event
        elif name == "SparkListenerApplicationStart":
            yield {"Event": name, "App Name": event["App Name"], "App ID": "app-1"}
        elif name == "SparkListenerTaskEnd":
            yield _task(event)
        elif ".sql.execution.ui." in name:
            event.pop("details", None)
            event.pop("physicalPlanDescription", None)
            event.pop("modifiedConfigs", None)
            yield event


def _task(event: dict[str, Any]) -> dict[str, Any]:
    sql = [
        {"ID": a["ID"], "Name": a["Name"], "Update": a["Update"], "Metadata": "sql"}
        for a in event["Task Info"]["Accumulables"]
        if a.get("Metadata") == "sql"
    ]
    return {
        "Event": event["Event"],
        "Stage ID": event["Stage ID"],
        "Stage Attempt ID": event["Stage Attempt ID"],
        "Task End Reason": {"Reason": event["Task End Reason"]["Reason"]},
        "Task Info": {"Accumulables": sql},
        "Task Metrics": {time: event["Task Metrics"][time] for time in TIMES},
    }


def keep(lines: Iterator[str], name: str) -> None:
    """Write a log as ``sash scan`` needs it."""
    import pyarrow as pa

    to = LOGS / f"{name}.zstd"
    with pa.CompressedOutputStream(str(to), "zstd") as out:
        out.write("".join(f"{json.dumps(event)}\n" for event in kept(lines)).encode())
    print(to, to.stat().st_size)


def demo(folder: Path) -> Iterator[str]:
    """The lines of the demo's log, of the questions alone, by Sash and by Spark."""
    from sash.scan.logs import lines, logs

    (log,) = logs([folder])
    asked: set[int] = set()
    for part in log.parts:
        for line in lines(part, lambda _: None, []):
            event = json.loads(line or "{}")
            number = event.get("executionId")
            if str(event.get("description")).startswith("localCheckpoint"):
                asked.add(number)
            if event and (number is None or number in asked):
                yield line.decode()


def main() -> None:
    """Write the log of this PySpark's version, or the demo's."""
    if sys.argv[1:]:
        keep(demo(Path(sys.argv[1])), "rolling_flights")
        return
    with tempfile.TemporaryDirectory() as folder:
        spark = builder(Path(folder)).getOrCreate()
        run(spark)
        spark.stop()
        (log,) = Path(folder).iterdir()
        with log.open(encoding="utf-8") as lines:
            keep(lines, f"spark-{pyspark.__version__}")


if __name__ == "__main__":
    main()
