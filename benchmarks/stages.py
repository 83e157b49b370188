"""The stages of a query: how long their tasks took, and how many rows these read."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

SAMPLE, EXCHANGE, PASS, ANSWERS = "sample", "exchange", "first pass", "answers"


class Stage(NamedTuple):
    """A stage that has ended."""

    work: str
    """One of the four words above."""
    tasks: int
    seconds: float
    """Of all its tasks, added up."""
    rows: int
    """The rows from an exchange that the task with most of them read."""

    def on(self, cores: int) -> float:
        """Its seconds on so many cores, if its tasks are alike and as many as the cores.

        One task stays one task.
        """
        return self.seconds / (cores if self.tasks > 1 else 1)


def of(spark: SparkSession, query: Callable[[], None]) -> list[Stage]:
    """Runs a query, and gives its stages in the order in which they began."""
    context, group = spark.sparkContext, str(uuid.uuid4())
    context.setJobGroup(group, "measured by its stages")
    query()
    context.setLocalProperty("spark.jobGroup.id", None)
    context._jsc.sc().listenerBus().waitUntilEmpty()
    tracker = context.statusTracker()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    ids = sorted({stage for job in jobs if job for stage in job.stageIds})
    store = context._jsc.sc().statusStore()
    data = [store.lastStageAttempt(stage) for stage in ids]
    ran = [stage for stage in data if stage.status().toString() == "COMPLETE"]
    return [_stage(store, stage, stage is ran[-1]) for stage in ran]


def _stage(store: Any, data: Any, is_last: bool) -> Stage:
    rows = 0
    if data.shuffleReadRecords() > 0:
        tasks = store.taskList(data.stageId(), data.attemptId(), data.numTasks())
        rows = max(_rows(tasks.apply(i)) for i in range(tasks.size()))
    return Stage(_work(data, is_last), data.numTasks(), data.executorRunTime() / 1e3, rows)


def _rows(task: Any) -> int:
    read: int = task.taskMetrics().get().shuffleReadMetrics().recordsRead()
    return read


def _work(data: Any, is_last: bool) -> str:
    if data.shuffleWriteRecords() > 0:
        return EXCHANGE
    if is_last:
        return ANSWERS
    return PASS if data.shuffleReadRecords() > 0 else SAMPLE
