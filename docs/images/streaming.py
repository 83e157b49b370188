"""The picture of docs/streaming.md: rows of a stream, its watermark, and answers.

python docs/images/streaming.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import Rectangle

ROOMS = {"hall": "#0072B2", "kitchen": "#E69F00"}
DELAY = 5
"""Minutes that the watermark is behind."""
BATCHES = [
    [("hall", 0), ("hall", 4), ("kitchen", 5)],
    [("kitchen", 3), ("hall", 11), ("kitchen", 12)],
    [("hall", 2), ("hall", 30)],
    [],
]
"""Rooms and minutes after nine, as they come."""
FIRST, LAST = -4, 33


def main() -> None:
    """Draw it beside this file."""
    plt.rcParams.update({"font.size": 11, "svg.hashsalt": "sash", "svg.fonttype": "none"})
    figure, axis = plt.subplots(figsize=(11, 5), layout="constrained")
    watermarks = _watermarks()
    for number, watermark in enumerate(watermarks):
        _final(axis, number, watermark)
    for number, rows in enumerate(BATCHES):
        for room, minute in rows:
            _row(axis, number, room, minute, watermarks)
    _window(axis)
    _notes(axis)
    axis.set(xlim=(FIRST, LAST), ylim=(len(BATCHES) - 0.35, -0.75))
    axis.set_xticks(range(0, LAST, 5), [f"09:{m:02d}" for m in range(0, LAST, 5)])
    names = [f"batch {i + 1}" for i in range(len(BATCHES) - 1)] + ["batch 4,\nwithout rows"]
    axis.set_yticks(range(len(BATCHES)), names)
    axis.tick_params(length=0)
    axis.set_xlabel("event time")
    axis.spines[["top", "right", "left"]].set_visible(False)
    for room, colour in ROOMS.items():
        axis.plot([], [], "o", color=colour, label=room)
    axis.plot([], [], "o", color="black", mfc="white", label="comes")
    axis.plot([], [], "o", color="black", label="is answered")
    axis.plot([], [], "x", color="black", mew=2, label="is dropped")
    axis.plot([], [], color="#777777", lw=2, label="watermark of the batch")
    axis.legend(loc="upper right", frameon=False)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


def _watermarks() -> list[int | None]:
    """Of each batch: the latest time before it, less the delay."""
    found: list[int | None] = []
    latest: int | None = None
    for rows in BATCHES:
        found.append(None if latest is None else latest - DELAY)
        latest = max([minute for _, minute in rows] + ([] if latest is None else [latest]))
    return found


def _final(axis: plt.Axes, number: int, watermark: int | None) -> None:
    if watermark is not None:
        axis.add_patch(
            Rectangle((FIRST, number - 0.5), watermark - FIRST, 1, color="#DDDDDD", lw=0)
        )
        axis.plot([watermark] * 2, [number - 0.5, number + 0.5], color="#777777", lw=2)
        axis.text(watermark + 0.2, number - 0.33, f"09:{watermark:02d}", color="#555555", size=9)


def _row(
    axis: plt.Axes, number: int, room: str, minute: int, watermarks: list[int | None]
) -> None:
    colour = ROOMS[room]
    passed = [i for i, w in enumerate(watermarks) if w is not None and minute <= w]
    if passed and passed[0] <= number:
        axis.plot(minute, number, "x", color=colour, ms=10, mew=3)
        return
    until = passed[0] if passed else len(watermarks) - 0.55
    axis.plot([minute] * 2, [number, until], color=colour, lw=1.5, ls=":" if passed else "--")
    axis.plot(minute, number, "o", color=colour, mfc="white", ms=10, mew=2)
    if passed:
        axis.plot(minute, passed[0], "o", color=colour, ms=10)


def _window(axis: plt.Axes) -> None:
    axis.plot([1, 11], [3.3, 3.3], color=ROOMS["hall"], lw=6, alpha=0.4, solid_capstyle="butt")
    axis.text(1, 3.52, "the ten minutes of the hall's row of 09:11", color=ROOMS["hall"], size=9)


def _notes(axis: plt.Axes) -> None:
    note = {"size": 9, "color": "#333333"}
    axis.text(12.3, 1.6, "pending, in the state", **note)
    axis.text(5.4, 1.05, "out of order, in time", **note)
    axis.text(-3.6, 2.05, "late: dropped", **note)
    axis.text(29.7, 2.6, "pending", ha="right", **note)


if __name__ == "__main__":
    main()
