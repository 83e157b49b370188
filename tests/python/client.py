"""A check as a program that asks through a client of Spark Connect, in its own process."""

from __future__ import annotations

import sys
from collections.abc import Callable

from pyspark.sql import SparkSession

import sash
from conftest import QUIET

# a testing server of Spark 4.0 removes files that tasks of a finished query still read
_KEPT = {"spark.sql.shuffleDependency.fileCleanup.enabled": "false"}


def main(check: Callable[..., int]) -> None:
    """Check with the numbers of the command line; print how many queries ran as windows."""
    builder = SparkSession.builder.remote("local[2]").config(map={**QUIET, **_KEPT})
    spark = sash.configure(builder).getOrCreate()
    assert type(spark).__module__.startswith("pyspark.sql.connect")
    ran = check(spark, *map(int, sys.argv[1:]))
    # without it the client of Spark 4.0 asks a server that has ended until its patience ends
    spark.stop()
    print(ran)
