"""Windows of streams: OVER and hops by Sash beside Spark's own windows and Flink SQL.

    python benchmarks/bench_stream.py            # everything: about 25 minutes
    python benchmarks/bench_stream.py --quick    # a look, in minutes

Every engine reads the same rows in time order, with its state in RocksDB; windows are full when
it is measured. Writes stream.json, stream.md and stream.svg to docs/benchmarks. Flink comes by
``make flink``.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby, product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter

import machine
import stream_flink
import streams
import summary
from harness import Store, chart, flags, is_chosen, or_empty, page, table
from progress import Progress
from stream_flink import LEAD_SECONDS, TOO_LONG, UNWALKED, Flink, Limits
from streams import (
    CHUNK,
    COLOURS,
    FLINK,
    FRAMES,
    HOP,
    LARGE,
    PASS_THROUGH,
    SASH,
    SMALL,
    SPARK,
    TUMBLING,
    Cell,
)
from summary import Comparison, Ratio

Answers = set[tuple[int, int, int]]
"""Key, milliseconds, sum."""
BATCHES = [SMALL] * 4
COMPARED = [
    *(Cell(SASH, frame, 500, SMALL, rows) for frame in FRAMES for rows in (2, 20)),
    Cell(SPARK, TUMBLING, 500, SMALL),
    Cell(SASH, HOP, 500, SMALL, panes=10),
]
MANY_KEYS = 100_000
LATE = 1 / 0.7
"""A stream with rows out of order must reach 0.7 times the rate of one without."""
PAGE = """\
# Streams

Microseconds an event, by Sash, by Spark's own operators and by Flink SQL, of the same rows:
10,000 a second of event time, with keys that take turns, in Parquet files, on two cores, with
state in RocksDB and a watermark a second behind. Windows are full: before the rows that are
measured come as many as they hold.

{headline}

Where Flink did not fill its windows in time, its pace until then is what counts, or what a
shorter window took.

![Microseconds an event](stream.svg)

{tables}

## Node operations

Gets + puts of the state store in a batch, and both for each of its rows, by the rows n that a
window holds: they must grow with the batch, not with the window. A window that is shorter than
what a batch has of a key needs fewer.

{operations}

## Queries

`ROWS` is `sum(x) OVER (PARTITION BY k ORDER BY ts ROWS … PRECEDING)` of so many rows, `RANGE`
the same of the time that holds as many, so that both give the same answers. Tumbling is
`sum(x)` by `k` and a window as long as a batch's rows, 10 seconds or 1, of which each batch
closes one a key. A hop is the same by a window of so many panes, each of 10 seconds, and
closes one a key, too. In append mode unless said otherwise. Late rows are the share that is
named, by up to five seconds; the watermark is ten seconds behind there.

## How Spark and Sash were measured

The median of the last {counted} micro-batches of 100,000 or 10,000 rows, of what one takes
from its start to its end, in one JVM with four shuffle partitions, which {warm_up} batches of
each of the two have warmed. History comes before them in batches of up to {chunk:,} rows.

## How Flink was measured

Flink has no micro-batches. An event takes the slope of time over the count of answers (of rows
read, for tumbling windows and hops), by Flink's own counters every 100 ms, from the time at
which windows have been full for {lead} seconds or a fifth of the rows, for {measured:.0f} seconds
or until the rows end. It runs with parallelism 2 in one warm JVM, with 2 GB of managed memory
besides the heap, RocksDB as state backend, object reuse and a black hole as sink, and writes
incremental checkpoints as often as Sash's batches of 100,000 rows (for tumbling windows,
Spark's) end in the same cell; there is no checkpoint while timers fire. It reads
the rows from one file of one row group, since it hands out several in no order; so one task
reads, as in Spark. Times are of milliseconds, which is what Flink's are.
{compared}

For each answer Flink walks through all rows that it has of a key, in ROWS once the window is
full, in RANGE always: those of the window and those that wait for the watermark, which with 10
keys are 1,000 a key. Where windows are not full after {limit:.0f} seconds (for ROWS, which are
not walked before, {longer:.0f}), ">" is the pace of the last third of that time; an event takes
no less as they fill further. Where a shorter window was given up or took more than
{too_long:,} µs, longer ones were not tried, and ">" is what the shorter one took.

{flink}

## Left out

- Windows whose history would be more than {most:,} rows, by a dash: filling them takes longer
  than all else.
- Batches of 10,000 rows of hops, rows out of order and update mode: what a batch costs besides
  its rows, OVER and tumbling windows show.
- Late rows but with {middle:,} keys, and in Flink, which drops what comes after the watermark
  and delays all else alike. Update mode with more than {middle:,} keys, and in Flink, whose
  OVER has none.
- Spark's hops of more than 10 panes, of which each row would be copied into all.
- Flink's hops of 86,400 panes.

{circumstances}
"""
SIDES = ["µs an event", "of tumbling", "slowest of the median"]
HEADS = ["query", f"batches of 100,000: {SIDES[0]}", *SIDES[1:]]
HEADS += [f"batches of 10,000: {SIDES[0]}", *SIDES[1:], "Flink: µs an event", "Flink / Sash"]
FLINK_HEADS = ["keys", "query", "µs an event", "events that counted", "windows", "checkpoints"]
FLINK_HEADS += ["share of the busier task"]


@dataclass(frozen=True)
class Selection:
    """The cells of a benchmark, and how many batches come before those that count."""

    keys: tuple[int, ...] = (10, 20_000, 100_000)
    windows: tuple[int, ...] = (100, 10_000, 1_000_000)
    panes: tuple[int, ...] = (10, 600, 86_400)
    middle: int = 20_000
    """The keys for which late rows come."""
    warm_up: int = 60
    """Micro-batches of Spark and of Sash in which the JVM compiles, before any is measured."""
    lead: int = 5
    counted: int = 10
    most_history: int = 10_000_000
    """Rows that may come before those that are measured, to fill the windows."""
    flink_rows: int = 4_000_000
    """After the history."""
    flink_seconds: float = 15
    """That are measured, unless the rows end before."""

    def all(self) -> list[Cell]:
        """Every cell: Spark's and Sash's, and then Flink's; windows ascend."""
        by_spark = [cell for keys in self.keys for cell in self._by_spark(keys)]
        return by_spark + [cell for keys in self.keys for cell in self._by_flink(keys)]

    def fits(self, cell: Cell) -> bool:
        """Whether its windows can be filled in the time that there is."""
        return cell.history <= self.most_history

    def _by_spark(self, keys: int) -> Iterator[Cell]:
        for query, batch in product((PASS_THROUGH, TUMBLING), (LARGE, SMALL)):
            yield Cell(SPARK, query, keys, batch)
        for frame, rows, batch in product(FRAMES, self.windows, (LARGE, SMALL)):
            yield Cell(SASH, frame, keys, batch, rows)
        if keys <= self.middle:
            yield Cell(SASH, "ROWS", keys, rows=100, mode="update")
        for late in (0, 10, 50) if keys == self.middle else ():
            yield Cell(SASH, "ROWS", keys, rows=100, late=late)
        yield Cell(SPARK, HOP, keys, panes=10)
        yield from (Cell(SASH, HOP, keys, panes=panes) for panes in self.panes)

    def _by_flink(self, keys: int) -> Iterator[Cell]:
        yield Cell(FLINK, TUMBLING, keys, 0)
        for frame, rows in product(FRAMES, self.windows):
            yield Cell(FLINK, frame, keys, 0, rows)
        yield from (Cell(FLINK, HOP, keys, 0, panes=panes) for panes in self.panes[:2])


QUICK = Selection((10, 1_000), (100, 10_000), (10,), 1_000, 5, 2, 3, 200_000, 2_000_000, 4)


class Figures:
    """What was measured, by cell."""

    def __init__(self, store: Store) -> None:
        self.of: dict[Cell, dict[str, Any]] = store.results

    def get(self, cell: Cell, name: str = "micros") -> Any:
        return self.of.get(cell, {}).get(name)

    def operations(self, cell: Cell) -> int:
        return (self.get(cell, "gets") or 0) + (self.get(cell, "puts") or 0)

    def ratio(self, ours: Cell, theirs: Cell) -> float | None:
        a, b = self.get(ours), self.get(theirs)
        return a / b if a and b else None


def main() -> None:
    options = flags(
        __doc__,
        memory=("8g", "heap of Spark's JVM"),
        flink_memory=("4g", "heap of Flink's JVM, which gets 2 GB besides"),
        limit=(75.0, "seconds for Flink to fill windows; ROWS: twice"),
    )
    selection = QUICK if options.quick else Selection()
    about = {"counted": selection.counted, "limit": options.limit}
    store = Store(options, "stream", lambda cell: Cell(**cell), **about)
    if not options.report:
        wanted = [c for c in selection.all() if selection.fits(c) and is_chosen(options, str(c))]
        todo = [c for c in wanted if c not in store.results]
        with tempfile.TemporaryDirectory() as scratch:
            _Run(selection, store, todo, options, Path(scratch)).all()
    _write(store, selection, options.out)


class _Run:
    """One after the other: Spark with Sash, then Flink, each in a JVM that then ends."""

    def __init__(
        self,
        selection: Selection,
        store: Store,
        todo: list[Cell],
        options: argparse.Namespace,
        scratch: Path,
    ) -> None:
        self._selection, self._store, self._options = selection, store, options
        self._by_spark = [cell for cell in todo if cell.engine != FLINK]
        self._by_flink = [cell for cell in todo if cell.engine == FLINK]
        self._scratch = scratch
        self._progress = Progress(len(todo))

    def all(self) -> None:
        if self._by_spark or self._by_flink:
            self._measure_flink(self._measure_spark())

    def _measure_spark(self) -> dict[Cell, Answers]:
        selection, expected = self._selection, {}
        with streams.session(self._options.memory) as spark:
            for cell in COMPARED:
                streams.run(spark, cell, self._scratch / "stream", BATCHES, "memory")
                expected[cell] = _answers(spark.table("answers").toArrow())
                spark.catalog.dropTempView("answers")
            warm_up = [Cell(SPARK, TUMBLING, 10), Cell(SASH, "ROWS", 10, rows=100)]
            for cell in warm_up if self._by_spark else []:
                self._spark(spark, [cell], selection.warm_up)
            for _, group in groupby(self._by_spark, key=lambda cell: cell.run):
                cells = list(group)
                found = self._spark(spark, cells, selection.lead)
                self._store.add(found, Spark=spark.version)
                self._progress.advance(len(cells), str(cells[-1]))
        return expected

    def _spark(self, spark: Any, cells: list[Cell], lead: int) -> dict[Cell, dict[str, Any]]:
        """Cells of one run, whose batches of each size come in turn; the last ones count."""
        counted = self._selection.counted
        batches = [cell.batch for cell in cells for _ in range(lead + counted)]
        progress = streams.run(spark, cells[0], self._scratch / "stream", batches)
        return {cell: streams.figures(cell, progress, counted) for cell in cells}

    def _measure_flink(self, expected: dict[Cell, Answers]) -> None:
        work = self._scratch / "flink"
        with stream_flink.running(self._options.flink_memory, work) as flink:
            self._store.about["compared"] = _compare(flink, expected, self._scratch)
            warm_up = [Cell(FLINK, TUMBLING, 10, 0), Cell(FLINK, HOP, 10, 0, panes=10)]
            for cell in warm_up if self._by_flink else []:
                self._flink(flink, cell)
            for cell in self._by_flink:
                found = self._of_shorter(cell) or self._flink(flink, cell)
                self._store.add({cell: found}, Flink=flink.version)
                self._progress.advance(1, str(cell))

    def _flink(self, flink: Flink, cell: Cell) -> dict[str, Any]:
        """With a checkpoint as often as a large batch of the query ends in Spark."""
        selection = self._selection
        ours = cell.by(SPARK if cell.query == TUMBLING else SASH, LARGE)
        interval_ms = round((Figures(self._store).get(ours) or 5) * LARGE / 1000)
        limit = self._options.limit * (UNWALKED if cell.query == "ROWS" else 1)
        limits = Limits(selection.flink_rows, limit, selection.flink_seconds)
        path = streams.in_one(self._scratch / "flink.parquet", cell, limits.rows)
        return flink.measure(cell, path, interval_ms, limits)

    def _of_shorter(self, cell: Cell) -> dict[str, Any] | None:
        """Those of a shorter window that was given up or took long: a longer takes no less."""
        for rows in self._selection.windows if cell.over else ():
            shorter = self._store.results.get(replace(cell, rows=rows)) or {"micros": 0}
            is_long = shorter.get("stopped") or shorter["micros"] > TOO_LONG
            if rows < cell.rows and is_long:
                return {**shorter, "stopped": f"not tried: no less than {rows:,} rows"}
        return None


def _compare(flink: Flink, expected: dict[Cell, Answers], scratch: Path) -> int:
    """Fail unless Flink gives the same answers, which a benchmark needs; how many there are.

    Spark and Sash do not answer what the watermark has not passed.
    """
    total = 0
    for place, (cell, ours) in enumerate(expected.items()):
        folder = scratch / f"flink-answers-{place}"
        source = streams.in_one(folder / "in.parquet", cell, sum(BATCHES))
        flink.answer(cell.by(FLINK, cell.batch), source, folder / "out")
        files = [f for f in (folder / "out").rglob("*") if f.is_file()]
        theirs = _answers(pa.concat_tables(pq.read_table(f) for f in files))
        last = max(ms for _, ms, _ in ours)
        if ours != {answer for answer in theirs if answer[1] <= last}:
            raise SystemExit(f"{cell}: Flink's answers are others")
        if cell.over and len(ours) < sum(BATCHES[:-2]):
            raise SystemExit(f"{cell}: just {len(ours)} answers")
        total += len(ours)
    return total


def _answers(found: pa.Table) -> Answers:
    ms = found["ts"].cast(pa.timestamp("ms"), safe=False).cast(pa.int64())
    keys, sums = found["k"].to_pylist(), found["s"].to_pylist()
    return set(zip(keys, ms.to_pylist(), sums, strict=True))


def _write(store: Store, selection: Selection, out: Path) -> None:
    about, figures = store.about, Figures(store)
    compared = about.get("compared")
    headline = summary.table("Sash's time over the time of", _comparisons(figures))
    sections = [
        "\n".join([f"## {keys:,} keys\n", *table(HEADS, _rows(figures, selection, keys))])
        for keys in selection.keys
    ]
    frames = ["keys", "frame", "rows of a batch", *(f"n = {n:,}" for n in selection.windows)]
    operations = table(
        [*frames, "MB of state, longest window"], _operations(figures, selection), "frame"
    )
    text = PAGE.format(
        headline="\n".join(headline).strip(),
        tables="\n\n".join(sections),
        operations="\n".join(operations).replace("|---|---|", "|--:|---|"),
        flink="\n".join(table(FLINK_HEADS, _flink(figures), "query,windows")).replace(
            "|---|---|", "|--:|---|", 1
        ),
        counted=about["counted"],
        warm_up=selection.warm_up + selection.counted,
        limit=about["limit"],
        longer=about["limit"] * UNWALKED,
        too_long=TOO_LONG,
        chunk=CHUNK,
        lead=LEAD_SECONDS,
        measured=selection.flink_seconds,
        most=selection.most_history,
        middle=selection.middle,
        compared=f"{compared:,} answers were compared before, and were the same."
        if compared
        else "",
        circumstances=machine.sentence(about),
    )
    page(out / "stream.md", text)
    _draw(figures, selection, out / "stream.svg")


def _rows(figures: Figures, selection: Selection, keys: int) -> Iterator[list[str]]:
    for cell in selection.all():
        if cell.keys == keys and cell.batch == LARGE:
            is_sparks = (cell.engine, cell.query) == (SPARK, HOP)
            name = f"Spark's {cell.name}" if is_sparks else cell.name
            if any(c in figures.of for c in _sides(cell)):
                yield [name, *_row(figures, cell)]
            elif not selection.fits(cell):
                yield [name, *["–"] * 8]


def _sides(cell: Cell) -> tuple[Cell, Cell, Cell]:
    """The cell with large batches and with small ones, and Flink's."""
    return cell, cell.by(cell.engine, SMALL), cell.by(FLINK, 0)


def _row(figures: Figures, cell: Cell) -> Iterator[str]:
    large, small, flink = _sides(cell)
    for side in (large, small):
        yield or_empty(figures.get(side), "{:.2f}")
        yield or_empty(figures.ratio(side, _tumbling(side)), "{:.2f}")
        yield or_empty(figures.get(side, "slowest"), "{:.2f}")
    has_theirs = cell.engine == SASH or cell.query == TUMBLING
    more = "> " if figures.get(flink, "stopped") else ""
    yield or_empty(figures.get(flink) if has_theirs else None, more + "{:,.2f}")
    ratio = figures.ratio(flink, large) if cell.engine == SASH else None
    yield f"{more}{ratio:,.{0 if ratio > 10 else 2}f}" if ratio else ""


def _operations(figures: Figures, selection: Selection) -> Iterator[list[str]]:
    for keys, frame, batch in product(selection.keys, FRAMES, (LARGE, SMALL)):
        cells = [Cell(SASH, frame, keys, batch, rows) for rows in selection.windows]
        if measured := [cell for cell in cells if cell in figures.of]:
            shown = [
                f"{figures.get(c, 'gets'):,} + {figures.get(c, 'puts'):,} "
                f"({figures.operations(c) / batch:.3f})"
                if c in figures.of
                else "–"
                for c in cells
            ]
            megabytes = figures.get(measured[-1], "state_mb") or 0
            yield [f"{keys:,}", frame, f"{batch:,}", *shown, f"{megabytes:,.0f}"]


def _flink(figures: Figures) -> Iterator[list[str]]:
    for cell, f in figures.of.items():
        if cell.engine == FLINK:
            stopped, busier = f["stopped"], f["busier"] if cell.over else None
            took = f"{'> ' if stopped else ''}{f['micros']:,.2f}"
            of = f"{f['events']:,}", stopped or "full", f"{f['checkpoints']:,}"
            yield [f"{cell.keys:,}", cell.name, took, *of, or_empty(busier or None, "{:.2f}")]


def _comparisons(figures: Figures) -> list[Comparison]:
    """Each kind of ratio, with the bound that was asked for."""
    of_sash = [cell for cell in figures.of if cell.engine == SASH]
    over = [cell for cell in of_sash if cell.over and cell.plain]
    hops = [cell for cell in of_sash if cell.query == HOP]
    updated = [cell for cell in of_sash if cell.mode == "update"]
    late = [cell for cell in of_sash if cell.late]
    many = [cell for cell in hops if (cell.keys, cell.panes) == (MANY_KEYS, 10)]
    ascending = sorted(over, key=lambda cell: cell.rows)
    longest = {replace(cell, rows=0): cell for cell in ascending}.values()
    slowest = [Ratio(f, _where(c)) for c in of_sash if (f := figures.get(c, "slowest"))]
    # a window of 10,000 rows is the first that a large batch of ten keys does not outrun
    operations = [
        Ratio(figures.operations(cell) / theirs, _where(cell))
        for cell in longest
        if cell.rows > 10_000 and (theirs := figures.operations(replace(cell, rows=10_000)))
    ]

    def ratios(cells: list[Cell], theirs: Callable[[Cell], Cell]) -> list[Ratio]:
        found = [(figures.ratio(cell, theirs(cell)), cell) for cell in cells]
        return [Ratio(ratio, _where(cell)) for ratio, cell in found if ratio is not None]

    def flink(cell: Cell) -> Cell:
        return cell.by(FLINK, 0)

    flat = ratios([c for c in longest if c.rows > 100], lambda cell: replace(cell, rows=100))
    in_store = "itself, in gets and puts: the longest windows over windows of 10,000 rows"
    of_many = ratios(many, lambda cell: cell.by(SPARK, cell.batch))
    in_time = ratios(late, lambda cell: replace(cell, late=0))
    in_append = ratios(updated, lambda cell: replace(cell, mode="append"))
    by_flink = {b: ratios([c for c in over if c.batch == b], flink) for b in (LARGE, SMALL)}
    return [
        Comparison("Spark's tumbling windows: OVER", 1, ratios(over, _tumbling)),
        Comparison("itself: the longest windows over windows of 100 rows", 1.2, flat),
        Comparison(in_store, 1.2, operations),
        *(Comparison(f"Flink's OVER, batches of {b:,}", 0.5, of) for b, of in by_flink.items()),
        Comparison("Spark's tumbling windows: hops", 1.25, ratios(hops, _tumbling)),
        Comparison(f"Spark's hops, 10 panes, {MANY_KEYS:,} keys", 0.25, of_many),
        Comparison("itself: rows out of order over none", round(LATE, 2), in_time),
        Comparison("its median batch: the slowest one", 3, slowest),
        Comparison("itself: update mode over append", None, in_append),
        Comparison("Flink's hops", None, ratios(hops, flink)),
    ]


def _tumbling(cell: Cell) -> Cell:
    return Cell(SPARK, TUMBLING, cell.keys, cell.batch)


def _where(cell: Cell) -> str:
    return f"{cell.keys:,} keys, {cell.name}, batches of {cell.batch:,}"


def _draw(figures: Figures, selection: Selection, path: Path) -> None:
    """A panel for each number of keys, and a mark for each time: the axis is logarithmic."""
    panels = {k: dict.fromkeys(c.name for c in figures.of if c.keys == k) for k in selection.keys}
    panels = {keys: queries for keys, queries in panels.items() if queries}
    heights = [len(queries) for queries in panels.values()]
    size = 9, 1.6 + 0.36 * sum(heights) + 0.8 * len(heights)
    more = {"sharex": True, "height_ratios": heights or None}
    with chart(path, size, (max(1, len(panels)), 1), **more) as (figure, axes):
        for (keys, names), axis in zip(panels.items(), axes, strict=False):
            queries = list(names)
            for cell, of in figures.of.items():
                if cell.keys == keys:
                    place = of["micros"], queries.index(cell.name)
                    mark = {"marker": ">" if of.get("stopped") else "o", "ms": 8, "ls": ""}
                    fill = "full" if cell.batch in (LARGE, 0) else "none"
                    axis.plot(*place, **mark, fillstyle=fill, color=COLOURS[cell.engine])
            axis.set_yticks(range(len(queries)), labels=queries)
            axis.set_ylim(len(queries) - 0.5, -0.5)  # the first at the top
            axis.set(xscale="log", title=f"{keys:,} keys")
            axis.xaxis.set_major_formatter(lambda x, _: f"{x:,.0f}" if x >= 1 else f"{x:g}")
            axis.xaxis.set_minor_formatter(NullFormatter())
            axis.tick_params(labelbottom=True)
            axis.grid(alpha=0.25)
        marks: list[tuple[str, str, str, Any]] = [
            (f"{who}, batches of {batch:,}", who, "o", fill)
            for who in (SASH, SPARK)
            for batch, fill in ((LARGE, "full"), (SMALL, "none"))
        ]
        marks += [("Flink", FLINK, "o", "full"), ("Flink takes more", FLINK, ">", "full")]
        handles = [
            Line2D([], [], ls="", marker=mark, ms=8, fillstyle=fill, color=COLOURS[who], label=of)
            for of, who, mark, fill in marks
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
        figure.suptitle("Microseconds an event", weight="bold")


if __name__ == "__main__":
    main()
