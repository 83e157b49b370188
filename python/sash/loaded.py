"""Calls of Sash's functions, and the remedy where the session does not have Sash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import Column, SparkSession, is_remote
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql._typing import ColumnOrName

ENABLED = "spark.sash.enabled"

_REMEDIES = """
- restart Python and call sash.configure before the first session is made, or
- start the application with `spark-submit --jars $(python -m sash jar)`, or
- run `python -m sash install` once, so that every session has it, and restart Python."""
NOT_LOADED = (
    "Spark's JVM already runs without Sash's jar, and a JVM takes no jar later. Either"
    + _REMEDIES
)
_NOT_SERVED = """The Spark Connect server runs without Sash's jar, and takes no jar later. Either
- start it with `--jars $(python -m sash jar)`, as spark-submit takes it, or
- run `python -m sash install` once where it is installed, and start it anew, or
- where Python starts it (remote("local[...]")), call sash.configure before the first session.
If the jar is there, the server's log says why Sash leaves its Spark alone."""
SWITCHED_OFF = (
    f"Sash is switched off in this session: {ENABLED} is false. "
    f'Set it to true, by spark.conf.set("{ENABLED}", True).'
)
_EXTENSIONS_CLASS = "io/sash/spark/SashExtensions.class"

# sessions that had Sash; a Connect server is asked once for each of them
_known: WeakSet[Any] = WeakSet()


def call(name: str, *args: ColumnOrName) -> Column:
    """Call a function of Sash's, also where the user has one of that name.

    Raises:
        PySparkRuntimeError: the active session has no jar of Sash, or Sash is switched off in it.
            Without an active session nothing is known yet.
    """
    session = SparkSession.getActiveSession()
    if session is not None and session not in _known:
        why = missing(session)
        if why is not None:
            raise PySparkRuntimeError(why)
        if is_remote():
            _known.add(session)
    return F.call_function(f"sash.{name}", *args)


def is_loaded(spark: SparkSession) -> bool:
    """Whether the JVM of a session knows Sash's settings, which the jar registers."""
    return spark.conf.isModifiable(ENABLED)


def is_false(value: str | None) -> bool:
    """Whether a setting says false, which Spark reads in any case."""
    return value is not None and value.strip().lower() == "false"


def missing(spark: SparkSession) -> str | None:
    """Why a session cannot run Sash's functions, and the remedy; None if it can."""
    if is_loaded(spark):
        return SWITCHED_OFF if is_false(spark.conf.get(ENABLED)) else None
    if is_remote():
        return _NOT_SERVED
    return left_alone(spark.version) if has_jar() else NOT_LOADED


def has_jar() -> bool:
    """Whether the JVM of this process has Sash's jar on its class path."""
    from pyspark import SparkContext

    jvm: Any = SparkContext._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    return loader.getResource(_EXTENSIONS_CLASS) is not None


def left_alone(version: str) -> str:
    """The reason of a session that has the jar and no settings of Sash's."""
    return (
        f"Sash's jar is on the class path, and leaves Spark {version} alone. The log says why, "
        "in a line of SashExtensions: Sash does not know this version, and "
        "spark.sash.untestedVersions is not true, or this Spark lacks a class."
    )
