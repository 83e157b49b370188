"""The picture of docs/training-sets.md: events, labels, and the windows before the labels.

python docs/images/training_sets.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle

BLUE, RED, GREY = "#0072B2", "#D55E00", "#777777"
SPAN = 7
EVENTS = [(1, 20), (4, 15), (10, 30), (12, 90), (15, 60), (19, 25)]
"""Days of March and amounts."""
LABELS = [(8, "no fraud"), (12, "fraud")]
FIRST, LAST = -0.6, 24


def main() -> None:
    """Draw it beside this file."""
    plt.rcParams.update({"font.size": 11, "svg.hashsalt": "sash", "svg.fonttype": "none"})
    figure, axis = plt.subplots(figsize=(11, 3.6), layout="constrained")
    for row, (day, label) in enumerate(LABELS, 1):
        _label(axis, row, day, label)
    for day, amount in EVENTS:
        axis.plot(day, 0, "o", color="black", ms=9)
        axis.text(day, -0.32, f"{amount} €", ha="center", color="black")
    axis.plot((FIRST, EVENTS[-1][0] + 1), (0, 0), color=GREY, lw=1, zorder=0)
    axis.set(xlim=(FIRST, LAST), ylim=(2.75, -0.65))
    axis.set_xticks(range(1, 21, 3), [f"{day} March" for day in range(1, 21, 3)])
    axis.set_yticks(range(3), ["Ann's payments", *(f"label: {label}" for _, label in LABELS)])
    axis.tick_params(length=0)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.plot([], [], "o", color=BLUE, label="in the feature")
    axis.plot([], [], "x", color=RED, mew=2, label="the future: a leak")
    axis.plot([], [], "o", color=GREY, mfc="white", label="too old")
    axis.legend(loc="lower left", ncols=3, frameon=False)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


def _label(axis: plt.Axes, row: int, day: int, label: str) -> None:
    axis.add_patch(Rectangle((day - SPAN, row - 0.3), SPAN, 0.6, color=BLUE, alpha=0.15, lw=0))
    colour = RED if label == "fraud" else BLUE
    axis.plot([day] * 2, [row - 0.42, row + 0.42], color=colour, lw=3)
    known = [(d, amount) for d, amount in EVENTS if day - SPAN <= d < day]
    for d, _ in EVENTS:
        if d >= day:
            axis.plot(d, row, "x", color=RED, ms=8, mew=2)
        elif d < day - SPAN:
            axis.plot(d, row, "o", color=GREY, mfc="white", ms=8)
        else:
            axis.plot(d, row, "o", color=BLUE, ms=8)
    total = sum(amount for _, amount in known)
    axis.text(LAST, row + 0.06, f"7 days: {total} €", ha="right", color=BLUE, weight="bold")


if __name__ == "__main__":
    main()
