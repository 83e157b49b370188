"""Reads the windows that a stream holds."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sash.arguments import require_frame
from sash.errors import type_error, value_error
from sash.loaded import call

_AT = "a datetime, a string as in '2026-03-01 00:00:00', or a Column of a constant"
_KEYS = "a list of keys, with a tuple for each if PARTITION BY has several columns"
_WIDTHS = "a dict of the columns from which windows have each row's own width, with a value each"


def read_state(
    stream: DataFrame,
    checkpoint: str | os.PathLike[str],
    /,
    *,
    keys: Iterable[Any] | None = None,
    at: str | datetime | Column | None = None,
    widths: Mapping[str, Any] | None = None,
) -> DataFrame:
    """Read the windows of a stream from its checkpoint, for some keys and a time.

    The answer is a batch DataFrame. For OVER it has a row for each key. It is the row that the
    stream would answer if a row of that key and that time came which its windows do not count.
    For hop windows it has a row for each open window that has rows, with the answers so far. The
    query may run meanwhile, here or elsewhere. It is not disturbed.

    Args:
        stream: The query whose windows the checkpoint holds, as it was given to ``writeStream``:
            an OVER or hop windows on a stream, and what is selected of it. Filters above OVER do
            not apply, and columns other than the key, the time and the answers of windows are
            NULL. Filters above hop windows apply.
        checkpoint: The checkpoint's location.
        keys: The values of PARTITION BY, or of GROUP BY beside the window, in their order. A key
            that the stream does not hold has empty windows with ``at``, no row without it, and no
            hop window. All keys that the stream holds by default.
        at: The time of the windows, after the watermark of the last committed batch, since
            earlier rows may be gone. A string is a time in the session's time zone. By default
            it is the time of each key's last row, whose answers are read then. Hop windows take
            none.
        widths: The columns of rows from which windows have each row's own width, by their names,
            with a value each. Only a query with such windows takes it, and needs it.

    Returns:
        The windows after the last batch that was committed when the DataFrame was first used.
        Rows up to ``at`` that the watermark has not passed are in the windows, too. Windows over
        time, sessions among them, are those of ``at``. Windows that count rows, ``lag`` and
        ``row_number`` are those of the key's last row up to ``at``, and slides do not matter.
        A hop window is open until the watermark has passed its end.

    Cost:
        One task for each partition of the state that has one of the keys, which opens its files.
        A key costs as much as a row of the stream.

    Raises:
        PySparkTypeError: an argument is of the wrong type; the message names the right one.
        PySparkValueError: ``keys`` is a string, which would be a list of its letters.
        AnalysisException: ``stream`` is no such query, or looks ahead; an argument is of
            another type; ``at`` is not after the watermark; ``widths`` is left out where windows
            need it; the checkpoint is not of these windows. The message says what to write
            instead.
        PySparkRuntimeError: the session has no jar of Sash. The message has the remedy.

    Example:
        >>> import tempfile
        >>> from pyspark.sql import functions as F
        >>> folder = tempfile.mkdtemp()
        >>> session = spark.newSession()
        >>> rocks = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
        >>> session.conf.set("spark.sql.streaming.stateStore.providerClass", rocks)
        >>> session.conf.set("spark.sql.shuffle.partitions", 2)
        >>> days = [("Ann", "2026-03-01", 20), ("Ann", "2026-03-02", 30)]
        >>> rows = session.createDataFrame(days, "who STRING, day STRING, x INT")
        >>> rows = rows.select("who", F.to_timestamp("day").alias("ts"), "x")
        >>> rows.write.parquet(f"{folder}/in")
        >>> events = session.readStream.schema("who STRING, ts TIMESTAMP, x INT")
        >>> events = events.parquet(f"{folder}/in").withWatermark("ts", "1 hour")
        >>> last = "OVER (PARTITION BY who ORDER BY ts RANGE INTERVAL 36 HOURS PRECEDING)"
        >>> features = events.selectExpr("who", "ts", f"sum(x) {last} AS spend")
        >>> written = features.writeStream.format("noop").trigger(availableNow=True)
        >>> query = written.option("checkpointLocation", f"{folder}/checkpoint").start()
        >>> query.awaitTermination()
        >>> place, noon = f"{folder}/checkpoint", "2026-03-02 13:00"
        >>> sash.read_state(features, place, keys=["Ann", "Cid"], at=noon).orderBy("who").show()
        +---+-------------------+-----+
        |who|                 ts|spend|
        +---+-------------------+-----+
        |Ann|2026-03-02 13:00:00|   30|
        |Cid|2026-03-02 13:00:00| NULL|
        +---+-------------------+-----+
        <BLANKLINE>
    """
    require_frame("stream", stream)
    if not isinstance(checkpoint, (str, os.PathLike)):
        raise type_error("checkpoint", "a string or a path", checkpoint)
    place = F.lit(os.fspath(checkpoint))
    return stream.where(call("read_state", place, _keys(keys), _time(at), _widths(widths)))


def _keys(keys: object) -> Column:
    if keys is None:
        return F.lit(None)
    if isinstance(keys, (str, bytes)):
        raise value_error("keys", _KEYS, keys)
    if not isinstance(keys, Iterable) or isinstance(keys, (Column, DataFrame)):
        raise type_error("keys", _KEYS, keys)
    return F.array(*map(_key, keys))


def _key(key: object) -> Column:
    if isinstance(key, (tuple, list)):
        return F.struct(*map(F.lit, key))
    return F.lit(key)


def _time(at: object) -> Column:
    if at is None or isinstance(at, Column):
        return F.lit(at)
    if not isinstance(at, (str, datetime)):
        raise type_error("at", _AT, at)
    return F.lit(at).cast("timestamp")


def _widths(widths: object) -> Column:
    if widths is None:
        return F.lit(None)
    if not isinstance(widths, Mapping) or not all(isinstance(name, str) for name in widths):
        raise type_error("widths", _WIDTHS, widths)
    return F.struct(*(F.lit(value).alias(name) for name, value in widths.items()))
