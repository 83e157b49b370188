"""Who would run an operator, and why: the plugin's rules, on what a log has of a plan.

The table of functions is that of docs/who-runs-what.md, and the reasons are those of the plugin
(``monoids/Refusal.scala``). A plan in a log has no types and no sizes, so that some answers are
``maybe`` or ``cannot tell``.
"""

from __future__ import annotations

from typing import NamedTuple

from sash.scan.frames import Call, inputs
from sash.scan.known import table
from sash.scan.operators import AS_OF, HOPS, JOIN, LATERAL, SASH, WINDOW, Operator

OURS, SPARKS, MAYBE, UNKNOWN = "Sash", "Spark", "maybe", "cannot tell"
ENTIRE = "the frame is the entire partition, which Spark aggregates once"
GROWING = "the frame only grows (UNBOUNDED PRECEDING), which Spark aggregates incrementally"
POSITION = " is a ranking or offset function, not an aggregate"
PYTHON = " runs in Python and cannot be merged"
SPLIT = (
    "without PARTITION BY many tasks of Sash run it if all its functions can be divided, its "
    "input is large (spark.sash.window.splitThreshold) and Spark has four cores; else Spark does"
)
GROUPED = (
    "Spark joins the pairs, and then groups them; if GROUP BY tells the left rows apart, write "
    "LATERAL, and Sash runs it"
)
_BATCH, _APPEND = 0, 1
_AGGREGATE_OF = {HOPS: "hop windows", LATERAL: "LATERAL over a range", JOIN: ""}


class Verdict(NamedTuple):
    """Who would run something: Sash, Spark, maybe, cannot tell; and why, if there is a reason."""

    who: str
    why: str = ""


def verdict(of: Operator) -> Verdict:
    """Who would run an operator."""
    if of.kind == SASH:
        return Verdict(OURS, "it does already")
    if of.in_python:
        return Verdict(SPARKS, f"an aggregate{PYTHON}")
    if of.kind == WINDOW:
        return _most([of_call(call, of) for call in of.calls], of.hidden)
    if of.kind == AS_OF:
        return Verdict(str(table("who")["as-of join"][_BATCH]))
    if of.kind == JOIN:
        return Verdict(SPARKS, GROUPED)
    if of.kind == LATERAL and " OR " in of.detail:
        return Verdict(UNKNOWN, "the condition is no plain range")
    return _all([of_call(call, of) for call in of.calls], of.hidden)


def of_call(call: Call, of: Operator) -> Verdict:
    """Who would run one function of an operator."""
    row = _row(call)
    if not row or (of.kind == WINDOW and not call.shape):
        name = call.function or "a call"
        return Verdict(UNKNOWN, f"{name} is not in Sash's table; ask sash.explain")
    answers = table("who")["rows"][row]
    if of.kind != WINDOW:
        signs = answers.get(_AGGREGATE_OF[of.kind])
        mode = _APPEND if of.is_stream else _BATCH
        if signs is None or signs[mode] != OURS:
            return Verdict(
                SPARKS, f"{call.function} over {_AGGREGATE_OF[of.kind]} stays with Spark"
            )
        return Verdict(OURS)
    is_aggregate = "looks back" in answers and answers["looks back"][_BATCH] == OURS
    if is_aggregate and answers[call.shape][_BATCH] == OURS:
        return Verdict(OURS)
    if not of.has_keys and of.has_order:
        return Verdict(MAYBE, SPLIT)
    if not is_aggregate:
        return Verdict(SPARKS, f"{call.function}{POSITION}")
    return Verdict(SPARKS, ENTIRE if call.shape == "whole partition" else GROWING)


def _row(call: Call) -> str:
    names = table("who")["names"]
    if call.function.endswith(" distinct"):
        return str(names["distinct"])
    return str(
        names.get(call.function) or names.get(f"{call.function}/{inputs(call.text)}") or ""
    )


def _most(calls: list[Verdict], hidden: int) -> Verdict:
    """The verdict of a window, whose functions Sash and Spark may share."""
    found = {v.who for v in calls}
    others = "; ".join(dict.fromkeys(v.why for v in calls if v.who != OURS))
    unseen = f"the plan does not show {hidden} of its functions" if hidden else ""
    why = "; ".join(part for part in (others, unseen) if part)
    if OURS in found:
        shared = f"in part: {others}" if others else ""
        return Verdict(OURS, "; ".join(part for part in (shared, unseen) if part))
    if hidden:
        return Verdict(UNKNOWN, why)
    return Verdict(next((w for w in (MAYBE, UNKNOWN, SPARKS) if w in found), UNKNOWN), why)


def _all(calls: list[Verdict], hidden: int) -> Verdict:
    """The verdict of a group, all of whose functions Sash runs, or none."""
    for who in (SPARKS, UNKNOWN):
        reasons = [v.why for v in calls if v.who == who]
        if reasons:
            return Verdict(who, "; ".join(dict.fromkeys(reasons)))
    if hidden:
        return Verdict(UNKNOWN, f"the plan does not show {hidden} of its functions")
    return Verdict(OURS)
