"""The figures of the papers that `make bench-core` measures anew, and on what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

STREAM = 20_000_000
"""Slides of one run of the authors' programs, beyond the window's length."""


@dataclass(frozen=True)
class Series:
    """A line of a figure: an algorithm as JMH's parameters name it, and as the authors' C++."""

    label: str
    algorithm: str
    theirs: str | None = None


@dataclass(frozen=True)
class Figure:
    """One benchmark over one axis.

    ``theirs`` is the authors' program and its arguments, in which ``{algorithm}``,
    ``{operation}``, ``{x}`` and ``{iterations}`` are filled in; the iterations are those that
    fill the window, ``filled`` or else x of them, and the measured ones. ``per_x`` says that an
    invocation of ours handles x elements.
    """

    name: str
    title: str
    paper: str
    benchmark: str
    axis: str
    values: list[int]
    operations: list[str]
    series: list[Series]
    parameters: Mapping[str, str] = field(default_factory=dict)
    theirs: tuple[str, ...] | None = None
    unit: str = "ns a slide"
    per_x: bool = False
    filled: int | None = None

    def takes(self, operation: str, series: Series) -> bool:
        """Whether an algorithm runs an operation."""
        needs = {"slickdeque_inv": ["sum"], "slickdeque_non_inv": ["max"]}
        return operation in needs.get(series.algorithm, self.operations)

    def cells(self) -> Iterator[Cell]:
        """Everything that the figure measures."""
        for operation in self.operations:
            for series in self.series:
                if self.takes(operation, series):
                    for x in self.values:
                        yield Cell(self, operation, series, x)


class Cell(NamedTuple):
    """A point of a figure, as it is measured."""

    figure: Figure
    operation: str
    series: Series
    x: int

    @property
    def id(self) -> str:
        """A name to select cells by."""
        return f"{self.figure.name}/{self.operation}/{self.series.algorithm}/{self.x}"


IN_ORDER = [
    Series("Two-Stacks", "two_stacks", "two_stacks"),
    Series("Two-Stacks Lite", "two_stacks_lite", "chunked_two_stacks_lite"),
    Series("DABA", "daba", "daba"),
    Series("DABA Lite", "daba_lite", "daba_lite"),
    Series("FlatFIT", "flatfit", "flatfit"),
    Series("SlickDeque (Inv)", "slickdeque_inv", "sub_evict"),
    Series("SlickDeque (Non-Inv)", "slickdeque_non_inv"),
]
TREES = [
    Series("FiBA, minimum arity 2", "fiba2", "bfinger2"),
    Series("FiBA, minimum arity 4", "fiba4", "bfinger4"),
    Series("FiBA, minimum arity 8", "fiba8", "bfinger8"),
    Series("AMTA", "amta", "amta"),
]
LARGE = 1 << 22
WINDOWS = [1, 16, 1 << 10, 1 << 14, 1 << 20, 1 << 22]
STATIC = ("benchmark_driver", "{algorithm}", "{operation}", "{x}", "{iterations}")
BULK = ("{algorithm}", "{operation}", str(LARGE), "0", "{x}", "{iterations}")
DYNAMIC = ("dynamic_benchmark_driver", "{algorithm}", "{operation}", "{x}", "{iterations}")

FIGURES = [
    Figure(
        "static",
        "A window of n elements: evict, insert, query",
        "DABA Lite, figure 10",
        "InOrder.slide",
        "n",
        WINDOWS,
        ["sum", "max", "geomean"],
        IN_ORDER,
        theirs=STATIC,
    ),
    Figure(
        "static-bloom",
        "A window of n Bloom filters: evict, insert, query",
        "DABA Lite, figure 10",
        "InOrder.slide",
        "n",
        [1, 16, 1 << 10, 1 << 14],
        ["bloom"],
        [s for s in IN_ORDER if "slick" not in s.algorithm],
        theirs=STATIC,
    ),
    Figure(
        "static-megamorphic",
        "The same, with four classes of aggregates in use",
        "DABA Lite, figure 10",
        "InOrder.slide",
        "n",
        [1 << 10, 1 << 20],
        ["sum", "max", "geomean"],
        IN_ORDER,
        parameters={"polluted": "true"},
    ),
    Figure(
        "dynamic",
        "Filled to n elements with a query after each, and drained",
        "DABA Lite, figures 11 and 12",
        "InOrder.fillAndDrain",
        "n",
        [16, 1 << 10, 1 << 14, 1 << 20],
        ["sum"],
        [s for s in IN_ORDER if s.algorithm != "slickdeque_non_inv"],
        theirs=DYNAMIC,
        unit="ns an element",
        per_x=True,
        filled=0,
    ),
    Figure(
        "trees",
        "Trees over a window of n elements in order: evict, insert, query",
        "bulk FiBA, section 7; AMTA, figure 6",
        "Bulk.evict",
        "n",
        [1 << 10, 1 << 14, 1 << 20, LARGE],
        ["sum", "geomean"],
        TREES,
        parameters={"m": "1"},
        theirs=(
            "bulk_evict_benchmark_driver",
            "{algorithm}",
            "{operation}",
            "{x}",
            "0",
            "1",
            "{iterations}",
        ),
    ),
    Figure(
        "bulk-evict",
        "4,194,304 elements: a bulk evict of m, m single inserts, a query",
        "bulk FiBA, figure 11",
        "Bulk.evict",
        "m",
        [1, 64, 1 << 10, 1 << 16],
        ["sum"],
        TREES,
        parameters={"n": str(LARGE)},
        theirs=("bulk_evict_benchmark_driver", *BULK),
        unit="ns an element",
        per_x=True,
        filled=LARGE,
    ),
    Figure(
        "bulk-evict-insert",
        "4,194,304 elements: a bulk evict and a bulk insert of m, a query",
        "bulk FiBA, figure 12",
        "Bulk.evictAndInsert",
        "m",
        [1, 64, 1 << 10, 1 << 16],
        ["sum"],
        TREES,
        parameters={"n": str(LARGE)},
        theirs=("bulk_evict_insert_benchmark_driver", *BULK),
        unit="ns an element",
        per_x=True,
        filled=LARGE,
    ),
    Figure(
        "out-of-order",
        "1,048,576 elements: an insert d elements before the youngest, an evict, a query",
        "bulk FiBA, figure 14",
        "Bulk.evict",
        "d",
        [0, 16, 1 << 10, 1 << 16, 1 << 19],
        ["sum"],
        [series for series in TREES if series.algorithm != "amta"],
        parameters={"n": str(1 << 20), "m": "1"},
        theirs=(
            "ooo_benchmark_driver",
            "{algorithm}",
            "{operation}",
            str(1 << 20),
            "{x}",
            "{iterations}",
        ),
        filled=1 << 20,
    ),
]
