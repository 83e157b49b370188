"""What Sash did with the windows of a query."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

from pyspark.sql import DataFrame

_TITLE = "== Extended Information (Sash) =="
_NODE = "SlidingWindow"


def explain(df: DataFrame) -> None:
    """Print what Sash took over in a query, and why it left the rest to Spark.

    First come the ``SlidingWindow`` nodes of the physical plan, then one line for each window
    function: the algorithm that runs it, or the reason why Spark does. The whole plan, with the
    same lines at its end, is ``df.explain()``.

    Args:
        df: Any DataFrame, classic or Connect. It is planned, not run.

    Raises:
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
    """What ``explain`` prints, as a string."""
    printed = io.StringIO()
    # explain() alone is public in classic and in Connect
    with redirect_stdout(printed):
        df.explain()
    plan, _, sash = printed.getvalue().partition(_TITLE)
    nodes = [line.lstrip(" +-:*()0123456789") for line in plan.splitlines() if _NODE in line]
    said = [line for line in sash.splitlines() if line.strip()]
    return "\n".join([*nodes, *said] or ["Sash is not active in this session"])
