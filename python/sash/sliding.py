"""Aggregators over moving windows in a Python worker.

Workers unpickle this module and ``sliding_arrays`` by value, since they may not have Sash
installed: the two import nothing else of the package. They may not have NumPy, either.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, KeysView, Sequence, ValuesView
from contextlib import suppress
from copy import deepcopy
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

with suppress(ImportError):  # sash.testing checks aggregators without it
    import pyarrow as pa  # type: ignore[import-untyped]

_LEFT_OUT: Any = object()
"""Stands for a row that does not meet the condition of FILTER."""


GROWS, BACK, HOLES, STAYS = 1, 2, 4, 8
"""Bits that describe the windows of a call; a shape is a sum of them.

GROWS: no row ever leaves a window. BACK: a window may begin before the previous row's window.
HOLES: a window leaves out the rows from one place to another. STAYS: the current row is in the
window even where it lies in the hole.
"""


class Aggregator:
    """An aggregator in Python, in four methods: a base class that only names them.

    The names and their meaning are those of ``pyspark.sql.aggregator.Aggregator`` and of Scala's
    ``Aggregator``. A class need not extend this one. One with ``merge`` and ``lift``, a buffer of
    one row, is an aggregator as well; its answer for no rows is None.

    A window that moves calls ``merge`` at most twice a row, and ``reduce`` twice, whatever its
    length. With ``lift`` it calls ``merge`` three times, or four if there is a ``zero``, too. The
    one law: ``merge`` is associative. ``sash.testing.check_aggregator`` looks for rows that break
    it.

    With ``vectorized = True`` the methods take arrays of NumPy, element by element: a partial is
    a number, a row of a matrix, or an element of a structured array. Rows with a NULL argument
    are left out.

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


def method_of(aggregator: Any, name: str) -> Any:
    """The aggregator's method, or None if it has none, or only the one of `Aggregator`."""
    method, named = getattr(aggregator, name, None), getattr(Aggregator, name, None)
    return None if named is not None and getattr(method, "__func__", None) is named else method


class MethodError(TypeError):
    """A method of an aggregator, named here, returned a value that is of no use."""

    def __init__(self, method: str, text: str) -> None:
        """Take the method's name, and the text with "it" for the method."""
        super().__init__(text)
        self.method = method


class OutOfOrderError(RuntimeError):
    """Rows or windows come in an order that the operator never gives."""


class Folding:
    """The steps of an aggregator, whose errors name the step and the row's keys.

    Args:
        aggregator: An object with ``merge`` and either ``zero`` and ``reduce`` or ``lift``.
    """

    def __init__(self, aggregator: Any) -> None:
        """Take the methods, and derive those that are not there."""
        self.merge = aggregator.merge
        self.finish: Any = method_of(aggregator, "finish") or _itself
        lift, zero = method_of(aggregator, "lift"), method_of(aggregator, "zero")
        self._lift: Any = lift
        self.has_zero = zero is not None
        self.zero: Any = zero or _nothing
        self.reduce: Any = aggregator.reduce if lift is None else self._lifted
        if not self.has_zero:
            finish = self.finish
            self.finish = lambda buffer: None if buffer is None else finish(buffer)

    def _lifted(self, buffer: Any, *values: Any) -> Any:
        one = self._lift(*values)
        return one if buffer is None else self.merge(buffer, one)

    def reduced(self, buffer: Any, row: Any) -> Any:
        """The buffer, or ``_LEFT_OUT`` for none, with a row behind it."""
        before = self.zero() if buffer is _LEFT_OUT else buffer
        after = self.reduce(before, *row)
        if after is None and before is not None:
            raise MethodError("reduce", _NO_BUFFER)
        return after

    def merged(self, left: Any, right: Any) -> Any:
        """The buffer of both; a buffer ``_LEFT_OUT`` is of no rows."""
        if left is _LEFT_OUT:
            return right
        if right is _LEFT_OUT:
            return left
        both = self.merge(left, right)
        if both is None and left is not None and right is not None:
            raise MethodError("merge", _NO_BUFFER)
        return both

    def suffixes(self, rows: Sequence[Any]) -> list[Any]:
        """The buffers of the rows from each one on to the last, the oldest row's at the end."""
        suffix: Any = _LEFT_OUT
        suffixes = []
        for row in reversed(rows):
            if row is not _LEFT_OUT:
                suffix = self.merged(self.reduced(_LEFT_OUT, row), suffix)
            suffixes.append(suffix)
        return suffixes

    def answer(self, front: list[Any], younger: Any) -> Any:
        """The answer for the oldest suffix of a front, and the buffer of the rows behind it."""
        return self.answer_of(self.merged(front[-1], younger) if front else younger)

    def answer_of(self, buffer: Any) -> Any:
        """The answer of a buffer, or of ``_LEFT_OUT``.

        It shares no part with a buffer: ``reduce`` may change that before the answer is read.
        """
        return _unshared(self.finish(self.zero() if buffer is _LEFT_OUT else buffer))


_NO_BUFFER = "it returned None, and must return a buffer"


def _failed(aggregator: Any, cause: Exception, where: str) -> Exception:
    """The error that the user reads: the class, the method and the row's keys."""
    of = type(aggregator).__name__
    if isinstance(cause, MethodError):
        return RuntimeError(f"{of}.{cause.method} failed{where}: {cause}")
    method, trace = "finish", cause.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_name
        if name in ("zero", "reduce", "merge", "lift", "finish"):
            method = name
        trace = trace.tb_next
    return RuntimeError(f"{of}.{method} failed{where}: {type(cause).__name__}: {cause}")


def _itself(buffer: Any) -> Any:
    return buffer


def _nothing() -> Any:
    return None


_UNCHANGEABLE = frozenset(
    (int, float, str, bool, bytes, type(None), Decimal, date, datetime, timedelta)
)


def _unshared(value: Any) -> Any:
    """A copy, as far as somebody could change the value. What an array masks is None in it."""
    if type(value) in _UNCHANGEABLE:
        return value
    if isinstance(value, list):
        return [_unshared(v) for v in value]
    if isinstance(value, tuple):
        return tuple(map(_unshared, value))
    if isinstance(value, dict):
        return {k: _unshared(v) for k, v in value.items()}
    if hasattr(value, "filled"):
        return value.tolist()
    if isinstance(value, (set, bytearray)) or hasattr(value, "__array__"):
        return value.copy()
    if isinstance(value, memoryview):
        return value.tobytes()
    return list(value) if isinstance(value, (KeysView, ValuesView)) else deepcopy(value)


class TwoStacksLite:
    """A window over rows that enter at one end and leave at the other.

    Per row at most one ``reduce`` for the younger rows, one ``reduce`` and one ``merge`` when the
    stacks flip, and one ``merge`` for an answer, however long the window is.

    Paper: *In-order sliding-window aggregation in worst-case constant time*, section 4.2.

    Args:
        steps: The aggregator.
        grows: Whether no row ever leaves, so that none is kept.
        keeps_copies: Whether the rows that are kept are copies, since ``reduce`` could change
            them.
    """

    __slots__ = ("_back", "_copies", "_front", "_grows", "_steps", "_younger", "end", "first")

    def __init__(self, steps: Folding, *, grows: bool, keeps_copies: bool = False) -> None:
        """Make an empty window."""
        self._steps = steps
        self._grows = grows
        self._copies = keeps_copies
        self._front: list[Any] = []  # the partials from a row to the front's end, the oldest last
        self._back: list[Any] = []  # the rows behind the front
        self._younger: Any = _LEFT_OUT  # their partial
        self.first = 0
        self.end = 0

    def insert(self, row: Any) -> None:
        """Add the next row, or ``_LEFT_OUT``."""
        self.end += 1
        if not self._grows:
            is_copied = self._copies and row is not _LEFT_OUT
            self._back.append(_unshared(row) if is_copied else row)
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


class Levels:
    """Answers for any range of its rows, from the buffers of blocks of 1, 2, 4, … rows.

    A row costs one ``merge`` when it comes, amortised, and an answer about one for each level, at
    most two.

    Args:
        steps: The aggregator.
    """

    def __init__(self, steps: Folding) -> None:
        """Make an empty window."""
        self._steps = steps
        self._levels: list[list[Any]] = [[]]  # each of blocks twice as long as those before
        self._dropped = [0]  # how many blocks of each level are gone
        self.end = 0

    def insert(self, row: Any) -> None:
        """Add the next row, or ``_LEFT_OUT``."""
        steps, level = self._steps, 0
        block = row if row is _LEFT_OUT else steps.reduced(_LEFT_OUT, row)
        self._levels[0].append(block)
        self.end += 1
        while (self.end >> level) % 2 == 0:
            older, younger = self._levels[level][-2:]
            level += 1
            if level == len(self._levels):
                self._levels.append([])
                self._dropped.append(0)
            self._levels[level].append(steps.merged(older, younger))

    def buffer(self, begin: int, end: int) -> Any:
        """The buffer of the rows from ``begin`` to before ``end``, counted from 0."""
        steps, older, younger, level = self._steps, _LEFT_OUT, _LEFT_OUT, 0
        while begin < end:
            blocks, dropped = self._levels[level], self._dropped[level]
            if begin % 2:
                older = steps.merged(older, blocks[begin - dropped])
                begin += 1
            if end % 2:
                end -= 1
                younger = steps.merged(blocks[end - dropped], younger)
            begin, end, level = begin >> 1, end >> 1, level + 1
        return steps.merged(older, younger)

    def drop(self, begin: int) -> None:
        """Forget the rows before ``begin``, now or at a later call."""
        for level, blocks in enumerate(self._levels):
            # the level above is made of the last two, so they stay
            old = min((begin >> level) - self._dropped[level], len(blocks) - 2)
            if 2 * old > len(blocks):
                del blocks[:old]
                self._dropped[level] += old


def array_of(answers: Any, kind: pa.DataType) -> pa.Array:
    """The answers of ``finish`` as an Arrow array: those in a masked array may be NULL."""
    if isinstance(answers, pa.Array):
        return answers.cast(kind)
    if getattr(answers, "ndim", 1) > 1:  # Arrow reads the mask of an array of one dimension
        answers = answers.tolist() if hasattr(answers, "filled") else list(answers)
    return pa.array(answers, kind)


class Function:
    """An aggregator as the function that Spark calls in a Python worker.

    Spark calls it with a group's columns, or with the rows of one window, and gets one answer.
    The operator of `SlidePythonAggregators` calls it with an iterator of batches.
    """

    def __init__(self, aggregator: Any, name: str, answer: pa.DataType) -> None:
        """Take the aggregator, the function's name in plans, and the answers' type."""
        self.__name__ = name
        self.aggregator = aggregator
        self._answer = answer
        self._whole: Any = None

    def __call__(self, *columns: Any) -> Any:
        """Answer for some rows, or slide over batches."""
        if len(columns) == 1 and not isinstance(columns[0], pa.Array):
            return self._slid(columns[0])
        if self._whole is None:
            self._whole = self.whole()
        try:
            answer = self._whole.answer(columns, _address(columns[0]))
        except Exception as cause:
            raise _failed(self.aggregator, cause, "") from cause
        return self.answer_of(answer)

    def whole(self) -> Any:
        """The state of the calls by Spark's own operators: see `_Whole`."""
        return _Whole(Folding(self.aggregator))

    def task(self) -> Any:
        """The state of a task that slides: see `_Task`."""
        return _Task(Folding(self.aggregator), self.array)

    def answer_of(self, answer: Any) -> Any:
        """The answer that a whole has given, if it is of the answers' type."""
        self._require_type(answer)
        return answer

    def _slid(self, batches: Iterator[Sequence[pa.Array]]) -> Iterator[pa.Array]:
        task, keys = self.task(), _Keys()
        for batch in batches:
            yield from self._tried(task.come(batch), task, keys, batch)
            keys.pass_by(batch)
        yield from self._tried(task.ended(), task, keys, ())

    def _tried(
        self,
        answers: Iterator[pa.Array],
        task: Any,
        keys: _Keys,
        batch: Sequence[pa.Array],
    ) -> Iterator[pa.Array]:
        try:
            yield from answers
        except (OutOfOrderError, _MistypedError):
            raise
        except Exception as cause:
            raise _failed(self.aggregator, cause, keys.where(batch, task.at)) from cause

    def array(self, answers: Any) -> pa.Array:
        """Answers as an Arrow array, or an error that names one of another type."""
        try:
            return array_of(answers, self._answer)
        except (pa.ArrowException, TypeError, ValueError) as cause:
            for answer in answers:
                self._require_type(answer)
            raise self._mistyped(answers, cause) from cause

    def _require_type(self, answer: Any) -> None:
        try:
            pa.array([answer], self._answer)
        except (pa.ArrowException, TypeError, ValueError) as cause:
            raise self._mistyped(answer, cause) from cause

    def _mistyped(self, answer: Any, cause: Exception) -> Exception:
        name = type(self.aggregator).__name__
        return _MistypedError(
            f"{name}.finish returned {answer!r}, which is no {self._answer}, the answer's type: "
            f"{cause}"
        )


class _MistypedError(TypeError):
    """An answer is of another type than the function's."""


class _Keys:
    """The keys of rows, for the text of an error. The first row of each key has them."""

    def __init__(self) -> None:
        self._last: Any = None  # the newest batch with a key

    def pass_by(self, batch: Sequence[pa.Array]) -> None:
        """Keep a batch's keys."""
        keys = batch[-5]
        if keys.null_count < len(keys):
            self._last = keys

    def where(self, batch: Sequence[pa.Array], at: int | None) -> str:
        """The keys of a row of the next batch, or of all of its rows."""
        rows = batch[-5].to_pylist() if batch else []
        if at is not None:
            rows = rows[: at + 1]
        named = [_named(keys) for keys in rows if keys is not None]
        if self._last is not None and (not rows or rows[0] is None):
            before = [keys for keys in self._last.to_pylist() if keys is not None]
            named.insert(0, _named(before[-1]))
        if not named or not named[-1]:
            return ""
        if at is not None or named[0] == named[-1]:
            return f" at {named[-1]}"
        return f" in the rows from {named[0]} to {named[-1]}"


def _named(keys: Any) -> str:
    if not isinstance(keys, dict):
        return ""
    # a number precedes each name
    return ", ".join(f"{name.partition(' ')[2]} = {value!r}" for name, value in keys.items())


class _Task:
    """The windows of a task's rows, one key after another."""

    def __init__(self, steps: Folding, to_array: Callable[[list[Any]], pa.Array]) -> None:
        self._steps = steps
        self._to_array = to_array
        self._answers: list[Any] = []
        self.at = 0
        """The row of a batch that came last."""
        self._begin_key(0, keeps_copies=False)

    def _begin_key(self, shape: int, *, keeps_copies: bool) -> None:
        self._shape = shape
        grows = bool(shape & GROWS)
        self._window = TwoStacksLite(self._steps, grows=grows, keeps_copies=keeps_copies)
        self._levels = Levels(self._steps) if shape & (BACK | HOLES) else None
        self._rows: deque[Any] = deque()  # rows that have come, and are not in the window yet
        self._ends: deque[tuple[Any, ...]] = deque()  # the windows of rows without an answer
        self._come = 0

    def come(self, batch: Sequence[pa.Array]) -> Iterator[pa.Array]:
        """Take in the next rows; returns the answers that they make known."""
        *values, wanted, _, shapes, places, begins, ends = batch
        if not len(places):
            return
        shape = shapes[0].as_py()
        bounds = [begins, ends]
        if shape & HOLES:
            *values, first, last = values
            bounds += [first, last]
        rows: Any = zip(*(column.to_pylist() for column in values), strict=True)
        if wanted.true_count < len(wanted):
            rows = (r if w else _LEFT_OUT for r, w in zip(rows, wanted.to_pylist(), strict=True))
        windows = zip(*(column.to_pylist() for column in bounds), strict=True)
        # reduce may change a list that it has kept as its buffer
        changeable = any(pa.types.is_nested(column.type) for column in values)
        for at, (row, place, window) in enumerate(
            zip(rows, places.to_pylist(), windows, strict=True)
        ):
            if place == 1:
                self.at = at - 1
                self._answer_rest()
                self._begin_key(shape, keeps_copies=changeable)
            elif place != self._come + 1:
                message = f"row {place} of a key came after row {self._come}"
                raise OutOfOrderError(message)
            self.at = at
            self._come = place
            if self._levels is not None:
                self._ends.append(window)
                self._levels.insert(row)
                self._answer_anywhere(self._levels)
            elif window[1] == place and window[0] and not self._ends and not self._rows:
                # no row waits, so this one need not, either
                self._window.insert(row)
                self._answer_from(window[0])
            else:
                self._ends.append(window)
                self._rows.append(row)
                self._answer()
        yield self._taken()

    def ended(self) -> Iterator[pa.Array]:
        """The answers of the rows that waited for others."""
        self._answer_rest()
        yield self._taken()

    def _taken(self) -> pa.Array:
        answers, self._answers = self._answers, []
        return self._to_array(answers)

    def _answer_rest(self) -> None:
        if self._ends:
            message = f"a window ends behind the last row, {self._come}"
            raise OutOfOrderError(message)

    def _answer(self) -> None:
        """Answer rows whose windows have come, the oldest first."""
        window, come, rows, ends = self._window, self._come, self._rows, self._ends
        while ends:
            begin, end = ends[0]
            if begin is None or end is None:
                self._answers.append(self._steps.answer_of(_LEFT_OUT))
                ends.popleft()
                continue
            for _ in range(window.end, min(end, come)):
                window.insert(rows.popleft())
            if end > come:
                break
            self._answer_from(begin)
            ends.popleft()

    def _answer_from(self, begin: int) -> None:
        """Answer the row whose window begins at a row, and ends with the last that is in it."""
        window = self._window
        if begin <= window.first:
            message = "a window begins before the window of the row before"
            raise OutOfOrderError(message)
        while window.first < begin - 1:
            window.evict()
        self._answers.append(window.query())

    def _answer_anywhere(self, levels: Levels) -> None:
        """Answer windows that may begin anywhere, and may have a hole."""
        steps, come, ends = self._steps, self._come, self._ends
        while ends:
            begin, end, *hole = ends[0]
            if begin is None or end is None:
                self._answers.append(steps.answer_of(_LEFT_OUT))
            elif end > come:
                break
            elif not hole:
                self._answers.append(steps.answer_of(levels.buffer(begin - 1, end)))
            else:
                self._answers.append(steps.answer_of(self._beside(levels, begin - 1, end, hole)))
            if begin is not None and not self._shape & BACK:
                levels.drop(begin - 1)
            ends.popleft()

    def _beside(self, levels: Levels, begin: int, end: int, hole: list[int]) -> Any:
        """The buffer of the rows around a hole, and of the current row if it stays."""
        steps, row = self._steps, self._come - len(self._ends)
        buffer = levels.buffer(begin, min(end, hole[0] - 1))
        if self._shape & STAYS and begin <= row < end:
            buffer = steps.merged(buffer, levels.buffer(row, row + 1))
        return steps.merged(buffer, levels.buffer(max(begin, hole[1]), end))


class Slices:
    """Answers of Spark's own operators, which pass on all rows of a group, or of one window.

    The windows of a key are slices of the same Arrow arrays. So two calls tell which rows have
    come and gone between them, and the window slides as in `TwoStacksLite`; the slice itself has
    the rows that a flip needs. A key's arrays are kept until the next key's come, so that no two
    keys have arrays of one address.
    """

    def __init__(self) -> None:
        """Begin without rows."""
        self._kept: Sequence[pa.Array] = ()
        self._address: int | None = None
        self._begin_at(0)

    def _begin_at(self, row: int) -> None:
        self._first = self._middle = self._end = row
        self.clear()

    def answer(self, columns: Sequence[pa.Array], address: int | None) -> Any:
        """The answer for the rows of these columns, which lie at an address."""
        begin = columns[0].offset
        end = begin + len(columns[0])
        is_next = self._first <= begin <= self._end <= end
        if address is None or address != self._address or not is_next:
            self._begin_at(begin)
            self._kept, self._address = columns, address
        old = self._end - begin
        if begin >= self._middle and begin > self._first:
            self.flip([c.slice(0, old) for c in columns])
            self._middle = self._end
        else:
            self.evict(begin - self._first)
        self._first = begin
        self.insert([c.slice(old) for c in columns])
        self._end = end
        return self.query()

    def clear(self) -> None:
        """Forget all rows."""
        raise NotImplementedError

    def flip(self, rows: Sequence[pa.Array]) -> None:
        """Make the front of the rows that stay, and the back of none."""
        raise NotImplementedError

    def evict(self, rows: int) -> None:
        """Remove the oldest rows, all of which are in the front."""
        raise NotImplementedError

    def insert(self, rows: Sequence[pa.Array]) -> None:
        """Add rows to the back."""
        raise NotImplementedError

    def query(self) -> Any:
        """The answer for the rows in the window."""
        raise NotImplementedError


class _Whole(Slices):
    """Slices whose rows are taken one by one."""

    def __init__(self, steps: Folding) -> None:
        self._steps = steps
        super().__init__()

    def clear(self) -> None:
        self._front: list[Any] = []  # the partials from a row to the front's end, the oldest last
        self._younger: Any = _LEFT_OUT  # the partial of the rows behind the front

    def flip(self, rows: Sequence[pa.Array]) -> None:
        self._front, self._younger = self._steps.suffixes(_rows(rows)), _LEFT_OUT

    def evict(self, rows: int) -> None:
        del self._front[len(self._front) - rows :]

    def insert(self, rows: Sequence[pa.Array]) -> None:
        for row in _rows(rows):
            self._younger = self._steps.reduced(self._younger, row)

    def query(self) -> Any:
        return self._steps.answer(self._front, self._younger)


def _rows(columns: Sequence[pa.Array]) -> list[Any]:
    return list(zip(*(c.to_pylist() for c in columns), strict=True))


def _address(array: pa.Array) -> int | None:
    return next((b.address for b in array.buffers() if b is not None and b.size), None)
