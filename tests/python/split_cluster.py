"""Divided windows on four executors, one of which is killed: test_split_cluster.py runs it.

Each argument is a case, `CALL/INPUT/KILL`. Prints a line of JSON for each: how many executors
answered, how many tasks below the window ran once more, and whether the rows are right.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession

import sash

ROWS = 120_000
CONF = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "8",
    "spark.sash.window.splitThreshold": "0",
    # the rows are few, and each of the eight tasks is to have some
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    # all executors are there before the first task
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
    # a task that reads from a killed executor does not wait for it
    "spark.shuffle.io.maxRetries": "1",
    "spark.shuffle.io.retryWait": "100ms",
    # and its files are lost, as with their machine
    "spark.shuffle.readHostLocalDisk": "false",
}
PROCESS = "reflect('java.lang.ProcessHandle', 'current')"
"""The number of the executor's process that computes it."""
NEAR, FAR = 5_000, 20_000
CALLS = {
    "running sum": "sum(x) OVER (ORDER BY t)",
    "long rows": "max(x) OVER (ORDER BY t ROWS 99999 PRECEDING)",
    "lag": f"lag(x, {NEAR}) OVER (ORDER BY t)",
    "range": "sum(x) OVER (ORDER BY t RANGE BETWEEN 700 PRECEDING AND 90 FOLLOWING)",
    "near row": f"lag(id, {NEAR}) OVER (ORDER BY t)",
    "far row": (
        f"struct(first(id) OVER (ORDER BY t ROWS {FAR} PRECEDING), "
        "row_number() OVER (ORDER BY t))"
    ),
}
TIMES = f"id * 7919 % {ROWS} AS t"
INPUTS = {
    "fixed": f"SELECT id, {TIMES}, id % 1000 AS x FROM range(0, {ROWS}, 1, 16)",
    # a process that computes a row once more has other values
    "other values": (
        f"SELECT id, {TIMES}, id % 1000 + bigint({PROCESS}) AS x FROM range(0, {ROWS}, 1, 16)"
    ),
    # rows that tie come from a shuffle, in whichever order its blocks arrive
    "ties": (
        "SELECT /*+ REPARTITION(16, id) */ id, id % 50 AS t, id % 1000 AS x "
        f"FROM range(0, {ROWS}, 1, 16)"
    ),
}


def main() -> None:
    builder = SparkSession.builder.master("local-cluster[4,1,1024]").config(map=CONF)
    spark = sash.configure(builder).getOrCreate()
    for case in sys.argv[1:]:
        begin = time.perf_counter()
        found = Case(spark, *case.split("/")).run()
        seconds = round(time.perf_counter() - begin, 1)
        print(json.dumps({"case": case, **found, "seconds": seconds}), flush=True)
    spark.stop()


class Case:
    """A query with a divided window, and a moment at which an executor is killed."""

    def __init__(self, spark: SparkSession, call: str, source: str, moment: str) -> None:
        self.spark, self.call, self.source, self.moment = spark, call, source, moment
        self.tracker = spark.sparkContext.statusTracker()
        self.group = f"{call} {source} {moment} {time.time()}"

    def run(self) -> dict[str, object]:
        self.spark.sparkContext.setJobGroup(self.group, self.group)
        query = self.query()
        rows = query.rdd  # its partitions and its rows come by jobs of their own
        plan = query._jdf.queryExecution().executedPlan().toString()
        before = self.jobs()
        rows.getNumPartitions()
        jobs = self.jobs()
        found: dict[str, object] = {
            "divided": "SplitWindow" in plan,
            "first_pass": len(jobs) - len(before),
        }
        if self.moment == "between":
            kill_one(self.spark)
        killer = threading.Thread(target=self.kill_amid, args=[max(jobs)])
        if self.moment == "amid":
            killer.start()
        answers = []
        try:
            answers = rows.collect()
        except Exception as error:
            found["error"] = str(error)
        if self.moment == "amid":
            killer.join()
        found["again"] = sum(self.completed(max(self.jobs()))[:-1])
        if answers:
            found["executors"] = len({r[4] for r in answers})
            found["right"] = self.is_right(answers)
        return found

    def query(self) -> DataFrame:
        pause = 20 if self.moment == "amid" else 1
        slow = f"if(id % 1000 = 0, reflect('java.lang.Thread', 'sleep', {pause}L), '')"
        return self.spark.sql(
            f"SELECT id, t, x, w, {PROCESS} AS process, {slow} AS slow "
            f"FROM (SELECT *, {CALLS[self.call]} AS w FROM ({INPUTS[self.source]}))"
        )

    def jobs(self) -> list[int]:
        return sorted(self.tracker.getJobIdsForGroup(self.group))

    def completed(self, job: int) -> list[int]:
        """How many tasks of each stage of a job have ended; the last stage has the answers."""
        info = self.tracker.getJobInfo(job)
        stages = [self.tracker.getStageInfo(s) for s in sorted(info.stageIds)] if info else []
        return [s.numCompletedTasks if s else 0 for s in stages]

    def kill_amid(self, last: int) -> None:
        """Kill an executor when tasks of the job behind the job ``last`` have ended."""
        while True:
            job = max(self.jobs())
            if job > last and self.completed(job)[-1:] > [0]:
                return kill_one(self.spark)
            time.sleep(0.01)

    def is_right(self, answers: list[Row]) -> bool:
        if self.source == "ties":
            return RIGHT[self.call](answers)
        return sorted((r[0], r[3]) for r in answers) == self.in_one_task(answers)

    def in_one_task(self, answers: list[Row]) -> list[tuple[int, int]]:
        """The window over the fixed input, or over the input that the answers show."""
        source = INPUTS[self.source]
        if self.source != "fixed":
            given = [(r[0], r[1], r[2]) for r in answers]
            rows = self.spark.createDataFrame(given, "id long, t long, x long")
            rows.createOrReplaceTempView("given")
            source = "SELECT * FROM given"
        self.spark.conf.set("spark.sash.window.split", "off")
        rows = self.spark.sql(f"SELECT id, {CALLS[self.call]} FROM ({source})").collect()
        self.spark.conf.unset("spark.sash.window.split")
        return sorted(tuple(r) for r in rows)


def are_before(answers: list[Row]) -> bool:
    """Whether no row is before two others, as in one order of all rows."""
    times = {r[0]: r[1] for r in answers}
    before = [r[3] for r in answers if r[3] is not None]
    in_order = all(times[r[3]] <= r[1] for r in answers if r[3] is not None)
    return in_order and len(set(before)) == len(before) == ROWS - NEAR == len(times) - NEAR


def are_far_before(answers: list[Row]) -> bool:
    """Whether each row names the row FAR numbers before it."""
    at = {r[3][1]: r[0] for r in answers}
    return len(at) == ROWS and all(r[3][0] == at[max(1, r[3][1] - FAR)] for r in answers)


RIGHT = {"near row": are_before, "far row": are_far_before}


def kill_one(spark: SparkSession) -> None:
    """Kill an executor, which is a process that the driver's process has started."""
    driver = spark.sparkContext._jvm.java.lang.ProcessHandle.current()
    for child in driver.children().toArray():
        command = Path(f"/proc/{child.pid()}/cmdline").read_text()
        if "CoarseGrainedExecutorBackend" in command:
            return os.kill(child.pid(), signal.SIGKILL)
    raise AssertionError("no executor runs")


if __name__ == "__main__":
    main()
