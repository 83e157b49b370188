"""The table at the head of a report: what must be reached, and what is."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Ratio(NamedTuple):
    """One time over another, and the cell that it is of."""

    value: float
    where: str


class Comparison(NamedTuple):
    """Ratios of one kind, and what they must not exceed, if anything was asked."""

    title: str
    bound: float | None
    ratios: Sequence[Ratio]


def table(heading: str, comparisons: Sequence[Comparison]) -> Iterator[str]:
    """The middle and the worst of each comparison; one without ratios is left out."""
    yield f"| {heading} | must be at most | median | worst | where |"
    yield "|---|--:|--:|--:|---|"
    for title, bound, ratios in comparisons:
        if ratios:
            limit = "" if bound is None else f"{bound:g}"
            median = statistics.median(ratio.value for ratio in ratios)
            worst = max(ratios)
            yield f"| {title} | {limit} | {median:.2f} | {worst.value:.2f} | {worst.where} |"
    yield ""
