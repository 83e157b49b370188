"""Finds in a plan what Sash knows: windows, hop windows, aggregates over ranges of a join."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sash.scan.frames import Call, windowed
from sash.scan.plans import Node, bracketed, entries, hidden, name_of, plain

WINDOW, HOPS, LATERAL = "window", "hop window", "correlated aggregate"
JOIN, AS_OF, SASH = "range-join aggregate", "as-of join", "run by Sash already"
_SASHS = ("SlidingWindow", "SplitWindow", "HopWindows")
_PYTHONS = ("WindowInPandas", "ArrowWindowPython", "WindowInPython")
_JOINS = (
    "BroadcastNestedLoopJoin",
    "CartesianProduct",
    "SortMergeJoin",
    "BroadcastHashJoin",
    "ShuffledHashJoin",
)
_AGGREGATES = ("HashAggregate", "ObjectHashAggregate", "SortAggregate")
_PYTHON_AGGREGATES = ("AggregateInPandas", "ArrowAggregatePython")
_PARTIAL = ("partial_", "merge_")
_STATE = ("StateStoreRestore", "StateStoreSave")
_AGGREGATE = re.compile(r"\w+\(keys?=\[(?P<keys>.*)\], functions=\[(?P<calls>.*)\]\)", re.DOTALL)
_HOP = re.compile(r"named_struct\(start, (?:knownnullable\()?precisetimestampconversion\(")
_SLIDE = re.compile(r"% (\d+)\)")
_SIZE = re.compile(r"\+ (\d+)\), LongType, Timestamp\w*\)\)\)$")
_GROUPED = re.compile(r" FILTER \(WHERE \(gid = \d+\)\)$")
_COMPARED = re.compile(
    r"\(([^()]*(?:\([^()]*\))?[^()]*?) (<|<=|>|>=) ([^()]*(?:\([^()]*\))?[^()]*)\)"
)
_PASS = ("Project", "Filter", "InputAdapter", "WholeStageCodegen", "AQEShuffleRead", "Sort")
_STAGES = ("ShuffleQueryStage", "BroadcastQueryStage", "TableCacheQueryStage", "ResultQueryStage")
_THROUGH = (*_PASS, *_STAGES, "Exchange", "BroadcastExchange", "ReusedExchange", *_STATE)


@dataclass(frozen=True)
class Operator:
    """An operator that asks for aggregates, with the nodes that work for it.

    Attributes:
        kind: One of this module's names.
        calls: Its functions.
        hidden: How many more it has that Spark did not print.
        has_keys: Whether it has PARTITION BY.
        has_order: Whether it has ORDER BY.
        is_stream: Whether it is of a streaming query.
        panes: In how many hop windows a row is.
        detail: A condition, or the sizes of hop windows.
    """

    kind: str
    node: Node
    nodes: tuple[Node, ...]
    calls: tuple[Call, ...]
    hidden: int = 0
    has_keys: bool = True
    has_order: bool = True
    is_stream: bool = False
    panes: int = 0
    in_python: bool = False
    detail: str = ""


def operators(root: Node) -> Iterator[Operator]:
    """The operators of a plan that this module knows."""
    for node in root.walk():
        if node.name in _SASHS:
            yield Operator(SASH, node, (node,), (), detail=plain(node.text))
        elif node.name == "Window":
            yield _window(node)
        elif node.name in _PYTHONS:
            yield Operator(WINDOW, node, (node,), (), in_python=True, detail=plain(node.text))
        elif node.name == "Expand" and _HOP.search(node.text):
            yield _hops(node)
        elif node.name in _JOINS and (condition := _range_of(node)):
            yield from _joined(node, condition)


def _window(node: Node) -> Operator:
    listed = _first(node.text.removeprefix("Window"))
    read = [windowed(text) for text in bracketed(listed)]
    calls, keys, order = [c for c, *_ in read], any(r[1] for r in read), any(r[2] for r in read)
    below = _chain_below(node)
    join = next((n for n in below if n.name in _JOINS and _range_of(n)), None)
    is_as_of = join is not None and all(c.function == "row_number" for c in calls)
    kind = AS_OF if is_as_of and join is not None and _is_correlated(join) else WINDOW
    nodes = (node, *below) if kind == AS_OF else (node,)
    detail = _range_of(join) if kind == AS_OF and join is not None else ""
    return Operator(kind, node, nodes, tuple(calls), hidden(listed), keys, order, detail=detail)


def _hops(node: Node) -> Operator:
    listed = _first(node.text.removeprefix("Expand"))
    ranges = bracketed(listed)
    aggregates = list(_aggregates_above(node))
    calls, more = _calls_of(aggregates)
    slide, size = _SLIDE.search(node.text), _size(ranges)
    detail = f"window of {size} every {_span(int(slide[1]))}" if slide and size else ""
    return Operator(
        HOPS,
        node,
        (node, *aggregates),
        calls,
        more,
        is_stream=any(n.name in _STATE for n in node.above),
        panes=len(ranges) + hidden(listed),
        in_python=any(n.name in _PYTHON_AGGREGATES for n in aggregates),
        detail=detail,
    )


def _first(text: str) -> str:
    return next(iter(entries(text)), "")


def _size(ranges: list[str]) -> str:
    for entry in bracketed(next(iter(ranges), "")):
        if found := _SIZE.search(entry):
            return _span(int(found[1]))
    return ""


def _span(micros: int) -> str:
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        if micros % (length * 1_000_000) == 0:
            return f"{micros // (length * 1_000_000)} {unit}"
    return f"{micros / 1000:g} ms"


def _joined(node: Node, condition: str) -> Iterator[Operator]:
    aggregates = list(_aggregates_above(node))
    calls, more = _calls_of(aggregates)
    if not aggregates or not calls:
        return
    kind = LATERAL if _is_correlated(node) else JOIN
    python = any(n.name in _PYTHON_AGGREGATES for n in aggregates)
    nodes = (node, *aggregates)
    yield Operator(kind, node, nodes, calls, more, in_python=python, detail=condition)


def _range_of(join: Node) -> str:
    """The condition of a join, if it compares by an order; else nothing."""
    parts = entries(join.text.partition(" ")[2])
    compared = [p for p in parts if p.startswith("(") and _COMPARED.search(p)]
    return plain(compared[-1]) if compared else ""


def _is_correlated(join: Node) -> bool:
    """Whether a side of a join is the set of an outer query's values, as for a subquery."""
    return any(_is_set(child) for child in join.children)


def _is_set(node: Node) -> bool:
    while node.name.startswith(_THROUGH) and len(node.children) == 1:
        node = node.children[0]
    found = _AGGREGATE.fullmatch(node.text)
    return found is not None and bool(found["keys"]) and not found["calls"]


def _chain_below(node: Node) -> list[Node]:
    """The operators below, as far as each has one input."""
    chain = []
    while len(node.children) == 1:
        node = node.children[0]
        chain.append(node)
        if node.name in _JOINS:
            break
    return chain


def _aggregates_above(node: Node) -> Iterator[Node]:
    """The steps of the aggregation of an operator's rows, up to the one that ends it."""
    for above in node.above:
        if above.name in _PYTHON_AGGREGATES:
            yield above
            return
        if above.name in _AGGREGATES:
            yield above
            found = _AGGREGATE.fullmatch(above.text)
            calls = entries(found["calls"]) if found else []
            # by a number of groups Spark computes several DISTINCT aggregates, in two steps
            is_first = found is not None and "gid" in found["keys"]
            if calls and not is_first and not any(c.startswith(_PARTIAL) for c in calls):
                return
        elif not above.name.startswith((*_THROUGH, "Expand")):
            return


def _calls_of(aggregates: list[Node]) -> tuple[tuple[Call, ...], int]:
    """The functions of an aggregation.

    Several DISTINCT aggregates are spread over two steps: the first has the other functions, and
    the second tells by a number, ``gid``, which rows are whose.
    """
    calls: dict[str, Call] = {}
    more = 0
    if any("gid" in node.text for node in aggregates):
        aggregates = aggregates[:-1]
    for node in aggregates:
        found = _AGGREGATE.fullmatch(node.text)
        listed = found["calls"] if found else ""
        more = max(more, hidden(listed))
        for entry in bracketed(f"[{listed}]"):
            text = re.sub(r"^(?:partial|merge)_", "", plain(entry))
            distinct = _GROUPED.sub("", text)
            if distinct != text:
                if name_of(text) == "first":
                    continue
                text = distinct.replace("(", "(distinct ", 1)
            calls.setdefault(text, Call(text, name_of(text)))
    return tuple(calls.values()), more
