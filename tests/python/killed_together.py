"""How tests kill a process in which several streams run, each in a folder of its own."""

from __future__ import annotations

import argparse
import functools
import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pyspark.sql import DataFrame

from kills import KILLED, KILLS, SEED, Program, check_operators, end, last_batch, lives
from streaming import session, to_parquet

BATCHES_A_RUN = 4
"""A run is killed at the latest in this batch of one of its streams, counted from 1."""
STARTED = "started"
"""The file that says that the session is there."""


def run(rows: Callable[..., DataFrame]) -> None:
    """Run the streams that are killed, as a program: FOLDER STREAM ... [--finish].

    A STREAM is the name of its folder in FOLDER and its arguments, in JSON. The streams go on
    from their checkpoints, and with ``--finish`` only to the end of what is there. ``rows`` makes
    the answers from a session, the stream's folder and its arguments.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("streams", nargs="+", type=json.loads)
    parser.add_argument("--finish", action="store_true")
    given = parser.parse_args()
    spark = session(KILLED)
    (given.folder / STARTED).touch()
    trigger = {"availableNow": True} if given.finish else {}
    queries = {}
    for name, *arguments in given.streams:
        folder = given.folder / name
        queries[name] = to_parquet(
            rows(spark.newSession(), folder, *arguments), folder, **trigger
        )
    for name, query in queries.items():
        end(query, given.folder / name)


def lives_of(program: Path, folder: Path, *names: str) -> Iterator[tuple[Together, int]]:
    """Streams that begin in empty folders, and their kills, ``KILLS`` in all."""
    rng = random.Random(SEED)  # noqa: S311
    print(f"SASH_TEST_SEED={SEED} SASH_TEST_KILLS={KILLS}")
    for life, kills in enumerate(lives()):
        own = folder / str(life)
        own.mkdir()
        killed = Together(program, own, rng, *names)
        yield killed, kills
        print(killed)


class Together:
    """A program that runs several streams, each with its checkpoint in ``NAME/checkpoint``."""

    def __init__(self, program: Path, folder: Path, rng: random.Random, *names: str) -> None:
        self.program = Program(program, folder)
        self.folder = folder
        self.rng = rng
        self.arguments: dict[str, list[str]] = {name: [] for name in names}
        """Of each stream, by its name."""
        self.first = dict.fromkeys(names, 0)
        """The batch of each stream that reads the table, or that changes the state."""
        self.kills = self.within = self.after_the_sink = self.in_the_first = 0
        self.took = 5.0  # by a run's first batch
        for name in names:
            (folder / name).mkdir()

    def batches(self, name: str, log: str) -> int:
        """The number of the last batch in a log of a stream, -1 before the first."""
        return last_batch(self.folder / name, log)

    def is_within(self, name: str) -> bool:
        """Whether a batch of a stream was planned, and not committed."""
        return self.batches(name, "offsets") > self.batches(name, "commits")

    def kill(self) -> None:
        """Kill the process at a random moment of a random batch of one of the streams.

        The folders have to have files for all of them: then most moments lie within a batch. A
        batch that reads a table, or changes the state, is that one every other time.
        """
        name = self.rng.choice(list(self.arguments))
        (self.folder / STARTED).unlink(missing_ok=True)
        before = self.batches(name, "commits")
        process = self.program.start(*self._streams(*self.arguments))
        wait = functools.partial(self.program.wait, process, seconds=600)
        try:
            wait((self.folder / STARTED).exists)
            begun, took = time.monotonic(), self.took
            is_first = before < self.first[name] and self.rng.random() < 0.5
            for i in range(0 if is_first else self.rng.randrange(BATCHES_A_RUN)):
                wait(lambda: self.batches(name, "commits") > before + i)  # noqa: B023
                now = time.monotonic()
                begun, took = now, now - begun
                self.took = took if i == 0 else self.took
            time.sleep(self.rng.uniform(0, took))
        finally:
            self.program.kill(process)
        self._count()

    def finish(self, *names: str) -> None:
        """Run the streams to the end of their files, by Sash's operator."""
        self.program.finish(*self._streams(*names), seconds=900)
        for name in names:
            check_operators(self.folder / name)

    def __str__(self) -> str:
        return (
            f"{self.kills} streams killed, {self.within} of them within a batch: "
            f"{self.after_the_sink} after its sink, {self.in_the_first} in the batch of the "
            "table or of the change"
        )

    def _count(self) -> None:
        for name in self.arguments:
            self.kills += 1
            planned = self.batches(name, "offsets")
            if self.is_within(name):
                self.within += 1
                sink = self.folder / name / "out" / "_spark_metadata"
                self.after_the_sink += any(
                    (sink / f"{planned}{kind}").exists() for kind in ("", ".compact")
                )
                self.in_the_first += planned == self.first[name]
            print(f"killed {name}: batch {planned}, committed {self.batches(name, 'commits')}")

    def _streams(self, *names: str) -> Iterator[str]:
        """The program's arguments for some of the streams."""
        return (json.dumps([name, *self.arguments[name]]) for name in names)
