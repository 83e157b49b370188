"""Few labels beside many events: measures the cells, and writes few.json and few.md."""

from __future__ import annotations

import argparse
import re
import statistics
import tempfile
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import few_engines
import machine
from dataset import SEED
from few_cells import (
    AGGREGATES,
    COLUMNS,
    DUCKDBS,
    FEW_ENGINES,
    NAMES,
    ONE_BY_ONE,
    SASH,
    SCAN,
    SPARK,
    VALUES,
    FewCell,
    FewQuery,
    engines,
    queries,
)
from progress import Progress
from results import opened, save
from sections import write
from workers import Worker, use, versions, working

LABELS = [100, 10_000, 100_000, 1_000_000]
USERS = 20_000
YEAR = 365 * 24 * 60 * 60 * 1_000_000
"""Microseconds."""
SMALL = (2_000, 100_000, 200)
"""Labels, events and users of the tables over which answers are compared."""
BESIDE = (ONE_BY_ONE, SPARK, SCAN)
Measured = dict[FewCell, dict[str, float]]
PAGE = """\
# Few labels beside many events

Seconds for all labels: {measured}, on {cores} cores.
{events:,} events of {users:,} users and the labels have times that are spread evenly over a year,
in no order. Both tables are Parquet files, which each run reads. Spark's rows go to the `noop`
sink, DuckDB returns an Arrow table. Engines run in processes of their own and take turns.

*Sash* has its default settings. *One by one* is Sash with `spark.sash.lateral.sliceThreshold=-1`.
DuckDB has the time of its quickest way that was measured: a range join for aggregates, for 90
days of 1,000,000 labels also the union of labels and events under OVER, ASOF JOIN for the last
event, and a range join with `row_number` for the last five. *Spark*, without the jar, runs a
range join, or its ASOF JOIN where it has one. *Scan* is Spark alone, which reads the columns of
the events and adds them up. Sash has read and exchanged the rows and bytes of the last columns,
and all threads of its process took the CPU seconds.

Over {small} the answers of all engines were equal.

{quicker}{circumstances}
"""


def run(options: argparse.Namespace) -> None:
    """Measure what the flags select, and write the page."""
    out: Path = options.out
    file = out / "few.json"
    about = {**machine.about(), "runs": options.runs, "cores": options.cores}
    about["events"] = options.events
    about, results = opened(file, None if options.report else about, options.resume)
    measured = {FewCell.load(r["cell"]): r["counts"] for r in results}
    if not options.report:
        _measure(file, about, measured, options)
    _write(out / "few.md", about, measured)


def _measure(
    file: Path, about: dict[str, Any], measured: Measured, options: argparse.Namespace
) -> None:
    has_asof = few_engines.has_asof()
    turns = [
        [
            cell
            for engine in engines(query, labels, has_asof)
            if re.search(options.cells, (cell := FewCell(engine, labels, query)).id)
        ]
        for labels in options.few_labels
        for query in queries()
    ]
    progress = Progress(max(1, sum(len(turn) for turn in turns)))
    with (
        tempfile.TemporaryDirectory() as scratch,
        working(FEW_ENGINES, options.cores, options.memory) as workers,
    ):
        _compare(Path(scratch) / "small", workers, turns)
        events = Path(scratch) / "events.parquet"
        random = np.random.default_rng(SEED)
        _table(random, options.events, USERS, VALUES).write_parquet(events, row_group_size=10**6)
        loaded = 0
        for turn in turns:
            todo = [cell for cell in turn if cell not in measured]
            if turn and turn[0].labels != loaded:
                loaded = turn[0].labels
                folder = Path(scratch) / str(loaded)
                folder.mkdir()
                (folder / "events.parquet").hardlink_to(events)
                _labels(random, folder, loaded, USERS)
                use(workers, folder)
            measured |= _turn(todo, workers, options)
            if turn:
                about["versions"].update(versions(workers))
                results = [
                    {"cell": cell.saved(), "counts": counts} for cell, counts in measured.items()
                ]
                save(file, {**about, "results": results})
                progress.advance(len(turn), f"{turn[-1].labels:,} labels, {turn[-1].query}")


def _compare(folder: Path, workers: dict[str, Worker], turns: Iterable[list[FewCell]]) -> None:
    """All engines that are measured have one answer over small tables."""
    labels, events, users = SMALL
    random = np.random.default_rng(SEED)
    folder.mkdir()
    (folder / "small").touch()
    _labels(random, folder, labels, users)
    _table(random, events, users, VALUES).write_parquet(folder / "events.parquet")
    use(workers, folder)
    asked = dict.fromkeys((cell.query, cell.engine) for turn in turns for cell in turn)
    progress = Progress(max(1, len(asked)))
    for query, engine in asked:
        workers[engine].run(query, 100, check=True)
        progress.advance(1, f"{_small()}: {NAMES[engine]}, {query}")


def _turn(
    cells: list[FewCell], workers: dict[str, Worker], options: argparse.Namespace
) -> Measured:
    """The best run of each cell; the first one warms up. Slow cells run once."""
    best: Measured = {}
    warm: dict[FewCell, float] = {}
    for number in range(options.runs + 1):
        for cell in cells:
            if number > 1 and warm.get(cell, 0.0) > options.budget / 5:
                continue
            if cell in warm and warm[cell] < 0:
                continue
            took = workers[cell.engine].run(cell.query, options.budget, check=number == 0)
            if number == 0:
                warm[cell] = -1.0 if took is None else took
            elif took is not None and took < best.get(cell, {}).get("seconds", 1e9):
                best[cell] = {"seconds": took, **workers[cell.engine].counts}
    return best


def _labels(random: np.random.Generator, folder: Path, rows: int, users: int) -> None:
    labels = _table(random, rows, users, 0).with_columns(pl.int_range(rows).alias("id"))
    labels.write_parquet(folder / "labels.parquet")


def _table(random: np.random.Generator, rows: int, users: int, values: int) -> pl.DataFrame:
    """A user, a time in each type, and values."""
    start = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp()) * 1_000_000
    micros = pl.Series("micros", start + random.integers(0, YEAR, size=rows))
    frame = pl.DataFrame({"user_id": random.integers(0, users, size=rows)}).with_columns(
        micros.cast(pl.Datetime("us", "UTC")).alias(COLUMNS["TIMESTAMP"]),
        micros.cast(pl.Datetime("us")).alias(COLUMNS["TIMESTAMP_NTZ"]),
        micros.cast(pl.Datetime("us")).cast(pl.Date).alias(COLUMNS["DATE"]),
        (micros // 1_000_000).alias(COLUMNS["BIGINT"]),
        (micros // 1_000_000).cast(pl.Int32).alias(COLUMNS["INT"]),
    )
    return frame.with_columns(pl.Series(f"a{i}", random.normal(size=rows)) for i in range(values))


def _small() -> str:
    labels, events, users = SMALL
    return f"{labels:,} labels and {events:,} events of {users} users"


def _write(page: Path, about: dict[str, Any], measured: Measured) -> None:
    head = PAGE.format(
        measured=machine.measured(about["runs"]),
        cores=about["cores"],
        events=about["events"],
        users=USERS,
        small=_small(),
        quicker=_quicker_than_scan(measured),
        circumstances=machine.sentence(about),
    )
    lines = [head, "## Bars", "", *_bars(measured)]
    for labels in sorted({cell.labels for cell in measured}):
        lines += ["", f"## {labels:,} labels", "", *_rows(measured, labels)]
    write(page, "\n".join(lines) + "\n")


def _seconds(measured: Measured, engine: str, labels: int, query: FewQuery) -> float | None:
    found = measured.get(FewCell(engine, labels, query))
    return found["seconds"] if found else None


def _duckdb(measured: Measured, labels: int, query: FewQuery) -> tuple[float, str] | None:
    """DuckDB's best time, and the way."""
    times = [(_seconds(measured, engine, labels, query), NAMES[engine]) for engine in DUCKDBS]
    return min(((took, name) for took, name in times if took is not None), default=None)


def _bars(measured: Measured) -> Iterator[str]:
    yield "| | median | asked | worst | asked |"
    yield "|---|--:|--:|--:|--:|"
    labels = sorted({cell.labels for cell in measured})
    for many in labels:
        ratios = [
            own / best[0]
            for query in queries()
            if (own := _seconds(measured, SASH, many, query))
            and (best := _duckdb(measured, many, query))
        ]
        asked = ("1.0", "1.5") if many <= 100_000 else ("", "")
        yield _bar(f"{many:,} labels: Sash, of DuckDB's best", ratios, *asked)
    for many in labels:
        times = {q: _seconds(measured, SASH, many, q) for q in queries()}
        spans = [
            long / short
            for q, long in times.items()
            if q.asks == AGGREGATES
            and q.days == 90
            and long
            and (short := times.get(FewQuery(q.asks, q.time, q.features, 7)))
        ]
        yield _bar(f"{many:,} labels: 90 days, of 7 days", spans, worst="1.1")
        types = [t for q, t in times.items() if _is_of_types(q) and t]
        ratios = [t / min(types) for t in types]
        yield _bar(f"{many:,} labels: types of time, of the quickest", ratios, worst="1.05")
        one = [
            t / other
            for q, t in times.items()
            if t and (other := _seconds(measured, ONE_BY_ONE, many, q))
        ]
        yield _bar(f"{many:,} labels: Sash, of events one by one", one)


def _quicker_than_scan(measured: Measured) -> str:
    """A sentence that names how many labels DuckDB answers before Spark has read the events."""
    found = []
    for many in sorted({cell.labels for cell in measured}):
        pairs = [
            (best[0], scan)
            for query in queries()
            if (scan := _seconds(measured, SCAN, many, query))
            and (best := _duckdb(measured, many, query))
        ]
        if pairs and all(best < scan for best, scan in pairs):
            found.append(f"{many:,}")
    if not found:
        return ""
    return (
        f"Beside {' and '.join(found)} labels DuckDB takes less than Spark's scan alone,\n"
        "wherever both were measured, so that no plan in Spark reaches it.\n\n"
    )


def _is_of_types(query: FewQuery) -> bool:
    return (query.asks, query.features, query.days) == (AGGREGATES, 5, 7)


def _bar(what: str, ratios: list[float], median: str = "", worst: str = "") -> str:
    if not ratios:
        return f"| {what} | | | | |"
    middle = statistics.median(ratios)
    return f"| {what} | {middle:.2f} | {median} | {max(ratios):.2f} | {worst} |"


def _rows(measured: Measured, labels: int) -> Iterator[str]:
    yield (
        "| | Sash | DuckDB | its way | Sash, of DuckDB | one by one | Spark | scan | CPU seconds "
        "| rows read | rows exchanged | MB exchanged |"
    )
    yield "|---|--:|--:|---|" + "--:|" * 8
    for query in queries():
        own = measured.get(FewCell(SASH, labels, query))
        if own is None:
            continue
        best = _duckdb(measured, labels, query)
        ratio = f"{own['seconds'] / best[0]:.2f}" if best else ""
        others = [_seconds(measured, engine, labels, query) for engine in BESIDE]
        cells = [
            _shown(own["seconds"]),
            _shown(best[0]) if best else "",
            best[1] if best else "",
            ratio,
            *("" if other is None else _shown(other) for other in others),
            _shown(own["cpu"]),
            f"{own['read']:,.0f}",
            f"{own['exchanged']:,.0f}",
            f"{own['bytes'] / 1e6:,.1f}",
        ]
        yield f"| {query} | {' | '.join(cells)} |"


def _shown(seconds: float) -> str:
    return f"{seconds:.3g}"
