"""Aggregators written in Python that slide."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from inspect import signature
from typing import Any

from pyspark import cloudpickle
from pyspark.errors import PySparkNotImplementedError
from pyspark.sql import Column
from pyspark.sql.types import DataType

from sash import sliding, sliding_arrays
from sash.errors import type_error, value_error
from sash.sliding import Aggregator

__all__ = ["Aggregator", "udaf"]

_AGGREGATOR = "an object with the methods zero, reduce, merge and finish, or lift and merge"
_TYPE = "a DataType, or its text as in 'array<string>'"


def udaf(aggregator: Any, return_type: DataType | str) -> Callable[..., Column]:
    """Make a function from columns to a column out of an aggregator in Python.

    The function's result stands in ``groupBy(…).agg``, and with ``over`` above any frame. With
    Sash it slides: each row passes through Python once, and in most windows an answer costs the
    same however long they are. It also takes the kinds of window of ``sash.SlidingWindow``, by
    ``sash.sliding_agg``. Without Sash's jar Spark passes each window to Python, which takes in
    the rows that came since the last one.

    Where the aggregator's attribute ``vectorized`` is true, its methods take NumPy arrays of one
    value or one partial a row, and return such arrays. With Sash's operator no method is called
    for a single row; Spark's own operator passes single rows.

    Args:
        aggregator: An ``Aggregator``, or any object with its methods. Workers get a copy.
        return_type: The type of the answers. A text is read by a session, a DataType needs none.

    Returns:
        A function from one or more columns, or their names, to a Column.

    Cost:
        At most two calls of ``reduce`` and two of ``merge`` a row, amortised, and one of
        ``finish``; with ``lift`` three of ``merge``, or four if there is a ``zero``, too:
        Two-Stacks Lite (*In-order sliding-window aggregation in worst-case constant time*,
        section 4.2). The worker holds a window's buffers and rows, and the rows that its frame
        looks ahead; nothing but a buffer if rows only enter. ``exclude``, and windows of each
        row's own width, cost O(log W) merges a row, and the latter keep a key's rows. With arrays
        a row is merged about four times where windows have one length, else O(log W).

    Raises:
        PySparkTypeError: an argument is of the wrong type.
        PySparkValueError: the aggregator cannot be pickled.
        PySparkNotImplementedError: PySpark is older than 4.1, which passes no Arrow arrays.
        AnalysisException: where the query is planned: on a stream, or with ``window_slide``.
        PythonException: a method failed, and the text names the class, the method and the row's
            keys; or the answer is not of ``return_type``.

    Example:
        >>> from pyspark.sql import Window
        >>> class Both:
        ...     def lift(self, value):
        ...         return {value} - {None}
        ...     def merge(self, left, right):
        ...         return left | right
        ...     def finish(self, buffer):
        ...         return sorted(buffer or ())
        >>> both = sash.udaf(Both(), "array<string>")
        >>> df = spark.createDataFrame([(1, "a"), (2, "b"), (3, "b")], ["ts", "item"])
        >>> last_two = Window.orderBy("ts").rowsBetween(-1, 0)
        >>> df.select("ts", both("item").over(last_two).alias("items")).show()
        +---+------+
        | ts| items|
        +---+------+
        |  1|   [a]|
        |  2|[a, b]|
        |  3|   [b]|
        +---+------+
        <BLANKLINE>
        >>> df.agg(both("item").alias("items")).show()
        +------+
        | items|
        +------+
        |[a, b]|
        +------+
        <BLANKLINE>
    """
    needed = ["merge"] if hasattr(aggregator, "lift") else ["zero", "reduce", "merge", "finish"]
    if isinstance(aggregator, type) or not all(
        callable(sliding.method_of(aggregator, method)) for method in needed
    ):
        raise type_error("aggregator", _AGGREGATOR, aggregator)
    if not isinstance(return_type, (str, DataType)):
        raise type_error("return_type", _TYPE, return_type)
    return _function(aggregator, return_type)


def _function(aggregator: Any, return_type: DataType | str) -> Callable[..., Column]:
    try:
        from pyspark.sql.pandas.functions import ArrowUDFType, arrow_udf
    except ImportError as cause:
        message = "sash.udaf needs PySpark 4.1 or later; write a sash.Monoid, or update PySpark"
        raise PySparkNotImplementedError(message=message) from cause
    answer = DataType.fromDDL(return_type) if isinstance(return_type, str) else return_type
    by_value: Any = cloudpickle.register_pickle_by_value
    pickled: Any = cloudpickle.dumps
    by_value(sliding)
    by_value(sliding_arrays)
    try:
        pickled(aggregator)
    except Exception as cause:  # of any type: objects say how they are pickled
        expected = "an object that can be pickled, since workers get a copy"
        raise value_error("aggregator", expected, aggregator, f"{cause}.") from cause
    name = f"sash.udaf({type(aggregator).__name__})"
    is_vectorized = getattr(aggregator, "vectorized", False)
    of = sliding_arrays.ArrayFunction if is_vectorized else sliding.Function
    function = of(aggregator, name, _arrow_type(answer))
    with warnings.catch_warnings():  # Spark would like to have annotations of types
        warnings.simplefilter("ignore", UserWarning)
        make: Any = arrow_udf
        udf: Callable[..., Column] = make(function, answer, ArrowUDFType.GROUPED_AGG)
    return udf


def _arrow_type(answer: DataType) -> Any:
    from pyspark.sql.pandas.types import to_arrow_type

    convert: Any = to_arrow_type
    in_utc = {"timezone": "UTC"} if "timezone" in signature(convert).parameters else {}
    return convert(answer, **in_utc)  # without the argument, PySpark 4.1 takes UTC
