"""A table as a stream: files in the order in which its rows arrive, and where state is kept."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def keep_state(spark: SparkSession, buckets: int = 8) -> None:
    """State in RocksDB, for few keys on one machine."""
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKS)
    spark.conf.set("spark.sash.stream.buckets", str(buckets))


def write_arrivals(
    spark: SparkSession, rows: pd.DataFrame, arrived: pd.Series, files: int, folder: Path
) -> None:
    """Rows in files whose ages are in the order of the arrivals, as a file source reads them."""
    folder.mkdir(parents=True, exist_ok=True)
    ordered = rows.loc[arrived.sort_values(kind="stable").index].copy()
    zone = spark.conf.get("spark.sql.session.timeZone")
    for name in ordered.select_dtypes("datetime").columns:
        ordered[name] = ordered[name].dt.tz_localize(zone)
    size = -(-len(ordered) // files)
    for n in range(files):
        path = folder / f"{n:04}.parquet"
        part = ordered.iloc[n * size : (n + 1) * size]
        part.to_parquet(path, index=False, coerce_timestamps="us")
        os.utime(path, (1e9 + n, 1e9 + n))


def read_stream(spark: SparkSession, folder: Path) -> DataFrame:
    """The files as a stream, one for each batch."""
    schema = spark.read.parquet(str(folder)).schema
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def run(writer: DataStreamWriter, checkpoint: Path) -> StreamingQuery:
    """All that is there; then the stream ends, and its checkpoint stays."""
    query = (
        writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
    )
    query.awaitTermination()
    return query
