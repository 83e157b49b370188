"""Slices of events on three executors, one of which is killed: test_slice_cluster.py runs it.

Each argument is a folder and a moment, `FOLDER/MOMENT`. Prints a line of JSON for each: whether
events were combined, how many tasks ran once more, and whether the rows are right.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import sash
from split_cluster import CONF, kill_one

LABELS, EVENTS, USERS, SPAN = 3_000, 120_000, 30, 20_000
SLICES = {
    "spark.sash.lateral.sliceThreshold": "0",
    "spark.sql.sources.useV1SourceList": "parquet",
    # a task for each of sixteen files of events, and one for the labels
    "spark.sql.files.maxPartitionBytes": "4MB",
}
QUERY = f"""
    SELECT l.*, f.*, {{slow}} AS slow FROM labels l, LATERAL (
      SELECT count(*) AS n, sum(e.x) AS total, max_by(e.x, struct(e.ts, e.id)) AS latest
      FROM events e WHERE e.user = l.user AND e.ts < l.ts AND e.ts >= l.ts - {SPAN}) f"""
SLEEP = "if(l.id % 100 = 0, reflect('java.lang.Thread', 'sleep', 20L), '')"


def main() -> None:
    builder = SparkSession.builder.master("local-cluster[3,1,1024]").config(
        map={**CONF, **SLICES}
    )
    spark = sash.configure(builder).getOrCreate()
    for case in sys.argv[1:]:
        folder, moment = case.rsplit("/", 1)
        if not Path(folder, "events").exists():
            write(spark, folder)
        for name in ("labels", "events"):
            spark.read.parquet(f"{folder}/{name}").createOrReplaceTempView(name)
        print(json.dumps({"case": moment, **run(spark, moment)}), flush=True)
    spark.stop()


def write(spark: SparkSession, folder: str) -> None:
    """Labels in one file, events in sixteen, each user's in all of them."""
    of = f"id, hash(id) % {USERS} AS user, pmod(hash(id, 7), 1000000L) AS ts, id % 1000 AS x"
    spark.sql(f"SELECT {of} FROM range(0, {LABELS}, 1, 1)").write.parquet(f"{folder}/labels")
    spark.sql(f"SELECT {of} FROM range(0, {EVENTS}, 1, 16)").write.parquet(f"{folder}/events")


def run(spark: SparkSession, moment: str) -> dict[str, object]:
    """The query, with an executor that is lost, beside the one whose events are not combined."""
    tracker = spark.sparkContext.statusTracker()
    spark.sparkContext.setJobGroup(moment, moment)
    rows = spark.sql(QUERY.format(slow=SLEEP))
    plan = rows._jdf.queryExecution().executedPlan().toString()
    killer = threading.Thread(target=kill, args=[spark, moment])
    killer.start()
    answers = sorted(r[:-1] for r in rows.collect())
    killer.join()
    jobs = tracker.getJobIdsForGroup(moment)
    stages = {stage for job in jobs for stage in tracker.getJobInfo(job).stageIds}
    infos = [tracker.getStageInfo(stage) for stage in stages]
    tried = max(info.currentAttemptId for info in infos if info)
    failed = sum(info.numFailedTasks for info in infos if info)
    return {
        "combined": "EventSlices" in plan,
        "again": tried + failed,
        "right": answers == without_slices(spark),
    }


def kill(spark: SparkSession, moment: str) -> None:
    """Kill an executor as events are read, or as labels are answered."""
    tracker = spark.sparkContext.statusTracker()
    of_stage = {"events": 17, "answers": 8}[moment]
    until = time.monotonic() + 120
    while time.monotonic() < until:
        for job in tracker.getJobIdsForGroup(moment):
            info = tracker.getJobInfo(job)
            for stage in info.stageIds if info else []:
                found = tracker.getStageInfo(stage)
                if found and found.numTasks == of_stage and found.numCompletedTasks > 1:
                    return kill_one(spark)
        time.sleep(0.005)
    return None


def without_slices(spark: SparkSession) -> list[tuple]:
    spark.conf.set("spark.sash.lateral.sliceThreshold", "-1")
    rows: DataFrame = spark.sql(QUERY.format(slow="''"))
    assert "EventSlices" not in rows._jdf.queryExecution().executedPlan().toString()
    answers = sorted(r[:-1] for r in rows.collect())
    spark.conf.set("spark.sash.lateral.sliceThreshold", "0")
    return answers


if __name__ == "__main__":
    main()
