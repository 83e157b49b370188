"""Bringing the plugin to a Spark session, and telling whether it is there."""

from __future__ import annotations

import os
from typing import Any

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession
from pyspark.util import is_remote_only

from sash import spark_jars
from sash.errors import type_error
from sash.install import check_installed_version
from sash.jar import jar_path
from sash.loaded import NOT_LOADED, is_loaded

_STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_EXTENSIONS_CLASS = "io/sash/spark/SashExtensions.class"


def configure(builder: SparkSession.Builder, *, streaming: bool = False) -> SparkSession.Builder:
    """Put Sash's jar on the class path of the session that ``builder`` will make.

    The jar is added to the ``spark.jars`` that the builder, ``PYSPARK_SUBMIT_ARGS`` or
    ``spark-defaults.conf`` already name. Where the jar is, Sash is on.
    Calling it twice is harmless, and so is calling it where the jar is on the class path.

    Args:
        builder: ``SparkSession.builder``, with whatever you have set. A builder whose remote is
            ``local[…]`` starts a Connect server of its own, which gets the jar. A builder whose
            remote is ``sc://…`` is returned as it is, since a client cannot change the class
            path of its server: start that one with ``--jars $(python -m sash jar)``.
        streaming: Whether streams keep their state in RocksDB, which ``OVER`` on a stream needs.
            It sets ``spark.sql.streaming.stateStore.providerClass``, a setting of each session,
            also of one on another server. If false, nothing but the jar is set.

    Returns:
        The same builder.

    Raises:
        PySparkRuntimeError: this process already has a JVM, and that one lacks the jar; or
            another version of the jar is in the PySpark installation and would hide this one.
            The message has the remedy.

    Example:
        >>> from pyspark.sql import SparkSession
        >>> spark = sash.configure(SparkSession.builder.master("local[2]")).getOrCreate()
        >>> sash.is_active(spark)
        True
    """
    if not isinstance(streaming, bool):
        raise type_error("streaming", "a bool", streaming)
    if streaming:
        builder = builder.config(_STATE_STORE, _ROCKSDB)
    options: dict[str, Any] = builder._options
    if is_remote_only() or _is_served_elsewhere(options):
        return builder
    if _runs_with_jar():
        return builder
    check_installed_version()
    return builder.config("spark.jars", ",".join(spark_jars.with_jar(jar_path(), options)))


def is_active(spark: SparkSession) -> bool:
    """Whether Sash is loaded in a session, classic or Connect.

    It says that Sash is there, whether or not ``spark.sash.enabled`` lets it do anything. On a
    Spark that Sash does not know, it is not there.

    Args:
        spark: The session to ask. Nothing runs: it is asked whether it has Sash's settings.

    Raises:
        PySparkTypeError: ``spark`` is no session.

    Example:
        >>> sash.is_active(spark)
        True
    """
    if not hasattr(spark, "conf"):
        raise type_error("spark", "a SparkSession", spark)
    return is_loaded(spark)


def _is_served_elsewhere(options: dict[str, Any]) -> bool:
    remote = options.get("spark.remote", os.environ.get("SPARK_REMOTE", ""))
    return str(remote).startswith("sc://")


def _runs_with_jar() -> bool:
    """Whether a JVM with the jar runs already; one without it is an error."""
    # a Connect-only client has no SparkContext to import
    from pyspark import SparkContext

    if SparkContext._gateway is None:
        if "PYSPARK_GATEWAY_PORT" not in os.environ:
            return False
        # under spark-submit the JVM is older than Python
        SparkContext._ensure_initialized()
    jvm: Any = SparkContext._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    if loader.getResource(_EXTENSIONS_CLASS) is None:
        raise PySparkRuntimeError(NOT_LOADED)
    return True
