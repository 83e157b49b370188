"""The report of a scan, as text: a paragraph for each operator, the longest first."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from sash.scan.findings import Finding
from sash.scan.operators import HOPS, JOIN, SASH, WINDOW
from sash.scan.verdicts import OURS, of_call

WIDTH = 98
LEGEND = (
    "Seconds are the time of all tasks in the stages in which an operator ran: reading, sorting "
    "and writing in these stages are in them, and operators of one stage share them. A gain is "
    "Spark's time over Sash's in docs/benchmarks, for windows like these; the rest of a job "
    "stays as it is."
)


def text(found: list[Finding], faults: list[str], logs: int) -> str:
    """The report."""
    lines = [f"{_count(logs, 'log')}, {_count(len(found), 'operator')} with windows or ranges."]
    for number, finding in enumerate(found, 1):
        lines += ["", *_paragraph(number, finding)]
    if found:
        lines += ["", *textwrap.wrap(LEGEND, WIDTH)]
    for fault in faults:
        lines += ["", *textwrap.wrap(f"Not read: {fault}", WIDTH)]
    return "\n".join(lines)


def _paragraph(number: int, finding: Finding) -> Iterator[str]:
    of = finding.operator
    runs = _count(len(finding.queries), "run")
    who = "" if of.kind == SASH else f": {finding.verdict.who}"
    head = f"{number}. {finding.seconds:,.1f} s  {of.kind}{who}"
    yield from _wrapped(f"{head}{_gain(finding)}", indent="")
    where = f"{finding.application}, Spark {finding.spark}, query {finding.queries[0]}, {runs}"
    yield from _wrapped(f"{where}: {finding.description}" if finding.description else where)
    if finding.verdict.why and of.kind != SASH:
        yield from _wrapped(f"why: {finding.verdict.why}")
    yield from _wrapped(measures(finding))
    if of.detail:
        yield from _wrapped(of.detail if of.kind in (HOPS, SASH) else f"condition: {of.detail}")
    for call in of.calls:
        who = of_call(call, of).who if of.kind == WINDOW else ""
        whose = f"{who}: " if who else ""
        yield from _wrapped(f"{whose}{call.text} {call.frame}".rstrip())
    if of.hidden:
        yield from _wrapped(f"and {of.hidden} more, which the plan does not show")


def measures(finding: Finding) -> str:
    """Rows, sorting and spills of an operator, in words."""
    of = finding.operator
    unit = "rows" if of.kind in (WINDOW, HOPS, SASH) else "pairs of rows"
    parts = [f"{finding.rows:,} {unit}" if finding.rows is not None else f"{unit} not known"]
    if of.panes:
        parts.append(f"each copied into {of.panes:,} windows")
    if finding.cpu_seconds:
        parts.append(f"{finding.cpu_seconds:,.1f} s on a processor")
    if finding.sort_seconds:
        parts.append(f"{finding.sort_seconds:,.1f} s of sorting")
    if finding.spilled:
        parts.append(f"{finding.spilled / 2**20:,.0f} MiB spilled")
    return ", ".join(parts)


def _gain(finding: Finding) -> str:
    if finding.gain is None:
        return (
            ", no figure" if finding.verdict.who == OURS and finding.operator.kind != SASH else ""
        )
    low, high = finding.gain.saved(finding.seconds)
    as_lateral = " as LATERAL" if finding.operator.kind == JOIN else ""
    return f", gain{as_lateral} {finding.gain}, saves {low:,.1f} to {high:,.1f} s"


def _wrapped(line: str, indent: str = "   ") -> list[str]:
    return textwrap.wrap(
        line,
        WIDTH,
        initial_indent=indent,
        subsequent_indent="     ",
        break_on_hyphens=False,
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
