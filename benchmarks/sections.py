"""Pages in docs/benchmarks to which several scripts write: each its own part."""

from __future__ import annotations

import re
from pathlib import Path

_SECTION = re.compile(r"<!-- by (\w+) -->\n.*?<!-- end -->\n", re.DOTALL)


def write(page: Path, text: str) -> None:
    """Write a page, and leave the sections of other scripts at its end."""
    page.parent.mkdir(parents=True, exist_ok=True)
    others = _SECTION.findall(page.read_text("utf-8")) if page.exists() else []
    sections = [_of(page, script) for script in others]
    page.write_text("\n".join([text.rstrip() + "\n", *sections]), encoding="utf-8")


def section(page: Path, script: str, text: str) -> None:
    """Write a script's section of a page, from a text that begins with a title of a page."""
    below = re.sub(r"^(#+ )", r"#\1", text.strip(), flags=re.MULTILINE)
    made = f"<!-- by {script} -->\n{below}\n<!-- end -->\n"
    page.parent.mkdir(parents=True, exist_ok=True)
    before = page.read_text(encoding="utf-8") if page.exists() else ""
    old = _of(page, script)
    after = before.replace(old, made) if old else f"{before.rstrip()}\n\n{made}".lstrip()
    page.write_text(after, encoding="utf-8")


def _of(page: Path, script: str) -> str:
    """A script's section as the page has it, or nothing."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return next((found[0] for found in _SECTION.finditer(text) if found[1] == script), "")
