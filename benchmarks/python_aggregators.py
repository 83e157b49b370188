"""The aggregators in Python that ``bench_python`` measures."""

from __future__ import annotations

from typing import Any

import numpy as np

import sash


class TopThree(sash.Aggregator):
    """The three last of some strings, in plain Python."""

    def zero(self) -> Any:
        return []

    def reduce(self, buffer: Any, *values: Any) -> Any:
        (value,) = values
        if len(buffer) == 3:
            if value <= buffer[2]:
                return buffer
            buffer.pop()
        buffer.append(value)
        buffer.sort(reverse=True)
        return buffer

    def merge(self, left: Any, right: Any) -> Any:
        return sorted(left + right, reverse=True)[:3]

    def finish(self, buffer: Any) -> Any:
        return buffer


class Counts(sash.Aggregator):
    """As little work as an aggregator can have."""

    def zero(self) -> Any:
        return 0

    def reduce(self, buffer: Any, *values: Any) -> Any:
        return buffer + 1

    def merge(self, left: Any, right: Any) -> Any:
        return left + right

    def finish(self, buffer: Any) -> Any:
        return buffer


class Sum:
    """Over arrays: the base of the others."""

    vectorized = True

    def lift(self, x: Any) -> Any:
        return x

    def merge(self, left: Any, right: Any) -> Any:
        return left + right


class Max(Sum):
    """The greatest."""

    def merge(self, left: Any, right: Any) -> Any:
        return np.maximum(left, right)


class Mean(Sum):
    """A sum and a count, in two columns."""

    def lift(self, x: Any) -> Any:
        return np.stack((x, np.ones_like(x)), axis=1)

    def finish(self, partials: Any) -> Any:
        return partials[:, 0] / partials[:, 1]


class Variance(Sum):
    """Count, mean and sum of squares (Chan, Golub and LeVeque)."""

    def lift(self, x: Any) -> Any:
        return np.stack((np.ones_like(x), x, np.zeros_like(x)), axis=1)

    def merge(self, left: Any, right: Any) -> Any:
        n, m = left[:, 0], right[:, 0]
        both = np.empty_like(left)
        both[:, 0] = whole = n + m
        delta = right[:, 1] - left[:, 1]
        share = delta * (m / whole)
        both[:, 1] = left[:, 1] + share
        both[:, 2] = left[:, 2] + right[:, 2] + share * delta * n
        return both

    def finish(self, partials: Any) -> Any:
        n = partials[:, 0]
        return np.ma.masked_array(partials[:, 2] / np.maximum(n - 1, 1), n < 2)
