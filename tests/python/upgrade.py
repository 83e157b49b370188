"""Streams that begin on one version of Spark and go on with another.

    python tests/python/upgrade.py .venvs/4.3.0/bin/python .venvs/4.0.5/bin/python ...

Each Python after the first begins the streams with its PySpark, and the first one goes on with
them. The streams have each aggregate that Spark or Sash knows, the kinds of windows and hop
windows. Their answers are the batch's.
"""

from __future__ import annotations

import json
import logging
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import sash
from streaming import CONF, to_parquet

SCHEMA = "id BIGINT, k INT, ts TIMESTAMP, x INT, d DOUBLE, s STRING, b BOOLEAN, n BINARY"
ROWS = """
    SELECT id, CAST(id % 3 AS INT) AS k,
           timestamp_seconds(1700000000 + 4 * id - 10 * (id % 2)) AS ts,
           CAST((id * 7) % 11 AS INT) AS x, CAST((id * 5) % 8 AS DOUBLE) / 4 AS d,
           char(97 + id % 5) AS s, id % 4 > 0 AS b, CAST(char(97 + id % 5) AS BINARY) AS n
    FROM range({first}, {first} + 60)
"""
OVER = "OVER (PARTITION BY k ORDER BY ts ROWS 4 PRECEDING)"
# tried in turn; the first that a stream takes is kept
ARGUMENTS = (
    *("b", "x", "d", "s", "n", "x, d", "d, x", "s, x", "x, 99", "x, d, 2", "s, x, 2", "x, 0.5"),
    *("x, ts", "x, 3, 100", "s, 0.1, 0.9, 1", "x, ts, INTERVAL 9 SECONDS"),
    "ts, INTERVAL 9 SECONDS",
    "x, v -> v, (a, b) -> a + b",
)
WRITTEN = (
    *("count(DISTINCT x)", "sum(DISTINCT d)", "first(x) IGNORE NULLS", "listagg(s, ';')"),
    *("percentile_disc(0.3) WITHIN GROUP (ORDER BY d DESC)", "sum(x + 1) FILTER (WHERE d > 1)"),
    *("percentile_cont(0.3) WITHIN GROUP (ORDER BY d)", "avg(x * INTERVAL '1' SECOND)"),
    *("sum(CAST(d AS DECIMAL(20, 2)))", "max(struct(x, s))", "min(date_trunc('minute', ts))"),
    "monoid_agg(x, v -> named_struct('s', v, 'n', 1L), (a, b) -> "
    "named_struct('s', a.s + b.s, 'n', a.n + b.n), t -> t.s / t.n)",
)
KINDS = (
    *("count_window(3)", "time_window(INTERVAL 30 SECONDS)", "gap_window(INTERVAL 9 SECONDS)"),
    *("delta_window(d, 1.0D)", "punctuation_window(x > 8)", "groups_window(2, 0)"),
    *(
        "predicate_window(sum(x), t -> t < 20)",
        "gap_window(INTERVAL 9 SECONDS, INTERVAL 40 SECONDS)",
    ),
    *(
        "window_and(count_window(3), gap_window(INTERVAL 9 SECONDS))",
        "time_window(INTERVAL 1 MONTH)",
    ),
    "count_window(9), window_slide(3)",
    "time_window(INTERVAL 30 SECONDS), window_slide(INTERVAL 7 SECONDS)",
    "count_window(4), window_min_periods(2)",
)
FRAMES = (
    *("ROWS UNBOUNDED PRECEDING", "RANGE INTERVAL 30 SECONDS PRECEDING"),
    "RANGE BETWEEN INTERVAL 2 MONTHS PRECEDING AND INTERVAL 1 MONTH PRECEDING",
)
# Spark keeps hop windows of these, or they depend on the order in which rows come
NO_HOPS = (
    *("approx_", "percentile_", "histogram", "sketch", "hll_", "theta_", "tuple_"),
    *("increasing_run", "counter_", "cusum", "ewm_", "ema(", "_n(", "_by(", "list", "weighted"),
    *("collect_", "array_agg", "mode(", "any_value"),
)
HOPS = """
    SELECT k, window.start AS begins, {calls} FROM events
    GROUP BY k, window(ts, '40 seconds', '10 seconds')
"""


def of_over(calls: list[str]) -> str:
    """Return the query of many answers, which have the names a0, a1 and so on."""
    return f"SELECT id, {', '.join(f'{c} AS a{i}' for i, c in enumerate(calls))} FROM events"


def signatures(spark: SparkSession) -> Iterator[str]:
    """Each aggregate of Spark's registry and of Sash, as ``name(argument[, argument])``."""
    registry = spark._jsparkSession.sessionState().functionRegistry()
    names = registry.listFunction()
    for i in range(names.size()):
        info = registry.lookupFunction(names.apply(i)).get()
        if info.getGroup() == "agg_funcs":
            usage = re.search(r"_FUNC_(\(.*?\))", info.getUsage())
            yield info.getName() + (usage[1] if usage else "(a[, b, c, d])")
    functions = getattr(spark._jvm, "io.sash.spark.names.AllSashFunctions$")
    own = getattr(functions, "MODULE$").All()
    yield from (own.apply(i).signature() for i in range(own.size()))


def candidates(spark: SparkSession) -> Iterator[list[str]]:
    """The calls of each aggregate, to be tried in turn."""
    for signature in signatures(spark):
        name, arguments = signature.split("(", 1)
        least, most = (part.count(",") + 1 for part in (arguments.split("[")[0], arguments))
        yield [
            f"{name}({call})"
            for call in ARGUMENTS
            if least <= call.count(",") + 1 <= most or "->" in call
        ]
    yield from ([call] for call in WRITTEN)


def runs(spark: SparkSession, query: str) -> bool:
    try:
        df = spark.sql(query)
        if not df.isStreaming:
            df.collect()
    except (PySparkException, Py4JError):  # the second if Spark itself fails at an argument
        return False
    return True


def aggregates(spark: SparkSession, folder: Path) -> list[str]:
    """The calls that run in batch, and are planned on a stream."""
    spark.sql(ROWS.format(first=0)).createOrReplaceTempView("events")

    def first(calls: list[str]) -> str | None:
        return next((c for c in calls if runs(spark, of_over([f"{c} {OVER}"]))), None)

    found = [call for call in map(first, candidates(spark)) if call]
    stream_of(spark, folder)
    return [call for call in found if runs(spark, of_over([f"{call} {OVER}"]))]


def queries(spark: SparkSession, folder: Path) -> dict[str, tuple[str, str]]:
    """The output mode and the query of each stream."""
    taken = aggregates(spark, folder)
    spark.sql(ROWS.format(first=0)).createOrReplaceTempView("events")

    def is_hop(call: str) -> bool:
        query = HOPS.format(calls=call)
        is_same = not any(part in call for part in NO_HOPS)
        return (
            is_same
            and runs(spark, query)
            and "HopWindows" in spark.sql(f"EXPLAIN {query}").head()[0]
        )

    hops = ", ".join(f"{c} AS a{i}" for i, c in enumerate(filter(is_hop, taken)))
    kinds = [f"sum(x) OVER (PARTITION BY k, {kind} ORDER BY ts)" for kind in KINDS]
    kinds += [f"max(d) OVER (PARTITION BY k ORDER BY ts {frame})" for frame in FRAMES]
    over = [f"{call} {OVER}" for call in taken]
    print(f"{len(over)} aggregates, {len(hops.split(' AS a')) - 1} of them over hop windows")
    return {
        "aggregates": ("append", of_over(over)),
        "update": ("update", of_over(over[::3])),
        "kinds": ("append", of_over(kinds)),
        "hops": ("append", HOPS.format(calls=hops)),
    }


def stream_of(spark: SparkSession, folder: Path) -> None:
    """Make the view ``events`` of the stream of the folder's files."""
    rows = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))
    rows.withWatermark("ts", "20 seconds").createOrReplaceTempView("events")


def run(spark: SparkSession, folder: Path, name: str, mode: str, query: str) -> None:
    stream_of(spark, folder / "in")
    answers = spark.sql(query)
    place = folder / name
    if mode == "append":
        to_parquet(answers, place, availableNow=True).awaitTermination()
    else:

        def keep(batch: DataFrame, number: int) -> None:
            batch.write.mode("overwrite").parquet(str(place / "out" / f"batch={number:05}"))

        writer = answers.writeStream.foreachBatch(keep).outputMode(mode)
        writer = writer.option("checkpointLocation", str(place / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()


def is_alike(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9) or one != one
    if isinstance(one, (bytes, bytearray)):  # a sketch, whose bytes depend on the order of merges
        return other is not None
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(is_alike, one, other))
    return bool(one == other)


def check(spark: SparkSession, folder: Path, name: str, query: str) -> None:
    """Compare the answers with the batch's; of several answers of a row the last one counts."""
    answers = spark.read.parquet(str(folder / name / "out"))
    keys = 2 if name == "hops" else 1
    if "batch" in answers.columns:
        answers = answers.orderBy("batch")
    found = {tuple(r[:keys]): r for r in answers.collect()}
    spark.read.schema(SCHEMA).parquet(str(folder / "in")).createOrReplaceTempView("events")
    expected = {tuple(r[:keys]): r for r in spark.sql(query).collect()}
    if len(found) < 0.8 * len(expected):
        sys.exit(f"{name}: {len(found)} answers of {len(expected)}")
    for key, row in found.items():
        right = expected[key]
        for column, value, other in zip(right.__fields__, row, right, strict=False):
            if not is_alike(value, other):
                sys.exit(f"{name}: {column} of {key} is {value}, not {other}, in {query}")
    print(f"{name}: {len(found)} answers are right")


def begin(folder: Path) -> None:
    spark = session()
    spark.sql(ROWS.format(first=0)).coalesce(1).write.mode("append").parquet(str(folder / "in"))
    asked = queries(spark, folder / "in")
    (folder / "queries.json").write_text(json.dumps(asked))
    for name, (mode, query) in asked.items():
        run(spark, folder, name, mode, query)


def go_on(folder: Path) -> None:
    spark = session()
    for first in (60, 120):
        more = spark.sql(ROWS.format(first=first))
        more.coalesce(1).write.mode("append").parquet(str(folder / "in"))
    for name, (mode, query) in json.loads((folder / "queries.json").read_text()).items():
        run(spark, folder, name, mode, query)
        check(spark, folder, name, query)


def session() -> SparkSession:
    builder = SparkSession.builder.master("local[2]").config(map=CONF)
    spark = sash.configure(builder).getOrCreate()
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)  # calls that are tried
    print(f"Spark {spark.version}, Sash {sash.__file__}")
    return spark


def main() -> None:
    first, *others = sys.argv[1:]
    if first in ("begin", "go_on"):
        {"begin": begin, "go_on": go_on}[first](Path(others[0]))
        return
    for other in others:
        with tempfile.TemporaryDirectory() as folder:
            for python, step in ((other, "begin"), (first, "go_on")):
                subprocess.run([python, __file__, step, folder], check=True)


if __name__ == "__main__":
    main()
