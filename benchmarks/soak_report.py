"""soak.md and soak.svg: each series by thirds of the run, and whether it is flat."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import machine
from soak_samples import SERIES

FLAT = 1.1
"""The last third of a flat series is at most this many times the middle third."""
PAGE = """\
# A soak: streams with everything on

Three streams in one session and one JVM, with a heap of {memory}, for {minutes} minutes and
{hours} hours of event time, {rate} rows a second:

- windows of rows and of time, medians, DISTINCT, sessions and other kinds, `lag` and `row_number`
  in append mode, which began with a table and let idle keys go;
- hops of an hour by five minutes, in update mode;
- the rows of the two hours before each label, of two streams.

A new key comes each minute of event time, and another one goes; some come again after hours. A
fifth of the rows are out of order, and one in fifty is late and goes to a folder. Each stream was
stopped and started every three minutes, {restarts} times in all. `make soak` writes this page.

{circumstances}

![The series over the minutes](soak.svg)

A straight line is drawn through the last two thirds. *Slope* is its rise in an hour, as a share
of the middle third. A series is flat if the mean of its last third is at most {flat} times the
mean of the middle one.

| each minute | first third | middle | last | slope an hour | |
|---|--:|--:|--:|--:|---|
{series}

At the end each answer was compared with the answer of a batch query over the rows that were not
late. A hop window has the rows that came before the watermark passed its end; a row that came
after the ends of all its windows has to be in the folder of late rows:

| stream | answers | late rows | differ | missing |
|---|--:|--:|--:|--:|
{answers}
"""


def write(about: dict[str, Any], out: Path) -> None:
    """Write the figures, the chart and the page."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "soak.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    series = {name: [s[name] for s in about["samples"]] for name in SERIES}
    _chart(series, out / "soak.svg")
    answers = [
        f"| {name} | {of['answers']:,} | {of['late']:,} | {of['wrong']} | {of['missing']} |"
        for name, of in about["answers"].items()
    ]
    page = PAGE.format(
        circumstances=machine.sentence(about),
        hours=about["minutes"],
        flat=FLAT,
        series="\n".join(_row(SERIES[name], values) for name, values in series.items()),
        answers="\n".join(answers),
        **{name: about[name] for name in ("memory", "minutes", "rate", "restarts")},
    )
    (out / "soak.md").write_text(page, encoding="utf-8")
    print(page)


def _row(words: str, values: list[float]) -> str:
    third = len(values) // 3
    thirds = [values[:third], values[third : 2 * third], values[2 * third :]]
    first, middle, last = (float(np.mean(part)) if part else float("nan") for part in thirds)
    later = values[third:]
    slope = np.polyfit(np.arange(len(later)), later, 1)[0] * 60 / middle if third else np.nan
    verdict = "flat" if last <= FLAT * middle else "**rises**"
    shown = " | ".join(_number(value) for value in (first, middle, last))
    return f"| {words} | {shown} | {slope:+.1%} | {verdict} |"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def _chart(series: dict[str, list[float]], path: Path) -> None:
    plt.rcParams.update({"font.size": 10, "svg.hashsalt": "sash", "svg.fonttype": "none"})
    height = (len(series) + 1) // 2
    figure, axes = plt.subplots(height, 2, figsize=(10, 1.7 * height), layout="constrained")
    for axis, (name, values) in zip(axes.flat, series.items(), strict=False):
        axis.plot(range(1, len(values) + 1), values, color="#0072B2")
        axis.set_title(SERIES[name].replace(" (median)", ""), loc="left", fontsize=9)
        axis.set(ylim=(0, 1.2 * max([*values, 1e-9])))
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes.flat[len(series) :]:
        axis.set_visible(False)
    figure.supxlabel("minute")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
