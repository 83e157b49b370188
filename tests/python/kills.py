"""How tests kill a stream that runs in a process of its own."""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql.streaming import StreamingQuery

from streaming import session, to_parquet

KILLS = int(os.environ.get("SASH_TEST_KILLS", "2"))
SEED = int(os.environ.get("SASH_TEST_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)
KILLED = {
    "spark.ui.showConsoleProgress": "false",
    # a kill may leave a temporary file of the first batch, with which Spark would not start
    "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart": "false",
    # snapshots and clean-ups happen between kills, too
    "spark.sql.streaming.stateStore.minDeltasForSnapshot": "3",
    "spark.sql.streaming.stateStore.maintenanceInterval": "1s",
    "spark.sql.streaming.minBatchesToRetain": "5",
    "spark.sql.streaming.fileSink.log.compactInterval": "7",
}
"""Settings of a stream that is killed."""
OPERATORS = "operators.json"
"""The file in which a stream notes its operators."""
KILLS_A_LIFE = 4
"""Of a process, before its streams run to their ends and new ones begin in an empty folder."""


def stream(rows: Callable[..., DataFrame], more: dict[str, str] | None = None) -> None:
    """Run the stream that is killed, as a program: FOLDER [ARGUMENTS ...] [--finish].

    It goes on from the checkpoint in FOLDER, and with ``--finish`` only to the end of what is
    there. ``rows`` makes the answers from the session, the folder and the arguments.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("arguments", nargs="*")
    parser.add_argument("--finish", action="store_true")
    given = parser.parse_args()
    answers = rows(session({**KILLED, **(more or {})}), given.folder, *given.arguments)
    trigger = {"availableNow": True} if given.finish else {}
    end(to_parquet(answers, given.folder, **trigger), given.folder)


def end(query: StreamingQuery, folder: Path) -> None:
    """Let a query run to its end, and note its operators in its folder."""
    query.awaitTermination()
    progress = query.lastProgress
    assert progress is not None
    operators = [operator["operatorName"] for operator in progress["stateOperators"]]
    (folder / OPERATORS).write_text(json.dumps(operators))


def check_operators(folder: Path) -> None:
    """The query that has ended in a folder ran in Sash's operators alone."""
    operators = json.loads((folder / OPERATORS).read_text())
    assert set(operators) == {"transformWithStateExec"}


def last_batch(folder: Path, log: str) -> int:
    """The number of the last batch in a log of a folder's checkpoint, -1 before the first."""
    names = [path.name for path in (folder / "checkpoint" / log).glob("*")]
    return max((int(name) for name in names if name.isdigit()), default=-1)


def answers_once(session: SparkSession, folder: Path) -> dict[int, Row]:
    """The answers of a stream that was killed, by ``lab``; each came once."""
    answers = session.read.parquet(str(folder / "out")).collect()
    by_label = {row.lab: row for row in answers}
    assert len(by_label) == len(answers), "answered twice"
    return by_label


def in_utc(spark: SparkSession) -> SparkSession:
    """A session with the time zone of the stream."""
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    return session


def lives() -> Iterator[int]:
    """The kills of each folder, ``KILLS`` in all."""
    for first in range(0, KILLS, KILLS_A_LIFE):
        yield min(KILLS - first, KILLS_A_LIFE)


class Program:
    """A program that runs streams in a folder, in a process of its own."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program = program
        self.folder = folder

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Begin a run."""
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, str(self.program), str(self.folder), *arguments],
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(
        self, process: subprocess.Popen[bytes], until: Callable[[], bool], seconds: int
    ) -> None:
        """Wait until something holds, for so many seconds at most."""
        for _ in range(20 * seconds):
            assert process.poll() is None, self._log()
            if until():
                return
            time.sleep(0.05)
        raise AssertionError(self._log())

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """Python and the JVM, without a word."""
        assert process.poll() is None, self._log()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def finish(self, *arguments: str, seconds: int) -> None:
        """Run it to its end, for so many seconds at most."""
        last = self.start(*arguments, "--finish")
        try:
            assert last.wait(seconds) == 0, self._log()
        finally:
            if last.poll() is None:
                self.kill(last)

    def _log(self) -> str:
        return (self.folder / "log").read_text()[-4000:]


class Killed:
    """A program that runs a stream with its checkpoint in ``folder/checkpoint``."""

    def __init__(self, program: Path, folder: Path, rng: random.Random) -> None:
        self.program = Program(program, folder)
        self.folder = folder
        self.rng = rng
        self.rounds = 0
        self.within_a_batch = 0

    def batches(self, log: str) -> int:
        """The number of the last batch in a log, -1 before the first."""
        return last_batch(self.folder, log)

    def run_and_kill(self, *arguments: str, early: bool = False) -> None:
        """Kill it after a batch, within one, or while it starts; ``early`` is before a batch."""
        before = self.batches("commits")
        stream = self.program.start(*arguments)
        try:
            if early or (self.rounds > 0 and self.rng.random() < 0.25):
                pause = self.rng.uniform(2, 8)  # while it starts, or finds its state again
            else:
                first = max(before, 0) + 1
                self.program.wait(stream, lambda: self.batches("commits") >= first, 300)
                pause = self.rng.uniform(0, 2)
            time.sleep(pause)
        finally:
            self.program.kill(stream)
        self.rounds += 1
        planned, committed = self.batches("offsets"), self.batches("commits")
        self.within_a_batch += planned > committed
        print(f"kill {self.rounds}: {pause:.2f} s, batch {planned}, committed {committed}")

    def finish(self, *arguments: str) -> None:
        """Run it to its end, by Sash's operator."""
        print(f"{self.within_a_batch} of {self.rounds} kills within a batch")
        self.program.finish(*arguments, seconds=600)
        check_operators(self.folder)
