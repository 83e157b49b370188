"""What the soak notes each minute: state, heap, threads, stores, and the time of batches."""

from __future__ import annotations

import gc
import os
import statistics
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

import machine
from soak_queries import STREAMS

MIB = 2**20
SERIES = {
    "rows": "rows of the state",
    "sst": "MiB of the state, as RocksDB has it",
    "store_memory": "MiB of RocksDB's memory",
    "files": "files of the state in the checkpoints",
    "checkpoint": "MiB of the state in the checkpoints",
    "heap": "MiB of the JVM's heap after a collection",
    "resident": "MiB of the JVM that are resident",
    "threads": "threads of the JVM",
    "stores": "open RocksDB instances",
    "descriptors": "open files of the JVM",
    "answer": "seconds of a batch, from plan to commit of the state (median)",
    "tasks": "seconds of tasks for a batch",
    "processor": "seconds of the processor for a batch",
}
"""Each series with its words."""
Sample = dict[str, float]


class Samples:
    """Samples so far, and the counts that differences are made of."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self._pid = spark._jvm.java.lang.ProcessHandle.current().pid()
        self._seen = dict.fromkeys((s.name for s in STREAMS), -1)
        self._before = self._counts()
        self.samples: list[Sample] = []

    def take(self, queries: dict[str, StreamingQuery]) -> Sample:
        """Note the minute that is over."""
        counts = self._counts()
        batches, tasks, processor = (
            max(now - then, 1e-9) for now, then in zip(counts, self._before, strict=True)
        )
        last = [p for q in queries.values() if (p := q.lastProgress) is not None]
        operators = [o for p in last for o in p["stateOperators"]]
        state = [f for s in STREAMS for f in _files(self._checkpoint(s.name) / "state")]
        took = [self._took(name, query) for name, query in queries.items()]
        # py4j's objects hold their Java objects, stopped queries among them, in cycles
        gc.collect()
        runtime = self._spark._jvm.java.lang.Runtime.getRuntime()
        runtime.gc()
        links = _descriptors(self._pid)
        sample = {
            "rows": sum(o["numRowsTotal"] for o in operators),
            "sst": sum(o["customMetrics"]["rocksdbSstFileSize"] for o in operators) / MIB,
            "store_memory": sum(o["memoryUsedBytes"] for o in operators) / MIB,
            "files": len(state),
            "checkpoint": sum(state) / MIB,
            "heap": (runtime.totalMemory() - runtime.freeMemory()) / MIB,
            "resident": _status(self._pid, "VmRSS") / 1024,
            "threads": _status(self._pid, "Threads"),
            "stores": sum(Path(link).name == "LOCK" for link in links),
            "descriptors": len(links),
            "answer": statistics.median([t for times in took for t in times] or [0.0]),
            "tasks": tasks / batches,
            "processor": processor / batches,
            "batches": batches,
        }
        self._before = self._counts()
        # each has had a batch since its start
        if len(operators) == len(STREAMS) and batches >= 1:
            self.samples.append(sample)
        return sample

    def _took(self, name: str, query: StreamingQuery) -> list[float]:
        """Seconds of the batches with rows since the last sample."""
        new = [p for p in query.recentProgress if p["batchId"] > self._seen[name]]
        self._seen[name] = max((p["batchId"] for p in new), default=self._seen[name])
        return [p["durationMs"]["addBatch"] / 1000 for p in new if p["numInputRows"] > 0]

    def _counts(self) -> tuple[float, float, float]:
        """Batches, seconds of tasks and seconds of the processor, since the start."""
        executors: Any = self._spark._jsc.sc().statusStore().executorList(True)
        tasks = executors.apply(0).totalDuration() / 1000
        commits = [self._checkpoint(s.name) / "commits" for s in STREAMS]
        names = [[int(f.name) for f in c.glob("*") if f.name.isdigit()] for c in commits]
        batches = sum(max(found, default=-1) + 1 for found in names)
        return batches, tasks, machine.cpu_seconds(self._spark)

    def _checkpoint(self, name: str) -> Path:
        return self._folder / "checkpoint" / name


def _files(folder: Path) -> list[int]:
    """The bytes of each file. Some go away meanwhile."""
    found = []
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                found.append((Path(root) / name).stat().st_size)
            except FileNotFoundError:
                continue
    return found


def _descriptors(pid: int) -> list[str]:
    """The targets of the open files of a process."""
    found = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.append(str(link.readlink()))
        except FileNotFoundError:
            continue
    return found


def _status(pid: int, name: str) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return float(next(line for line in lines if line.startswith(name + ":")).split()[1])
