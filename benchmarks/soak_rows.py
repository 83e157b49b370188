"""The rows of the soak: keys that come, go and come again; rows out of order, and late ones."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = "id BIGINT, k BIGINT, ts TIMESTAMP, x BIGINT, age INT"
LABELS = "lab BIGINT, user BIGINT, at TIMESTAMP, age INT"
SPEED = 60
"""Seconds of event time in a second: an hour of soak has 60 hours of events."""
EVERY = 10
"""Seconds between two files."""
START = 1_767_225_600
"""The end of the history, in seconds since 1970: the stream's first row is later."""
PAST = 10 * 3600
"""Seconds of event time in the history."""
IN_TIME, LATE, LONG_LATE = range(3)
"""How old a row is when it comes: minutes, up to three hours, more than six hours."""
_MILLION = 1_000_000


class Rows:
    """Writes files as time goes on, from a thread of its own."""

    def __init__(self, folder: Path, rate: int, seed: int = 1) -> None:
        self._folder = folder
        self._rate = rate
        self._rng = np.random.default_rng(seed)
        self._ids = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def begin(self) -> None:
        """Write the history, and go on with live rows."""
        for name in "past", "rows", "labels":
            (self._folder / name).mkdir()
        self._write("past", self._rows(START - PAST, START, self._rate * PAST // SPEED, 0))
        self._thread.start()

    def end(self) -> None:
        """No more files."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        began = time.monotonic()
        file = 0
        while not self._over.wait(max(0.0, began + (file + 1) * EVERY - time.monotonic())):
            at = START + file * EVERY * SPEED
            # a first watermark is there before the first late row comes
            late = 0.01 if file * EVERY >= 60 else 0
            rows = self._rows(at, at + EVERY * SPEED, self._rate * EVERY, late)
            labels = self._rows(at, at + EVERY * SPEED, self._rate * EVERY // 5, late)
            labels = labels.drop_columns(["x"]).rename_columns(["lab", "user", "at", "age"])
            self._write("rows", rows)
            self._write("labels", labels)
            file += 1

    def _rows(self, start: int, end: int, count: int, late: float) -> pa.Table:
        """Rows of some seconds of event time; no two of them have one time."""
        rng = self._rng
        ids = np.arange(self._ids, self._ids + count)
        self._ids += count
        at = rng.integers(start, end, count)
        age = rng.choice(3, count, p=[1 - 2 * late, late, late])
        back = np.choose(
            age,
            [
                np.where(rng.random(count) < 0.2, rng.integers(0, 300, count), 0),
                rng.integers(1200, 3 * 3600, count),
                rng.integers(6 * 3600, 12 * 3600, count),
            ],
        )
        micros = (at - np.minimum(back, at - (START - PAST))) * _MILLION + ids % _MILLION
        if start < START:  # the history ends by START
            micros = np.minimum(micros, START * _MILLION - count + np.arange(count))
        return pa.table(
            {
                "id": ids,
                "k": self._keys(at, count),
                "ts": pa.array(micros, pa.timestamp("us", tz="UTC")),
                "x": rng.integers(0, 100, count),
                "age": pa.array(age, pa.int32()),
            }
        )

    def _keys(self, at: np.ndarray, count: int) -> np.ndarray:
        """Ten keys stay. A new one comes each minute, and one of 200 minutes ago goes.

        Some that have gone come again, once or more, after hours.
        """
        rng = self._rng
        newest = (at - START + PAST) // 60
        kind = rng.choice(3, count, p=[0.3, 0.69, 0.01])
        staying = -1 - rng.integers(0, 10, count)
        again = newest - rng.integers(1000, 3000, count)
        choices = [staying, newest - rng.integers(0, 200, count), again]
        return np.asarray(1_000_000 + np.choose(kind, choices))

    def _write(self, name: str, rows: pa.Table) -> None:
        """A file is there once it is complete: Spark reads no name that begins with a dot."""
        number = len(list((self._folder / name).glob("*.parquet")))
        path = self._folder / name / f".{number:06d}.parquet"
        pq.write_table(rows, path)
        path.rename(path.with_name(path.name[1:]))
