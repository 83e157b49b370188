"""Writes tests/README.md: each suite, the first sentence of its doc, its seconds, when it runs.

    python tests/python/suites.py

Seconds are read from the reports in target: sbt's in test-reports, and pytest.xml. A suite
without a report keeps the figure that the page has.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
PAGE = TESTS / "README.md"
UNKNOWN = "–"
HEAD = """# Tests

Written by `make suites`, which lists each suite of `tests/scala` and `tests/python`. A suite lies
in the room of the sources that it tests; one of a whole session lies in `spark` itself, and
`house` has the suites of the sources' own order.

`make test` runs the quick tests, `make test-long` the long ones, and `make test-all` all of them,
the thorough ones, too: of a loop of alike cases, of kinds of kills and of examples, the first two
have a sample. The seconds come from a suite's last report: `make test-scala
test-python` runs the quick and the long tests, and `make suites` reads the reports in `target`.
"""
_CLASS = re.compile(
    r"(?:/\*\*(?P<doc>(?:(?!\*/).)*)\*/\s*)?(?P<marks>(?:@\w+\s+)*)"
    r"(?:private |final )*class (?P<name>\w+Suite)\b",
    re.DOTALL,
)


class Suite(NamedTuple):
    """A class of tests in Scala, or a module of them in Python."""

    room: str
    name: str
    sentence: str
    runs: str

    @property
    def key(self) -> str:
        """Its name in the reports."""
        return f"{self.room.replace('/', '.')}.{self.name}"


def scala() -> Iterator[Suite]:
    """The suites of each project, room by room."""
    for file in sorted((TESTS / "scala").rglob("*Suite.scala")):
        text = file.read_text(encoding="utf-8")
        room = file.parent.relative_to(TESTS / "scala").as_posix()
        is_thorough = re.search(r"\bThorough\b|\beach\(\d", text) is not None
        for found in _CLASS.finditer(text):
            if text[: found.start("name")].endswith("abstract class "):
                continue
            is_partly_long = "tagobjects.Slow" in text
            is_long = "@Slow" in found["marks"]
            runs = _runs(is_long, is_partly_long, is_thorough)
            yield Suite(room, found["name"], sentence(found["doc"] or ""), runs)


def python() -> Iterator[Suite]:
    """The modules of tests."""
    for file in sorted((TESTS / "python").glob("test_*.py")):
        text = file.read_text(encoding="utf-8")
        is_long = re.search(r"^pytestmark\b[^]]*?mark\.slow", text, re.MULTILINE) is not None
        is_thorough = "mark.thorough" in text or "SASH_TEST" in text
        runs = _runs(is_long, "mark.slow" in text, is_thorough)
        yield Suite("python", file.stem, sentence(ast.get_docstring(ast.parse(text)) or ""), runs)


def _runs(is_long: bool, is_partly_long: bool, is_thorough: bool) -> str:
    chosen = ["long"] if is_long else ["quick", "long"] if is_partly_long else ["quick"]
    return ", ".join(chosen + ["thorough"] * is_thorough)


def sentence(doc: str) -> str:
    """The first one of a comment, in a line."""
    text = " ".join(re.sub(r"^\s*\*", "", line).strip() for line in doc.strip().splitlines())
    first = re.split(r"(?<=[.?!])\s", text.strip(), maxsplit=1)[0]
    return first.replace("[[", "`").replace("]]", "`").replace("|", "\\|")


def reported() -> dict[str, float]:
    """The seconds of each suite in the reports of tests."""
    seconds: dict[str, float] = {}
    reports = [*ROOT.glob("target/*/test-reports/*.xml"), ROOT / "target/pytest.xml"]
    for case in (case for file in reports if file.exists() for case in _cases(file)):
        name = case.attrib["classname"].removeprefix("io.sash.")
        name = name.replace("tests.python.", "python.")
        seconds[name] = seconds.get(name, 0) + float(case.attrib["time"])
    return seconds


def _cases(file: Path) -> Iterator[ElementTree.Element]:
    return ElementTree.parse(file).iter("testcase")  # noqa: S314


def page(seconds: dict[str, str]) -> str:
    """The text, with these seconds by suite."""
    lines = [HEAD]
    for title, suites in (("Scala", [*scala()]), ("Python", [*python()])):
        lines += [f"## {title}", "", "| room | suite | it says | seconds | runs |"]
        lines += ["|---|---|---|---:|---|"]
        lines += [
            f"| {s.room} | `{s.name}` | {s.sentence} | {seconds.get(s.key, UNKNOWN)} | {s.runs} |"
            for s in suites
        ]
        lines.append("")
    return "\n".join(lines)


def known() -> dict[str, str]:
    """The seconds that the page has, as it has them."""
    rows = re.findall(
        r"^\| (\S+) \| `(\w+)` \| .* \| (\S+) \| [^|]* \|$",
        PAGE.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    return {f"{room.replace('/', '.')}.{name}": figure for room, name, figure in rows}


def main() -> None:
    """Write the page."""
    seconds = known() if PAGE.exists() else {}
    seconds |= {name: f"{figure:.1f}" for name, figure in reported().items()}
    PAGE.write_text(page(seconds), encoding="utf-8")


if __name__ == "__main__":
    main()
