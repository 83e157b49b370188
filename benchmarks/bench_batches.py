"""How even micro-batches are: a thousand of OVER, and of Spark's tumbling window, one by one.

    python benchmarks/bench_batches.py            # ten minutes
    python benchmarks/bench_batches.py --quick    # a look

Windows are full, batches small, so that one that does more than others would show. Writes
batches.json, batches.md and batches.svg to docs/benchmarks.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import machine
import sections
import stream_files
import stream_spark
from progress import Progress
from stream_cells import SASH, SPARK, TUMBLING, Cell
from stream_chart import COLOURS

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
QUANTILES = (0.5, 0.9, 0.99, 0.999)
REPORT = """\
# Micro-batches, one by one

{counted:,} micro-batches of {batch:,} rows of {keys} keys each, after {lead} that warm the JVM:
milliseconds of one from its start to its end, and how many times the median. `OVER` is
`sum(x) OVER (PARTITION BY k ORDER BY ts ROWS {preceding:,} PRECEDING)`, its windows full;
tumbling is Spark's own `sum(x)` by `k` and a window as long as a batch. State is in RocksDB, on
two cores, with four shuffle partitions; RocksDB's maintenance, the JVM's collector and Spark's
own clean-up run as they do.

| quantile of the batches | OVER, ms | of its median | tumbling, ms | of its median |
|--:|--:|--:|--:|--:|
{lines}

![Milliseconds a batch, by the share of batches that take longer](batches.svg)

Of a thousand batches the last line is the slowest. It must be at most 3 times the median.

{circumstances}
"""


def main() -> None:
    """Measure, and report."""
    options = _options()
    counted, lead = (50, 20) if options.quick else (1000, 150)
    over = Cell(SASH, "ROWS", keys=10, batch=options.batch, rows=options.rows)
    cells = [over, Cell(SPARK, TUMBLING, keys=10, batch=options.batch)]
    progress = Progress(len(cells))
    about = machine.about()
    found: dict[str, list[float]] = {}
    with (
        tempfile.TemporaryDirectory() as scratch,
        stream_spark.session(options.memory) as spark,
    ):
        about["versions"]["Spark"] = spark.version
        spark.conf.set("spark.sql.streaming.numRecentProgressUpdates", str(2 * (counted + lead)))
        for cell in cells:
            folder = Path(scratch) / "stream"
            files = [cell.batch] * (lead + counted)
            source = stream_files.in_batches(folder / "in", cell, files)
            batches = stream_spark.run(spark, cell, source, folder / "checkpoint", "noop")
            whole = [b for b in batches if b["numInputRows"] == cell.batch][-counted:]
            found[cell.engine] = [float(b["durationMs"]["triggerExecution"]) for b in whole]
            shutil.rmtree(folder)
            progress.advance(1, str(cell))
    figures = {
        "counted": counted,
        "lead": lead,
        "batch": over.batch,
        "keys": over.keys,
        "preceding": over.rows - 1,
        "millis": found,
    }
    _report({**about, **figures}, options.out)


def _report(about: dict[str, Any], out: Path) -> None:
    (out / "batches.json").write_text(json.dumps(about, indent=1) + "\n")
    lines = []
    for quantile in QUANTILES:
        cells = [f"{100 * quantile:g} %"]
        for engine in (SASH, SPARK):
            millis = np.array(about["millis"][engine])
            # a batch that there was, none between two
            value = np.quantile(millis, quantile, method="higher")
            cells += [f"{value:,.0f}", f"{value / np.median(millis):.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    text = REPORT.format(**about, lines="\n".join(lines), circumstances=machine.sentence(about))
    sections.section(out / "day.md", "bench_batches", text)
    _draw(about["millis"], out / "batches.svg")


def _draw(millis: dict[str, list[float]], path: Path) -> None:
    plt.rcParams["svg.hashsalt"] = "sash"
    figure, axes = plt.subplots(figsize=(7, 3.6), layout="constrained")
    for engine, name in ((SASH, "OVER, by Sash"), (SPARK, "tumbling, by Spark")):
        ordered = np.sort(millis[engine])
        longer = 1 - np.arange(len(ordered)) / len(ordered)
        axes.plot(longer, ordered, drawstyle="steps", color=COLOURS[engine], lw=2, label=name)
    axes.set(xscale="log", ylim=(0, None), ylabel="ms a batch")
    axes.set_xlabel("share of the batches that take as long or longer")
    axes.invert_xaxis()
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--batch", type=int, default=2_000, help="rows of a micro-batch")
    add("--rows", type=int, default=100_000, help="rows of a window")
    add("--memory", default="8g", help="heap of the JVM")
    add("--quick", action="store_true", help="few batches")
    add("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
