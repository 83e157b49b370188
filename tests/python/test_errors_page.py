"""The page of errors has the texts of the sources, and each condition that they raise."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "errors.md").read_text(encoding="utf-8")
SOURCES = [
    *(REPOSITORY / "scala" / "spark").glob("**/*.scala"),
    *(REPOSITORY / "python" / "sash").glob("**/*.py"),
]
_CONDITION = re.compile(r'"([A-Z]+_[A-Z_]{4,}(?:\.[A-Z_]+)?)"')


def texts(source: str) -> str:
    """A source whose literals are joined as the compiler joins them; a value in them is a dot."""
    joined = re.sub(r'"\s*(?:\+\s*)?(?:\n\s*)(?:\+\s*)?[sf]?"', "", source)
    joined = joined.replace('\\"', '"')
    # of Scala, and of Python
    return re.sub(r"\$\{[^{}]*\}|\$\w+|\{[\w.()]+\}", "…", joined)


TEXTS = [texts(path.read_text(encoding="utf-8")) for path in SOURCES]


def messages(page: str) -> Iterator[str]:
    """The first cells of the tables of messages."""
    for table in re.findall(r"^\| message .*\n\|---.*\n((?:\|.*\n)+)", page, re.MULTILINE):
        yield from re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)


def stands(message: str, text: str) -> bool:
    """Whether the parts of a message stand in a source, one after another in one text."""
    parts = [part.strip() for part in message.split("…") if part.strip()]
    between = r"[^\n]{0,200}?"
    return re.search(between.join(map(re.escape, parts)), text) is not None


@pytest.mark.parametrize("message", messages(PAGE))
def test_a_message_of_the_page_is_one_of_the_sources(message):
    assert any(stands(message, text) for text in TEXTS)


def test_the_page_has_every_condition():
    sources = (path.read_text(encoding="utf-8") for path in SOURCES if path.suffix == ".scala")
    scala = "\n".join(sources)
    raised = set(_CONDITION.findall(scala))
    assert len(raised) > 15
    assert {condition for condition in raised if f"`{condition}`" not in PAGE} == set()


def test_the_page_has_every_warning_of_a_running_stream():
    folder = REPOSITORY / "scala" / "spark" / "streams"
    warnings = [p for p in folder.glob("**/*.scala") if "logWarning(" in p.read_text("utf-8")]
    assert len(warnings) == 2
    for path in warnings:
        text = texts(path.read_text(encoding="utf-8"))
        assert any(stands(message, text) for message in messages(PAGE)), path.name


def test_a_message_that_has_changed_is_noticed():
    assert len(list(messages(PAGE))) > 40
    assert not any(stands("ORDER BY …, which has a water mark", text) for text in TEXTS)
    joined = texts('s"the bound $x is " +\n      s"never ${y.z} reached"')
    assert stands("the bound … is never … reached", joined)
    assert not stands("the bound … is ever … reached", joined)
