"""The page and the chart of refreshed tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt

import machine
import sections
from cells import DUCKDB, NAIVE, RUNNING, SASH, SEGMENT_TREE
from charts import COLOURS

WHOLE, DBT, BY_HAND = "whole", "dbt", "by hand"
NAMES = {
    SASH: "sash.refresh",
    WHOLE: "whole run",
    DBT: "last 90 days, as dbt",
    BY_HAND: "the day by hand",
    DUCKDB: "whole run of DuckDB",
}
PAINT = dict(zip(NAMES, (SASH, RUNNING, NAIVE, SEGMENT_TREE, DUCKDB), strict=True))


class Cell(NamedTuple):
    """A change of the events: rows that are spread evenly over some of the days."""

    title: str
    share: float | None
    """Of all rows; none for as many as a day has."""
    days: int | None = None
    """The last ones; none for all of them."""
    beside: str | None = None


CELLS = [
    Cell("0.1 % late in the last week", 1e-3, 7, DBT),
    *(Cell(f"{100 * share:g} % over the year", share) for share in (1e-5, 1e-4, 1e-3, 1e-2)),
    Cell("a new day", None, 1, BY_HAND),
]
LATE, *SPREAD, NEW = (cell.title for cell in CELLS)
BARRED = SPREAD[2]
PAGE = """\
# Tables of windows, refreshed

{rows:,} events of {users:,} users, spread evenly over a year, in a table of Delta by day with
its change feed. A second table, also by day and with deletion vectors, has sums, counts, means
and maxima of each user's last 7 and 30 days, for each event. Events are inserted, and
`sash.refresh` brings the second table up to date, beside the whole query, which is written to a
table of its own. Each time that table and the refreshed one were equal. On {cores} cores, with
a heap of {memory}; each run is one, in a JVM that is warm from {small:,} rows. The process reads
these bytes from files: the tables, the change feed, and Delta's log.

![Seconds of each run](refresh.svg)

| changed | | seconds | of the whole run | MB read | of the whole run |
|---|---|--:|--:|--:|--:|
{lines}

*As dbt* deletes the answers of the last 90 days, and inserts them again from the events of the
last 120. *By hand* answers the new day from the events of the last 31 days; then the table is
restored. Delta has loaded the tables' state before each run. DuckDB {duckdb} reads the same files
of events, and writes one file of Parquet.

| changed | rows | keys, of all | rows read | answers computed | inserted | updated |
|---|--:|--:|--:|--:|--:|--:|
{counts}

## Bars

| | must be at most | is | |
|---|--:|--:|---|
{bars}

{spread}

{circumstances}
"""


def report(about: dict[str, Any], out: Path, small: int) -> None:
    """Write the page and the chart."""
    results = {result["title"]: result for result in about["results"]}
    lines, counts = [], []
    for title, result in results.items():
        whole = result["runs"][WHOLE]
        for name, run in result["runs"].items():
            shares = [f"{run[unit] / whole[unit]:.3f}" for unit in ("seconds", "bytes")]
            mb = f"{run['bytes'] / 1e6:,.1f}"
            lines.append(
                f"| {title} | {NAMES[name]} | {run['seconds']:.1f} | {shares[0]} | {mb} "
                f"| {shares[1]} |"
            )
        keys = f"{result['keys']:,}, {_percent(result['keys'] / about['users'])}"
        numbers = " | ".join(f"{result[n]:,}" for n in ("read", "answers", "inserted", "updated"))
        counts.append(f"| {title} | {result['rows']:,} | {keys} | {numbers} |")
    engine = about[DUCKDB]["seconds"]
    share = engine / whole["seconds"]
    lines.append(f"| {title} | {NAMES[DUCKDB]} | {engine:.1f} | {share:.3f} | | |")
    text = PAGE.format(
        lines="\n".join(lines),
        counts="\n".join(counts),
        bars="\n".join(_bars(results)),
        spread=_spread(results, about["users"]),
        duckdb=about["versions"]["DuckDB"],
        small=small,
        circumstances=machine.sentence(about),
        **{name: about[name] for name in ("rows", "users", "cores", "memory")},
    )
    sections.write(out / "refresh.md", text)
    _chart([*results.values()], engine, out / "refresh.svg")
    print(text)


def _bars(results: dict[str, dict[str, Any]]) -> list[str]:
    asked = [
        (LATE, "seconds", WHOLE, 0.12),
        (LATE, "bytes", WHOLE, 0.12),
        (BARRED, "seconds", WHOLE, 1),
        (NEW, "seconds", BY_HAND, 1.5),
    ]
    lines = []
    for title, unit, other, most in asked:
        if title not in results:
            continue
        runs = results[title]["runs"]
        ratio = runs[SASH][unit] / runs[other][unit]
        met = "met" if ratio <= most else "missed"
        lines.append(
            f"| {title}: {unit} of {NAMES[SASH]}, of {NAMES[other]} | {most:g} | {ratio:.2f} "
            f"| {met} |"
        )
    return lines


def _spread(results: dict[str, dict[str, Any]], users: int) -> str:
    """From which share of the keys on a whole run is cheaper."""
    dearer = [
        results[title]["keys"] / users
        for title in results.keys() & SPREAD
        if results[title]["runs"][SASH]["seconds"] > results[title]["runs"][WHOLE]["seconds"]
    ]
    if not dearer:
        return "Refreshing was cheaper than a whole run at each of these shares."
    share = _percent(min(dearer))
    return (
        f"A whole run was cheaper where {share} of the keys, or more, had changes over the year."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _chart(results: list[dict[str, Any]], engine: float, path: Path) -> None:
    plt.rcParams.update({"font.size": 11, "svg.hashsalt": "sash", "svg.fonttype": "none"})
    figure, axis = plt.subplots(figsize=(10, 5), layout="constrained")
    bars = [
        (r["title"], name, run["seconds"]) for r in results for name, run in r["runs"].items()
    ]
    bars.append((results[-1]["title"], DUCKDB, engine))
    for at, (title, name, seconds) in enumerate(bars):
        axis.barh(at, seconds, color=COLOURS[PAINT[name]])
        beside = {"va": "center", "textcoords": "offset points", "annotation_clip": False}
        axis.annotate(f"{NAMES[name]}, {seconds:.1f}", (seconds, at), (5, 0), **beside)
        if at == 0 or bars[at - 1][0] != title:
            axis.annotate(title, (0, at), (-5, 0), **beside, ha="right", weight="bold")
    axis.set(xlabel="seconds", yticks=[])
    axis.invert_yaxis()
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
