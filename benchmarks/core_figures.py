"""The figures of the papers that `make bench-core` measures anew, and on what."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import core_rides

STREAM = 20_000_000
"""Slides of one run of the authors' programs, beyond the window's length."""


@dataclass(frozen=True)
class Series:
    """A line of a figure: an algorithm as JMH's parameters name it, and as the authors' C++."""

    label: str
    algorithm: str
    theirs: str | None = None


class Statistic(Enum):
    """What of a benchmark's runs is a point of the figure."""

    MEAN = "mean"
    MEDIAN = "median of single calls"
    PERCENTILES = "percentiles of single calls; the axis names them"
    BYTES = "bytes"


@dataclass(frozen=True)
class Figure:
    """One benchmark over one axis.

    ``theirs`` is the authors' program and its arguments, in which ``{algorithm}``,
    ``{operation}``, ``{x}`` and ``{iterations}`` are filled in; the iterations are those that
    fill the window, ``filled`` or else x of them, and the measured ones. ``per_x`` says that an
    invocation of ours handles x elements. ``latencies`` is in the name of the file to which the
    authors' program writes the latencies of single calls, before the operation's. ``unfenced``
    measures their program a second time, without the memory fence of each slide of its loop.
    ``collector`` is the JVM's. ``page`` and its results lie in docs/benchmarks, and ``note``
    goes into it.
    """

    name: str
    title: str
    paper: str
    benchmark: str
    axis: str
    values: Sequence[float]
    operations: list[str]
    series: list[Series]
    parameters: Mapping[str, str] = field(default_factory=dict)
    theirs: tuple[str, ...] | None = None
    unit: str = "ns a slide"
    per_x: bool = False
    filled: int | None = None
    statistic: Statistic = Statistic.MEAN
    latencies: str = ""
    unfenced: bool = False
    collector: str = "ParallelGC"
    page: str = "core"
    note: str = ""

    @property
    def timed_singly(self) -> bool:
        """Whether each call has its own time."""
        return self.statistic in (Statistic.MEDIAN, Statistic.PERCENTILES)

    def takes(self, operation: str, series: Series) -> bool:
        """Whether an algorithm runs an operation."""
        needs = {"slickdeque_inv": ["sum"], "slickdeque_non_inv": ["max"]}
        needs["timer"] = self.operations[:1]
        return operation in needs.get(series.algorithm, self.operations)

    def cells(self) -> Iterator[Cell]:
        """Everything that the figure measures; percentiles are of one run."""
        for operation in self.operations:
            for series in self.series:
                if self.takes(operation, series):
                    if self.statistic is Statistic.PERCENTILES:
                        yield Cell(self, operation, series, tuple(self.values))
                    else:
                        for x in self.values:
                            yield Cell(self, operation, series, (x,))

    def column(self, x: float) -> str:
        """The heading of a column."""
        if self.statistic is not Statistic.PERCENTILES:
            return f"{self.axis} = {x:,}"
        return {50.0: "median", 100.0: "maximum"}.get(x, f"{x:g} %")


class Cell(NamedTuple):
    """What one run measures: a point of a figure, or several."""

    figure: Figure
    operation: str
    series: Series
    xs: tuple[float, ...]

    @property
    def id(self) -> str:
        """A name to select cells by."""
        xs = ",".join(f"{x:g}" if x < 1 << 10 else str(x) for x in self.xs)
        place = f"{self.figure.page}/{self.figure.name}"
        return f"{place}/{self.operation}/{self.series.algorithm}/{xs}"


IN_ORDER = [
    Series("Two-Stacks", "two_stacks", "two_stacks"),
    Series("Two-Stacks Lite", "two_stacks_lite", "chunked_two_stacks_lite"),
    Series("DABA", "daba", "daba"),
    Series("DABA Lite", "daba_lite", "daba_lite"),
    Series("FlatFIT", "flatfit", "flatfit"),
    Series("SlickDeque (Inv)", "slickdeque_inv", "sub_evict"),
    Series("SlickDeque (Non-Inv)", "slickdeque_non_inv"),
]
LOGARITHMIC = [
    Series("Reactive Aggregator", "reactive", "reactive"),
    Series("B-Int", "b_int"),
    Series("Log MTA", "log_mta"),
]
SINGLE = [
    Series("Two-Stacks Lite", "two_stacks_lite", "two_stacks_lite"),
    Series("DABA Lite", "daba_lite", "daba_lite"),
]
TREES = [
    Series("FiBA, minimum arity 2", "fiba2", "bfinger2"),
    Series("FiBA, minimum arity 4", "fiba4", "bfinger4"),
    Series("FiBA, minimum arity 8", "fiba8", "bfinger8"),
    Series("AMTA", "amta", "amta"),
]
STORED = [
    Series("KVS-AMTA, fan-out 2", "kvs_amta1"),
    Series("KVS-AMTA, fan-out 32", "kvs_amta5"),
    Series("KVS-AMTA, fan-out 512", "kvs_amta9"),
    Series("AMTA, in memory", "amta"),
]
LATENCIES = [50.0, 99.0, 99.9, 99.99, 99.999, 100.0]
ANY_ORDER = [series for series in TREES if series.algorithm != "amta"]
OUT_OF_ORDER = [
    *ANY_ORDER,
    Series("FiBA, minimum arity 4, of any ⊗", "fiba4_any", "bfinger4"),
]
STEADY = [
    Series("nothing: the timer alone", "timer"),
    Series("DABA", "daba"),
    Series("DABA Lite", "daba_lite"),
]
LARGE = 1 << 22
BULKS = [1, 64, 1 << 10, 1 << 16, 1 << 20]
WINDOWS = [1, 16, 1 << 10, 1 << 14, 1 << 20, 1 << 22]
STATIC = ("benchmark_driver", "{algorithm}", "{operation}", "{x}", "{iterations}")
DYNAMIC = ("dynamic_benchmark_driver", "{algorithm}", "{operation}", "{x}", "{iterations}")


def _bulk(
    program: str, n: int | str = "{x}", d: int = 0, m: int | str = "{x}"
) -> tuple[str, ...]:
    """The authors' program of bulks: n elements, d of them younger, m in a bulk."""
    of = (str(n), str(d), str(m))
    return (f"{program}_benchmark_driver", "{algorithm}", "{operation}", *of, "{iterations}")


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
        unfenced=True,
    ),
    Figure(
        "static-logarithmic",
        "A window of n elements, by algorithms of logarithmic time: evict, insert, query",
        "Reactive Aggregator, figure 11; SlickDeque, figure 10",
        "InOrder.slide",
        "n",
        WINDOWS,
        ["sum"],
        LOGARITHMIC,
        theirs=STATIC,
    ),
    Figure(
        "latency",
        "Latency of a slide of a window of 16,384 elements",
        "DABA Lite, figure 9; SlickDeque, figure 14",
        "Latency.slide",
        "percentile",
        LATENCIES,
        ["sum"],
        [Series("nothing: the timer alone", "timer"), *IN_ORDER],
        parameters={"n": str(1 << 14)},
        theirs=("benchmark_driver", "{algorithm}", "{operation}", str(1 << 14), "{iterations}"),
        filled=1 << 14,
        statistic=Statistic.PERCENTILES,
        latencies="{algorithm}",
    ),
    Figure(
        "latency-trees",
        "Latency of a slide of a window of 16,384 elements, of trees",
        "bulk FiBA, figure 7; AMTA, figure 6",
        "Latency.bulkSlide",
        "percentile",
        LATENCIES,
        ["sum"],
        TREES,
        parameters={"n": str(1 << 14), "m": "1"},
        theirs=_bulk("bulk_evict", n=1 << 14, m=1),
        filled=1 << 14,
        statistic=Statistic.PERCENTILES,
        latencies="bulk_evict_{algorithm}",
        page="trees",
    ),
    Figure(
        "latency-large",
        "Latency of a slide of a window of 4,194,304 elements in chunks, beside ZGC",
        "DABA Lite, figure 9",
        "Latency.slide",
        "percentile",
        LATENCIES,
        ["chunked_sum"],
        STEADY,
        parameters={"n": str(LARGE)},
        statistic=Statistic.PERCENTILES,
        collector="ZGC",
    ),
    Figure(
        "latency-growth",
        "Latency of each insertion as a window in chunks grows to 4,194,304, beside ZGC",
        "DABA Lite, definition 1",
        "Latency.grow",
        "percentile",
        LATENCIES,
        ["chunked_sum"],
        STEADY,
        parameters={"n": str(LARGE)},
        unit="ns an insertion",
        statistic=Statistic.PERCENTILES,
        collector="ZGC",
    ),
    Figure(
        "static-bloom",
        "A window of n Bloom filters: evict, insert, query",
        "DABA Lite, figure 10",
        "InOrder.slide",
        "n",
        [1, 16, 1 << 10, 1 << 14, 1 << 20],
        ["bloom"],
        [s for s in IN_ORDER if "slick" not in s.algorithm],
        theirs=STATIC,
    ),
    Figure(
        "static-megamorphic",
        "A window of n elements, with four classes of aggregates in use: evict, insert, query",
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
        [s for s in IN_ORDER if "slickdeque" not in s.algorithm]
        + [Series("SlickDeque (Inv)", "slickdeque_inv")],
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
        theirs=_bulk("bulk_evict", m=1),
        page="trees",
    ),
    Figure(
        "trees-bloom",
        "Trees over a window of n Bloom filters in order: evict, insert, query",
        "bulk FiBA, section 7; AMTA, figure 6",
        "Bulk.evict",
        "n",
        [1 << 10, 1 << 14, 1 << 20],
        ["bloom"],
        TREES,
        parameters={"m": "1"},
        theirs=_bulk("bulk_evict", m=1),
        page="trees",
    ),
    Figure(
        "bulk-evict",
        "4,194,304 elements: a bulk evict of m, m single inserts, a query",
        "bulk FiBA, figure 11",
        "Bulk.evict",
        "m",
        BULKS,
        ["sum"],
        TREES,
        parameters={"n": str(LARGE)},
        theirs=_bulk("bulk_evict", n=LARGE),
        unit="ns an element",
        per_x=True,
        filled=LARGE,
        page="trees",
    ),
    Figure(
        "bulk-evict-insert",
        "4,194,304 elements: a bulk evict and a bulk insert of m, a query",
        "bulk FiBA, figure 12",
        "Bulk.evictAndInsert",
        "m",
        BULKS,
        ["sum"],
        TREES,
        parameters={"n": str(LARGE)},
        theirs=_bulk("bulk_evict_insert", n=LARGE),
        unit="ns an element",
        per_x=True,
        filled=LARGE,
        page="trees",
    ),
    Figure(
        "out-of-order",
        "1,048,576 elements: an insert d elements before the youngest, an evict, a query",
        "bulk FiBA, figure 14",
        "Bulk.single",
        "d",
        [0, 16, 1 << 10, 1 << 16, 1 << 19],
        ["sum"],
        OUT_OF_ORDER,
        parameters={"n": str(1 << 20)},
        theirs=(
            "ooo_benchmark_driver",
            "{algorithm}",
            "{operation}",
            str(1 << 20),
            "{x}",
            "{iterations}",
        ),
        filled=1 << 20,
        page="trees",
        note="""\
Sums commute, and FiBA combines a late one into the aggregates above it. The authors' program
computes them anew, as ours does of any ⊗.
""",
    ),
    Figure(
        "rides",
        "Rides on bikes, some of them late, in windows of hours: insert, bulk evict, query",
        "bulk FiBA, figure 16",
        "Rides.slide",
        "hours",
        [6, 24, 96, 384],
        ["sum"],
        ANY_ORDER,
        parameters={"file": str(core_rides.FILE)},
        theirs=("bulk_data_benchmark",),
        page="trees",
        note="""\
The rides are drawn, in the shape of the paper's figure 15 (2,000,000 in 36 days). Each comes by
itself, at a distance d from the youngest, and makes m rides leave that are older than the window.
The authors' program holds rides with all their columns, ours their starts and durations alone.

![](trees-rides-shape.svg)
""",
    ),
    Figure(
        "bulk-evict-latency",
        "Latency of one bulk evict of m of 4,194,304 elements",
        "bulk FiBA, figures 7 and 10",
        "Latency.evict",
        "m",
        BULKS,
        ["sum"],
        [*TREES, *SINGLE],
        parameters={"n": str(LARGE)},
        theirs=_bulk("bulk_evict", n=LARGE),
        unit="ns an evict, the median",
        filled=LARGE,
        statistic=Statistic.MEDIAN,
        latencies="opevict_{algorithm}",
        page="trees",
    ),
    Figure(
        "bulk-insert-latency",
        "Latency of one bulk insert of m into 4,194,304 elements, in order",
        "bulk FiBA, figure 8",
        "Latency.insert",
        "m",
        BULKS,
        ["sum"],
        [*TREES, *SINGLE],
        parameters={"n": str(LARGE)},
        theirs=_bulk("bulk_evict_insert", n=LARGE),
        unit="ns an insert, the median",
        filled=LARGE,
        statistic=Statistic.MEDIAN,
        latencies="opinsert_{algorithm}",
        page="trees",
    ),
    Figure(
        "bulk-insert-late",
        "Latency of one bulk insert of m, 1,024 elements before the youngest of 4,194,304",
        "bulk FiBA, figure 9",
        "Latency.insert",
        "m",
        BULKS,
        ["sum"],
        ANY_ORDER,
        parameters={"n": str(LARGE), "d": "1024"},
        theirs=_bulk("bulk_evict_insert", n=LARGE, d=1024),
        unit="ns an insert, the median",
        filled=LARGE,
        statistic=Statistic.MEDIAN,
        latencies="opinsert_{algorithm}",
        page="trees",
    ),
    Figure(
        "slide-policy",
        "A window slide policy makes m of 8,388,608 elements leave",
        "AMTA, figure 7",
        "Latency.policy",
        "m",
        [1, 1 << 5, 1 << 10, 1 << 15, 1 << 20, (1 << 23) - 1],
        ["count"],
        [
            Series("AMTA", "amta"),
            Series("Log MTA", "log_mta"),
            Series("DABA Lite, one by one", "daba_lite"),
        ],
        parameters={"n": str(1 << 23)},
        unit="ns an enforcement, the median",
        statistic=Statistic.MEDIAN,
    ),
    Figure(
        "kvs",
        "A window of n elements in RocksDB: evict, insert, query",
        "AMTA, figure 6",
        "Bulk.evict",
        "n",
        [1 << 10, 1 << 14, 1 << 20],
        ["sum"],
        STORED,
        parameters={"m": "1"},
    ),
    Figure(
        "kvs-bulk",
        "Latency of one bulk evict of m of 1,048,576 elements in RocksDB",
        "AMTA, figure 7",
        "Latency.evict",
        "m",
        [1, 1 << 10, 1 << 16],
        ["sum"],
        STORED,
        parameters={"n": str(1 << 20)},
        unit="ns an evict, the median",
        statistic=Statistic.MEDIAN,
    ),
    Figure(
        "ranges",
        "Windows of the ranges 1 to r over one stream",
        "SlickDeque, figures 12 and 13",
        "Ranges.slide",
        "r",
        [1, 8, 64, 512],
        ["sum", "max"],
        [
            Series("SlickDeque (Inv)", "slickdeque_inv"),
            Series("SlickDeque (Non-Inv)", "slickdeque_non_inv"),
            Series("FlatFIT", "flatfit"),
            Series("B-Int", "b_int"),
            Series("Recalculate", "recalculate"),
        ],
        unit="ns a slide, r answers",
    ),
    Figure(
        "coarse",
        "1,048,576 elements: m leave and m enter between two queries",
        "Reactive Aggregator, figure 10",
        "Bulk.evict",
        "m",
        [1, 16, 1 << 8, 1 << 12, 1 << 16],
        ["sum"],
        [*LOGARITHMIC, *SINGLE],
        parameters={"n": str(1 << 20)},
        unit="ns an element",
        per_x=True,
    ),
    Figure(
        "dimensions",
        "A window of 16,384 elements, a sum for each of several dimensions",
        "AMTA, section 5.8",
        "Bulk.evict",
        "dimensions",
        [1, 2, 5, 10, 20, 50],
        ["sums"],
        [
            Series("Two-Stacks Lite", "two_stacks_lite"),
            Series("DABA Lite", "daba_lite"),
            Series("AMTA", "amta"),
            Series("FiBA, minimum arity 4", "fiba4"),
            Series("Recalculate on 16,384", "recalculate"),
        ],
        parameters={"n": str(1 << 14), "m": "1"},
    ),
    Figure(
        "memory",
        "Memory of a window of n ints that has slid n times",
        "SlickDeque, figure 15; AMTA, figure 8; Reactive Aggregator, figure 12",
        "Memory",
        "n",
        [1 << 10, 1_000_000, 1 << 20, 1_500_000],
        ["sum", "max"],
        [*IN_ORDER, *LOGARITHMIC, *TREES],
        unit="bytes an element",
        per_x=True,
        statistic=Statistic.BYTES,
    ),
]
