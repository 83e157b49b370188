"""Which windows of a query Sash runs, and why Spark runs the others."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout

from pyspark.sql import DataFrame, SparkSession

from sash.arguments import require_frame
from sash.loaded import missing

_TITLE = "== Extended Information (Sash) =="
_NODE = "SlidingWindow"
_INITIAL = "== Initial Plan =="
_PROVIDERS = "spark.sql.extendedExplainProviders"
_EXPLAIN = "io.sash.spark.Explain"
_SLIDES = "slides: "
_OFF = re.compile(r"left to Spark: (?:all|windows|functions): ")


def explain(df: DataFrame) -> None:
    """Print which windows of a query Sash runs, and why Spark runs the others.

    First come the ``SlidingWindow`` nodes of the physical plan, with their keys and order. Then
    each window function and each correlated subquery has a line: the algorithm that runs it, or
    the reason why Spark does. The lines of ``window_join`` and ``as_of`` begin with their names.
    ``df.explain()`` prints such lines below the whole plan where the setting
    ``spark.sql.extendedExplainProviders`` names ``io.sash.spark.Explain``, as it does here for
    the time of the call. Where the session has no jar of Sash, or Sash is switched off, that is
    printed, with the remedy.

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
        SlidingWindow [], [id ASC NULLS FIRST]...
        slides: max(id) ...
        left to Spark: RANK() ...
    """
    print(explanation(df))


def explanation(df: DataFrame) -> str:
    """Return the text that ``explain`` prints.

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
    require_frame("df", df)
    why = missing(df.sparkSession)
    if why is not None:
        return why
    plan, lines = _explained(df)
    calls = [line.removeprefix(_SLIDES) for line in lines if line.startswith(_SLIDES)]
    nodes = [line.lstrip(" +-:*()0123456789") for line in _current(plan) if _NODE in line]
    return "\n".join([*(_without(calls, node) for node in nodes), *lines])


def features_off(spark: SparkSession) -> str | None:
    """Why windows or functions are off in a session that has Sash; None if they are on."""
    _, lines = _explained(spark.sql("SELECT 1"))
    return "\n".join(filter(_OFF.match, lines)) or None


def _explained(df: DataFrame) -> tuple[str, list[str]]:
    """The plan, and the lines that Sash adds to it."""
    if df.isStreaming:
        # Spark takes the plan of a stream in a query of SQL for that of a batch, and refuses it
        df = df.select("*")
    printed = io.StringIO()
    # explain() alone is public in classic and in Connect
    with redirect_stdout(printed), _provided(df.sparkSession):
        df.explain()
    plan, _, sash = printed.getvalue().partition(_TITLE)
    return plan, [line for line in sash.splitlines() if line.strip()]


def _current(plan: str) -> Iterator[str]:
    """The lines of a plan, without those with which AQE began and that others have replaced."""
    initial = None
    for line in plan.splitlines():
        column = len(line) - len(line.lstrip(" +-:"))
        if initial is None or column < initial:
            initial = column if _INITIAL in line else None
        if initial is None:
            yield line


def _without(calls: list[str], node: str) -> str:
    """A node without its windows, if each of them has a line of its own."""
    head, bracket, rest = node.partition(f"{_NODE} [")
    while bracket and (call := max(filter(rest.startswith, calls), key=len, default="")):
        rest = rest.removeprefix(call)
        if rest.startswith("], "):
            return f"{head}{_NODE} {rest.removeprefix('], ')}"
        rest = rest.removeprefix("; ")
    return node


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
