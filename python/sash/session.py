"""Bringing the plugin to a Spark session, and telling whether it is there."""

from __future__ import annotations

import os
from typing import Any

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession
from pyspark.util import is_remote_only

from sash import spark_jars
from sash.arguments import require_flag
from sash.errors import type_error
from sash.install import check_installed_version
from sash.jar import jar_path
from sash.loaded import NOT_LOADED, has_jar, missing
from sash.plan import features_off

_STATE_STORE = "spark.sql.streaming.stateStore.providerClass"
_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_BUILDER = (
    "A session takes no jar once it runs: sash.configure(SparkSession.builder).getOrCreate()."
)


def configure(builder: SparkSession.Builder, *, streaming: bool = False) -> SparkSession.Builder:
    """Put Sash's jar on the class path of the session that ``builder`` will make.

    The jar is added to the ``spark.jars`` that the builder, ``PYSPARK_SUBMIT_ARGS`` or
    ``spark-defaults.conf`` already name. Where the jar is, Sash is on.
    Calling it twice is harmless, and so is calling it where the jar is on the class path.

    Args:
        builder: ``SparkSession.builder``, with whatever you have set. A builder whose remote is
            ``local[…]`` starts a Connect server of its own, which gets the jar by
            ``PYSPARK_SUBMIT_ARGS``, changed in this process. A builder whose
            remote is ``sc://…`` is returned as it is, since a client cannot change the class
            path of its server: start that one with ``--jars $(python -m sash jar)``.
        streaming: Whether streams keep their state in RocksDB, which ``OVER`` on a stream needs.
            It sets ``spark.sql.streaming.stateStore.providerClass``, a setting of each session,
            also of one on another server. If false, nothing but the jar is set.

    Returns:
        The same builder.

    Raises:
        PySparkTypeError: ``builder`` is no builder.
        PySparkRuntimeError: this process already has a JVM, and that one lacks the jar; or
            another version of the jar is in the PySpark installation and would hide this one.
            The message has the remedy.

    Example:
        >>> from pyspark.sql import SparkSession
        >>> spark = sash.configure(SparkSession.builder.master("local[2]")).getOrCreate()
        >>> sash.is_active(spark)
        True
    """
    if not (hasattr(builder, "_options") and hasattr(builder, "getOrCreate")):
        raise type_error("builder", "SparkSession.builder", builder, _BUILDER)
    require_flag("streaming", streaming)
    if streaming:
        builder = builder.config(_STATE_STORE, _ROCKSDB)
    options: dict[str, Any] = builder._options
    if is_remote_only() or _is_served_elsewhere(options):
        return builder
    if _runs_with_jar():
        return builder
    check_installed_version()
    if _starts_server(options) and "spark.jars" not in options:
        # PySpark sets a builder's options in the session, too, and warns that it cannot set jars
        spark_jars.submit_with(jar_path())
        return builder
    return builder.config("spark.jars", ",".join(spark_jars.with_jar(jar_path(), options)))


def is_active(spark: SparkSession) -> bool:
    """Whether Sash works in a session, classic or Connect.

    It is False where the jar is missing, where Sash is switched off or leaves this Spark alone,
    and where its functions have no names. ``inactive_reason`` tells which. Single features may
    be off all the same: ``explain`` has a line for each.

    Args:
        spark: The session to ask. No job runs.

    Raises:
        PySparkTypeError: ``spark`` is no session.

    Example:
        >>> sash.is_active(spark)
        True
    """
    return inactive_reason(spark) is None


def inactive_reason(spark: SparkSession) -> str | None:
    """Return why Sash does not work in a session, and the remedy; None if it does.

    Args:
        spark: The session to ask, classic or Connect. No job runs.

    Raises:
        PySparkTypeError: ``spark`` is no session.

    Example:
        >>> sash.inactive_reason(spark)
        >>> spark.conf.set("spark.sash.enabled", False)
        >>> sash.inactive_reason(spark)  # doctest: +ELLIPSIS
        'Sash is switched off in this session: ...'
        >>> spark.conf.unset("spark.sash.enabled")
    """
    # a class of Connect's is no subclass of the other, and a DataFrame has columns as attributes
    if not hasattr(type(spark), "createDataFrame"):
        raise type_error("spark", "a SparkSession", spark)
    return missing(spark) or features_off(spark)


def _is_served_elsewhere(options: dict[str, Any]) -> bool:
    remote = options.get("spark.remote", os.environ.get("SPARK_REMOTE", ""))
    return str(remote).startswith("sc://")


def _starts_server(options: dict[str, Any]) -> bool:
    """Whether the builder makes a Connect server in this process."""
    remote = options.get("spark.remote", os.environ.get("SPARK_REMOTE"))
    mode = options.get("spark.api.mode", os.environ.get("SPARK_API_MODE", "classic"))
    return remote is not None or str(mode).lower() == "connect"


def _runs_with_jar() -> bool:
    """Whether a JVM with the jar runs already; one without it is an error."""
    # a Connect-only client has no SparkContext to import
    from pyspark import SparkContext

    if SparkContext._gateway is None:
        if "PYSPARK_GATEWAY_PORT" not in os.environ:
            return False
        # under spark-submit the JVM is older than Python
        SparkContext._ensure_initialized()
    if not has_jar():
        raise PySparkRuntimeError(NOT_LOADED)
    return True
