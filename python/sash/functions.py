"""The aggregates of a sliding window, as PySpark columns.

Besides ``sliding_agg`` these are the aggregates that Sash adds to SQL (docs/functions.md), for
``groupBy(…).agg``, for ``.over`` and for ``sliding_agg``. NULLs are skipped; a group or window
without rows gives NULL, or 0 if the answer is a count, or an empty list. SQL's ``product`` is
``pyspark.sql.functions.product`` here.

All have one order of arguments. Columns come first: the value, and behind it the time, or the
value that orders it. Constants come last.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pyspark.sql import Column, WindowSpec
from pyspark.sql import functions as F

from sash.arguments import Extent, columns, constant, share, whole
from sash.errors import type_error, value_error
from sash.loaded import call
from sash.monoid import Monoid, aggregate_of, to_column
from sash.window import SlidingWindowSpec

if TYPE_CHECKING:
    from pyspark.sql._typing import ColumnOrName

__all__ = [
    "arg_max",
    "arg_min",
    "coefficient_of_variation",
    "counter_increase",
    "counter_rate",
    "cume_dist_in_frame",
    "cusum",
    "decayed_count",
    "decayed_sum",
    "dense_rank_in_frame",
    "ema",
    "entropy",
    "ewm_mean",
    "ewm_mean_by_rows",
    "first_n",
    "funnel",
    "geometric_mean",
    "last_distinct_n",
    "last_n",
    "linear_weighted_avg",
    "linear_weighted_sum",
    "longest_increasing_run",
    "m4",
    "max_count",
    "max_n",
    "max_n_by",
    "min_count",
    "min_n",
    "min_n_by",
    "mode_share",
    "percent_rank_in_frame",
    "rank_in_frame",
    "relative_variation",
    "sliding_agg",
    "time_weighted_avg",
    "top_counts",
    "value_counts",
    "value_range",
]

_WINDOW = (
    "a WindowSpec, as in Window.orderBy('ts').rowsBetween(-9, 0), "
    "or a SlidingWindow, as in SlidingWindow.orderBy('ts').count(10)"
)


def sliding_agg(
    col: ColumnOrName,
    monoid: str | Monoid | Callable[[Column], Column],
    window: WindowSpec | SlidingWindowSpec,
) -> Column:
    """Aggregate ``col`` over a sliding window.

    ``sliding_agg("x", "max", w)`` is ``F.max("x").over(w)``, and SQL's
    ``sliding_agg(x, 'max') OVER (…)``. All three compile to one expression, so the aggregate
    decides about types, NULLs and errors.

    Args:
        col: The column to aggregate, or its name.
        monoid: The name of any aggregate of Spark or Sash; a ``sash.Monoid`` of your own; or a
            function that makes an aggregate of the column. A function suits aggregates of several
            arguments. It is called once, when the query is built; no row passes through it.
        window: Partitioning, order and frame, from ``pyspark.sql.Window``; or partitioning, order
            and a kind of window that SQL has no frame for, from ``sash.SlidingWindow``.

    Returns:
        A column of the type that the aggregate returns. Rows whose ``col`` is NULL count as the
        aggregate counts them: ``max`` skips them, ``count`` too. A frame without rows gives
        the aggregate's answer for no rows, which for most is NULL.

    Cost:
        A constant number of combines a row, amortized, whatever the length of the window.

    Raises:
        PySparkTypeError: an argument is of the wrong type; the message names the right one.
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
    column = to_column(col)
    aggregate = aggregate_of(column, monoid)
    if isinstance(window, SlidingWindowSpec):
        return aggregate.over(window.spec(column, aggregate))
    if not isinstance(window, WindowSpec):
        raise type_error("window", _WINDOW, window)
    return aggregate.over(window)


def geometric_mean(col: ColumnOrName) -> Column:
    """Return the geometric mean, the nth root of the product.

    It is computed from the sum of logarithms, so that no product overflows. A 0 makes it 0, a
    negative number NaN.

    Args:
        col: A numeric column, or its name; taken as a double.

    Example:
        >>> df = spark.createDataFrame([(2.0,), (8.0,)], ["x"])
        >>> df.select(geometric_mean("x")).head()[0]
        4.0
    """
    return call("geometric_mean", to_column(col))


def max_count(col: ColumnOrName) -> Column:
    """Return how often the greatest value occurs.

    Values are compared as ``max`` compares them.

    Args:
        col: A column of any type that can be ordered, or its name.

    Example:
        >>> df = spark.createDataFrame([(5,), (3,), (5,)], ["x"])
        >>> df.select(max_count("x")).head()[0]
        2
    """
    return call("max_count", to_column(col))


def min_count(col: ColumnOrName) -> Column:
    """Return how often the least value occurs.

    Values are compared as ``min`` compares them.

    Args:
        col: A column of any type that can be ordered, or its name.

    Example:
        >>> df = spark.createDataFrame([(5,), (3,), (5,)], ["x"])
        >>> df.select(min_count("x")).head()[0]
        1
    """
    return call("min_count", to_column(col))


def arg_max(arg: ColumnOrName, val: ColumnOrName) -> Column:
    """Return ``arg`` of the row in which ``val`` is greatest.

    Of several such rows the first in the window's order, where ``max_by`` has the last.
    Rows whose ``val`` is NULL are skipped; ``arg`` may be NULL.

    Args:
        arg: The column to return, of any type, or its name.
        val: A column of any type that can be ordered, or its name.

    Example:
        >>> df = spark.createDataFrame([("Ann", 10), ("Bo", 50)], ["who", "x"])
        >>> df.select(arg_max("who", "x")).head()[0]
        'Bo'
    """
    return call("arg_max", to_column(arg, "arg"), to_column(val, "val"))


def arg_min(arg: ColumnOrName, val: ColumnOrName) -> Column:
    """Return ``arg`` of the row in which ``val`` is least.

    Of several such rows the first in the window's order, where ``min_by`` has the last.
    Rows whose ``val`` is NULL are skipped; ``arg`` may be NULL.

    Args:
        arg: The column to return, of any type, or its name.
        val: A column of any type that can be ordered, or its name.

    Example:
        >>> df = spark.createDataFrame([("Ann", 10), ("Bo", 50)], ["who", "x"])
        >>> df.select(arg_min("who", "x")).head()[0]
        'Ann'
    """
    return call("arg_min", to_column(arg, "arg"), to_column(val, "val"))


def value_range(col: ColumnOrName) -> Column:
    """Return how far apart the values are: ``max(col) - min(col)``.

    That difference decides the type, and whether it overflows. A NaN makes it NaN.

    Args:
        col: A column of numbers or intervals, or its name.

    Example:
        >>> df = spark.createDataFrame([(3,), (1,), (4,)], ["x"])
        >>> df.select(value_range("x")).head()[0]
        3
    """
    return call("value_range", to_column(col))


def relative_variation(col: ColumnOrName) -> Column:
    """Return the range relative to the maximum: ``(max - min) / max``.

    A maximum of 0 makes it infinite, or NaN if all values are 0; a NaN makes it NaN.

    Args:
        col: A numeric column, or its name; taken as a double.

    Example:
        >>> df = spark.createDataFrame([(3.0,), (1.0,), (4.0,)], ["x"])
        >>> df.select(relative_variation("x")).head()[0]
        0.75
    """
    return call("relative_variation", to_column(col))


def coefficient_of_variation(col: ColumnOrName) -> Column:
    """Return the standard deviation relative to the mean: ``stddev_samp / avg``.

    NULL over fewer than two rows. A mean of 0 makes it infinite, or NaN if all values are 0.

    Args:
        col: A numeric column, or its name; taken as a double.

    Example:
        >>> df = spark.createDataFrame([(2.0,), (4.0,), (6.0,)], ["x"])
        >>> df.select(coefficient_of_variation("x")).head()[0]
        0.5
    """
    return call("coefficient_of_variation", to_column(col))


def m4(col: ColumnOrName, ts: ColumnOrName) -> Column:
    """Return the first, last, least and greatest point of a time series.

    The four that a chart needs of each column of pixels: a struct of ``first``, ``last``, ``min``
    and ``max``, each a struct of ``time`` and ``value``. Of equal values the earliest. Rows in
    which either is NULL are skipped.

    Args:
        col: The value, of any type that can be ordered, or its name.
        ts: The time, of any type that can be ordered, or its name.

    Example:
        >>> df = spark.createDataFrame([(1, 3.0), (2, 1.0), (3, 4.0)], ["ts", "x"])
        >>> df.select(m4("x", "ts").max).head()[0]
        Row(time=3, value=4.0)
    """
    return call("m4", to_column(col), to_column(ts, "ts"))


def longest_increasing_run(col: ColumnOrName, ts: ColumnOrName) -> Column:
    """Return the longest run of neighbouring rows in which ``col`` increases strictly.

    A struct of the ``start`` and ``end`` of the run, by ``ts``, and its ``length``; the first of
    several. Neighbours are neighbours in the window's order; in a group the answer depends on how
    its rows arrive. Rows in which either is NULL are skipped.

    Args:
        col: The value, of any type that can be ordered, or its name.
        ts: The time, or whatever else names a row; or its name.

    Example:
        >>> from pyspark.sql import Window
        >>> df = spark.createDataFrame([(1, 3.0), (4, 5.0), (6, 2.0)], ["ts", "x"])
        >>> last_three = Window.orderBy("ts").rowsBetween(-2, 0)
        >>> df.select(longest_increasing_run("x", "ts").over(last_three)).tail(1)[0][0]
        Row(start=1, end=4, length=2)
    """
    return call("longest_increasing_run", to_column(col), to_column(ts, "ts"))


def counter_increase(col: ColumnOrName) -> Column:
    """Return by how much a counter has grown from the first row to the last.

    A value less than the one before it is a restart, and counts from 0. The rows are taken in the
    window's order; in a group the answer depends on how its rows arrive. NULLs are skipped; 0
    over one row. PromQL's ``increase``, without its extrapolation to the window's ends.

    Args:
        col: The counter, a numeric column, or its name; taken as a double.

    Example:
        >>> from pyspark.sql import Window
        >>> df = spark.createDataFrame([(1, 5), (2, 9), (3, 1)], ["ts", "x"])
        >>> last_three = Window.orderBy("ts").rowsBetween(-2, 0)
        >>> df.select(counter_increase("x").over(last_three)).tail(1)[0][0]
        5.0
    """
    return call("counter_increase", to_column(col))


def counter_rate(col: ColumnOrName, ts: ColumnOrName) -> Column:
    """Return by how much a counter has grown per second from the first row to the last.

    The increase of ``counter_increase``, divided by the time between these two rows. NULL where
    no time passes. Rows in which either is NULL are skipped.

    Args:
        col: The counter, a numeric column, or its name; taken as a double.
        ts: The time, a timestamp or a date, or its name; or a number, and then the rate is per 1.

    Example:
        >>> from pyspark.sql import Window
        >>> df = spark.createDataFrame([(1, 5), (2, 9), (5, 3)], ["ts", "x"])
        >>> last_three = Window.orderBy("ts").rowsBetween(-2, 0)
        >>> df.select(counter_rate("x", "ts").over(last_three)).tail(1)[0][0]
        1.75
    """
    return call("counter_rate", to_column(col), to_column(ts, "ts"))


def cusum(col: ColumnOrName) -> Column:
    """Return the sum that begins at 0 and stays there where it would fall below it.

    The cumulative sum of control charts. ``cusum(F.col("x") - target - slack)`` watches for a
    rise. The rows are taken in the window's order; in a group the answer depends on how its rows
    arrive. NULLs are skipped.

    Args:
        col: A numeric column, or its name; taken as a double.

    Example:
        >>> from pyspark.sql import Window
        >>> df = spark.createDataFrame([(1, 2), (2, -5), (3, 1), (4, 3)], ["ts", "x"])
        >>> last_four = Window.orderBy("ts").rowsBetween(-3, 0)
        >>> [row[0] for row in df.select(cusum("x").over(last_four)).collect()]
        [2.0, 0.0, 1.0, 4.0]
    """
    return call("cusum", to_column(col))


def funnel(*cols: ColumnOrName) -> Column:
    """Return how many of the steps were met in order, each in a later row than the step before.

    Other rows may lie between two steps. The window bounds the time from the first step to the
    last. So the greatest answer of a key over windows of seven days is ClickHouse's
    ``windowFunnel``: how far the key came within seven days. The rows are taken in the window's
    order; in a group the answer depends on how its rows arrive. A NULL is a step that is not met.

    Args:
        cols: The conditions of 1 to 15 steps, the first one first: boolean columns, or their
            names.

    Example:
        >>> df = spark.createDataFrame(
        ...     [(0, "view"), (2, "pay"), (3, "cart"), (5, "pay"), (9, "pay")], ["ts", "e"])
        >>> view, cart, pay = (F.col("e") == step for step in ("view", "cart", "pay"))
        >>> last_seven = sash.SlidingWindow.orderBy("ts").time(7)
        >>> [r[0] for r in df.select(funnel(view, cart, pay).over(last_seven)).collect()]
        [1, 1, 2, 3, 0]
    """
    return call("funnel", *(to_column(step, "cols") for step in columns(cols)))


def ewm_mean(col: ColumnOrName, ts: ColumnOrName, half_life: Extent) -> Column:
    """Return the mean in which a value weighs the less the older it is, exponentially by time.

    It is pandas' ``ewm(halflife, times)``, which has ``adjust=True``. Rows in which either column
    is NULL are skipped, and a day has 24 hours.

    Args:
        col: A numeric column, or its name; taken as a double.
        ts: The time, a timestamp, a date or a number, or its name.
        half_life: The age at which a weight is a half: a timedelta or an interval as in "1 hour",
            or a number if ``ts`` is one.

    Example:
        >>> from pyspark.sql import Window
        >>> df = spark.createDataFrame([(0, 6.0), (2, 3.0)], ["ts", "x"])
        >>> w = Window.orderBy("ts").rowsBetween(-9, 0)
        >>> df.select(ewm_mean("x", "ts", 2).over(w)).tail(1)[0][0]
        4.0
    """
    half = constant("half_life", half_life)
    return call("ewm_mean", to_column(col), to_column(ts, "ts"), half)


def ewm_mean_by_rows(col: ColumnOrName, alpha: float) -> Column:
    """Return the mean in which a value weighs the less the older it is, exponentially by rows.

    It is pandas' ``ewm(alpha)``, which has ``adjust=True``. A NULL ages the rows before it.

    Args:
        col: A numeric column, or its name; taken as a double.
        alpha: The share by which each row takes weight from all before it, more than 0 and at
            most 1.

    Example:
        >>> from pyspark.sql import Window
        >>> df = spark.createDataFrame([(0, 6.0), (2, 3.0)], ["ts", "x"])
        >>> w = Window.orderBy("ts").rowsBetween(-9, 0)
        >>> df.select(ewm_mean_by_rows("x", 0.5).over(w)).tail(1)[0][0]
        4.0
    """
    return call("ewm_mean_by_rows", to_column(col), share("alpha", alpha))


def ema(col: ColumnOrName, ts: ColumnOrName, half_life: Extent) -> Column:
    """Return the exponential moving average by time.

    Each row moves the average towards its value, by a share that grows with the time since the
    row before: ``ema = d * ema + (1 - d) * col``, where ``d`` halves in each half-life. In the
    window's first row it is that row's value. Rows in which ``col`` or ``ts`` is NULL are
    skipped.

    Args:
        col: A numeric column, or its name; taken as a double.
        ts: The time, by which the window is ordered: a timestamp, a date or a number, or its
            name.
        half_life: The time after which half of an old average is left: a timedelta or an interval
            as in "1 hour", or a number if ``ts`` is one.

    Example:
        >>> from pyspark.sql import Window
        >>> df = spark.createDataFrame([(0, 6.0), (2, 3.0), (4, 3.0)], ["ts", "x"])
        >>> w = Window.orderBy("ts").rowsBetween(-9, 0)
        >>> [row[0] for row in df.select(ema("x", "ts", 2).over(w)).collect()]
        [6.0, 4.5, 3.75]
    """
    return call("ema", to_column(col), to_column(ts, "ts"), constant("half_life", half_life))


def decayed_sum(col: ColumnOrName, ts: ColumnOrName, half_life: Extent) -> Column:
    """Return the sum in which a value weighs the less the older it is, exponentially.

    A weight is ``2 ** (-age / half_life)``. An age is the time from its row to the latest
    ``ts`` of the window. In :func:`sash.window_join` it is the time to the end of the label's
    window, so that the feature is as of its label. A NULL in ``col`` adds nothing, but its
    row's time counts: a condition stands in the value, as in ``F.when(paid, amount)``. Rows
    in which ``ts`` is NULL are skipped.

    Args:
        col: A numeric column, or its name; taken as a double.
        ts: The time, a timestamp, a date or a number, or its name.
        half_life: The age at which a weight is a half: a timedelta or an interval as in "1 hour",
            or a number if ``ts`` is one.

    Example:
        >>> from pyspark.sql import Window
        >>> df = spark.createDataFrame([(0, 6.0), (2, 3.0), (4, None)], ["ts", "x"])
        >>> w = Window.orderBy("ts").rowsBetween(-9, 0)
        >>> [row[0] for row in df.select(decayed_sum("x", "ts", 2).over(w)).collect()]
        [6.0, 6.0, 3.0]
    """
    half = constant("half_life", half_life)
    return call("decayed_sum", to_column(col), to_column(ts, "ts"), half)


def decayed_count(ts: ColumnOrName, half_life: Extent) -> Column:
    """Return the number of rows, in which a row weighs the less the older it is.

    :func:`decayed_sum` has the same weights and ages. Rows in which ``ts`` is NULL are skipped.

    Args:
        ts: The time, a timestamp, a date or a number, or its name.
        half_life: The age at which a weight is a half: a timedelta or an interval as in "1 hour",
            or a number if ``ts`` is one.

    Example:
        >>> from pyspark.sql import Window
        >>> df = spark.createDataFrame([(0,), (2,), (4,)], ["ts"])
        >>> w = Window.orderBy("ts").rowsBetween(-9, 0)
        >>> [row[0] for row in df.select(decayed_count("ts", 2).over(w)).collect()]
        [1.0, 1.5, 1.75]
    """
    return call("decayed_count", to_column(ts, "ts"), constant("half_life", half_life))


def time_weighted_avg(
    col: ColumnOrName,
    ts: ColumnOrName,
    before: ColumnOrName | None = None,
    span: Extent | None = None,
) -> Column:
    """Return the average of a value over time: a row's value holds until the next row.

    Without ``span`` the average is over the time from the window's first row to its last, and
    rows without a value are skipped. With ``span`` and ``before`` it is over the whole span
    until the row that asks. The value that held before the first row counts, too, and the
    last value holds until the row, over rows whose ``col`` is NULL. If a frame of
    ``rangeBetween`` ends long before its row, the span begins where the frame does. In
    :func:`sash.window_join` the span ends with the label's window, and in GROUP BY at the
    last row. NULL over no time. The rows are taken in the window's order.

    Args:
        col: The value, a column of numbers or its name.
        ts: The time, by which the window is ordered: timestamps, dates or numbers.
        before: The value that held before the row: ``F.lag("x")`` over the same partitioning and
            order, or ``F.last("x", True)`` over all rows before it where ``x`` has NULLs. It is
            computed as a column first.
        span: The window's length: an interval such as ``"1 hour"``, or a number if ``ts`` is one.

    Example:
        >>> from pyspark.sql import Window
        >>> df = spark.createDataFrame([(0, 6.0), (3, 2.0), (4, 9.0)], ["ts", "x"])
        >>> by_time = Window.orderBy("ts")
        >>> df = df.withColumn("before", F.lag("x").over(by_time))
        >>> average = time_weighted_avg("x", "ts", "before", 2)
        >>> last_two = by_time.rangeBetween(-2, 0)
        >>> [r[0] for r in df.select(average.over(last_two)).collect()]
        [None, 6.0, 4.0]
    """
    of = to_column(col), to_column(ts, "ts")
    if span is None and before is None:
        return call("time_weighted_avg", *of)
    if span is None:
        raise value_error("span", "given, since before is", span)
    if before is None:
        raise value_error("before", "given, since span is", before)
    return call("time_weighted_avg", *of, to_column(before, "before"), constant("span", span))


def linear_weighted_avg(col: ColumnOrName, ts: ColumnOrName, span: Extent) -> Column:
    """Return the mean in which a value weighs the less the older it is, in a line.

    The youngest row of the window weighs 1, and a row at the age of ``span`` weighs 0. In
    :func:`sash.window_join` an age is the time to the end of the label's window. A row that is
    older still is an error: the window is at most as long as ``span``. NULLs are skipped; NULL
    over no rows.

    Args:
        col: A column of numbers or its name.
        ts: The time, a column of timestamps, dates or numbers.
        span: The age at which a row's weight is 0: an interval such as ``"1 hour"``, or a number
            if ``ts`` is one.

    Example:
        >>> from pyspark.sql import Window
        >>> df = spark.createDataFrame([(0, 6.0), (2, 3.0), (6, 1.0)], ["ts", "x"])
        >>> last_four = Window.orderBy("ts").rangeBetween(-4, 0)
        >>> [r[0] for r in df.select(linear_weighted_avg("x", "ts", 4).over(last_four)).collect()]
        [6.0, 4.0, 1.0]
    """
    of = to_column(col), to_column(ts, "ts")
    return call("linear_weighted_avg", *of, constant("span", span))


def linear_weighted_sum(col: ColumnOrName, ts: ColumnOrName, span: Extent) -> Column:
    """Return the sum in which a value weighs the less the older it is, in a line.

    :func:`linear_weighted_avg` has the same weights and arguments. The sum over a span
    less the sum over its half has the weights of a triangle, which peaks in the middle of the
    span.

    Example:
        >>> from pyspark.sql import Window
        >>> df = spark.createDataFrame([(0, 6.0), (2, 3.0), (4, 1.0)], ["ts", "x"])
        >>> by_time = Window.orderBy("ts")
        >>> def line(of, span):
        ...     return linear_weighted_sum(of, "ts", span).over(by_time.rangeBetween(-span, 0))
        >>> sums, weights = (line(of, 4) - line(of, 2) for of in (F.col("x"), F.lit(1.0)))
        >>> [r[0] for r in df.select(F.try_divide(sums, weights)).collect()]
        [None, 6.0, 3.0]
    """
    of = to_column(col), to_column(ts, "ts")
    return call("linear_weighted_sum", *of, constant("span", span))


def first_n(col: ColumnOrName, n: int) -> Column:
    """Return the first ``n`` values, oldest first.

    The rows are taken in the window's order. A list, empty over no rows; NULLs are skipped. A
    row costs O(n), however long the window is.

    Args:
        col: A column of any type, or its name.
        n: How many, 1 or more.

    Example:
        >>> df = spark.createDataFrame([(3,), (1,), (2,)], ["x"]).coalesce(1)
        >>> df.select(first_n("x", 2)).head()[0]
        [3, 1]
    """
    return call("first_n", to_column(col), _how_many(n))


def last_n(col: ColumnOrName, n: int) -> Column:
    """Return the last ``n`` values, oldest first; see ``first_n``.

    Args:
        col: A column of any type, or its name.
        n: How many, 1 or more.

    Example:
        >>> df = spark.createDataFrame([(3,), (1,), (2,)], ["x"]).coalesce(1)
        >>> df.select(last_n("x", 2)).head()[0]
        [1, 2]
    """
    return call("last_n", to_column(col), _how_many(n))


def last_distinct_n(col: ColumnOrName, n: int) -> Column:
    """Return the last ``n`` different values, in the order in which they last came.

    A list, empty over no rows; NULLs are skipped. A row costs O(n).

    Args:
        col: A column of a type that can be ordered, or its name.
        n: How many, 1 or more.

    Example:
        >>> df = spark.createDataFrame([(3,), (1,), (3,)], ["x"]).coalesce(1)
        >>> df.select(last_distinct_n("x", 2)).head()[0]
        [1, 3]
    """
    return call("last_distinct_n", to_column(col), _how_many(n))


def max_n(col: ColumnOrName, n: int) -> Column:
    """Return the ``n`` greatest values, greatest first.

    A value that comes twice is there twice. A list, empty over no rows; NULLs are skipped. A row
    costs O(n log n).

    Args:
        col: A column of a type that can be ordered, or its name.
        n: How many, 1 or more.

    Example:
        >>> df = spark.createDataFrame([(3,), (1,), (2,)], ["x"])
        >>> df.select(max_n("x", 2)).head()[0]
        [3, 2]
    """
    return call("max_n", to_column(col), _how_many(n))


def min_n(col: ColumnOrName, n: int) -> Column:
    """Return the ``n`` least values, least first; see ``max_n``.

    Args:
        col: A column of a type that can be ordered, or its name.
        n: How many, 1 or more.

    Example:
        >>> df = spark.createDataFrame([(3,), (1,), (2,)], ["x"])
        >>> df.select(min_n("x", 2)).head()[0]
        [1, 2]
    """
    return call("min_n", to_column(col), _how_many(n))


def max_n_by(arg: ColumnOrName, val: ColumnOrName, n: int) -> Column:
    """Return ``arg`` of the ``n`` rows with the greatest ``val``, greatest first.

    Rows of equal ``val`` are sorted by ``arg``, the greatest first and NULL last. Rows whose
    ``val`` is NULL are skipped. A list, empty over no rows. A row costs O(n log n).

    Args:
        arg: The column to return, of a type that can be ordered, or its name.
        val: A column of a type that can be ordered, or its name.
        n: How many, 1 or more.

    Example:
        >>> df = spark.createDataFrame([("Ann", 10), ("Bo", 50), ("Cy", 20)], ["who", "x"])
        >>> df.select(max_n_by("who", "x", 2)).head()[0]
        ['Bo', 'Cy']
    """
    return call("max_n_by", to_column(arg, "arg"), to_column(val, "val"), _how_many(n))


def min_n_by(arg: ColumnOrName, val: ColumnOrName, n: int) -> Column:
    """Return ``arg`` of the ``n`` rows with the least ``val``, least first.

    Rows of equal ``val`` are sorted by ``arg``, NULL first and then the least. For the rest see
    ``max_n_by``.

    Args:
        arg: The column to return, of a type that can be ordered, or its name.
        val: A column of a type that can be ordered, or its name.
        n: How many, 1 or more.

    Example:
        >>> df = spark.createDataFrame([("Ann", 10), ("Bo", 50), ("Cy", 20)], ["who", "x"])
        >>> df.select(min_n_by("who", "x", 2)).head()[0]
        ['Ann', 'Cy']
    """
    return call("min_n_by", to_column(arg, "arg"), to_column(val, "val"), _how_many(n))


def value_counts(col: ColumnOrName) -> Column:
    """Return how often each value occurs, as a map.

    NULLs are skipped; an empty map over no rows. A moving window keeps the counts, and an answer
    costs as much as it has keys.

    Args:
        col: A column of a type that can be a key of a map, or its name.

    Example:
        >>> df = spark.createDataFrame([("a",), ("b",), ("a",)], ["x"])
        >>> sorted(df.select(value_counts("x")).head()[0].items())
        [('a', 2), ('b', 1)]
    """
    return call("value_counts", to_column(col))


def top_counts(col: ColumnOrName, n: int) -> Column:
    """Return the ``n`` most frequent values with their counts, the most frequent first.

    A list of structs of ``value`` and ``count``; of values that are equally frequent the least
    first. Exact, where Spark's ``approx_top_k`` estimates. NULLs are skipped. A row costs
    O(log d) with d different values in the window, and an answer O(n).

    Args:
        col: A column of a type that can be ordered, or its name.
        n: How many, 1 or more.

    Example:
        >>> df = spark.createDataFrame([("a",), ("b",), ("a",), ("c",)], ["x"])
        >>> df.select(top_counts("x", 2)).head()[0]
        [Row(value='a', count=2), Row(value='b', count=1)]
    """
    return call("top_counts", to_column(col), _how_many(n))


def entropy(col: ColumnOrName) -> Column:
    """Return the entropy of the values, in bits: the sum of ``-p * log2(p)`` over their shares.

    DuckDB's ``entropy``. NULLs are skipped. In a moving window an answer costs O(√n) for n rows
    at most, and does not drift.

    Args:
        col: A column of a type that GROUP BY takes, or its name.

    Example:
        >>> df = spark.createDataFrame([("a",), ("b",), ("a",), ("b",)], ["x"])
        >>> df.select(entropy("x")).head()[0]
        1.0
    """
    return call("entropy", to_column(col))


def mode_share(col: ColumnOrName) -> Column:
    """Return the share of the most frequent value among the values; ``F.mode`` is the value.

    NULLs are skipped.

    Args:
        col: A column of a type that GROUP BY takes, or its name.

    Example:
        >>> df = spark.createDataFrame([("a",), ("b",), ("a",), ("c",)], ["x"])
        >>> df.select(mode_share("x")).head()[0]
        0.5
    """
    return call("mode_share", to_column(col))


def rank_in_frame(col: ColumnOrName) -> Column:
    """Return the rank of the row's own value among the values of its frame, from 1 on.

    One more than the number of values in the frame that are less; pandas'
    ``rolling(…).rank(method="min")``. Only for ``.over``. NULLs in the frame are skipped, and a
    row whose value is NULL gets NULL. A value that the frame lacks, as by FILTER, is ranked as if
    it were there. O(log n) for each row that enters or leaves, and for each answer.

    Args:
        col: A column of numbers of at most 18 digits, dates, timestamps, times of day (TIME) or
            intervals, or its name; ``-F.col("x")`` for the rank from the greatest value.

    Example:
        >>> from pyspark.sql import Window
        >>> df = spark.createDataFrame([(1, 5), (2, 3), (3, 4)], ["ts", "x"])
        >>> last_three = Window.orderBy("ts").rowsBetween(-2, 0)
        >>> [r[0] for r in df.select(rank_in_frame("x").over(last_three)).collect()]
        [1, 1, 2]
    """
    return call("rank_in_frame", to_column(col))


def dense_rank_in_frame(col: ColumnOrName) -> Column:
    """Return the rank of the row's own value among the different values of its frame.

    As ``rank_in_frame``, but equal values leave no gap behind them.

    Args:
        col: As of ``rank_in_frame``.

    Example:
        >>> from pyspark.sql import Window
        >>> df = spark.createDataFrame([(1, 3), (2, 3), (3, 4)], ["ts", "x"])
        >>> last_three = Window.orderBy("ts").rowsBetween(-2, 0)
        >>> [r[0] for r in df.select(dense_rank_in_frame("x").over(last_three)).collect()]
        [1, 1, 2]
    """
    return call("dense_rank_in_frame", to_column(col))


def percent_rank_in_frame(col: ColumnOrName) -> Column:
    """Return the share of the frame's other values that are less than the row's own.

    From 0 to 1, and 0 where there is no other value. As ``rank_in_frame`` otherwise.

    Args:
        col: As of ``rank_in_frame``.

    Example:
        >>> from pyspark.sql import Window
        >>> df = spark.createDataFrame([(1, 5), (2, 3), (3, 4)], ["ts", "x"])
        >>> last_three = Window.orderBy("ts").rowsBetween(-2, 0)
        >>> [r[0] for r in df.select(percent_rank_in_frame("x").over(last_three)).collect()]
        [0.0, 0.0, 0.5]
    """
    return call("percent_rank_in_frame", to_column(col))


def cume_dist_in_frame(col: ColumnOrName) -> Column:
    """Return the share of the frame's values that are at most the row's own.

    pandas' ``rolling(…).rank(method="max", pct=True)``. As ``rank_in_frame`` otherwise.

    Args:
        col: As of ``rank_in_frame``.

    Example:
        >>> from pyspark.sql import Window
        >>> df = spark.createDataFrame([(1, 5), (2, 3), (3, 8), (4, 3)], ["ts", "x"])
        >>> last_two = Window.orderBy("ts").rowsBetween(-1, 0)
        >>> [r[0] for r in df.select(cume_dist_in_frame("x").over(last_two)).collect()]
        [1.0, 0.5, 1.0, 0.5]
    """
    return call("cume_dist_in_frame", to_column(col))


def _how_many(n: int) -> Column:
    return F.lit(whole("n", n, 1))


def __dir__() -> list[str]:
    """The public names alone."""
    return __all__
