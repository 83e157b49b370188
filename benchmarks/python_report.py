"""The figures of aggregators in Python, as tables and as a chart."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@dataclass
class Figure:
    """What was measured, and the most that it may be."""

    section: str
    title: str
    window: int
    unit: str
    ours: float
    theirs: float | None
    asked: float
    beside: str
    note: str = ""
    ratio: float = field(init=False)

    def __post_init__(self) -> None:
        """Ours over theirs, or ours where there is nothing beside it."""
        self.ratio = self.ours if self.theirs is None else self.ours / self.theirs

    @property
    def holds(self) -> bool:
        """Whether the bar is met."""
        return self.ratio <= self.asked


def table(figures: list[Figure]) -> str:
    """A table for each section."""
    lines: list[str] = []
    for section in dict.fromkeys(f.section for f in figures):
        lines += [
            f"## {section}",
            "",
            "| | W | Sash | beside it | | ratio | must be at most | |",
            "|---|--:|--:|--:|---|--:|--:|---|",
        ]
        for f in (f for f in figures if f.section == section):
            theirs = "" if f.theirs is None else f"{_short(f.theirs)} {f.unit}"
            verdict = "holds" if f.holds else "**does not hold**"
            notes = f"{f.beside}: {f.note}" if f.note else f.beside
            width = f"{f.window:,}" if f.window else ""
            lines.append(
                f"| {f.title} | {width} | {_short(f.ours)} {f.unit} | {theirs} | {notes} | "
                f"{f.ratio:.2g} | {f.asked:.2g} | {verdict} |"
            )
        lines.append("")
    return "\n".join(lines)


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def draw(figures: list[Figure], title: str, path: Path) -> None:
    """Seconds against the window's length."""
    shown = [f for f in figures if f.title == title]
    if not shown:
        return
    plt.rcParams.update({"font.size": 11, "svg.hashsalt": "sash", "svg.fonttype": "none"})
    figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
    figure.suptitle("Seconds for a million rows, by window length", weight="bold")
    windows = [f.window for f in shown]
    ours, theirs = [f.ours for f in shown], [f.theirs for f in shown]
    axis.plot(windows, ours, marker="o", color="#0072B2", lw=2.5, label="sash.udaf")
    axis.plot(windows, theirs, marker="o", color="#D55E00", lw=2.5, label="pandas UDF, scaled")
    axis.set(xscale="log", yscale="log", xticks=windows, xlabel="rows in the window")
    axis.set_xticklabels([f"{w:,}" for w in windows])
    axis.minorticks_off()
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
