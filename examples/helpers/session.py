"""The Spark session of an example, and its command line."""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession


def session(name: str, time_zone: str = "UTC") -> SparkSession:
    """A session with Sash: spark-submit's own jars, or those that ``sash`` adds."""
    builder = SparkSession.builder.appName(name).config(
        map={
            "spark.sql.session.timeZone": time_zone,
            "spark.sql.shuffle.partitions": "8",
            "spark.log.level": "ERROR",
            "spark.ui.showConsoleProgress": "false",
        }
    )
    if "PYSPARK_GATEWAY_PORT" not in os.environ:  # started by python, not by spark-submit
        import sash

        builder = sash.configure(builder)
    return builder.getOrCreate()


def options(doc: str | None, chart: str | None = None) -> argparse.ArgumentParser:
    """What an example can be told; ``chart`` is the name of the PNG that it draws."""
    parser = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    if chart is not None:
        path = Path(tempfile.gettempdir()) / "sash" / chart
        parser.add_argument("--chart", type=Path, default=path, help="where the PNG goes")
    return parser
