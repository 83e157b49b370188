"""Which windows of a query Sash runs, and why Spark runs the others."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from pyspark.sql import DataFrame, SparkSession

from sash.errors import type_error
from sash.loaded import missing

_TITLE = "== Extended Information (Sash) =="
_NODE = "SlidingWindow"
_PROVIDERS = "spark.sql.extendedExplainProviders"
_EXPLAIN = "io.sash.spark.Explain"


def explain(df: DataFrame) -> None:
    """Print which windows of a query Sash runs, and why Spark runs the others.

    First come the ``SlidingWindow`` nodes of the physical plan, then one line for each window
    function: the algorithm that runs it, or the reason why Spark does. ``df.explain()`` prints
    the same lines below the whole plan where the setting ``spark.sql.extendedExplainProviders``
    names ``io.sash.spark.Explain``, as it does here for the time of the call. Where the session
    has no jar of Sash, or Sash is switched off, that is printed, with the remedy.

    Args:
        df: Any DataFrame, classic or Connect. It is planned, not run.

    Raises:
        PySparkTypeError: ``df`` is no DataFrame.
        AnalysisException: the query is not valid.

    Example:
        >>> df = spark.sql('''
        ...     SELECT max(id) OVER (ORDER BY id ROWS 2 PRECEDING), rank() OVER (ORDER BY id)
        ...     FROM range(9)''')
        >>> sash.explain(df)  # doctest: +ELLIPSIS
        SlidingWindow [max(id) ...
        slides: max(id) ...
        left to Spark: RANK() ...
    """
    print(explanation(df))


def explanation(df: DataFrame) -> str:
    """Return the text that ``explain`` prints: which windows Sash runs, and why Spark the others.

    Args:
        df: Any DataFrame, classic or Connect. It is planned, not run.

    Returns:
        The lines, joined by line feeds.

    Raises:
        PySparkTypeError: ``df`` is no DataFrame.
        AnalysisException: the query is not valid.

    Example:
        >>> df = spark.sql("SELECT max(id) OVER (ORDER BY id ROWS 2 PRECEDING) FROM range(9)")
        >>> "slides: max(id)" in sash.explanation(df)
        True
    """
    if not isinstance(df, DataFrame):
        raise type_error("df", "a DataFrame", df)
    why = missing(df.sparkSession)
    if why is not None:
        return why
    printed = io.StringIO()
    # explain() alone is public in classic and in Connect
    with redirect_stdout(printed), _provided(df.sparkSession):
        df.explain()
    plan, _, sash = printed.getvalue().partition(_TITLE)
    nodes = [line.lstrip(" +-:*()0123456789") for line in plan.splitlines() if _NODE in line]
    said = [line for line in sash.splitlines() if line.strip()]
    return "\n".join([*nodes, *said])


@contextmanager
def _provided(spark: SparkSession) -> Iterator[None]:
    """The session with Sash's part in EXPLAIN, beside the user's own providers."""
    before = spark.conf.get(_PROVIDERS, None)
    others = [name for name in (before or "").split(",") if name and name != _EXPLAIN]
    spark.conf.set(_PROVIDERS, ",".join([*others, _EXPLAIN]))
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(_PROVIDERS)
        else:
            spark.conf.set(_PROVIDERS, before)
