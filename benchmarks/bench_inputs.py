"""One input or two: what an operator with labels and events apart could save.

    python benchmarks/bench_inputs.py

Sash answers labels from one input, the union of labels and events. An operator of two inputs has
to exchange and sort the same rows, each with its own columns alone. This measures both, and the
query that contains the first. Writes labels-inputs.md to docs/benchmarks.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import label_tables
import machine
from engines_spark import read, session, versions
from label_cells import COLUMNS, SASH, LabelQuery, Tables
from progress import Progress

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
PAGE = """\
# One input or two

Sash answers labels from one input: the union of labels and events, in which a label has NULLs
for the columns of events, and an event for those of labels. An operator of two inputs would
exchange and sort both tables apart, and could save the difference of the second row and the third
at most. All steps but the first are Spark's own, over {tables}, each the best of {runs} runs in
turns on {cores} cores.

{circumstances}

| seconds | 1 feature | 20 features |
|---|--:|--:|
{rows}
"""


def main() -> None:
    """Measure, and write the page."""
    options = _options()
    spark = session(options.cores, "8g", with_sash=True)
    tables = Tables(options.labels, options.events, options.users)
    with tempfile.TemporaryDirectory() as scratch:
        label_tables.write(Path(scratch), tables)
        for name in ("labels", "events"):
            read(spark, Path(scratch) / f"{name}.parquet").cache().createOrReplaceTempView(name)
            spark.table(name).count()
        columns = [_seconds(spark, features, options.runs) for features in (1, 20)]
    rows = [
        f"| {name} | {' | '.join(f'{column[name]:.3g}' for column in columns)} |"
        for name in columns[0]
    ]
    about = {**machine.about(), "versions": versions(spark)}
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
    steps: dict[str, Callable[[], None]] = {
        "Sash, LATERAL over 1 hour": lambda: _run(query),
        "the union, exchanged and sorted": lambda: _run(_sorted(union)),
        "labels and events apart, exchanged and sorted": lambda: (
            _run(_sorted(labels)),
            _run(_sorted(events)),
        )[0],
        "the union, exchanged": lambda: _run(_exchanged(union)),
        "the union, read": lambda: _run(union),
    }
    best = dict.fromkeys(steps, float("inf"))
    progress = Progress(len(steps) * (runs + 1))
    for _ in range(runs + 1):  # the first of them warms up, and is never the best
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            best[name] = min(best[name], time.perf_counter() - start)
            progress.advance(1, name)
    return best


def _exchanged(rows: DataFrame) -> DataFrame:
    return rows.repartition("user_id")


def _sorted(rows: DataFrame) -> DataFrame:
    return _exchanged(rows).sortWithinPartitions("user_id", "ts")


def _run(rows: DataFrame) -> None:
    rows.write.format("noop").mode("overwrite").save()


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
