"""The same in Python: a window on a stream, and a session in batch.

Spark calls the functions while it makes the graph, when no table is there yet: they write a
query, and look at no rows and no columns.
"""

from __future__ import annotations

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash

ROOM = sash.SlidingWindow.partitionBy("room").orderBy("at")


@dp.table
def medians() -> DataFrame:
    """The median of the last half hour, on the stream."""
    rows = SparkSession.active().readStream.table("live")
    return rows.withColumn("median", F.median("celsius").over(ROOM.time("30 minutes")))


@dp.materialized_view
def sessions() -> DataFrame:
    """The readings so far since a pause of five minutes, in batch."""
    rows = SparkSession.active().table("readings")
    return rows.withColumn("so_far", F.count("*").over(ROOM.session("5 minutes")))
