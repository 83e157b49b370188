"""stream.md: what must be reached and what is, then every figure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import machine
import sections
import stream_chart
import summary
from stream_cells import (
    FLINK,
    FRAMES,
    HOP,
    LARGE,
    SASH,
    SMALL,
    SPARK,
    TUMBLING,
    Cell,
    Selection,
)
from stream_files import CHUNK
from stream_flink import LEAD_SECONDS, TOO_LONG, UNWALKED
from stream_results import Store, as_engine
from stream_summary import comparisons

ABOUT = """\
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


def write(store: Store, selection: Selection, out: Path) -> None:
    """Write the report and its chart."""
    about = store.about
    compared = about.get("compared")
    text = ABOUT.format(
        headline="\n".join(
            summary.table("Sash's time over the time of", comparisons(store))
        ).strip(),
        tables="\n\n".join("\n".join(_table(store, selection, k)) for k in selection.keys),
        operations="\n".join(_operations(store, selection)),
        flink="\n".join(_flink(store)),
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
    sections.write(out / "stream.md", text)
    stream_chart.write(store, selection, out / "stream.svg")


def _table(store: Store, selection: Selection, keys: int) -> Iterator[str]:
    yield f"## {keys:,} keys\n"
    yield (
        "| query | batches of 100,000: µs an event | of tumbling | slowest of the median "
        "| batches of 10,000: µs an event | of tumbling | slowest of the median "
        "| Flink: µs an event | Flink / Sash |"
    )
    yield "|---|" + "--:|" * 8
    queries = [c for c in selection.all() if c.keys == keys and c.batch == LARGE]
    for cell in queries:
        if any(c in store.figures for c in _sides(cell)):
            yield f"| {_named(cell)} | {' | '.join(_row(store, cell))} |"
        elif not selection.fits(cell):
            yield f"| {_named(cell)} |" + " – |" * 8


def _named(cell: Cell) -> str:
    """The query; both Spark and Sash can do hops."""
    return f"Spark's {cell.name}" if (cell.engine, cell.query) == (SPARK, HOP) else cell.name


def _sides(cell: Cell) -> tuple[Cell, Cell, Cell]:
    """The cell with large batches and with small ones, and Flink's."""
    return cell, as_engine(cell, cell.engine, SMALL), as_engine(cell, FLINK, 0)


def _row(store: Store, cell: Cell) -> Iterator[str]:
    large, small, flink = _sides(cell)
    for side in (large, small):
        tumbling = Cell(SPARK, TUMBLING, cell.keys, side.batch)
        figures, ratio = store.figures.get(side), store.ratio(side, tumbling)
        yield f"{figures.micros:.2f}" if figures else ""
        yield f"{ratio:.2f}" if ratio else ""
        yield f"{figures.slowest:.2f}" if figures and figures.slowest else ""
    theirs = store.figures.get(flink) if cell.engine == SASH or cell.query == TUMBLING else None
    more = "> " if theirs and theirs.stopped else ""
    yield f"{more}{theirs.micros:,.2f}" if theirs else ""
    ratio = store.ratio(flink, large) if cell.engine == SASH else None
    yield f"{more}{ratio:,.{0 if ratio > 10 else 2}f}" if ratio else ""


def _operations(store: Store, selection: Selection) -> Iterator[str]:
    heads = " | ".join(f"n = {rows:,}" for rows in selection.windows)
    yield f"| keys | frame | rows of a batch | {heads} | MB of state, longest window |"
    yield "|--:|---|--:|" + "--:|" * (len(selection.windows) + 1)
    for keys, frame, batch in product(selection.keys, FRAMES, (LARGE, SMALL)):
        cells = [Cell(SASH, frame, keys, batch, rows) for rows in selection.windows]
        found = [store.figures.get(cell) for cell in cells]
        if measured := [figures for figures in found if figures]:
            shown = [
                f"{f.gets:,} + {f.puts:,} ({f.operations / batch:.3f})" if f else "–"
                for f in found
            ]
            megabytes = measured[-1].state_mb or 0
            yield f"| {keys:,} | {frame} | {batch:,} | {' | '.join(shown)} | {megabytes:,.0f} |"


def _flink(store: Store) -> Iterator[str]:
    yield (
        "| keys | query | µs an event | events that counted | windows | checkpoints "
        "| share of the busier task |"
    )
    yield "|--:|---|--:|--:|---|--:|--:|"
    for cell, f in store.figures.items():
        if cell.engine == FLINK:
            busier = f"{f.busier:.2f}" if cell.over and f.busier else ""
            yield (
                f"| {cell.keys:,} | {cell.name} | {'> ' if f.stopped else ''}{f.micros:,.2f} "
                f"| {f.events:,} | {f.stopped or 'full'} | {f.checkpoints:,} | {busier} |"
            )
