"""Aggregators whose methods take arrays, over moving windows in a Python worker.

The unit of work is a batch. With Sash's operator no method is called for a single row; Spark's
own operator passes single rows. Workers unpickle this module by value, since they may not have
Sash installed: it imports only ``sliding``, which they unpickle, too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

with suppress(ImportError):  # sash.testing checks aggregators without them
    import numpy as np
    import pyarrow as pa  # type: ignore[import-untyped]

from sash.sliding import (
    BACK,
    GROWS,
    HOLES,
    STAYS,
    Function,
    MethodError,
    OutOfOrderError,
    Slices,
    method_of,
)


class Arrays:
    """The steps of an aggregator over arrays: one partial a row, along the first axis.

    Args:
        aggregator: An object with ``merge``, and either ``lift`` or ``zero`` and ``reduce``.
    """

    def __init__(self, aggregator: Any) -> None:
        """Take the methods, and derive those that are not there."""
        self._merge = aggregator.merge
        self._finish, self._zero, self._lift, self._reduce = (
            method_of(aggregator, name) for name in ("finish", "zero", "lift", "reduce")
        )
        self._like: Any = None  # an array without partials, of their type and shape

    @property
    def has_zero(self) -> bool:
        """Whether no rows have a partial; else their answer is NULL."""
        return self._zero is not None

    def zeros(self, rows: int) -> Any:
        """An array of ``rows`` partials, each of no rows."""
        zeros = self._zeros(rows)
        return zeros if self._like is None else self._packed("zero", zeros)

    def _zeros(self, rows: int) -> Any:
        one = np.asarray(self._zero())
        like = one[np.newaxis] if self._like is None else self._like
        zeros = np.empty((rows, *like.shape[1:]), like.dtype)
        zeros[...] = one
        return zeros

    def lifted(self, columns: Sequence[pa.Array]) -> Any:
        """The partials of single rows, none of which has a NULL."""
        rows = len(columns[0])
        arrays = [column.to_numpy(zero_copy_only=False) for column in columns]
        if self._lift is not None:
            return self._packed("lift", _of_rows("lift", self._lift(*arrays), rows))
        reduced = _of_rows("reduce", self._reduce(self._zeros(rows), *arrays), rows)
        return self._packed("reduce", reduced)

    def merge(self, left: Any, right: Any) -> Any:
        """The partials of pairs; the left one of a pair is of the older rows."""
        both = _of_rows("merge", self._merge(self.opened(left), self.opened(right)), len(left))
        return self._packed("merge", both)

    def _packed(self, method: str, partials: Any) -> Any:
        """Partials as they are moved: those of several numbers as so many bytes.

        NumPy moves rows of two or three numbers number by number.
        """
        if self._like is None:
            self._like = np.empty((0, *partials.shape[1:]), partials.dtype)
        like = self._like
        if like.dtype != partials.dtype or like.shape[1:] != partials.shape[1:]:
            text = (
                f"it returned partials of type {partials.dtype} and shape {partials.shape[1:]}, "
                f"and others are of type {like.dtype} and shape {like.shape[1:]}"
            )
            raise MethodError(method, text)
        if partials.ndim == 1 or partials.dtype.hasobject or not partials.size:
            return partials
        flat = np.ascontiguousarray(partials).reshape(len(partials), -1)
        return flat.view(f"V{flat.shape[1] * flat.itemsize}")[:, 0]

    def opened(self, partials: Any) -> Any:
        """Partials as methods take them."""
        like = self._like
        if like is None or like.ndim == partials.ndim:
            return partials
        flat = np.ascontiguousarray(partials)
        return flat.view(like.dtype).reshape(len(partials), *like.shape[1:])

    def finish(self, partials: Any) -> Any:
        """The answers of partials."""
        partials = self.opened(partials)
        if self._finish is None:
            return partials
        answers = self._finish(partials)
        if not hasattr(answers, "__len__") or len(answers) != len(partials):
            text = f"it returned {_shown(answers)} for {len(partials)} partials"
            raise MethodError("finish", f"{text}; it must return one answer for each")
        return answers

    def total(self, partials: Any) -> Any:
        """The partial of all rows, of which there is one or more, in an array of one."""
        while len(partials) > 1:
            pairs = len(partials) // 2 * 2
            merged = self.merge(partials[0:pairs:2], partials[1:pairs:2])
            partials = np.concatenate((merged, partials[pairs:]))
        return partials

    def ends(self, blocks: Any) -> tuple[Any, Any]:
        """For each row of each block the partials of the rows up to it, and from it on.

        Blocks are along the first axis, their rows along the second. Three merges a row, in
        arrays of half the rows, of a quarter, and so on: both come from the same pairs.
        """
        width = blocks.shape[1]
        if width == 1:
            return blocks, blocks
        pairs = width // 2 * 2
        joined = self._merged(blocks[:, 0:pairs:2], blocks[:, 1:pairs:2])
        if pairs < width:
            joined = np.concatenate((joined, blocks[:, pairs:]), axis=1)
        before, behind = self.ends(joined)
        prefix, suffix = (
            np.empty(blocks.shape, blocks.dtype),
            np.empty(blocks.shape, blocks.dtype),
        )
        prefix[:, 0] = blocks[:, 0]
        prefix[:, 1::2] = before[:, : pairs // 2]
        suffix[:, 0::2] = behind
        suffix[:, -1] = blocks[:, -1]
        if width > 2:
            later, earlier = blocks[:, 2::2], blocks[:, 1 : width - 1 : 2]
            prefix[:, 2::2] = self._merged(before[:, : later.shape[1]], later)
            suffix[:, 1 : width - 1 : 2] = self._merged(earlier, behind[:, 1:])
        return prefix, suffix

    def _merged(self, older: Any, younger: Any) -> Any:
        flat = (-1, *older.shape[2:])
        return self.merge(older.reshape(flat), younger.reshape(flat)).reshape(older.shape)

    def windows(self, partials: Any, begins: Any, ends: Any) -> Any:
        """The partials of windows of rows, none of which is empty.

        Where most windows have one length, that is the length of blocks: such a window is the end
        of one block and the beginning of the next.

        Papers: van Herk 1992, *A fast algorithm for local minimum and maximum filters on
        rectangular and octagonal kernels*; Gil and Werman 1993, *Computing 2-D min, median, and
        max filters*.
        """
        lengths = ends - begins
        longest = int(lengths.max())
        is_longest = lengths == longest
        if longest <= 2 or 2 * np.count_nonzero(is_longest) < len(lengths):
            return self._by_levels(partials, begins, ends - 1)
        answers = np.empty((len(begins), *partials.shape[1:]), partials.dtype)
        answers[is_longest] = self._by_blocks(partials, begins[is_longest], longest)
        rest = np.flatnonzero(~is_longest)
        if len(rest):
            first = int(begins[rest].min())
            rows = partials[first : int(ends[rest].max())]
            answers[rest] = self._by_levels(rows, begins[rest] - first, ends[rest] - 1 - first)
        return answers

    def _by_blocks(self, partials: Any, begins: Any, width: int) -> Any:
        first = int(begins.min())
        partials = partials[first : int(begins.max()) + width]
        begins = begins - first
        whole = len(partials) // width * width
        blocks = partials[:whole].reshape(-1, width, *partials.shape[1:])
        prefix, suffix = (of.reshape(-1, *partials.shape[1:]) for of in self.ends(blocks))
        if whole < len(partials):
            prefix = np.concatenate((prefix, self.ends(partials[np.newaxis, whole:])[0][0]))
        answers = prefix[begins + (width - 1)]
        cut = np.flatnonzero(begins % width)
        if len(cut):
            answers[cut] = self.merge(suffix[begins[cut]], answers[cut])
        return answers

    def _by_levels(self, partials: Any, begins: Any, lasts: Any) -> Any:
        """Windows of any lengths. A level has blocks twice as long as the level below.

        A window is answered at the level at which it lies in two neighbouring blocks: by the end
        of the one, and the beginning of the other.
        """
        answers = partials[begins]
        distance = lasts - begins
        # at the level of the highest bit the window lies in two blocks, or in three
        level = np.frexp(distance)[1] - 1
        level += ((lasts >> level.clip(0)) - (begins >> level.clip(0)) > 1) & (level >= 0)
        prefix, suffix = partials.copy(), partials.copy()
        for k in range(int(level.max()) + 1):
            if k:
                self._join(prefix, suffix, 1 << (k - 1))
            at = np.flatnonzero(level == k)
            if len(at):
                answers[at] = self.merge(suffix[begins[at]], prefix[lasts[at]])
        return answers

    def _join(self, prefix: Any, suffix: Any, half: int) -> None:
        """Join each two neighbouring blocks of a length, in place."""
        rows, shape = len(prefix), prefix.shape[1:]
        whole = rows // (2 * half) * 2 * half
        if whole:
            before = prefix[:whole].reshape(-1, 2 * half, *shape)
            behind = suffix[:whole].reshape(-1, 2 * half, *shape)
            totals = before[:, half - 1].copy(), behind[:, half].copy()
            of_older, of_younger = (np.repeat(t, half, axis=0) for t in totals)
            merged = self.merge(of_older, before[:, half:].reshape(-1, *shape))
            before[:, half:] = merged.reshape(-1, half, *shape)
            merged = self.merge(behind[:, :half].reshape(-1, *shape), of_younger)
            behind[:, :half] = merged.reshape(-1, half, *shape)
        rest = prefix[whole + half :]
        if len(rest):
            older = prefix[whole + half - 1 : whole + half]
            prefix[whole + half :] = self.merge(np.repeat(older, len(rest), axis=0), rest)


def _of_rows(method: str, partials: Any, rows: int) -> Any:
    if isinstance(partials, np.ndarray) and partials.ndim and len(partials) == rows:
        return partials
    text = f"it returned {_shown(partials)} for {rows} rows; it must return a NumPy array"
    raise MethodError(method, f"{text} of one partial for each")


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return "None" if value is None else f"a {type(value).__name__}"


def present(columns: Sequence[pa.Array], wanted: pa.Array | None = None) -> Any:
    """Which rows have no NULL, and are wanted; None if all."""
    mask = None
    for column in columns:
        if column.null_count:
            valid = column.is_valid().to_numpy(zero_copy_only=False)
            mask = valid if mask is None else mask & valid
    if wanted is not None and wanted.true_count < len(wanted):
        valid = wanted.to_numpy(zero_copy_only=False)
        mask = valid if mask is None else mask & valid
    return mask


class ArrayTask:
    """The windows of a task's rows, in batches over all keys.

    A row's number is its place among all rows of the task, from 0. Rows that take no part have no
    partial: the counts say how many partials there are before a row.
    """

    def __init__(self, steps: Arrays, to_array: Callable[[Any], pa.Array]) -> None:
        """Begin without rows."""
        self._steps = steps
        self._to_array = to_array
        self.at = None
        """No row of a batch by itself, for the text of an error."""
        self._first = 0  # the row from which on partials and counts are held
        self._partials: list[Any] = []
        self._counts: list[Any] = [np.zeros(1, np.int64)]
        self._counted = 0
        self._come = 0
        self._key = 0  # the first row of the last row's key
        self._begin = self._end = 0  # no later window begins or ends before them
        self._shape = 0
        self._waiting: deque[_Waiting] = deque()

    def come(self, batch: Sequence[pa.Array]) -> Iterator[pa.Array]:
        """Take in the next rows; returns the answers that they make known."""
        *values, wanted, _, shape, places, begins, ends = batch
        if not len(places):
            return
        self._shape = shape[0].as_py()
        place = _numbers(places)
        before = np.concatenate([[self._come - self._key], place[:-1]])
        if ((place != 1) & (place != before + 1)).any():
            message = "a row of a key did not come after the row before"
            raise OutOfOrderError(message)
        rows = np.arange(self._come, self._come + len(place))
        keys = rows - (place - 1)
        begin, end = keys + _numbers(begins) - 1, keys + _numbers(ends)
        there = present([begins, ends])
        if there is not None:
            begin, end = np.where(there, begin, rows), np.where(there, end, rows)
        bounds = [begin, end]
        if self._shape & HOLES:
            *values, first, last = values
            bounds += [keys + _numbers(first) - 1, keys + _numbers(last), rows]
        self._take_in(values, wanted)
        self._come += len(place)
        if keys[-1] != self._key:
            self._key = self._begin = self._end = int(keys[-1])
        of_key = (keys == self._key) if there is None else (keys == self._key) & there
        last_of_key = np.flatnonzero(of_key)
        if len(last_of_key) and not self._shape & BACK:
            self._begin, self._end = int(begin[last_of_key[-1]]), int(end[last_of_key[-1]])
        self._waiting.append(_Waiting(bounds, int(begin.min()), int(end.min()), int(end.max())))
        yield from self._answered(is_last=False)

    def ended(self) -> Iterator[pa.Array]:
        """The answers of the rows that waited for others."""
        if any(w.last_end > self._come for w in self._waiting):
            message = f"a window ends behind the last row, {self._come}"
            raise OutOfOrderError(message)
        yield from self._answered(is_last=True)

    def _take_in(self, values: Sequence[pa.Array], wanted: pa.Array) -> None:
        mask = present(values, wanted)
        if mask is None:
            counts = np.arange(1, len(wanted) + 1)
        else:
            counts = np.cumsum(mask)
            of = pa.array(mask)
            values = [column.filter(of) for column in values]
        self._counts.append(counts + self._counted)
        self._counted = int(self._counts[-1][-1])
        if len(values[0]):
            self._partials.append(self._steps.lifted(values))

    def _answered(self, *, is_last: bool) -> Iterator[pa.Array]:
        """Answer rows whose windows have come, if they are half of those that are held.

        So a row is in the arrays of two batches of answers on average, however long windows are.
        """
        ready = 0
        for waiting in self._waiting:
            if waiting.last_end > self._come:
                break
            ready += len(waiting.bounds[0])
        if not ready or (not is_last and 2 * ready < self._come - self._first):
            return
        taken = []
        while self._waiting and self._waiting[0].last_end <= self._come:
            taken.append(self._waiting.popleft().bounds)
        self._partials = [np.concatenate(self._partials)] if self._partials else []
        self._counts = [np.concatenate(self._counts)]
        yield self._answers(*map(np.concatenate, zip(*taken, strict=True)))
        begins = (w.first_begin for w in self._waiting)
        ends = (w.first_end for w in self._waiting)
        self._keep(min([self._begin, *begins]), min([self._end, *ends]))

    def _place(self, rows: Any) -> Any:
        """How many partials are before each of the rows; 0 for rows that became one partial."""
        counts = self._counts[0]
        return np.where(rows < self._first, 0, counts[(rows - self._first).clip(0)])

    def _answers(self, begins: Any, ends: Any, *hole: Any) -> pa.Array:
        if not self._shape & GROWS and int(begins.min()) < self._first:
            message = "a window begins before the window of the row before"
            raise OutOfOrderError(message)
        parts = [(begins, ends)]
        if hole:
            before, behind, row = hole
            stays = (row, row + 1) if self._shape & STAYS else (row, row)
            parts = [(begins, before), stays, (behind, ends)]
        clipped = [[bound.clip(begins, ends) for bound in part] for part in parts]
        return self._finished([tuple(map(self._place, part)) for part in clipped])

    def _finished(self, parts: Sequence[tuple[Any, ...]]) -> pa.Array:
        """The answers for windows of one or more parts, the oldest first."""
        steps, rows = self._steps, len(parts[0][0])
        there = np.zeros(rows, bool)
        whole: Any = None
        for begins, ends in parts:
            some = np.flatnonzero(ends > begins)
            if not len(some):
                continue
            partials = self._partials[0]
            of_part = steps.windows(partials, begins[some], ends[some])
            if whole is None:
                whole = np.empty((rows, *partials.shape[1:]), partials.dtype)
            both = there[some]
            if both.any():
                of_part[both] = steps.merge(whole[some[both]], of_part[both])
            whole[some] = of_part
            there[some] = True
        if steps.has_zero and not there.all():
            if whole is None:
                whole = steps.zeros(rows)
            else:
                whole[~there] = steps.zeros(1)
            there[:] = True
        if not there.any():
            return self._to_array([None] * rows)
        if there.all():
            return self._to_array(steps.finish(whole))
        answers = self._to_array(steps.finish(whole[there]))
        return answers.take(pa.array(np.cumsum(there) - 1, mask=~there))

    def _keep(self, begin: int, end: int) -> None:
        """Drop the partials that no later window holds.

        No later window begins or ends before the given rows, which may not have come yet.
        Where no row leaves a window, the rows that all later windows have become one partial.
        """
        counts, partials = self._counts[0], self._partials
        begin, end = min(begin, self._come), min(end, self._come)
        first, last = (int(self._place(np.array(row))) for row in (begin, end))
        if self._shape & GROWS and end > max(begin, self._first):
            if last > first:
                one = self._steps.total(partials[0][first:last])
                partials = [np.concatenate((one, partials[0][last:]))]
                last -= 1
            else:
                partials = [p[last:].copy() for p in partials]
            self._first, counts = end, counts[end - self._first :] - last
        elif begin > self._first:
            partials = [p[first:].copy() for p in partials]
            self._first, counts = begin, counts[begin - self._first :] - first
        self._partials = partials
        self._counts, self._counted = [counts], int(counts[-1])


class _Waiting(NamedTuple):
    """Rows of a batch without an answer: where their windows begin and end."""

    bounds: list[Any]
    first_begin: int
    first_end: int
    last_end: int


def _numbers(places: pa.Array) -> Any:
    if places.null_count:
        places = places.fill_null(0)
    return places.to_numpy(zero_copy_only=False)


class ArrayFunction(Function):
    """An aggregator over arrays as that function. Only this class makes workers import NumPy."""

    def whole(self) -> Any:
        """The state of the calls by Spark's own operators."""
        return WholeArrays(Arrays(self.aggregator))

    def task(self) -> Any:
        """The state of a task that slides."""
        return ArrayTask(Arrays(self.aggregator), self.array)

    def answer_of(self, answer: Any) -> Any:
        """The answer in an array of one, or None."""
        return None if answer is None else self.array(answer)[0].as_py()


class WholeArrays(Slices):
    """Slices whose rows are taken as arrays.

    The rows of a flip are scanned at once, and the rows that came are merged at once. A group has
    all its rows in one call.
    """

    def __init__(self, steps: Arrays) -> None:
        """Begin without rows."""
        self._steps = steps
        super().__init__()

    def clear(self) -> None:
        """Forget all rows."""
        self._suffixes: Any = None  # of the rows of the front that have a partial
        self._older: Any = None  # how many of them there are from a row of the front on
        self._gone = 0  # how many rows of the front have left
        self._younger: Any = None

    def flip(self, rows: Sequence[pa.Array]) -> None:
        """Make the front of the rows that stay, and the back of none."""
        self.clear()
        partials, mask = self._partials(rows)
        if partials is not None:
            self._suffixes = self._steps.ends(partials[np.newaxis])[1][0]
            there = np.ones(len(rows[0]), np.int64) if mask is None else mask.astype(np.int64)
            self._older = np.cumsum(there[::-1])[::-1]

    def evict(self, rows: int) -> None:
        """Remove the oldest rows, all of which are in the front."""
        self._gone += rows

    def insert(self, rows: Sequence[pa.Array]) -> None:
        """Add rows to the back."""
        came = self._partials(rows)[0]
        if came is not None:
            came = self._steps.total(came)
            younger = self._younger
            self._younger = came if younger is None else self._steps.merge(younger, came)

    def query(self) -> Any:
        """The answer for the rows in the window, in an array; None if it is NULL."""
        steps, whole = self._steps, self._younger
        count = 0
        if self._older is not None and self._gone < len(self._older):
            count = int(self._older[self._gone])
        if count:
            older = self._suffixes[len(self._suffixes) - count :][:1]
            whole = older if whole is None else steps.merge(older, whole)
        if whole is None:
            if not steps.has_zero:
                return None
            whole = steps.zeros(1)
        return steps.finish(whole)

    def _partials(self, rows: Sequence[pa.Array]) -> tuple[Any, Any]:
        mask = present(rows)
        if mask is not None:
            rows = [column.filter(pa.array(mask)) for column in rows]
        return (self._steps.lifted(rows) if len(rows[0]) else None), mask
