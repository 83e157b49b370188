"""Putting the jar into a PySpark installation, and taking it out again."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from pyspark.errors import PySparkRuntimeError
from pyspark.find_spark_home import _find_spark_home
from pyspark.util import is_remote_only

from sash.jar import jar_path

_CLIENT = (
    "A client of Spark Connect runs no Spark of its own; its server needs the jar: start that "
    "with `--jars $(python -m sash jar)`, or run `python -m sash install` where it is installed."
)


def install() -> Path:
    """Copy the jar into the PySpark installation, in place of any other version of it.

    Every session that starts from then on has Sash, with no change to the program.

    Returns:
        Where the jar lies now.

    Raises:
        OSError: the directory is not there, or you may not write to it.
    """
    jar = Path(jar_path())
    target = jars_directory() / jar.name
    uninstall()
    shutil.copyfile(jar, target)
    return target


def uninstall() -> list[Path]:
    """Remove every version of the jar from the PySpark installation.

    Returns:
        The jars that were removed, possibly none.

    Raises:
        OSError: you may not write to the directory.
    """
    jars = installed()
    for jar in jars:
        jar.unlink()
    return jars


def installed() -> list[Path]:
    """The jars of Sash, of any version, that lie in the PySpark installation."""
    return sorted(jars_directory().glob("sash-spark_*.jar"))


def check_installed_version() -> None:
    """Refuse to go on beside an installed jar of another version, which Spark would prefer."""
    other = [jar for jar in installed() if jar.name != Path(jar_path()).name]
    if other:
        raise PySparkRuntimeError(
            f"{other[0]} is another version of Sash and would hide {jar_path()}: run "
            "`python -m sash install` to replace it, or `python -m sash uninstall`"
        )


def jars_directory() -> Path:
    """Where the installation that PySpark starts keeps its jars; SPARK_HOME is honoured.

    Raises:
        OSError: there is no such directory: the Python package is a client of Spark Connect.
    """
    directory = spark_home() / "jars"
    if not directory.is_dir():
        raise FileNotFoundError(f"{directory} is missing. {_CLIENT}")
    return directory


def spark_home() -> Path:
    """The installation that PySpark starts."""
    if "SPARK_HOME" not in os.environ and is_remote_only():
        raise FileNotFoundError(f"This PySpark has no Spark. {_CLIENT}")
    return Path(_find_spark_home())
