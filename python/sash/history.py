"""Streams that begin with the rows of a table."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import TimestampType

from sash.arguments import require_frame
from sash.errors import type_error, value_error
from sash.label_columns import column, has
from sash.loaded import call
from sash.pipelines import looks_at_columns

_UNTIL = "a datetime, a string as in '2026-03-01 00:00:00', or a Column of a constant"


@looks_at_columns(
    "spark.sql('… UNION ALL SELECT … FROM history WHERE history_until(ts, TIMESTAMP …)')"
)
def warm_start(
    stream: DataFrame,
    history: DataFrame,
    /,
    *,
    by: str,
    until: str | datetime | Column,
) -> DataFrame:
    """Begin a stream with the rows of a table, so that its first windows are full.

    The windows of the stream's rows hold the table's rows, as if the stream had always run. The
    batch query over the table answers the rows up to ``until``, and the stream the later ones.
    The first batch reads the table once, and no later batch reads it. A batch that fails, and is
    run again, reads it again.

    Args:
        stream: The stream, with a watermark on the column ``by``, the time of its windows. With a
            batch DataFrame the answer is the same, so training and serving may share the code.
        history: A table with the stream's columns, in any order, and with all rows up to
            ``until``. Other columns, and later rows, are left out.
        by: The name of the event time in both, a TIMESTAMP.
        until: The last time of the history. Rows of the stream up to that time are left out,
            since the history has them. A string is a time in the session's time zone. When the
            query starts again it has to be the same, unless the query has other windows. These
            begin with the rows up to a later ``until``, after the last row that the stream has
            read; rows that are answered already are not answered again.

    Returns:
        The stream's later rows and the history's rows, in the stream's columns. Windows of Sash
        on a stream (OVER, LATERAL and the functions made of it, hops) answer no row of the
        history. Hops that end by ``until`` have no answer, either. All windows of a query begin
        with the same history.

    Cost:
        The first batch exchanges the history's rows by key. Windows of a fixed time, and hops,
        exchange no older rows; windows of a number of rows take in the last rows of each key
        alone. After that, the history costs nothing.

    Raises:
        PySparkTypeError: an argument is of the wrong type; the message names the right one.
        PySparkValueError: ``by`` is no TIMESTAMP column of both, or the history lacks a column of
            the stream or has it with another type.
        AnalysisException: ``until`` is not the same in each batch, as ``current_timestamp()``.
            When the query starts: rows of the history are read outside of Sash's windows, or an
            operator of Spark below them keeps rows, or a window has another time, or another
            stream that does not begin with a history.
        PySparkRuntimeError: the session has no jar of Sash, or a declarative pipeline calls the
            function. The message has the remedy.

    Example:
        >>> from pyspark.sql import functions as F
        >>> days = [("Ann", "2026-03-01", 20), ("Ann", "2026-03-02", 30)]
        >>> table = spark.createDataFrame(days, ["who", "ts", "x"])
        >>> table = table.withColumn("ts", F.col("ts").cast("timestamp"))
        >>> later = table.withColumn("ts", F.col("ts") + F.expr("INTERVAL 2 DAYS"))
        >>> rows = sash.warm_start(later, table, by="ts", until="2026-03-02")  # or a stream
        >>> rows.orderBy("ts").show()
        +---+-------------------+---+
        |who|                 ts|  x|
        +---+-------------------+---+
        |Ann|2026-03-01 00:00:00| 20|
        |Ann|2026-03-02 00:00:00| 30|
        |Ann|2026-03-03 00:00:00| 20|
        |Ann|2026-03-04 00:00:00| 30|
        +---+-------------------+---+
        <BLANKLINE>
    """
    require_frame("stream", stream)
    require_frame("history", history)
    if history.isStreaming:
        raise value_error("history", "a table, read without readStream", history)
    _require_time(stream, history, by)
    _require_columns(stream, history)
    end = _end(until)
    time = column(by)
    past = history.select(*map(column, stream.columns))
    # in a union with a stream, history_until leaves out the earlier rows
    later = stream if stream.isStreaming else stream.where(time.isNull() | (time > end))
    return later.unionByName(past.where(call("history_until", time, end)))


def _end(until: object) -> Column:
    if isinstance(until, Column):
        return until
    if not isinstance(until, (str, datetime)):
        raise type_error("until", _UNTIL, until)
    return F.lit(until).cast("timestamp")


def _require_time(stream: DataFrame, history: DataFrame, by: object) -> None:
    if not isinstance(by, str):
        raise type_error("by", "the name of a column", by)
    for name, df in (("stream", stream), ("history", history)):
        if not has(df, by):
            raise value_error("by", f"a column of the {name} ({', '.join(df.columns)})", by)
        found = df.select(column(by)).schema[0].dataType
        if found != TimestampType():
            expected = (
                f"a TIMESTAMP column of the {name}, where it is {found.simpleString().upper()}"
            )
            raise value_error("by", expected, by)


def _require_columns(stream: DataFrame, history: DataFrame) -> None:
    for field in stream.schema:
        if not has(history, field.name):
            raise value_error(
                "history", f"a table with the stream's column {field.name}", history.columns
            )
        found = history.select(column(field.name)).schema[0].dataType
        if found.simpleString() != field.dataType.simpleString():
            types = f"{field.dataType.simpleString()}, as in the stream"
            raise value_error(
                "history", f"a table whose {field.name} is {types}", found.simpleString()
            )
