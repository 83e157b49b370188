"""The report of a scan as one page of HTML, with one chart; it loads nothing when opened."""

from __future__ import annotations

from html import escape

from sash.scan.findings import Finding
from sash.scan.operators import SASH
from sash.scan.report import LEGEND, measures, text
from sash.scan.verdicts import MAYBE, OURS, SPARKS, UNKNOWN

# Okabe and Ito's palette, which colour-blind readers can tell apart
_COLOURS = {
    OURS: "#0072B2",
    SASH: "#009E73",
    SPARKS: "#999999",
    MAYBE: "#E69F00",
    UNKNOWN: "#CC79A7",
}
_BARS = 20
_ROW, _LEFT, _WIDE = 30, 380, 420
_STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto}
table{border-collapse:collapse;width:100%}td,th{padding:.4rem .6rem;border-top:1px solid #ddd;
text-align:left;vertical-align:top}td.n{text-align:right;white-space:nowrap}
code{font-size:13px;overflow-wrap:anywhere}td:last-child{min-width:7rem}
svg{width:100%;height:auto;font:12px system-ui}
@media(prefers-color-scheme:dark){body{background:#181a1b;color:#ddd}td,th{border-color:#444}}"""


def page(found: list[Finding], faults: list[str], logs: int) -> str:
    """The page."""
    head = escape(text([], [], logs).partition(",")[0])
    rows = "".join(_row(i, f) for i, f in enumerate(found, 1))
    unread = "".join(f"<p>Not read: {escape(fault)}</p>" for fault in faults)
    return f"""<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>sash scan</title><style>{_STYLE}</style>
<h1>What would Sash do to these jobs?</h1><p>{head}, {len(found)} operators.</p>
{chart(found[:_BARS])}
<p>{escape(LEGEND)}</p>
<table><tr><th></th><th>operator</th><th style="width:24%">who would run it</th>
<th>seconds</th><th>gain</th></tr>
{rows}</table>{unread}</html>
"""


def chart(found: list[Finding]) -> str:
    """A bar of seconds for each operator; its pale part is what a gain would save at least."""
    longest = max((f.seconds for f in found), default=0) or 1
    bars = "".join(_bar(i, f, _WIDE * f.seconds / longest) for i, f in enumerate(found))
    height = _ROW * len(found) + 36
    legend = "".join(
        f'<rect x="{i * 150}" y="{height - 22}" width="12" height="12" fill="{colour}"/>'
        f'<text x="{i * 150 + 18}" y="{height - 11}" fill="currentColor">{who}</text>'
        for i, (who, colour) in enumerate(_COLOURS.items())
    )
    more = (
        f'<text x="{_LEFT}" y="{height + 9}" fill="currentColor">'
        "solid: left by the least gain; pale: saved</text>"
    )
    return (
        f'<svg viewBox="0 0 900 {height + 20}" role="img" aria-label="Seconds of each operator">'
        f"{bars}{legend}{more}</svg>"
    )


def _bar(number: int, finding: Finding, width: float) -> str:
    is_there = finding.operator.kind == SASH
    colour = _COLOURS[SASH if is_there else finding.verdict.who]
    saved = finding.gain.saved(1)[0] if finding.gain else 0.0
    y = number * _ROW
    label = escape(_shortened(f"{number + 1}. {_title(finding)}", 42))
    solid = width * (1 - saved)
    return (
        f'<text x="0" y="{y + 19}" fill="currentColor">{label}</text>'
        f'<rect x="{_LEFT}" y="{y + 5}" width="{width:.1f}" height="20" fill="{colour}" '
        f'opacity=".35"/><rect x="{_LEFT}" y="{y + 5}" width="{solid:.1f}" height="20" '
        f'fill="{colour}"/><text x="{_LEFT + width + 6:.1f}" y="{y + 19}" fill="currentColor">'
        f"{finding.seconds:,.1f} s</text>"
    )


def _title(finding: Finding) -> str:
    of = finding.operator
    first = f"{of.calls[0].text} {of.calls[0].frame}".strip() if of.calls else of.detail
    return first or of.kind


def _row(number: int, finding: Finding) -> str:
    of = finding.operator
    calls = "".join(
        f"<br><code>{escape(f'{call.text} {call.frame}'.strip())}</code>" for call in of.calls
    )
    detail = f"<br><code>{escape(of.detail)}</code>" if of.detail else ""
    why = f"<br>{escape(finding.verdict.why)}" if finding.verdict.why else ""
    gain = escape(str(finding.gain)) if finding.gain else ""
    about = escape(f"{finding.application}, query {finding.queries[0]}: {finding.description}")
    return (
        f'<tr><td class="n">{number}</td><td>{of.kind}, {escape(measures(finding))}'
        f"{calls}{detail}<br><small>{about}</small></td>"
        f'<td>{finding.verdict.who}{why}</td><td class="n">{finding.seconds:,.1f}</td>'
        f"<td>{gain}</td></tr>\n"
    )


def _shortened(label: str, length: int) -> str:
    return label if len(label) <= length else f"{label[: length - 1]}…"
