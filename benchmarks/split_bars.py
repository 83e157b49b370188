"""The bars of divided windows, and how far the tables of the page are from them."""

from __future__ import annotations

import statistics
from typing import NamedTuple

ONE, ORDER, CPU, ROWS = (
    "divided, of one task",
    "of ORDER BY",
    "CPU, of one task",
    "rows read, of P",
)
POSITIONS = ["running sum", "row_number", "last value that is not NULL", "lag"]
SHORT = ["sum, RANGE 1,000 s", "sum, ROWS 1,000"]
LONG = [
    "max, ROWS 100,000",
    "max, ROWS 1,000,000",
    "max, ROWS 10,000,000",
    "sum, RANGE 1,000,000 s",
    "stddev, ROWS 1,000,000",
]


class Bar(NamedTuple):
    """A figure that windows should not go beyond."""

    windows: list[str]
    figure: str
    most: float
    title: str


BARS = [
    Bar(POSITIONS, ONE, 0.70, "totals and positions"),
    Bar(SHORT, ONE, 0.75, "windows of 1,000"),
    Bar(LONG, ONE, 1.0, "windows of 100,000 and more"),
    Bar(POSITIONS, ORDER, 1.0, "totals and positions"),
    Bar(SHORT, ORDER, 0.9, "windows of 1,000"),
    Bar(LONG, ORDER, 1.15, "windows of 100,000 and more"),
    Bar([*POSITIONS, *SHORT, *LONG], CPU, 2.2, "all"),
    Bar([*POSITIONS, *SHORT, *LONG], ROWS, 3.1, "all, in 64 tasks"),
]
TITLE = "## What they should reach"
EXPLANATION = """\
On two cores no window is much faster in many tasks: both cores already work at the scan and at
the exchange, and only the last of three stages runs in one task. In its place come the sample of
the input, which the exchange by range needs, and the first pass. ORDER BY has the sample, too.
Behind a join the sample runs the join once more, so that ORDER BY itself takes longer than the
window in one task. The first pass reads the exchange once more, and long windows read about as
many older rows as their own. Rows of 200 bytes gain most: many tasks sort them in small pieces.
On more cores the last stage is what counts, and the figures at the end say how much. So Sash
divides windows by itself from four cores on."""


def section(lines: list[str]) -> list[str]:
    """The section of the bars, over the lines of the page."""
    found = list(_figures(lines))
    rows = []
    for bar in BARS:
        of = [
            (value, where)
            for window, figure, value, where in found
            if window in bar.windows and figure == bar.figure
        ]
        if of:
            worst, where = max(of)
            median = statistics.median(value for value, _ in of)
            figures = f"{bar.most} | {median:.2f} | {worst:.2f}"
            rows.append(f"| {bar.title} | {bar.figure} | {figures} | {where} |")
    return [
        TITLE,
        "",
        "| windows | figure | should be at most | median | worst | where |",
        "|---|---|--:|--:|--:|---|",
        *rows,
        "",
        *EXPLANATION.split("\n"),
    ]


def _figures(lines: list[str]) -> list[tuple[str, str, float, str]]:
    """Window, figure, value and table of each cell of the page's tables."""
    found, title, names = [], "", []
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("## "):
            title = line.removeprefix("## ")
        elif line.startswith("| window |"):
            names = cells
        elif line.startswith("| ") and names and cells[0] != "*ORDER BY*":
            found += [
                (cells[0], name, float(cell), f"{title}: {cells[0]}")
                for name, cell in zip(names, cells, strict=False)
                if name in (ONE, ORDER, CPU, ROWS)
            ]
    return found
