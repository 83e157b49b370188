"""Aggregators over moving windows in a Python worker.

Workers unpickle this module by value, since they may not have Sash installed: it imports nothing
of the package.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

with suppress(ImportError):  # sash.testing checks aggregators without it
    import pyarrow as pa  # type: ignore[import-untyped]

_LEFT_OUT: Any = object()
"""In the place of a row that does not meet the condition of FILTER."""


class Aggregator:
    """An aggregator in Python, in four methods: a base class that only names them.

    The names and their meaning are those of ``pyspark.sql.aggregator.Aggregator`` and of Scala's
    ``Aggregator``. A class need not extend this one. One with ``merge`` and ``lift``, a buffer of
    one row, is an aggregator as well; its answer for no rows is None.

    A window that moves calls ``merge`` at most twice a row, and ``reduce`` twice, whatever its
    length. The one law: ``merge`` is associative. ``sash.testing.check_aggregator`` looks for
    rows that break it.

    Example:
        >>> from pyspark.sql import Window
        >>> class Longest(sash.Aggregator):
        ...     def zero(self):
        ...         return ""
        ...     def reduce(self, buffer, value):
        ...         return max(buffer, value or "", key=len)
        ...     def merge(self, left, right):
        ...         return max(left, right, key=len)
        ...     def finish(self, buffer):
        ...         return buffer
        >>> longest = sash.udaf(Longest(), "string")
        >>> df = spark.createDataFrame([(1, "aa"), (2, "b"), (3, None)], ["ts", "word"])
        >>> last_two = Window.orderBy("ts").rowsBetween(-1, 0)
        >>> df.select("ts", longest("word").over(last_two).alias("longest")).show()
        +---+-------+
        | ts|longest|
        +---+-------+
        |  1|     aa|
        |  2|     aa|
        |  3|      b|
        +---+-------+
        <BLANKLINE>
    """

    def zero(self) -> Any:
        """Return a new buffer, of no rows."""
        raise NotImplementedError

    def reduce(self, buffer: Any, *values: Any) -> Any:
        """Return the buffer with a row behind its rows; it may change the given one.

        Args:
            buffer: A buffer that ``zero`` or ``reduce`` has returned.
            values: The row's arguments. A NULL is None.
        """
        raise NotImplementedError

    def merge(self, left: Any, right: Any) -> Any:
        """Return a buffer of the rows of both, of which those on the left are older.

        It must change neither: a window merges one buffer many times.
        """
        raise NotImplementedError

    def finish(self, buffer: Any) -> Any:
        """Return the answer of a buffer, which it must not change. None is a NULL."""
        raise NotImplementedError


class Folding:
    """The steps of an aggregator, whose errors name the step and the row's keys.

    Args:
        aggregator: An object with ``merge`` and either ``zero`` and ``reduce`` or ``lift``.
    """

    def __init__(self, aggregator: Any) -> None:
        """Take the methods, and derive those that are not there."""
        self._of = type(aggregator).__name__
        self.merge = aggregator.merge
        self.finish = getattr(aggregator, "finish", _itself)
        lift = getattr(aggregator, "lift", None)
        self._lift: Any = lift
        self.has_zero = hasattr(aggregator, "zero")
        if lift is None:
            self.zero, self.reduce = aggregator.zero, aggregator.reduce
        else:
            self.zero = getattr(aggregator, "zero", _nothing)
            self.reduce = self._lifted
        if not self.has_zero:
            finish = self.finish
            self.finish = lambda buffer: None if buffer is None else finish(buffer)

    def _lifted(self, buffer: Any, *values: Any) -> Any:
        one = self._lift(*values)
        return one if buffer is None else self.merge(buffer, one)

    def reduced(self, buffer: Any, row: Any) -> Any:
        """The buffer, or ``_LEFT_OUT`` for none, with a row behind it."""
        return self.reduce(self.zero() if buffer is _LEFT_OUT else buffer, *row)

    def suffixes(self, rows: Sequence[Any]) -> list[Any]:
        """The buffers of the rows from each one on to the last, the oldest row's at the end."""
        suffix: Any = _LEFT_OUT
        suffixes = []
        for row in reversed(rows):
            if row is not _LEFT_OUT:
                lifted = self.reduced(_LEFT_OUT, row)
                suffix = lifted if suffix is _LEFT_OUT else self.merge(lifted, suffix)
            suffixes.append(suffix)
        return suffixes

    def answer(self, front: list[Any], younger: Any) -> Any:
        """The answer for the oldest suffix of a front, and the buffer of the rows behind it.

        It shares no part with a buffer: ``reduce`` may change that before the answer is read.
        """
        older = front[-1] if front else _LEFT_OUT
        if older is _LEFT_OUT:
            whole = self.zero() if younger is _LEFT_OUT else younger
        else:
            whole = older if younger is _LEFT_OUT else self.merge(older, younger)
        return _unshared(self.finish(whole))

    def error(self, cause: Exception, where: str) -> Exception:
        """The error that the user reads: the class, the method and the row's keys."""
        method, trace = "finish", cause.__traceback__
        while trace is not None:
            name = trace.tb_frame.f_code.co_name
            if name in ("zero", "reduce", "merge", "lift", "finish"):
                method = name
            trace = trace.tb_next
        return RuntimeError(f"{self._of}.{method} failed{where}: {type(cause).__name__}: {cause}")


def _itself(buffer: Any) -> Any:
    return buffer


def _nothing() -> Any:
    return None


def _unshared(value: Any) -> Any:
    """A copy, as far as somebody could change the value; types of numbers and texts have none."""
    if isinstance(value, list):
        return [_unshared(v) for v in value]
    if isinstance(value, tuple):
        return tuple(map(_unshared, value))
    if isinstance(value, dict):
        return {k: _unshared(v) for k, v in value.items()}
    is_changeable = isinstance(value, (set, bytearray)) or hasattr(value, "__array__")
    return value.copy() if is_changeable else value


class TwoStacksLite:
    """A window over rows that enter at one end and leave at the other.

    Per row at most one ``reduce`` for the younger rows, one ``reduce`` and one ``merge`` when the
    stacks flip, and one ``merge`` for an answer, however long the window is.

    Paper: *In-order sliding-window aggregation in worst-case constant time*, section 4.2.

    Args:
        steps: The aggregator.
        grows: Whether no row ever leaves, so that none is kept.
    """

    __slots__ = ("_back", "_front", "_grows", "_steps", "_younger", "end", "first")

    def __init__(self, steps: Folding, *, grows: bool) -> None:
        """Make an empty window."""
        self._steps = steps
        self._grows = grows
        self._front: list[Any] = []  # the partials from a row to the front's end, the oldest last
        self._back: list[Any] = []  # the rows behind the front
        self._younger: Any = _LEFT_OUT  # their partial
        self.first = 0
        self.end = 0

    def insert(self, row: Any) -> None:
        """Add the next row, or ``_LEFT_OUT``."""
        self.end += 1
        if not self._grows:
            self._back.append(row)
        if row is not _LEFT_OUT:
            self._younger = self._steps.reduced(self._younger, row)

    def evict(self) -> None:
        """Remove the oldest row."""
        if not self._front:
            self._front = self._steps.suffixes(self._back)
            self._back, self._younger = [], _LEFT_OUT
        self._front.pop()
        self.first += 1

    def query(self) -> Any:
        """The answer for the rows in the window."""
        return self._steps.answer(self._front, self._younger)


class Function:
    """An aggregator as the function that Spark calls in a Python worker.

    Spark calls it with a group's columns, or with the rows of one window, and gets one answer.
    The operator of `SlidePythonAggregators` calls it with an iterator of batches.
    """

    def __init__(self, aggregator: Any, name: str, answer: pa.DataType) -> None:
        """Take the aggregator, the function's name in plans, and the answers' type."""
        self.__name__ = name
        self._aggregator = aggregator
        self._answer = answer
        self._whole: _Whole | None = None

    def __call__(self, *columns: Any) -> Any:
        """Answer for some rows, or slide over batches."""
        if len(columns) == 1 and not isinstance(columns[0], pa.Array):
            return self._slid(columns[0])
        if self._whole is None:
            self._whole = _Whole(Folding(self._aggregator))
        return self._checked(self._whole.answer(columns))

    def _checked(self, answer: Any) -> Any:
        try:
            pa.array([answer], self._answer)
        except (pa.ArrowException, TypeError, ValueError) as cause:
            raise self._mistyped(answer, cause) from cause
        return answer

    def _mistyped(self, answer: Any, cause: Exception) -> Exception:
        name = type(self._aggregator).__name__
        return TypeError(
            f"{name}.finish returned {answer!r}, which is no {self._answer}, the answer's type: "
            f"{cause}"
        )

    def _slid(self, batches: Iterator[Sequence[pa.Array]]) -> Iterator[pa.Array]:
        task = _Task(Folding(self._aggregator))
        for batch in batches:
            yield self._array(task.come(batch))
        yield self._array(task.ended())

    def _array(self, answers: list[Any]) -> pa.Array:
        try:
            return pa.array(answers, self._answer)
        except (pa.ArrowException, TypeError, ValueError):
            for answer in answers:
                self._checked(answer)
            raise


class _OutOfOrderError(RuntimeError):
    """Rows or windows come in an order that the operator never gives."""


class _Task:
    """The windows of a task's rows, one key after another."""

    def __init__(self, steps: Folding) -> None:
        self._steps = steps
        self._answers: list[Any] = []
        self._begin_key(grows=False)

    def _begin_key(self, *, grows: bool) -> None:
        self._window = TwoStacksLite(self._steps, grows=grows)
        self._rows: deque[Any] = deque()  # those that have come, and are not in the window yet
        self._ends: deque[tuple[int | None, int | None]] = deque()  # of rows without an answer
        self._come = 0

    def come(self, batch: Sequence[pa.Array]) -> list[Any]:
        """Take in the next rows; returns the answers that they make known."""
        *values, wanted, keys, grows, places, begins, ends = batch
        rows: Any = zip(*(column.to_pylist() for column in values), strict=True)
        if wanted.true_count < len(wanted):
            rows = (r if w else _LEFT_OUT for r, w in zip(rows, wanted.to_pylist(), strict=True))
        at = 0
        try:
            for at, (row, place, begin, end) in enumerate(
                zip(rows, places.to_pylist(), begins.to_pylist(), ends.to_pylist(), strict=True)
            ):
                if place == 1:
                    self._answer_rest()
                    self._begin_key(grows=grows[at].as_py())
                elif place != self._come + 1:
                    message = f"row {place} of a key came after row {self._come}"
                    raise _OutOfOrderError(message)
                self._come = place
                self._rows.append(row)
                self._ends.append((begin, end))
                self._answer()
        except Exception as cause:
            if isinstance(cause, _OutOfOrderError):
                raise
            raise self._steps.error(cause, _where(keys[at].as_py())) from cause
        return self._taken()

    def ended(self) -> list[Any]:
        """The answers of the rows that waited for others."""
        self._answer_rest()
        return self._taken()

    def _taken(self) -> list[Any]:
        answers, self._answers = self._answers, []
        return answers

    def _answer_rest(self) -> None:
        self._answer()
        if self._ends:
            message = f"a window ends behind the last row, {self._come}"
            raise _OutOfOrderError(message)

    def _answer(self) -> None:
        """Answer rows whose windows have come, the oldest first."""
        window, come, rows, ends = self._window, self._come, self._rows, self._ends
        while ends:
            begin, end = ends[0]
            if begin is None or end is None:
                self._answers.append(self._steps.answer([], _LEFT_OUT))
                ends.popleft()
                continue
            for _ in range(window.end, min(end, come)):
                window.insert(rows.popleft())
            if end > come:
                break
            if begin <= window.first:
                message = "a window begins before the window of the row before"
                raise _OutOfOrderError(message)
            while window.first < begin - 1:
                window.evict()
            self._answers.append(window.query())
            ends.popleft()


def _where(keys: Any) -> str:
    if not isinstance(keys, dict):
        return ""
    return " at " + ", ".join(f"{name} = {value!r}" for name, value in keys.items())


class _Whole:
    """Answers of Spark's own operators, which pass on all rows of a group, or of one window.

    The windows of a key are slices of the same Arrow arrays. So two calls tell which rows have
    come and gone between them, and the window slides as in `TwoStacksLite`; the slice itself has
    the rows that a flip needs. A key's arrays are kept until the next key's come, so that no two
    keys have arrays of one address.
    """

    def __init__(self, steps: Folding) -> None:
        self._steps = steps
        self._kept: Sequence[pa.Array] = ()
        self._address: int | None = None
        self._begin_anew(0)

    def _begin_anew(self, row: int) -> None:
        self._front: list[Any] = []  # the partials from a row to the front's end, the oldest last
        self._younger: Any = _LEFT_OUT  # the partial of the rows behind the front
        self._first = self._middle = self._end = row

    def answer(self, columns: Sequence[pa.Array]) -> Any:
        """The answer for the rows of these columns."""
        steps = self._steps
        try:
            self._move(columns)
            return steps.answer(self._front, self._younger)
        except Exception as cause:
            raise steps.error(cause, "") from cause

    def _move(self, columns: Sequence[pa.Array]) -> None:
        begin, address = columns[0].offset, _address(columns[0])
        end = begin + len(columns[0])
        is_next = self._first <= begin <= self._end <= end
        if address is None or address != self._address or not is_next:
            self._begin_anew(begin)
            self._kept, self._address = columns, address
        if begin >= self._middle and begin > self._first:
            self._front = self._steps.suffixes(_rows(columns, 0, self._end - begin))
            self._younger, self._middle = _LEFT_OUT, self._end
        else:
            del self._front[len(self._front) - (begin - self._first) :]
        self._first = begin
        for row in _rows(columns, self._end - begin, end - begin):
            self._younger = self._steps.reduced(self._younger, row)
        self._end = end


def _rows(columns: Sequence[pa.Array], first: int, end: int) -> list[Any]:
    return list(zip(*(c.slice(first, end - first).to_pylist() for c in columns), strict=True))


def _address(array: pa.Array) -> int | None:
    return next((b.address for b in array.buffers() if b is not None and b.size), None)
