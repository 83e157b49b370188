"""The queries of the benchmark of real-time mode."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

WINDOWS = (10, 1_000, 100_000)
SOURCE = Path(__file__).parent / "real_time" / "LastRows.scala"


@dataclass(frozen=True)
class Query:
    """A query over rows with the columns ``sent``, ``k``, ``t`` and ``x``.

    Attributes:
        name: Who runs it.
        window: How many rows of each key it holds; 0 if it has no window.
        make: The query. ``sent`` is its first column, and the answer its last one.
        slow: Whether a row costs the whole window, so that fewer rows a second can come.
    """

    name: str
    window: int
    make: Callable[[DataFrame], DataFrame]
    slow: bool = False


def queries() -> list[Query]:
    """All of them, in the order of the page."""
    found = [
        Query("no state", 0, lambda rows: rows.select("sent", "x")),
        Query("Spark: sum(x) GROUP BY k", 0, _aggregate),
    ]
    for n in WINDOWS:
        slow = n == max(WINDOWS)
        found += [
            Query("Sash: OVER (… ROWS …)", n, _over(n)),
            Query("transformWithState, a list", n, _by_hand("list", n), slow),
            Query("transformWithState, a ring", n, _by_hand("ring", n)),
        ]
    return found


def _aggregate(rows: DataFrame) -> DataFrame:
    """Spark's own state: a sum of each key."""
    return rows.groupBy("k").agg(F.max("sent").alias("sent"), F.sum("x").alias("s"))


def _over(n: int) -> Callable[[DataFrame], DataFrame]:
    window = Window.partitionBy("k").orderBy("t").rowsBetween(1 - n, 0)
    return lambda rows: rows.select("sent", F.sum("x").over(window).alias("s"))


def _by_hand(name: str, n: int) -> Callable[[DataFrame], DataFrame]:
    """Scala, since Spark refuses Python's transformWithState in real-time mode."""

    def made(rows: DataFrame) -> DataFrame:
        by_hand = getattr(rows.sparkSession._jvm.io.sash.benchmarks.LastRows, name)
        return DataFrame(by_hand(rows._jdf, n), rows.sparkSession)

    return made


def compiled(folder: Path, spark_home: Path) -> Path:
    """The jar of the queries in Scala, by the compiler that is among Spark's jars."""
    jar = folder / "last_rows.jar"
    scalac = ["java", "-cp", f"{spark_home}/jars/*", "scala.tools.nsc.Main", "-usejavacp"]
    subprocess.run([*scalac, "-d", str(jar), str(SOURCE)], check=True)
    return jar
