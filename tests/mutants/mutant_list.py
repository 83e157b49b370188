"""The list of mutants: Markdown beside this file, one page a room of the sources.

    # scala/core/inorder/Daba.scala          the file that is changed
    suites: inorder.DabaSuite                those that are to fail then

    ## daba-insert-order                     the mutant's name
    What it breaks, in a sentence.
    ```diff
    - combine(older, younger)                whole lines, but for their indentation;
    + combine(younger, older)                others around them only say where
    ```

A mutant may have a line of suites of its own. A suite of another project is named as in
``papers/stored.KvsAmtaSuite``.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@dataclass
class Mutant:
    """One change to one file, and who should notice it."""

    name: str
    path: str
    suites: list[str]
    claim: str = ""
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)

    @property
    def project(self) -> str:
        """The sbt project that the file belongs to."""
        return self.path.split("/")[1]

    def suite(self, named: str) -> tuple[str, str]:
        """The project and the name of a suite."""
        project, _, name = named.rpartition("/")
        return project or self.project, name

    def places(self, root: Path = ROOT) -> list[int]:
        """The numbers of the lines at which the snippet begins, from 0."""
        file = root / self.path
        lines = [line.strip() for line in _lines(file)] if file.exists() else []
        length = len(self.before)
        return [i for i in range(len(lines)) if lines[i : i + length] == self.before]

    @contextmanager
    def applied(self, root: Path) -> Iterator[None]:
        """Change the file below `root`, for a while."""
        (at,) = self.places(root)
        file = root / self.path
        original = file.read_text(encoding="utf-8")
        lines = original.splitlines()
        lines[at : at + len(self.before)] = self.after
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(original, encoding="utf-8")

    def faults(self) -> Iterator[str]:
        """What keeps this from being a mutant of the sources as they stand."""
        found = len(self.places())
        if found != 1:
            yield f"{self.name}: its snippet stands {found} times in {self.path}"
        if self.before == self.after:
            yield f"{self.name} changes nothing"
        if not self.claim:
            yield f"{self.name} does not say what it breaks"
        for suite in self.suites or ["any"]:
            project, name = self.suite(suite)
            if not (ROOT / f"tests/scala/{project}/{name.replace('.', '/')}.scala").exists():
                yield f"{self.name}: there is no suite {suite}"


def read() -> list[Mutant]:
    """All mutants of the list, page by page."""
    return [mutant for page in sorted(HERE.glob("*.md")) for mutant in _parse(_lines(page))]


def faults(mutants: list[Mutant]) -> list[str]:
    """What is wrong with the list."""
    names = [mutant.name for mutant in mutants]
    twice = [f"{name} is the name of two" for name in sorted(set(names)) if names.count(name) > 1]
    return twice + [fault for mutant in mutants for fault in mutant.faults()]


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines()


def _parse(lines: list[str]) -> list[Mutant]:
    mutants: list[Mutant] = []
    path, suites, inside = "", [""], False
    for line in lines:
        if line.startswith("```"):
            inside = not inside
        elif inside:
            _diff(mutants[-1], line)
        elif line.startswith("# "):
            path = line[2:].strip()
            suites = []
        elif line.startswith("## "):
            mutants.append(Mutant(line[3:].strip(), path, suites))
        elif line.startswith("suites:"):
            named = line.removeprefix("suites:").split()
            if mutants and mutants[-1].path == path:
                mutants[-1].suites = named
            else:
                suites = named
        elif line.strip() and mutants:
            mutants[-1].claim += line.strip() + " "
    return mutants


def _diff(mutant: Mutant, line: str) -> None:
    text = line[1:].strip()
    if not line.startswith("+"):
        mutant.before.append(text)
    if not line.startswith("-"):
        mutant.after.append(text)
