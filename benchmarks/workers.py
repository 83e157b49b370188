"""The engines' processes as seen from a benchmark, and its cells, which they answer in turns.

All processes are alive, and one works at a time. A warm-up, then runs in turns, so that a
machine's drift hits every engine alike.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import groupby
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any, NamedTuple, Protocol

import harness
from progress import Progress

START_SECONDS, LOAD_SECONDS = 180, 300
ENOUGH = 20.0
"""Seconds of a cell's runs after which it is not run again: more of them add little."""


@dataclass(frozen=True)
class Engine:
    """Who answers queries, and how; ``engines`` runs it."""

    title: str
    colour: str = harness.GREY
    kind: str = "spark"
    sash: bool = False
    conf: Mapping[str, str] = field(default_factory=dict)
    partitioned: bool = False
    """By the key already, so that there is no exchange below a window."""
    in_memory: bool = True
    counting: bool = False
    """The rows and bytes that are read and exchanged, beside the time."""


class Cell(Protocol):
    """One engine's time for one query."""

    engine: str
    query: Any

    @property
    def id(self) -> str:
        """A name to select cells by, and to find them again."""

    @property
    def window(self) -> int:
        """With which the cost of some grows."""

    @property
    def series(self) -> Any:
        """Equal for cells of which those of smaller windows foretell the time; or None."""

    @property
    def promised(self) -> dict[str, bool]:
        """Words that the plan has, or has not."""

    @property
    def digest(self) -> str | None:
        """A query for what all engines' answers have in common, if they are compared."""


class Turn(NamedTuple):
    """Cells that answer one query over the same data, and that are measured in turns."""

    cores: int
    data: Any
    rows: int
    cells: list[Any]
    runs: int | None = None


def results(
    cells: Iterable[Any], runs: Mapping[Any, list[dict[str, float]]], rows: int, why: Any
):
    """The results of a turn: times as JSON, the best one first."""
    for cell in cells:
        times = [run["seconds"] for run in runs.get(cell, [])]
        best, reason = min(times, default=None), why.get(cell)
        yield cell, {"rows": rows, "seconds": best, "runs": times, "not_run": reason}


def ns_per_row(result: Mapping[str, Any] | None) -> float | None:
    """Nanoseconds a row, shuffle and sort included."""
    if result is None or result["seconds"] is None:
        return None
    return float(result["seconds"] / result["rows"] * 1e9)


def run(
    options: argparse.Namespace,
    store: harness.Store,
    engines: Mapping[str, Engine],
    turns: Iterable[Turn],
    write: Callable[[Path, Any], None],
    conf: Callable[[str, Any], dict[str, str]] = lambda engine, data: {},
    keep: Callable[..., Iterable[Any]] = results,
    warm_up: float = 0,
) -> None:
    """Measure the cells that are selected and not in the store yet.

    ``write`` makes the data, and ``conf`` has an engine's settings for them.
    """
    wanted = [
        turn._replace(cells=left)
        for turn in turns
        if (
            left := [
                c
                for c in turn.cells
                if c not in store.results and harness.is_chosen(options, c.id)
            ]
        )
    ]
    progress = Progress(sum(len(turn.cells) for turn in wanted))
    used = {c.engine: engines[c.engine] for turn in wanted for c in turn.cells}
    with tempfile.TemporaryDirectory() as scratch:
        for cores, at_cores in groupby(wanted, lambda turn: turn.cores):
            with working(used, cores, options.memory) as workers:
                for data, of_data in groupby(at_cores, lambda turn: turn.data):
                    path = Path(scratch) / "data"
                    write(path, data)
                    for name, worker in workers.items():
                        worker.use(path, conf(name, data))
                    for turn in of_data:
                        runs, why = measure(turn, workers, store.results, options, warm_up)
                        versions = {n: v for w in workers.values() for n, v in w.versions.items()}
                        store.add(dict(keep(turn.cells, runs, turn.rows, why)), **versions)
                        progress.advance(len(turn.cells), f"{cores} cores, {turn.cells[-1]}")
                    shutil.rmtree(path) if path.is_dir() else path.unlink()


def measure(
    turn: Turn,
    workers: Mapping[str, "Worker"],
    earlier: Mapping[Any, Mapping[str, Any]],
    options: argparse.Namespace,
    warm_up: float,
) -> tuple[dict[Any, list[dict[str, float]]], dict[Any, str]]:
    """The runs of each cell, or why it was not run.

    A cell is not run when ``earlier`` results foretell a run of more than the budget's seconds;
    one that turns out to need three times the budget is stopped. A process that has not spent
    ``warm_up`` seconds on queries runs the first one until it has: it takes as long until the
    JVM has compiled all that it will.
    """
    budget, limit = options.budget, 3 * options.budget + 10
    runs: dict[Any, list[dict[str, float]]] = {}
    why: dict[Any, str] = {}
    answer: list[float] | None = None
    for cell in turn.cells:
        estimate = forecast(cell, earlier)
        if estimate > budget:
            about = (
                f"about {estimate:,.0f} s" if estimate < math.inf else "nor was a smaller window"
            )
            why[cell] = f"> {budget:g} s a run: {about}"
            continue
        worker = workers[cell.engine]
        took = worker.run(cell, limit, check=True)
        answer = answer or worker.answer
        if worker.answer and not _are_close(worker.answer, answer):
            raise AssertionError(f"another answer to {cell}: {worker.answer}, not {answer}")
        while took is not None and worker.seconds < warm_up:
            took = worker.run(cell, limit)
        if took is None:
            why[cell] = f"> {limit - 10:g} s a run: stopped"
        else:
            runs[cell] = []
    for _ in range(options.runs if turn.runs is None else turn.runs):
        for cell in [c for c, of in runs.items() if sum(r["seconds"] for r in of) < ENOUGH]:
            took = workers[cell.engine].run(cell, limit)
            if took is None:
                del runs[cell]
                why[cell] = f"> {limit - 10:g} s a run: stopped"
            else:
                runs[cell].append({"seconds": took, **workers[cell.engine].counts})
    return runs, why


def _are_close(ours: list[float], theirs: list[float] | None) -> bool:
    pairs = zip(ours, theirs or [], strict=True)
    return all(math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-6) for a, b in pairs)


def forecast(cell: Any, earlier: Mapping[Any, Mapping[str, Any]]) -> float:
    """Seconds at a cell's window, along the straight line through the two windows before it.

    Times less than a factor of two apart are taken for noise, so that only an engine that visibly
    grows is cut off. Where a window was not run, no wider one is either.
    """
    if cell.series is None:
        return 0
    smaller = [c for c in earlier if c.series == cell.series and c.window < cell.window]
    if any(earlier[c]["not_run"] for c in smaller):
        return math.inf
    times = sorted((c.window, min(earlier[c]["runs"])) for c in smaller)
    if len(times) < 2:
        return times[0][1] if times else 0
    (w0, t0), (w1, t1) = times[-2:]
    return t1 + (t1 - t0) / (w1 - w0) * (cell.window - w1) if t1 > 2 * t0 else t1


@contextmanager
def working(
    engines: Mapping[str, Engine], cores: int, memory: str
) -> Iterator[dict[str, "Worker"]]:
    """A worker for each engine, all of which are stopped in the end."""
    workers = {name: Worker(engine, cores, memory) for name, engine in engines.items()}
    try:
        yield workers
    finally:
        for worker in workers.values():
            worker.stop()


class WorkerError(Exception):
    """A worker died; the message is the end of what it had to say."""


class Worker:
    """One engine in a process of its own, started once it is needed."""

    def __init__(self, engine: Engine, cores: int, memory: str) -> None:
        self._title = engine.title
        self._arguments = [json.dumps(asdict(engine)), str(cores), memory]
        self._environment = {**os.environ, "POLARS_MAX_THREADS": str(cores)}
        self._process: Any = None
        self._is_loaded = False
        self.versions: dict[str, str] = {}
        self.seconds = 0.0
        """What the process has spent on queries: how warm it is."""
        self.counts: dict[str, float] = {}
        """What the last run took beside its time, if the engine counts."""
        self.answer: list[float] | None = None

    def use(self, data: Path, conf: dict[str, str]) -> None:
        """Answer queries of these data from now on; they are loaded once they are needed."""
        self._data, self._is_loaded = {"load": str(data), "conf": conf}, False

    def run(self, cell: Any, limit: float, check: bool = False) -> float | None:
        """The seconds of a query, or None when it was stopped because it took too many."""
        if self._process is None:
            self._start()
        if not self._is_loaded:
            if self._ask(self._data, LOAD_SECONDS) is None:
                raise WorkerError(f"{self._title} did not load in {LOAD_SECONDS} s")
            self._is_loaded = True
        asked = {"sql": cell.query.sql(cell.engine), "query": asdict(cell.query)}
        if check:
            asked |= {"promised": cell.promised, "digest": cell.digest}
        reply = self._ask(asked, limit)
        if reply is None:
            self.answer = None
            return None
        self.counts, self.answer = reply["counts"], reply["answer"]
        self.seconds += reply["seconds"]
        return float(reply["seconds"])

    def stop(self) -> None:
        """End the process; the next query starts it again."""
        if self._process is not None:
            self._process.stdin.close()
            try:
                self._process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process, self._is_loaded, self.seconds = None, False, 0.0

    def _start(self) -> None:
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - open as long as the process
        self._replies: Queue[str] = Queue()
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("engines.py")), *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=self._environment,
        )
        Thread(target=_pump, args=(self._process, self._replies), daemon=True).start()
        first = self._reply(START_SECONDS)
        if first is None:
            raise WorkerError(f"{self._title} did not start in {START_SECONDS} s")
        self.versions = first["versions"]

    def _ask(self, request: dict[str, Any], limit: float) -> dict[str, Any] | None:
        """What it replies; after ``limit`` seconds the process is stopped."""
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._died() from None
        return self._reply(limit)

    def _reply(self, limit: float) -> dict[str, Any] | None:
        try:
            line = self._replies.get(timeout=limit)
        except Empty:
            self.stop()
            return None
        if not line:
            raise self._died()
        reply: dict[str, Any] = json.loads(line)
        return reply

    def _died(self) -> WorkerError:
        self.stop()
        self._log.seek(0)
        return WorkerError(f"{self._title}: {self._log.read()[-2000:]}")


def _pump(process: Any, replies: Queue[str]) -> None:
    for line in process.stdout:
        replies.put(line)
    replies.put("")
