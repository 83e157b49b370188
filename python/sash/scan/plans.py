"""The physical plans of a log: trees of operators, as ``sparkPlanInfo`` has them.

An operator has a text, Spark's ``simpleString``. Of long lists it shows 25 entries
(``spark.sql.debug.maxToStringFields``) and "… N more fields".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_ID = re.compile(r"(?<=[\w)\]])#\d+L?")
_MORE = re.compile(r"\.\.\. (\d+) more fields")
_CLOSES = {")": "(", "]": "["}
_READS = ("records read", "local blocks read", "remote blocks read", "local bytes read")
_WRITES = ("shuffle records written", "shuffle bytes written")
_SPLITS = (
    "Exchange",
    "BroadcastExchange",
    "ReusedExchange",
    "Scan In-memory",
    "InMemoryTableScan",
)


@dataclass(eq=False, repr=False)
class Node:
    """An operator of a plan.

    Attributes:
        name: Spark's name of it.
        text: Its ``simpleString``.
        metrics: The ids of its metrics, by name.
        above: The operators above it, the nearest first.
        stage: The number of its part of the plan between exchanges.
    """

    name: str
    text: str
    metrics: dict[str, int]
    children: list[Node] = field(default_factory=list)
    above: tuple[Node, ...] = ()
    stage: int = 0

    @property
    def splits(self) -> bool:
        """Whether the operators below run in other stages."""
        return self.name.startswith(_SPLITS)

    def walk(self) -> Iterator[Node]:
        """This operator, and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def tree(info: dict[str, Any]) -> Node:
    """The tree of a ``sparkPlanInfo``."""
    numbers = iter(range(1 << 30))

    def grown(info: dict[str, Any], above: tuple[Node, ...], stage: int) -> Node:
        metrics = {m["name"]: m["accumulatorId"] for m in info.get("metrics", ())}
        name = str(info.get("nodeName", ""))
        node = Node(name, str(info.get("simpleString", "")), metrics, [], above, stage)
        below = next(numbers) if node.splits else stage
        node.children = [grown(c, (node, *above), below) for c in info.get("children", ())]
        return node

    return grown(info, (), next(numbers))


def stage_metrics(root: Node, stages: set[int]) -> set[int]:
    """The ids of the metrics that tasks of some stages write."""
    ids: set[int] = set()
    for node in root.walk():
        if not node.splits:
            if node.stage in stages:
                ids.update(node.metrics.values())
            continue
        if node.stage in stages:
            ids.update(node.metrics[name] for name in _READS if name in node.metrics)
        if any(child.stage in stages for child in node.children):
            ids.update(node.metrics[name] for name in _WRITES if name in node.metrics)
    return ids


def plain(text: str) -> str:
    """A text without the numbers that Spark gives to columns."""
    return _ID.sub("", text)


def entries(text: str) -> list[str]:
    """The entries of a list ``a, f(b, c), [d, e]``, split at the commas outside of brackets."""
    found, open_, start = [], [], 0
    for at, char in enumerate(text):
        if char in "([":
            open_.append(char)
        elif char in ")]" and open_ and open_[-1] == _CLOSES[char]:
            open_.pop()
        elif char == "," and not open_:
            found.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*found, last] if last or found else []


def bracketed(text: str) -> list[str]:
    """The entries of ``[a, b]``, without those that Spark did not print."""
    return [
        e for e in entries(text.removeprefix("[").removesuffix("]")) if not _MORE.fullmatch(e)
    ]


def hidden(text: str) -> int:
    """How many entries Spark did not print."""
    return sum(int(count) for count in _MORE.findall(text))


def name_of(call: str) -> str:
    """The name of the function that a text calls, with what tells its kinds apart."""
    name, _, arguments = call.partition("(")
    name = name.strip().lower()
    return f"{name} distinct" if arguments.startswith("distinct ") else name
