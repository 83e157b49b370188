"""The engines' processes as seen from the benchmark: all are alive, one works at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

from asof_cells import AsOfQuery
from cells import Query
from few_cells import FewQuery
from label_cells import LabelQuery

WORKER = Path(__file__).parent / "worker.py"
START_SECONDS = 180
LOAD_SECONDS = 300


@contextmanager
def working(engines: Iterable[str], cores: int, memory: str) -> Iterator[dict[str, Worker]]:
    """A worker for each engine, all of which are stopped in the end."""
    workers = {engine: Worker(engine, cores, memory) for engine in engines}
    try:
        yield workers
    finally:
        for worker in workers.values():
            worker.stop()


def use(workers: Mapping[str, Worker], data: Path) -> None:
    """Let all answer queries of this file."""
    for worker in workers.values():
        worker.use(data)


def versions(workers: Mapping[str, Worker]) -> dict[str, str]:
    """Those of all engines that have been started."""
    return {name: v for worker in workers.values() for name, v in worker.versions.items()}


class WorkerError(Exception):
    """A worker died; the message is the end of what it had to say."""


class Worker:
    """One engine in a process of its own, started once it is needed."""

    def __init__(self, engine: str, cores: int, memory: str) -> None:
        self._arguments = [engine, str(cores), memory]
        self._cores = cores
        self._data: Path | None = None
        self._loaded: Path | None = None
        self._process: subprocess.Popen[str] | None = None
        self._replies: Queue[str] = Queue()
        self.versions: dict[str, str] = {}
        self.seconds = 0.0
        """What the process has spent on queries: how warm it is."""
        self.counts: dict[str, float] = {}
        """What the last run took beside its time, if the engine counts."""

    def use(self, data: Path) -> None:
        """Answer queries of this file from now on; it is loaded once it is needed."""
        self._data = data

    def run(
        self,
        query: Query | LabelQuery | AsOfQuery | FewQuery,
        limit: float,
        check: bool = False,
    ) -> float | None:
        """The seconds of a query, or None when it was stopped because it took too many."""
        if self._process is None:
            self._start()
        if self._loaded != self._data:
            self._load()
        seconds = self._ask({"query": asdict(query), "check": check}, limit)
        if seconds is not None:
            self.seconds += seconds
        return seconds

    def _load(self) -> None:
        if self._ask({"load": str(self._data)}, LOAD_SECONDS) is None:
            raise WorkerError(f"{self._arguments[0]} did not load in {LOAD_SECONDS} s")
        self._loaded = self._data

    def _ask(self, request: dict[str, Any], limit: float) -> float | None:
        """The seconds that it takes; after ``limit`` of them the process is stopped."""
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._died() from None
        reply = self._reply(limit)
        if reply is None:
            self.stop()
            return None
        self.counts = reply["counts"]
        return float(reply["seconds"])

    def stop(self) -> None:
        """End the process; the next query starts it again."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            try:
                self._process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
            self._loaded = None
            self.seconds = 0.0

    def _start(self) -> None:
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - open as long as the process lives
        self._process = subprocess.Popen(
            [sys.executable, str(WORKER), *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env={**os.environ, "POLARS_MAX_THREADS": str(self._cores)},
        )
        self._replies = Queue()
        Thread(target=_pump, args=(self._process, self._replies), daemon=True).start()
        first = self._reply(START_SECONDS)
        if first is None:
            self.stop()
            raise WorkerError(f"{self._arguments[0]} did not start in {START_SECONDS} s")
        self.versions = first["versions"]

    def _reply(self, limit: float) -> dict[str, Any] | None:
        """The next reply, or None after ``limit`` seconds."""
        try:
            line = self._replies.get(timeout=limit)
        except Empty:
            return None
        if not line:
            raise self._died()
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _died(self) -> WorkerError:
        self.stop()
        self._log.seek(0)
        return WorkerError(f"{self._arguments[0]}: {self._log.read()[-2000:]}")


def _pump(process: subprocess.Popen[str], replies: Queue[str]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        replies.put(line)
    replies.put("")
