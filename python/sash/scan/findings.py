"""What a scan finds: each operator of each query, with its verdict, its seconds and its gain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from sash.scan.gains import Gain, gain
from sash.scan.operators import HOPS, WINDOW, Operator, operators
from sash.scan.plans import Node, stage_metrics
from sash.scan.queries import Application, Query
from sash.scan.verdicts import Verdict, of_call, verdict

_SAME_ROWS = ("Project", "InputAdapter", "WholeStageCodegen", "AQEShuffleRead", "Sort", "Window")
_STAGE = "QueryStage"
_ROWS = ("number of output rows", "records read", "shuffle records written")
_TREE = "number of segment-tree frames prepared"


@dataclass(frozen=True)
class Finding:
    """An operator of a query, or of several runs of one.

    Attributes:
        queries: The numbers of its queries in the application.
        rows: Rows that went in, or pairs of a join, in all runs; None if no metric says it.
        seconds: The time of the tasks of its stages, summed over tasks and runs. It includes all
            that these stages do, such as reading and sorting.
        cpu_seconds: The seconds that these tasks were on a processor.
        sort_seconds: The seconds that the sorts of these stages took.
        spilled: The bytes that these stages spilled.
    """

    application: str
    spark: str
    description: str
    queries: tuple[int, ...]
    operator: Operator
    verdict: Verdict
    rows: int | None
    seconds: float
    cpu_seconds: float
    sort_seconds: float
    spilled: int
    gain: Gain | None

    @property
    def key(self) -> tuple[Any, ...]:
        """The same for all runs of one query."""
        of = self.operator
        return self.application, self.description, of.kind, of.calls, of.detail, of.panes

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        of = self.operator
        low, high = self.gain.saved(self.seconds) if self.gain else (None, None)
        return {
            "application": self.application,
            "spark": self.spark,
            "description": self.description,
            "queries": list(self.queries),
            "kind": of.kind,
            "who": self.verdict.who,
            "why": self.verdict.why,
            "calls": [_call(call, of) for call in of.calls],
            "calls not shown": of.hidden,
            "detail": of.detail,
            "windows of a row": of.panes or None,
            "pairs" if of.kind not in (WINDOW, HOPS) else "rows": self.rows,
            "task seconds of its stages": round(self.seconds, 3),
            "processor seconds": round(self.cpu_seconds, 3),
            "sort seconds": round(self.sort_seconds, 3),
            "spilled bytes": self.spilled,
            "gain": {"from": self.gain.low, "to": self.gain.high, "or more": self.gain.or_more}
            if self.gain
            else None,
            "task seconds saved": None if low is None else [low, high],
        }


def _call(call: Any, of: Operator) -> dict[str, Any]:
    who, why = of_call(call, of) if of.kind == WINDOW else (None, "")
    return {"text": call.text, "frame": call.frame, "rows": call.rows, "who": who, "why": why}


def findings(app: Application, faults: list[str]) -> list[Finding]:
    """The operators of an application, runs of one query together, the longest first.

    A plan that is not as Spark writes it becomes one of the faults.
    """
    together: dict[tuple[Any, ...], Finding] = {}
    seen: set[frozenset[int]] = set()
    for query in app.queries.values():
        try:
            of_query = list(_of_query(app, query, seen))
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            faults.append(f"{app.path}: the plan of query {query.number}: {error!r}")
            continue
        for found in of_query:
            known = together.get(found.key)
            together[found.key] = _added(known, found) if known else found
    return sorted(together.values(), key=lambda f: -f.seconds)


def _of_query(app: Application, query: Query, seen: set[frozenset[int]]) -> Iterator[Finding]:
    root = query.plan
    for of in operators(root):
        # a cached table, or an exchange that is used again, is in the plans of many queries
        metrics = frozenset(of.node.metrics.values())
        if metrics and metrics in seen:
            continue
        seen.add(metrics)
        yield _measured(app, query, root, of)


def _measured(app: Application, query: Query, root: Node, of: Operator) -> Finding:
    parts = {node.stage for node in of.nodes}
    stages = app.stages(stage_metrics(root, parts))
    seconds, cpu = app.seconds(stages), app.cpu_seconds(stages)
    inside = [node for node in root.walk() if node.stage in parts and not node.splits]
    rows = _rows(of.node.children[0], app) if of.kind in (WINDOW, HOPS) else _rows(of.node, app)
    if rows is None and of.panes and (copies := _rows(of.node, app)):
        rows = copies // of.panes
    by_tree = bool(app.totals.get(of.node.metrics.get(_TREE, -1), 0))
    return Finding(
        app.name or app.path,
        app.spark,
        query.description,
        (query.number,),
        of,
        verdict(of),
        rows,
        seconds,
        cpu,
        _total(app, inside, "sort time") / 1000,
        _total(app, inside, "spill size"),
        gain(of, cpu, rows, by_tree),
    )


def _total(app: Application, nodes: list[Node], metric: str) -> int:
    return sum(app.totals.get(node.metrics.get(metric, -1), 0) for node in nodes)


def _rows(node: Node, app: Application) -> int | None:
    """The rows that an operator gives, by its metric or by that of an operator below."""
    while True:
        for name in _ROWS:
            if app.totals.get(node.metrics.get(name, -1), 0):
                return app.totals[node.metrics[name]]
        passes = (
            node.name.startswith(_SAME_ROWS) or _STAGE in node.name or "Exchange" in node.name
        )
        if not passes or len(node.children) != 1:
            return None
        (node,) = node.children


def _added(one: Finding, other: Finding) -> Finding:
    rows = [f.rows for f in (one, other) if f.rows is not None]
    gains = [f.gain for f in (one, other) if f.gain]
    return replace(
        one,
        queries=tuple(dict.fromkeys((*one.queries, *other.queries))),
        rows=sum(rows) if rows else None,
        seconds=one.seconds + other.seconds,
        cpu_seconds=one.cpu_seconds + other.cpu_seconds,
        sort_seconds=one.sort_seconds + other.sort_seconds,
        spilled=one.spilled + other.spilled,
        gain=Gain(
            min(g.low for g in gains),
            max(g.high for g in gains),
            any(g.or_more for g in gains),
        )
        if gains
        else None,
    )
