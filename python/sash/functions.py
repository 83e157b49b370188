"""The aggregates of a sliding window, as PySpark columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark.errors import PySparkTypeError
from pyspark.sql import Column, WindowSpec
from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql._typing import ColumnOrName

_MONOID = "the name of an aggregate, as in 'max', or a function from Column to Column"
_WINDOW = "a WindowSpec, as in Window.orderBy('ts').rowsBetween(-9, 0)"


def sliding_agg(
    col: ColumnOrName, monoid: str | Callable[[Column], Column], window: WindowSpec
) -> Column:
    """Aggregate ``col`` over a sliding window.

    ``sliding_agg("x", "max", w)`` is ``F.max("x").over(w)``, and SQL's
    ``sliding_agg(x, 'max') OVER (…)``: all three compile to one expression, so types, NULLs
    and errors are those of the aggregate.

    Args:
        col: The column to aggregate, or its name.
        monoid: The name of any aggregate of Spark, or a function that makes an aggregate of the
            column, for aggregates that take more than one argument. It is called once, when the
            query is built; no row passes through it.
        window: Partitioning, order and frame, from ``pyspark.sql.Window``.

    Returns:
        A column of the type that the aggregate returns. Rows whose ``col`` is NULL count as the
        aggregate counts them: ``max`` skips them, ``count`` too. A frame without rows gives
        what the aggregate gives for no rows, which for most is NULL.

    Cost:
        A constant number of combines a row, amortized, whatever the length of the window.

    Raises:
        PySparkTypeError: an argument is of the wrong type; the message says what it should be.
        AnalysisException: no aggregate has that name; the message names the nearest ones. Under
            Spark Connect it is raised where the query is analyzed, not here.

    Example:
        >>> from pyspark.sql import Window, functions as F
        >>> df = spark.createDataFrame([(1, 5.0), (2, None), (3, 2.0), (4, 3.0)], ["ts", "x"])
        >>> last_two = Window.orderBy("ts").rowsBetween(-1, 0)
        >>> df.select(
        ...     "ts",
        ...     sliding_agg("x", "max", last_two).alias("max"),
        ...     sliding_agg("x", lambda x: F.max_by("ts", x), last_two).alias("ts_of_max"),
        ... ).show()
        +---+---+---------+
        | ts|max|ts_of_max|
        +---+---+---------+
        |  1|5.0|        1|
        |  2|5.0|        1|
        |  3|2.0|        3|
        |  4|3.0|        4|
        +---+---+---------+
        <BLANKLINE>
    """
    if not isinstance(window, WindowSpec):
        raise _type_error("window", _WINDOW, window)
    return _aggregate(_column(col), monoid).over(window)


def _column(col: ColumnOrName) -> Column:
    if isinstance(col, str):
        return F.col(col)
    if isinstance(col, Column):
        return col
    raise _type_error("col", "a Column or the name of one", col)


def _aggregate(column: Column, monoid: str | Callable[[Column], Column]) -> Column:
    if isinstance(monoid, str):
        return F.call_function("sliding_agg", column, F.lit(monoid))
    if not callable(monoid):
        raise _type_error("monoid", _MONOID, monoid)
    aggregate = monoid(column)
    if not isinstance(aggregate, Column):
        raise _type_error("monoid", "a function that returns a Column", aggregate)
    return aggregate


def _type_error(argument: str, expected: str, actual: object) -> PySparkTypeError:
    found = type(actual).__name__
    return PySparkTypeError(
        # spelled out, since PySpark 4.0 does not know this condition of later versions
        message=f"Argument `{argument}` should be {expected}, got {found}.",
        errorClass="NOT_EXPECTED_TYPE",
        messageParameters={
            "arg_name": argument,
            "expected_type": expected,
            "arg_type": found,
        },
    )
