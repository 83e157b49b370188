"""The input of labels' windows: one table or two, all events or those of some label.

    python benchmarks/bench_inputs.py

Sash answers labels from one input, the union of labels and events. An operator of two inputs has
to exchange and order the same rows, each with its own columns alone. This measures both, and the
query that contains the first. Then it measures queries with and without the filter that keeps
events of no label out of the exchange. Writes labels-inputs.md to docs/benchmarks.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import label_tables
import machine
from label_cells import COLUMNS, SASH, SPANS, LabelQuery, Tables
from label_engines import SparkLabels
from progress import Progress

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
PAGE = """\
# One input or two

Sash answers labels from one input: the union of labels and events, in which a label has NULLs
for the columns of events, and an event has NULLs for the columns of labels. An operator of two
inputs would exchange and order both tables apart. So it could save the difference of the second
row and the fourth at most: a window of two rows exchanges and orders its input and does little
more. A packed row has one column for the label's id and the event's first value, since no row
has both. There are
{tables}.
Each figure is the best of {runs} runs in turns on {cores} cores.

{circumstances}

No event is filtered here:

| seconds | 1 feature | 20 features |
|---|--:|--:|
{rows}

## Events of no label

One feature of the same labels, with all events exchanged, and with those that a Bloom filter of
the labels' keys and times leaves. Spans of an hour hold few of the events, and spans of 90 days
hold all of them, so that the filter finds nothing to remove.

| seconds | all events | filtered events |
|---|--:|--:|
{filtered}
"""
NEVER, ALWAYS = "-1", "0"
"""Thresholds of the filter."""
FEATURES = (1, 20)
STEPS = [
    "Sash, LATERAL over 1 hour",
    "two rows of the union",
    "two rows of the union, packed",
    "two rows of labels, and of events",
    "the union, exchanged",
    "the union, read",
]


@dataclass(frozen=True)
class Step:
    """DataFrames that run one after the other, and the filter's threshold."""

    frames: list[DataFrame]
    threshold: str


def main() -> None:
    """Measure, and write the page."""
    options = _options()
    engine = SparkLabels(SASH, options.cores, "8g")
    tables = Tables(options.labels, options.events, options.users)
    with tempfile.TemporaryDirectory() as scratch:
        label_tables.write(Path(scratch), tables)
        engine.load(Path(scratch))
        spark = engine.spark
        progress = Progress((len(FEATURES) * len(STEPS) + 2 * len(SPANS)) * (options.runs + 1))
        inputs = [_best(spark, _inputs(spark, n), options.runs, progress) for n in FEATURES]
        filters = [_best(spark, _filters(spark, s), options.runs, progress) for s in SPANS]
    about = {**machine.about(), "versions": engine.version()}
    page = PAGE.format(
        tables=tables,
        runs=options.runs,
        cores=options.cores,
        circumstances=machine.sentence(about),
        rows="\n".join(_row(name, [best[name] for best in inputs]) for name in STEPS),
        filtered="\n".join(
            _row(span, best.values()) for span, best in zip(SPANS, filters, strict=True)
        ),
    )
    (options.out / "labels-inputs.md").write_text(page)
    print(page)


def _row(name: str, seconds: Iterable[float]) -> str:
    return f"| {name} | {' | '.join(f'{s:.3g}' for s in seconds)} |"


def _inputs(spark: SparkSession, features: int) -> dict[str, Step]:
    values = [f"a{i}" for i in range(1 if features == 1 else COLUMNS)]
    nothing = [f"CAST(NULL AS DOUBLE) AS {value}" for value in values]
    labels = spark.sql("SELECT id, user_id, ts FROM labels")
    events = spark.sql(f"SELECT user_id, ts, {', '.join(values)} FROM events")
    union = _union(spark, ["id", "user_id", "ts", *nothing], ["NULL", "user_id", "ts", *values])
    packed = _union(
        spark,
        ["CAST(id AS DOUBLE) AS value", "user_id", "ts", *nothing[1:]],
        [values[0], "user_id", "ts", *values[1:]],
    )
    query = spark.sql(LabelQuery(("1 hour",), features).sql(SASH))
    apart = [_of_two_rows(labels), _of_two_rows(events)]
    windows = [[_of_two_rows(union)], [_of_two_rows(packed)], apart]
    steps = [[query], *windows, [union.repartition("user_id")], [union]]
    return {name: Step(frames, NEVER) for name, frames in zip(STEPS, steps, strict=True)}


def _union(spark: SparkSession, labels: list[str], events: list[str]) -> DataFrame:
    """Labels and events, and the column that tells one from the other."""
    return spark.sql(
        f"SELECT {', '.join(labels)}, -1 AS source FROM labels UNION ALL "
        f"SELECT {', '.join(events)}, 0 FROM events"
    )


def _filters(spark: SparkSession, span: str) -> dict[str, Step]:
    query = spark.sql(LabelQuery((span,), 1).sql(SASH))
    return {threshold: Step([query], threshold) for threshold in (NEVER, ALWAYS)}


def _best(
    spark: SparkSession, steps: dict[str, Step], runs: int, progress: Progress
) -> dict[str, float]:
    """The best time of each step, which take turns."""
    best = dict.fromkeys(steps, float("inf"))
    for _ in range(runs + 1):  # the first of them warms up, and is never the best
        for name, step in steps.items():
            spark.conf.set("spark.sash.lateral.filterThreshold", step.threshold)
            start = time.perf_counter()
            for frame in step.frames:
                frame.write.format("noop").mode("overwrite").save()
            best[name] = min(best[name], time.perf_counter() - start)
            progress.advance(1, name)
    return best


def _of_two_rows(rows: DataFrame) -> DataFrame:
    """Each row with the number of rows in a short window: exchanged, ordered, and moved over."""
    window = Window.partitionBy("user_id").orderBy("ts").rowsBetween(-1, 0)
    return rows.withColumn("rows", F.count("*").over(window))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--labels", type=int, default=1_000_000)
    add("--events", type=int, default=10_000_000)
    add("--users", type=int, default=20_000)
    add("--cores", type=int, default=2)
    add("--runs", type=int, default=3)
    add("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
