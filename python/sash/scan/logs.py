"""Finds event logs, and reads their events.

A log is a file, or a folder ``eventlog_v2_…`` whose parts Spark begins anew as they grow
(``events_1_…``, ``events_2_…``). A part that ends in ``.compact`` stands for all before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from sash.scan.codecs import NAMES, CutOff, Unreadable, chunks

_PART = re.compile(r"events_(\d+)_")
_NAME = re.compile(rb'\s*\{\s*"Event"\s*:\s*"([^"]+)"')
Event = dict[str, Any]


class Log(NamedTuple):
    """The log of one application: its files, in order."""

    path: Path
    parts: tuple[Path, ...]

    @property
    def size(self) -> int:
        """The bytes of its files."""
        return sum(part.stat().st_size for part in self.parts)


def logs(paths: list[Path]) -> list[Log]:
    """The logs that some paths name; a folder has all logs below it.

    Raises:
        Unreadable: if a path does not exist, or has no log.
    """
    found: dict[Path, Log] = {}
    for path in paths:
        if not path.exists():
            raise Unreadable(f"{path} does not exist")
        below = list(_below(path)) if path.is_dir() else [Log(path, (path,))]
        if not below:
            raise Unreadable(f"{path} has no event log; spark.eventLog.dir names their folder")
        found.update((log.path.resolve(), log) for log in below)
    return list(found.values())


def _below(folder: Path) -> Iterator[Log]:
    if folder.name.startswith("eventlog_v2_"):
        if parts := _parts(folder):
            yield Log(folder, parts)
        return
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "_")):
            continue
        if path.is_dir():
            yield from _below(path)
        elif _is_log(path):
            yield Log(path, (path,))


def _parts(folder: Path) -> tuple[Path, ...]:
    numbered = [(int(m[1]), p) for p in folder.iterdir() if (m := _PART.match(p.name))]
    compact = max((n for n, p in numbered if p.suffix == ".compact"), default=0)
    kept = [(n, p) for n, p in numbered if n > compact or (n, p.suffix) == (compact, ".compact")]
    return tuple(part for _, part in sorted(kept))


def _is_log(path: Path) -> bool:
    """Whether a file of a folder begins like a log; one that cannot be opened may be one."""
    try:
        with path.open("rb") as file:
            first = next(chunks(file, _codec(path)), b"")
    except Unreadable:
        return True
    except (OSError, CutOff):
        return False
    return _NAME.match(first) is not None


def _codec(path: Path) -> str | None:
    plain = path.name.removesuffix(".inprogress").removesuffix(".compact")
    _, _, last = plain.rpartition(".")
    return last if last in NAMES else None


def events(
    log: Log, wanted: frozenset[str], advance: Callable[[int], None], faults: list[str]
) -> Iterator[Event]:
    """The events of a log whose names are wanted.

    Args:
        log: The log.
        wanted: Names of events.
        advance: Told how many bytes of the files were read since the last call.
        faults: Gets a sentence for each thing that could not be read.
    """
    known = False
    for part in log.parts:
        broken = 0
        for line in lines(part, advance, faults):
            name = _NAME.match(line)
            known = known or name is not None
            if name is not None and name[1].decode("utf-8", "replace") not in wanted:
                continue
            event = _event(line)
            if event is None:
                broken += bool(line.strip())
            elif event.get("Event") in wanted:
                yield event
        if broken:
            faults.append(f"{part}: {broken} lines are no events, and were skipped")
    if not known:
        faults.append(f"{log.path}: no event log")


def _event(line: bytes) -> Event | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def lines(part: Path, advance: Callable[[int], None], faults: list[str]) -> Iterator[bytes]:
    """The lines of a file of a log, uncompressed."""
    rest = b""
    with part.open("rb") as file:
        try:
            before = 0
            for chunk in chunks(file, _codec(part)):
                *whole, rest = (rest + chunk).split(b"\n")
                yield from whole
                before = _tell(file, before, advance)
        except Unreadable as error:
            faults.append(f"{part}: {error}")
            return
        except CutOff:
            faults.append(f"{part}: cut off; the events before the cut were read")
    yield rest


def _tell(file: IO[bytes], before: int, advance: Callable[[int], None]) -> int:
    at = file.tell()
    advance(at - before)
    return at
