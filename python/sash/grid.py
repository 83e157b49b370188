"""Times in equal steps for each key, to be filled by as-of joins (docs/training-sets.md)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DateType,
    IntegralType,
    TimestampNTZType,
    TimestampType,
)

from sash.arguments import INTERVAL, extent, require_frame, whole
from sash.errors import type_error, value_error
from sash.label_columns import column, is_among, key_names, require_name
from sash.pipelines import looks_at_columns
from sash.spans import checked, clock_seconds

Step = int | str | timedelta


@looks_at_columns(
    "spark.sql('SELECT k, explode(sequence(min(ts), max(ts), INTERVAL 1 HOUR)) AS ts "
    "FROM t GROUP BY k')"
)
def grid(df: DataFrame, /, *, on: str | Iterable[str], by: str, every: Step) -> DataFrame:
    """Return for each key the times from its first row to its last, in equal steps.

    ``sash.as_of`` then adds to each time the values that held at it: a forward fill, or with the
    next values, too, a linear interpolation.

    Args:
        df: The rows, in any order.
        on: The key column, or a list of them; an empty list for one grid of all rows.
        by: The time column: timestamps, dates or whole numbers.
        every: The step: an interval as in "1 hour" or a timedelta, or a whole number if times are
            numbers. Days and months are counted in the session's time zone, and each 24 hours are
            a day there, as in Spark's ``ts + INTERVAL '24' HOUR``. Dates have steps of whole days
            or months.

    Returns:
        The key columns and the time, in no promised order. The steps begin at the key's first
        row, and no time is after its last row. Rows whose time is NULL are skipped. NULL is a key
        as any other, to which ``as_of`` adds nothing.

    Cost:
        One shuffle. All times of a key are one array on the way.

    Raises:
        PySparkTypeError: an argument is of the wrong type; the message names the right one.
        PySparkValueError: a column that ``df`` lacks, a time of another type, or a step that is
            not more than nothing or does not fit the time.
        PySparkRuntimeError: a declarative pipeline calls the function. The message has the
            remedy.

    Example:
        >>> df = spark.createDataFrame([("a", 3), ("a", 8), ("b", 5)], ["k", "t"])
        >>> sash.grid(df, on="k", by="t", every=2).orderBy("k", "t").show()
        +---+---+
        |  k|  t|
        +---+---+
        |  a|  3|
        |  a|  5|
        |  a|  7|
        |  b|  5|
        +---+---+
        <BLANKLINE>
    """
    require_frame("df", df)
    keys = key_names("on", on)
    for argument, names in (("on", keys), ("by", [by])):
        for name in names:
            require_name(argument, df, name)
    if is_among(df, by, keys):
        raise value_error("by", f"a column beside the keys ({', '.join(keys)})", by)
    time = column(by)
    kind = df.select(time).schema[0].dataType
    step = _step(every, by, kind)
    first, last = F.min(time), F.max(time)
    if isinstance(kind, IntegralType):  # a step may be more than a small type holds
        times = F.sequence(first.cast("bigint"), last.cast("bigint"), step).cast(ArrayType(kind))
    else:
        times = F.sequence(first, last, step)
    known = df.where(time.isNotNull()).groupBy(*map(column, keys))
    return known.agg(F.explode(times).alias(by))


def _step(every: object, by: str, kind: DataType) -> Column:
    """The column of a step that fits the time."""
    time = f"{by} is {kind.simpleString()}"
    if isinstance(kind, IntegralType):
        return F.lit(whole("every", every, 1, 2**63 - 1)).cast("bigint")
    if not isinstance(kind, (TimestampType, TimestampNTZType, DateType)):
        raise value_error("by", "a column of timestamps, dates or whole numbers", time)
    if not isinstance(every, (str, timedelta)):
        raise type_error("every", f"an interval as in '1 hour', since {time}", every)
    extent("every", every)  # more than nothing
    if isinstance(every, str):
        if not INTERVAL.match(every):
            raise value_error("every", "an interval as in '1 hour'", every)
        checked("every", every, time, numbers=False, labels=[])
    of_day = clock_seconds(every) if isinstance(every, str) else every.total_seconds()
    if isinstance(kind, DateType) and of_day % (24 * 3600):
        hint = f"Make {by} a timestamp for steps within a day."
        raise value_error("every", f"whole days or months, since {time}", every, hint)
    if isinstance(every, timedelta):
        return F.lit(every)
    return F.expr(f"INTERVAL '{every.strip().lower().removeprefix('interval').strip()}'")
