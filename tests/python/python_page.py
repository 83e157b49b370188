"""Writes docs/python.md: the public names of the package, each with one line.

`make pages` runs it.
On the site their docstrings stand in place of the lines (`docs/conf.py`).
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sash
import sash.testing
from sash.window import SlidingWindowSpec

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
HEAD = """\
# Python

The public names of the package `sash`, each with the first line of its docstring. `help(name)`
has the rest, and so has the site.
"""
SECTIONS: dict[str, list[tuple[str, Any]]] = {
    "The Spark session": [
        (f"sash.{name}", getattr(sash, name))
        for name in (
            "configure",
            "is_active",
            "inactive_reason",
            "explain",
            "explanation",
            "jar_path",
        )
    ],
    "Sliding windows": [
        ("sash.sliding_agg", sash.sliding_agg),
        ("sash.SlidingWindow", sash.SlidingWindow),
        ("sash.window.SlidingWindowSpec", SlidingWindowSpec),
    ],
    "Training sets": [
        (f"sash.{name}", getattr(sash, name)) for name in ("window_join", "as_of", "grid")
    ],
    "Tables of answers": [
        (f"sash.{name}", getattr(sash, name)) for name in ("changed", "refreshed", "refresh")
    ],
    "Streams": [("sash.warm_start", sash.warm_start)],
    "Monoids of your own": [
        ("sash.Monoid", sash.Monoid),
        ("sash.testing.check_monoid", sash.testing.check_monoid),
    ],
    "Aggregators in Python": [
        ("sash.Aggregator", sash.Aggregator),
        ("sash.udaf", sash.udaf),
        ("sash.testing.check_aggregator", sash.testing.check_aggregator),
    ],
    "Aggregates": [
        (f"sash.functions.{name}", getattr(sash.functions, name))
        for name in sash.functions.__all__
        if name != "sliding_agg"
    ],
}


def page() -> str:
    """The page's text."""
    parts = [HEAD]
    for title, names in SECTIONS.items():
        lines = [line for name, of in names for line in _lines(name, of)]
        parts.append(f"## {title}\n\n" + "\n".join(lines) + "\n")
    return "\n".join(parts)


def _lines(name: str, of: Any) -> Iterator[str]:
    yield _item(f"- `{name}`: {_first(of)}")
    if of is SlidingWindowSpec:
        for method, function in inspect.getmembers(of, inspect.isfunction):
            if function.__module__.startswith("sash") and not method.startswith("_"):
                yield _item(f"  - `.{method}`: {_first(function)}")


def _item(text: str) -> str:
    indent = "  " if text.startswith("-") else "    "
    return textwrap.fill(
        text, 98, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _first(of: Any) -> str:
    """The first sentence of a docstring, as Markdown."""
    text = " ".join((inspect.getdoc(of) or "").split("\n\n")[0].split())
    return re.sub(r"``([^`]+)``", r"`\1`", text)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
