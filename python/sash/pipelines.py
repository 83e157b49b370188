"""Functions that look at their tables' columns, in a declarative pipeline of Spark's.

While a pipeline makes its graph, none of its tables is there, and Spark refuses each look at a
DataFrame. So such a function names the query in SQL to write in its place (docs/streaming.md).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from pyspark.errors import AnalysisException, PySparkRuntimeError

_REFUSED = "ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION"

P = ParamSpec("P")
R = TypeVar("R")


def looks_at_columns(instead: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Name ``instead``, a query in SQL, where a pipeline refuses a look at columns."""

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except AnalysisException as error:
                if error.getCondition() != _REFUSED:
                    raise
                name = f"sash.{function.__name__}"
                raise PySparkRuntimeError(
                    f"{name} looks at the columns of its tables, which no query function of a "
                    f"pipeline may do. Write the query in SQL: {instead}."
                ) from error

        return wrapped

    return decorated
