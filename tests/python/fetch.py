"""What the tests run against besides Spark: a Kafka broker, Spark's Kafka source, Delta, flights.

    python tests/python/fetch.py
    python tests/python/fetch.py flink    # what stands beside Sash in the benchmark of streams
    python tests/python/fetch.py neighbours    # Iceberg and Comet, for a Spark that has both

Everything goes into the directory ``fetched`` of the interpreter's environment, for the PySpark
that is installed there; what is there already stays.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from pathlib import Path

import pyspark

FETCHED = Path(sys.prefix) / "fetched"
SCRIPTS = Path(sysconfig.get_path("scripts"))
SPARK = pyspark.__version__

# the broker, and a client of the same age
KAFKA = "4.1.1"
# Maven gets a release of Spark later than PyPI does; a source of the release before runs, too
SOURCE = {"4.0": "4.0.0", "4.1": "4.1.1", "4.2": "4.2.0", "4.3": "4.2.0"}
# Delta names its jars by the Spark that they are for
DELTA = "4.4.0"
DELTA_FOR = ("4.0", "4.1", "4.2")
# Iceberg and Comet name theirs alike; newer Sparks get theirs months later
ICEBERG = {"4.1": "1.12.0"}
COMET = {"4.1": "1.2.0"}
# SQL in a JVM of one's own, without the Python API and the half gigabyte that it asks for
FLINK = "2.3.0"
FLINK_PARTS = (
    "clients",
    "table-api-java-bridge",
    "table-planner-loader",
    "table-runtime",
    "connector-files",
    "sql-parquet",
    "statebackend-rocksdb",
    "metrics-jmx",
)
FLIGHTS = ("vega-datasets", "2.11.0", "package/data/flights-3m.parquet")


def broker() -> list[Path]:
    """The class path of Apache Kafka."""
    return _jars("kafka")


def kafka_source() -> list[Path]:
    """Spark's source and sink of Kafka, less what Spark has itself."""
    return _jars("kafka-source")


def delta() -> list[Path]:
    """Delta for this Spark; empty where there is none."""
    return _jars("delta")


def iceberg() -> list[Path]:
    """Iceberg for this Spark; empty unless it was fetched."""
    return _jars("iceberg")


def comet() -> list[Path]:
    """Comet for this Spark, with its native library; empty unless it was fetched."""
    return _jars("comet")


def flights() -> Path:
    """Three million flights, in Parquet."""
    return FETCHED / Path(FLIGHTS[2]).name


def _jars(name: str) -> list[Path]:
    return sorted((FETCHED / name).glob("*.jar"))


def fetch() -> None:
    """Fetch what is missing."""
    spark, of_spark = _spark()
    _fetch_jars("kafka", f"org.apache.kafka:kafka_2.13:{KAFKA}", set())
    source = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{SOURCE[spark]}"
    _fetch_jars("kafka-source", source, of_spark)
    if spark in DELTA_FOR:
        _fetch_jars("delta", f"io.delta:delta-spark_{spark}_2.13:{DELTA}", of_spark)
    if not flights().exists():
        _fetch_flights()


def fetch_neighbours() -> None:
    """Fetch the plugins beside which Sash is tested now and then."""
    spark, of_spark = _spark()
    for name, versions, artefact in (
        ("iceberg", ICEBERG, f"org.apache.iceberg:iceberg-spark-runtime-{spark}_2.13"),
        ("comet", COMET, f"org.apache.datafusion:comet-spark-spark{spark}_2.13"),
    ):
        if spark in versions:
            _fetch_jars(name, f"{artefact}:{versions[spark]}", of_spark)


def fetch_flink() -> None:
    """Fetch Flink, which is no part of any test."""
    parts = [f"org.apache.flink:flink-{part}:{FLINK}" for part in FLINK_PARTS]
    _fetch_jars("flink", "+".join(parts), set())


def _spark() -> tuple[str, set[str]]:
    """The minor version of Spark, and what it has itself."""
    jars = (Path(pyspark.__file__).parent / "jars").glob("*.jar")
    return ".".join(SPARK.split(".")[:2]), {_artefact(jar) for jar in jars}


def _fetch_jars(name: str, endpoint: str, without: set[str]) -> None:
    """The jars of a Maven artefact and of what it needs, found by jgo."""
    folder = FETCHED / name
    made_of = folder / "made-of"
    if made_of.exists() and made_of.read_text() == endpoint:
        return
    jgo = [str(SCRIPTS / "jgo"), "--system-java", "info", "jars", endpoint]
    asked = subprocess.run(jgo, capture_output=True, text=True)
    if asked.returncode != 0:
        raise SystemExit(f"error: {endpoint} is not to be had:\n{asked.stderr}")
    lines = [line.strip() for line in asked.stdout.splitlines()]
    jars = [Path(line) for line in lines if line.endswith(".jar")]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for jar in jars:
        if _artefact(jar) not in without:
            shutil.copyfile(jar, folder / jar.name)
    if not any(folder.iterdir()):
        raise SystemExit(f"error: no jars of {endpoint}")
    made_of.write_text(endpoint)


def _artefact(jar: Path) -> str:
    return re.sub(r"-\d[^_]*$", "", jar.stem)


def _fetch_flights() -> None:
    """A file of an npm package, by the npm that pip installs."""
    package, version, member = FLIGHTS
    path = f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [str(SCRIPTS / "npm"), "pack", "--silent", f"{package}@{version}"],
            cwd=folder,
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PATH": path},
        )
        [archive] = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as tar:
            content = tar.extractfile(member)
            assert content is not None
            FETCHED.mkdir(exist_ok=True)
            part = flights().with_suffix(".part")
            with part.open("wb") as file:
                shutil.copyfileobj(content, file)
    part.rename(flights())


if __name__ == "__main__":
    {"flink": fetch_flink, "neighbours": fetch_neighbours}.get("".join(sys.argv[1:]), fetch)()
