"""The time of one query on the flights, as its window grows: measured, and drawn."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
from pyspark.sql import DataFrame, SparkSession

from helpers.timing import SASH, SEGMENT_TREE, SPARK, Settings, repeated, settings

WINDOWS = [10, 100, 1_000, 10_000, 100_000]


class Line(NamedTuple):
    """One engine: its name, its settings, its colour (Okabe and Ito's palette)."""

    name: str
    settings: Settings
    colour: str


class Measured(NamedTuple):
    """The seconds of one engine by window length, and the windows it had no time for."""

    line: Line
    seconds: dict[int, float]
    not_run: list[int]
    budget: float


LINES = [
    Line("Sash", SASH, "#0072B2"),
    Line("Spark, segment tree", SEGMENT_TREE, "#E69F00"),
    Line("Spark as shipped", SPARK, "#D55E00"),
]


def rolling_stddev(spark: SparkSession, window: int) -> DataFrame:
    """The spread of an airport's last ``window`` departure delays."""
    return spark.sql(f"""
        SELECT stddev(dep_delay) OVER (
          PARTITION BY origin ORDER BY scheduled, carrier, flight
          ROWS BETWEEN {window - 1} PRECEDING AND CURRENT ROW)
        FROM flights""")


def sweep(spark: SparkSession, budget: float) -> list[Measured]:
    """Measure every engine at every window; an engine that outgrows the budget stops there.

    An engine's next window is skipped when its last two times, which are at least a factor of
    two apart, lie on a straight line that reaches more than ``budget`` seconds there.
    """
    lines = [line for line in LINES if line is not LINES[1] or _has_segment_tree(spark)]
    measured = [Measured(line, {}, [], budget) for line in lines]
    for window in WINDOWS:
        for engine in measured:
            if _forecast(engine.seconds, window) > budget:
                engine.not_run.append(window)
                forecast = f"over {budget:g} s at its pace"
                print(f"  {engine.line.name}, {window:,} rows: not run, {forecast}")
                continue
            print(f"  {engine.line.name}, {window:,} rows … ", end="", flush=True)
            with settings(spark, engine.line.settings):
                seconds = min(repeated(partial(rolling_stddev, spark, window)))
            print(f"{seconds:.2f} s", flush=True)
            engine.seconds[window] = seconds
    return measured


def _forecast(seconds: dict[int, float], window: int) -> float:
    if len(seconds) < 2:
        return 0
    (w0, t0), (w1, t1) = list(seconds.items())[-2:]
    return t1 + (t1 - t0) / (w1 - w0) * (window - w1) if t1 > 2 * t0 else t1


def _has_segment_tree(spark: SparkSession) -> bool:
    major, minor = spark.version.split(".")[:2]
    return (int(major), int(minor)) >= (4, 2)


def draw(measured: list[Measured], rows: int, path: Path) -> None:
    """Both axes logarithmic, every line labelled where it ends."""
    plt.rcParams.update({"font.size": 12, "font.family": "DejaVu Sans"})
    figure, axes = plt.subplots(figsize=(9, 5.2), layout="constrained")
    for line, seconds, not_run, budget in measured:
        windows, times = list(seconds), list(seconds.values())
        axes.plot(windows, times, color=line.colour, marker="o", lw=2.5, ms=6)
        label = line.name
        if not_run:
            axes.plot(windows[-1], times[-1], color=line.colour, marker="x", ms=13, mew=2.5)
            label += f"\n{not_run[0]:,} rows: not run,\nover {budget:g} s at its pace"
        axes.annotate(
            label,
            (windows[-1], times[-1]),
            xytext=(12, 0),
            textcoords="offset points",
            va="center",
            color=line.colour,
            weight="bold",
        )
    axes.set(xscale="log", yscale="log", xlim=(8, 1_500_000), xticks=WINDOWS)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g} s"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("rows in the window", loc="left")
    axes.set_title(
        f"Rolling standard deviation of the delays of {rows:,} flights",
        loc="left",
        weight="bold",
        pad=14,
    )
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)
