"""One input or two: what an operator with labels and events apart could save.

    python benchmarks/bench_inputs.py

Sash answers labels from one input, the union of labels and events. An operator of two inputs has
to exchange and order the same rows, each with its own columns alone. This measures both, and the
query that contains the first. Writes labels-inputs.md to docs/benchmarks.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import label_tables
import machine
from label_cells import COLUMNS, SASH, LabelQuery, Tables
from label_engines import SparkLabels
from progress import Progress

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
PAGE = """\
# One input or two

Sash answers labels from one input: the union of labels and events, in which a label has NULLs
for the columns of events, and an event has NULLs for the columns of labels. An operator of two
inputs would exchange and order both tables apart. So it could save the difference of the second
row and the third at most: a window of two rows exchanges and orders its input and does little
more. There are
{tables}.
Each figure is the best of {runs} runs in turns on {cores} cores.

{circumstances}

| seconds | 1 feature | 20 features |
|---|--:|--:|
{rows}
"""


def main() -> None:
    """Measure, and write the page."""
    options = _options()
    engine = SparkLabels(SASH, options.cores, "8g")
    tables = Tables(options.labels, options.events, options.users)
    with tempfile.TemporaryDirectory() as scratch:
        label_tables.write(Path(scratch), tables)
        engine.load(Path(scratch))
        columns = [_seconds(engine.spark, features, options.runs) for features in (1, 20)]
    rows = [
        f"| {name} | {' | '.join(f'{column[name]:.3g}' for column in columns)} |"
        for name in columns[0]
    ]
    about = {**machine.about(), "versions": engine.version()}
    page = PAGE.format(
        tables=tables,
        runs=options.runs,
        cores=options.cores,
        circumstances=machine.sentence(about),
        rows="\n".join(rows),
    )
    (options.out / "labels-inputs.md").write_text(page)
    print(page)


def _seconds(spark: SparkSession, features: int, runs: int) -> dict[str, float]:
    """The best time of each step, which take turns."""
    values = [f"a{i}" for i in range(1 if features == 1 else COLUMNS)]
    nothing = ", ".join(f"CAST(NULL AS DOUBLE) AS {value}" for value in values)
    labels = spark.sql("SELECT id, user_id, ts FROM labels")
    events = spark.sql(f"SELECT user_id, ts, {', '.join(values)} FROM events")
    union = spark.sql(
        f"SELECT id, user_id, ts, {nothing} FROM labels UNION ALL "
        f"SELECT NULL, user_id, ts, {', '.join(values)} FROM events"
    )
    query = spark.sql(LabelQuery(("1 hour",), features).sql(SASH))
    steps = {
        "Sash, LATERAL over 1 hour": [query],
        "two rows of the union": [_of_two_rows(union)],
        "two rows of labels, and of events": [_of_two_rows(labels), _of_two_rows(events)],
        "the union, exchanged": [union.repartition("user_id")],
        "the union, read": [union],
    }
    best = dict.fromkeys(steps, float("inf"))
    progress = Progress(len(steps) * (runs + 1))
    for _ in range(runs + 1):  # the first of them warms up, and is never the best
        for name, frames in steps.items():
            start = time.perf_counter()
            for frame in frames:
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
