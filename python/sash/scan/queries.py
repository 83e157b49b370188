"""The queries of an application: their last plans, and the metrics of their tasks."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from sash.scan.logs import Event, Log, events
from sash.scan.plans import Node, tree

_SQL = "org.apache.spark.sql.execution.ui.SparkListener"
_START = f"{_SQL}SQLExecutionStart"
_ADAPTED = f"{_SQL}SQLAdaptiveExecutionUpdate"
_DRIVER = f"{_SQL}DriverAccumUpdates"
_END = f"{_SQL}SQLExecutionEnd"
_LOG, _APP, _TASK = (
    "SparkListenerLogStart",
    "SparkListenerApplicationStart",
    "SparkListenerTaskEnd",
)
WANTED = frozenset({_START, _ADAPTED, _DRIVER, _END, _LOG, _APP, _TASK})
_BATCH = re.compile(r"\s*batch = \d+$")
Stage = tuple[int, int]


@dataclass
class Query:
    """A query: its number, its description, its last plan, and the seconds that it took."""

    number: int
    description: str
    info: dict[str, Any]
    began: int
    ended: int | None = None
    failed: bool = False

    @property
    def plan(self) -> Node:
        """The tree of its last plan."""
        return tree(self.info)

    @property
    def seconds(self) -> float | None:
        """From its start to its end, or none if the log does not have both."""
        return None if self.ended is None else (self.ended - self.began) / 1000


@dataclass
class Application:
    """What a log says of an application.

    Attributes:
        totals: The value of each metric, summed over tasks.
        wrote: The stages whose tasks wrote a metric.
        millis: What the tasks of each stage took, summed over tasks.
        cpu: The nanoseconds that they were on a processor.
    """

    path: str
    name: str = ""
    spark: str = ""
    queries: dict[int, Query] = field(default_factory=dict)
    totals: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    wrote: dict[int, set[Stage]] = field(default_factory=lambda: defaultdict(set))
    millis: dict[Stage, int] = field(default_factory=lambda: defaultdict(int))
    cpu: dict[Stage, int] = field(default_factory=lambda: defaultdict(int))

    def seconds(self, stages: Iterable[Stage]) -> float:
        """The seconds of the tasks of some stages."""
        return sum(self.millis[stage] for stage in stages) / 1000

    def cpu_seconds(self, stages: Iterable[Stage]) -> float:
        """The seconds that the tasks of some stages were on a processor."""
        return sum(self.cpu[stage] for stage in stages) / 1e9

    def stages(self, ids: Iterable[int]) -> set[Stage]:
        """The stages whose tasks wrote one of some metrics."""
        return {stage for i in ids if i in self.wrote for stage in self.wrote[i]}


def application(log: Log, advance: Callable[[int], None], faults: list[str]) -> Application:
    """Read a log."""
    app = Application(str(log.path))
    for event in events(log, WANTED, advance, faults):
        try:
            _KNOWN[event["Event"]](app, event)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            faults.append(f"{log.path}: {event['Event']} is not as Spark writes it: {error!r}")
    return app


def _log(app: Application, event: Event) -> None:
    app.spark = str(event["Spark Version"])


def _app(app: Application, event: Event) -> None:
    app.name = str(event["App Name"])


def _start(app: Application, event: Event) -> None:
    number, info = int(event["executionId"]), event["sparkPlanInfo"]
    # the batches of one stream are runs of one query
    description = _BATCH.sub("", str(event.get("description", "")))
    app.queries[number] = Query(number, description, info, int(event["time"]))


def _adapted(app: Application, event: Event) -> None:
    if query := app.queries.get(event["executionId"]):
        query.info = event["sparkPlanInfo"]


def _end(app: Application, event: Event) -> None:
    if query := app.queries.get(event["executionId"]):
        query.ended = int(event["time"])
        query.failed = bool(event.get("errorMessage"))


def _driver(app: Application, event: Event) -> None:
    for number, value in event["accumUpdates"]:
        app.totals[int(number)] += int(value)


def _task(app: Application, event: Event) -> None:
    """Time counts for failed tasks, too; a metric counts if the task succeeded."""
    stage = int(event["Stage ID"]), int(event["Stage Attempt ID"])
    metrics = event.get("Task Metrics") or {}
    app.millis[stage] += int(metrics.get("Executor Run Time", 0))
    app.cpu[stage] += int(metrics.get("Executor CPU Time", 0))
    succeeded = event["Task End Reason"]["Reason"] == "Success"
    for update in event["Task Info"]["Accumulables"]:
        if update.get("Metadata") == "sql" and "Update" in update:
            number = int(update["ID"])
            app.wrote[number].add(stage)
            if succeeded:
                app.totals[number] += max(0, int(update["Update"]))


_KNOWN = {
    _LOG: _log,
    _APP: _app,
    _START: _start,
    _ADAPTED: _adapted,
    _DRIVER: _driver,
    _END: _end,
    _TASK: _task,
}
