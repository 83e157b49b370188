"""How the examples' charts look."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

# Okabe and Ito's palette
BLUE, ORANGE, RED, GREEN, GREY = "#0072B2", "#E69F00", "#D55E00", "#009E73", "#999999"


@contextmanager
def chart(path: Path, title: str, heights: tuple[int, ...] = (1,)) -> Iterator[list[Axes]]:
    """One panel above the other, of these relative heights, over one x axis; then a PNG.

    What has a label is named above its panel, at the right.
    """
    plt.rcParams.update({"font.size": 12, "font.family": "DejaVu Sans"})
    figure, panels = plt.subplots(
        len(heights),
        figsize=(10, 2.2 + 3 * len(heights)),
        height_ratios=heights,
        sharex=True,
        squeeze=False,
        layout="constrained",
    )
    axes = list(panels[:, 0])
    axes[0].set_title(title, loc="left", weight="bold", pad=14)
    yield axes
    for panel in axes:
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
        if panel.get_legend_handles_labels()[0]:
            panel.legend(
                loc="lower right",
                bbox_to_anchor=(1, 1),
                ncols=5,
                frameon=False,
                handlelength=1.2,
                columnspacing=1.2,
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)
    print(f"Chart: {path}")
