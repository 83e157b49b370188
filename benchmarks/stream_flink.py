"""The same queries by Flink SQL, in a JVM of its own that Python holds by py4j.

Flink has no micro-batches: what an event takes is the slope of time over the count of events,
which Flink's own counters tell while a job runs.
"""

import contextlib
import os
import shutil
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyspark
from py4j import java_gateway, protocol
from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JJavaError

from streams import TUMBLING, Cell

JARS = Path(sys.prefix) / "fetched" / "flink"
HADOOP = Path(pyspark.__file__).parent / "jars"
"""Flink's Parquet format needs Hadoop's classes, which come with Spark."""
OPENED = [
    "--add-exports=java.management/com.sun.jmx.mbeanserver=ALL-UNNAMED",
    *(f"--add-opens=java.base/java.{p}=ALL-UNNAMED" for p in ("lang", "nio", "time", "util")),
]
TASKS = 2
CONF = {
    "parallelism.default": str(TASKS),
    "taskmanager.numberOfTaskSlots": str(TASKS),
    "taskmanager.memory.managed.size": "2g",
    "state.backend.type": "rocksdb",
    "execution.checkpointing.incremental": "true",
    "pipeline.object-reuse": "true",
    "source.reader.close.timeout": "500",  # or a job that is stopped takes half a minute to end
    "table.local-time-zone": "UTC",
    "metrics.reporters": "jmx",
    "metrics.reporter.jmx.factory.class": "org.apache.flink.metrics.jmx.JMXReporterFactory",
}
INPUT = """\
CREATE TABLE input (
  k BIGINT, ts TIMESTAMP_LTZ(3), x BIGINT, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{path}')"""
BLACK_HOLE = "'connector' = 'blackhole'"
OPERATOR = "org.apache.flink.taskmanager.job.task.operator"
LEAD_SECONDS = 5
"""With full windows, before counting: less where a fifth of the rows has come before."""
UNWALKED = 2
"""How much longer ROWS windows may take to fill: they are not walked until then."""
TOO_LONG = 1_000
"""Microseconds an event, beyond which no longer windows are tried."""
ENDS = ("FINISHED", "FAILED", "CANCELED")


class Limits(NamedTuple):
    """Of a measurement: rows after the history, seconds for windows to fill, seconds after."""

    rows: int
    full: float
    measured: float


class Sample(NamedTuple):
    """How many events each task had done at a time."""

    seconds: float
    done: list[int]

    @property
    def events(self) -> int:
        return sum(self.done)


@dataclass
class Watched:
    """What was seen of a job."""

    samples: list[Sample] = field(default_factory=list)
    begin: int | None = None
    """The first sample that counts; none when windows were not full in time."""
    checkpoints: int = 0


@contextmanager
def running(memory: str, scratch: Path) -> Iterator["Flink"]:
    """Flink in a JVM that ends with it."""
    jars = [*sorted(JARS.glob("*.jar")), *sorted(HADOOP.glob("hadoop-*.jar"))]
    if not JARS.exists():
        raise SystemExit("no Flink: run `make flink`")
    scratch.mkdir()
    # PySpark has put its own in this place, which takes every exception for one of Spark's
    vars(java_gateway)["get_return_value"] = protocol.get_return_value
    with (scratch / "log").open("w") as log:
        gateway = JavaGateway.launch_gateway(
            classpath=os.pathsep.join(map(str, jars)),
            javaopts=[f"-Xmx{memory}", "-Duser.timezone=UTC", *OPENED],
            die_on_exit=True,
            redirect_stdout=log,
            redirect_stderr=log,
        )
        try:
            yield Flink(gateway, scratch)
        except Py4JJavaError as error:  # which cannot be told any more once the JVM has ended
            raise SystemExit(str(error)) from None
        finally:
            gateway.shutdown()
            gateway.java_process.stdin.close()
            gateway.java_process.wait(60)


class Flink:
    """Runs a job for each query; each has a cluster of its own within this JVM."""

    def __init__(self, gateway: Any, scratch: Path) -> None:
        self._java = gateway.jvm
        self._scratch = scratch
        management = self._java.java.lang.management.ManagementFactory
        self._beans = management.getPlatformMBeanServer()

    @property
    def version(self) -> str:
        name: str = self._java.org.apache.flink.runtime.util.EnvironmentInformation.getVersion()
        return name

    def answer(self, cell: Cell, source: Path, sink: Path) -> None:
        options = f"'connector' = 'filesystem', 'format' = 'parquet', 'path' = '{sink.as_uri()}'"
        self._start(cell, source, options, 500).getJobExecutionResult().get()

    def measure(
        self, cell: Cell, source: Path, interval_ms: int, limits: Limits
    ) -> dict[str, Any]:
        """Measure a query over a history and the rows after it.

        Windows that are not full in time have the pace of the last third of that time: as they
        fill further, an event takes no less.
        """
        job = self._start(cell, source, BLACK_HOLE, interval_ms)
        try:
            watched = self._watch(cell, job, limits)
        finally:
            self._stop(job)
        last = watched.samples[-1]
        full = watched.begin is not None
        latest = [s for s in watched.samples if s.seconds > last.seconds - limits.full / 3]
        counted = watched.samples[watched.begin :] if full else latest
        filled = f"{last.events / max(1, cell.history):.0%} full in {limits.full:.0f} s"
        return {
            "micros": _slope(counted) * 1e6,
            "events": last.events - counted[0].events,
            "stopped": None if full else filled,
            "checkpoints": watched.checkpoints,
            "busier": max(last.done) / max(1, last.events),
        }

    def _start(self, cell: Cell, source: Path, sink: str, interval_ms: int) -> Any:
        work = self._scratch / "work"
        shutil.rmtree(work, ignore_errors=True)
        conf = self._java.org.apache.flink.configuration.Configuration()
        for key, value in {
            **CONF,
            "execution.checkpointing.interval": f"{interval_ms} ms",
            "execution.checkpointing.dir": (work / "checkpoints").as_uri(),
            "io.tmp.dirs": str(work / "tmp"),
        }.items():
            conf.setString(key, value)
        settings = self._java.org.apache.flink.table.api.EnvironmentSettings
        built = settings.newInstance().inStreamingMode().withConfiguration(conf).build()
        tables = self._java.org.apache.flink.table.api.TableEnvironment.create(built)
        tables.executeSql(INPUT.format(path=source.as_uri()))
        time_type = "TIMESTAMP_LTZ(3)" if cell.over else "TIMESTAMP(3)"
        tables.executeSql(
            f"CREATE TABLE answers (k BIGINT, ts {time_type}, s BIGINT) WITH ({sink})"
        )
        return tables.executeSql(f"INSERT INTO answers {_query(cell)}").getJobClient().get()

    def _watch(self, cell: Cell, job: Any, limits: Limits) -> Watched:
        self._wait_for_tasks(cell, job)
        watched, full_at, start = Watched(), None, time.monotonic()
        while True:
            time.sleep(0.1)
            if job.getJobStatus().get().toString() in ENDS:
                raise SystemExit(f"{cell}: ended before it was measured")
            now, done = time.monotonic() - start, self._done(cell, job)
            watched.samples.append(Sample(now, done))
            past, enough = sum(done) - cell.history, 0.2 * limits.rows
            full_at = now if full_at is None and past >= 0 else full_at
            if watched.begin is not None:
                begun = watched.samples[watched.begin].seconds
                if past >= 4 * enough or now - begun >= limits.measured:
                    break
            elif full_at is not None and (
                past >= limits.rows / 5 or now - full_at >= LEAD_SECONDS
            ):
                watched.begin = len(watched.samples) - 1
            elif full_at is None and now >= limits.full:
                break
        self._check(cell, job)
        [name] = self._named("org.apache.flink.jobmanager.job.numberOfCompletedCheckpoints", job)
        watched.checkpoints = self._value(name, "Value")
        return watched

    def _wait_for_tasks(self, cell: Cell, job: Any) -> None:
        for _ in range(600):
            if self._done(cell, job):
                return
            time.sleep(0.1)
        raise SystemExit(f"{cell}: Flink has not begun after a minute")

    def _done(self, cell: Cell, job: Any) -> list[int]:
        """What each task has counted: answers of OVER; where answers are fewer, rows read.

        The task that gets no file ends at once, and its counter goes.
        """
        operator = "OverAggregate" if cell.over else "WatermarkAssigner"
        names = self._named(f"{OPERATOR}.numRecordsOut", job, f"operator_name={operator}*")
        return [self._value(name, "Count") for name in names]

    def _check(self, cell: Cell, job: Any) -> None:
        late = self._named(f"{OPERATOR}.numLateRecordsDropped", job)
        if not late or any(self._value(name, "Count") > 0 for name in late):
            raise SystemExit(f"{cell}: Flink took rows for late ones")
        if not any((self._scratch / "work" / "tmp").rglob("CURRENT")):
            raise SystemExit(f"{cell}: Flink's state is not in RocksDB")

    def _named(self, metric: str, job: Any, which: str = "") -> list[Any]:
        pattern = f"{metric}:job_id={job.getJobID().toString()},{which and which + ','}*"
        name = self._java.javax.management.ObjectName(pattern)
        return list(self._beans.queryNames(name, None))

    def _value(self, name: Any, attribute: str) -> int:
        try:
            return int(self._beans.getAttribute(name, attribute))
        except Py4JJavaError as error:
            if "InstanceNotFoundException" in str(error):
                return 0  # it has gone meanwhile
            raise

    def _stop(self, job: Any) -> None:
        """Until it has ended, and its cluster with it, so that its status cannot be asked for."""
        job.cancel().get()
        with contextlib.suppress(Py4JJavaError):  # the one that says so
            job.getJobExecutionResult().get()


def _query(cell: Cell) -> str:
    if cell.over:
        start = str(cell.rows - 1)
        if cell.query == "RANGE":
            start = _interval(cell.range_ms)
        frame = f"{cell.query} BETWEEN {start} PRECEDING AND CURRENT ROW"
        return f"SELECT k, ts, sum(x) OVER (PARTITION BY k ORDER BY ts {frame}) FROM input"
    slide, size = _interval(cell.slide_ms), _interval(cell.slide_ms * cell.panes)
    window = "TUMBLE" if cell.query == TUMBLING else "HOP"
    lengths = slide if cell.query == TUMBLING else f"{slide}, {size}"
    return (
        f"SELECT k, window_start, sum(x) "
        f"FROM TABLE({window}(TABLE input, DESCRIPTOR(ts), {lengths})) "
        "GROUP BY k, window_start, window_end"
    )


def _interval(ms: int) -> str:
    """A literal, in days too: of seconds alone Flink takes no more than 99."""
    minutes, ms = divmod(ms, 60_000)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"INTERVAL '{days} {hours}:{minutes}:{ms / 1000:.3f}' DAY TO SECOND(3)"


def _slope(samples: list[Sample]) -> float:
    """Seconds an event, along the straight line that fits best: answers come in bursts.

    Where none came, the one that was waited for counts.
    """
    events = [sample.events for sample in samples]
    seconds = [sample.seconds for sample in samples]
    if events[0] == events[-1]:
        return seconds[-1] - seconds[0]
    return statistics.linear_regression(events, seconds).slope
