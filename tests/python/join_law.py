"""Random calls of `as_of` and `window_join`, beside loops over the rows in plain Python.

Run as a program, with a number of rounds and a seed, it asks through Spark Connect.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import client
import sash
from sash.plan import explanation


class Time(NamedTuple):
    """A type of times, a time from a number, and a span from a number."""

    type: str
    at: Callable[[int], Any]
    span: Callable[[int], Any]


TIMES = [
    Time("BIGINT", int, int),
    Time("DOUBLE", float, lambda n: n),
    Time("DATE", lambda n: date(2026, 3, 2) + timedelta(n), lambda n: f"{n} days"),
    Time(
        "TIMESTAMP",
        lambda n: datetime(2026, 3, 2) + timedelta(hours=n),
        lambda n: timedelta(hours=n),
    ),
    Time(
        "TIMESTAMP_NTZ",
        lambda n: datetime(2026, 3, 2) + timedelta(minutes=n),
        lambda n: f"{n} minutes",
    ),
]


class Label(NamedTuple):
    """A label; times are small numbers."""

    id: int
    k: str | None
    t: int | None
    p: int | None
    start: int | None


class Event(NamedTuple):
    """An event; `x` is another one for each."""

    k: str | None
    t: int | None
    seq: int | None
    created: int | None
    until: int | None
    x: int


class Draw:
    """Tables, and the arguments of one call for each function."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)  # noqa: S311
        self.time = self.random.choice(TIMES)
        self.labels = [
            Label(n, self.key(), self.number(), self.number(20), self.number()) for n in range(9)
        ]
        self.labels += self.labels[:1]
        self.events = [
            Event(self.key(), self.number(), self.number(2), self.number(), self.number(14), n)
            for n in range(25)
        ]
        self.nulls_equal = self.one_of(False, True)

    def one_of(self, *values: Any) -> Any:
        return self.random.choice(values)

    def key(self) -> str | None:
        return self.one_of("a", "a", "b", None)

    def number(self, most: int = 9) -> int | None:
        return self.one_of(None, *range(most))

    def tables(self, spark: SparkSession) -> tuple[DataFrame, DataFrame]:
        def timed(row: Any, names: str) -> tuple[Any, ...]:
            return tuple(
                self.time.at(v) if name in names.split() and v is not None else v
                for name, v in row._asdict().items()
            )

        of = self.time.type
        return (
            spark.createDataFrame(
                [timed(row, "t start") for row in self.labels],
                f"id INT, k STRING, t {of}, p INT, start {of}",
            ),
            spark.createDataFrame(
                [timed(row, "t created until") for row in self.events],
                f"k STRING, t {of}, seq INT, created {of}, until {of}, x INT",
            ),
        )

    def of_key(self, label: Label) -> list[Event]:
        """The events with the label's key that have a time."""
        return [
            e
            for e in self.events
            if None not in (label.t, e.t)
            and e.k == label.k
            and (self.nulls_equal or label.k is not None)
        ]


def small(value: int | None) -> int:
    """NULL is less than each number."""
    return -1 if value is None else value


class AsOf:
    """A call of `as_of`, and the events that it may find for a label."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.ties = draw.one_of(False, True)
        self.exact = draw.one_of(False, True)
        self.tolerance = draw.one_of(None, 2, 4)
        self.direction = draw.one_of("backward", "backward", "backward", "forward", "nearest")
        is_past = self.direction == "backward"
        self.known = is_past and draw.one_of(False, True)
        self.valid = is_past and draw.one_of(False, False, True)

    def asked(self, labels: DataFrame, events: DataFrame) -> DataFrame:
        return sash.as_of(
            labels,
            events,
            on="k",
            by=self.draw.one_of(("t", "seq"), {"t": ["t", "seq"]}) if self.ties else "t",
            allow_exact_matches=self.exact,
            tolerance=self.tolerance and self.draw.time.span(self.tolerance),
            direction=self.direction,
            known="created" if self.known else None,
            valid_to="until" if self.valid else None,
            nulls_equal=self.draw.nulls_equal,
            found="x",
        )

    def is_right(self, label: Label, found: int | None) -> bool:
        return found in ([e.x for e in self.expected(label)] or [None])

    def expected(self, label: Label) -> list[Event]:
        sides = {"backward": [-1], "forward": [1], "nearest": [-1, 1]}[self.direction]
        best = [self.side(label, sign) for sign in sides]
        best = [side for side in best if side]
        return min(best, key=lambda side: abs(side[0].t - label.t), default=[])

    def side(self, label: Label, sign: int) -> list[Event]:
        """The last events before the label, or the first ones after it."""
        found = [e for e in self.draw.of_key(label) if self.counts(e, label, sign)]

        def place(e: Event) -> tuple[int, ...]:
            ties = [e.seq] if self.ties else []
            known = [e.created] if self.known else []
            return tuple(-sign * small(v) for v in (e.t, *ties, *known))

        last = max(map(place, found), default=None)
        return [e for e in found if place(e) == last]

    def counts(self, e: Event, label: Label, sign: int) -> bool:
        distance = sign * (e.t - label.t)
        from_ = max(e.t, small(e.created)) if self.known else e.t
        return (
            distance >= 0
            and (self.exact or (from_ != label.t))
            and (self.tolerance is None or distance <= self.tolerance)
            and (not self.known or (e.created is not None and from_ <= label.t))
            and (not self.valid or e.until is None or label.t < e.until)
        )


class WindowJoin:
    """A call of `window_join`, and the answers for a label."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.closed = draw.one_of("left", "right", "both", "neither")
        self.known = draw.one_of(False, True)
        self.of_label = draw.one_of(False, True)
        windows = [(-3, 0), (None, 0), (1, 4), (-5, -2), (0, None), (-1, 2), ("start", 0)]
        self.windows = draw.random.sample(windows, 2)
        if draw.time.type in ("BIGINT", "DOUBLE"):
            self.windows = [w for w in self.windows if w[0] != "start"]

    def asked(self, labels: DataFrame, events: DataFrame) -> DataFrame:
        features: dict[str, Any] = {}
        for n, window in enumerate(self.windows):
            span = self.span(*window)
            features[f"n{n}"] = (F.count("*"), span)
            features[f"xs{n}"] = (F.sort_array(F.collect_list("x")), span)
            features[f"last{n}"] = (F.max_by("x", F.struct("t", "x")), span)
            above = F.count_if(F.col("x") > 5)
            if self.of_label:
                above = lambda label: F.count_if(F.col("x") > label("p"))  # noqa: E731
            features[f"above{n}"] = (above, span)
        return sash.window_join(
            labels,
            events,
            on="k",
            by="t",
            closed=self.closed,
            known="created" if self.known else None,
            nulls_equal=self.draw.nulls_equal,
            **features,
        )

    def span(self, start: Any, end: Any) -> Any:
        def distance(n: Any) -> Any:
            if n is None or isinstance(n, str):
                return n
            span = self.draw.time.span(abs(n))
            return span if n >= 0 else f"-{span}" if isinstance(span, str) else -span

        if end == 0 and (start is None or start == "start"):
            return start
        if end == 0 and self.draw.one_of(False, True):
            return self.draw.time.span(-start)
        return distance(start), distance(end)

    def expected(self, label: Label) -> list[Any]:
        answers: list[Any] = []
        for window in self.windows:
            events = [e for e in self.draw.of_key(label) if self.counts(e, label, *window)]
            xs = sorted(e.x for e in events)
            last = max(((e.t, e.x) for e in events), default=(None, None))[1]
            most = label.p if self.of_label else 5
            answers += [len(xs), xs, last, sum(most is not None and x > most for x in xs)]
        return answers

    def counts(self, e: Event, label: Label, start: Any, end: int | None) -> bool:
        if start == "start" and label.start is None:
            return False
        first = label.start if start == "start" else None if start is None else label.t + start
        last = None if end is None else label.t + end
        is_after = first is None or first < e.t or (first == e.t and self.closed in _WITH_FIRST)
        is_before = last is None or e.t < last or (e.t == last and self.closed in _WITH_LAST)
        if not self.known:
            return is_after and is_before
        known = label.t - small(e.created) >= (0 if self.closed in _WITH_LAST else 1)
        return is_after and is_before and e.created is not None and known


_WITH_FIRST, _WITH_LAST = ("left", "both"), ("right", "both")


def check(spark: SparkSession, rounds: int, seed: int) -> int:
    """Compare the answers of random calls; return how many of the calls ran as a window."""
    ran = 0
    for n in range(rounds):
        draw = Draw(f"{seed} {n}")
        tables = draw.tables(spark)
        named = {label.id: label for label in draw.labels}
        as_of = AsOf(draw)
        df = as_of.asked(*tables)
        rows = df.collect()
        told = f"seed {seed}, round {n}, {vars(as_of)}"
        assert sorted(row.id for row in rows) == sorted(label.id for label in draw.labels), told
        for row in rows:
            assert as_of.is_right(named[row.id], row.found), (told, row)
        ran += "SlidingWindow" in explanation(df)
        join = WindowJoin(draw)
        df = join.asked(*tables)
        told = f"seed {seed}, round {n}, {vars(join)}"
        rows = df.collect()
        assert sorted(row.id for row in rows) == sorted(label.id for label in draw.labels), told
        for row in rows:
            assert list(row[5:]) == join.expected(named[row.id]), (told, row)
        ran += "SlidingWindow" in explanation(df)
    return ran


if __name__ == "__main__":
    client.main(check)
