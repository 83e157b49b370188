"""How plain the project's English is, in three counts.

    python tests/python/prose.py            # every group of texts, and its worst sentences
    python tests/python/prose.py README.md  # some files alone

1. *Headless relatives* are clauses in the place of a noun: "what …", "of which …", "that of …",
   "those that …". Each sends the reader back to look for a noun. Questions are none.
2. *Long sentences* have more than 30 words.
3. *Long lines* have more than 98 columns. Tables, headings, code and targets of links are none.

Code never counts, neither a block nor a word in backquotes. A word in backquotes is one word.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
LONGEST_SENTENCE = 30
LONGEST_LINE = 98
SHOWN = 12

_HEADLESS = re.compile(
    r"\bwhat\b|\bof (?:which|whom)\b|\bthat of\b|\bthose (?:that|of|who|which)\b", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-z0-9][\w'’.,-]*")
_STOP = re.compile(r"(?<=[.!?])[\"”)*]*\s+(?=[\"“(*]*[A-Z0-9])")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf)\.$")
_TABLE = re.compile(
    r"^ *=+ +=[= ]*\n(?:.*\S.*\n)+? *=+ +=[= ]*(?:\n(?:.*\S.*\n)+? *=+ +=[= ]*)?$", re.MULTILINE
)
_CODE_WORD = "Code"


class Text(NamedTuple):
    """The prose of a file: sentences without code, and those of its lines that are too long."""

    sentences: list[str]
    long_lines: list[str]


class Counts(NamedTuple):
    """The counts of some texts; rates are a thousandth of words or of sentences."""

    words: int
    sentences: int
    headless: int
    long_sentences: int
    long_lines: int

    @property
    def headless_rate(self) -> float:
        """Headless relatives in a thousand words."""
        return 1000 * self.headless / max(self.words, 1)

    @property
    def long_rate(self) -> float:
        """Long sentences in a thousand."""
        return 1000 * self.long_sentences / max(self.sentences, 1)

    def __str__(self) -> str:
        return (
            f"{self.words:6,} words, headless {self.headless:3} ({self.headless_rate:4.1f} ‰), "
            f"long sentences {self.long_sentences:3} of {self.sentences:,} "
            f"({self.long_rate:5.1f} ‰), long lines {self.long_lines}"
        )


# the counts


def words(sentence: str) -> int:
    """How many words a sentence has."""
    return len(_WORD.findall(sentence))


def headless(sentence: str) -> int:
    """How many relatives of a sentence have no noun; a question has none."""
    return 0 if sentence.rstrip('*_ ”"').endswith("?") else len(_HEADLESS.findall(sentence))


def is_long(sentence: str) -> bool:
    """Whether a sentence has more words than a reader keeps in mind."""
    return words(sentence) > LONGEST_SENTENCE


def sentences(paragraph: str) -> list[str]:
    """The sentences of a paragraph without code."""
    found: list[str] = []
    for part in _STOP.split(" ".join(paragraph.split())):
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] += f" {part}"
        elif _WORD.search(part):
            found.append(part)
    return found


def count(texts: Iterable[Text]) -> Counts:
    """The counts of some texts together."""
    texts = list(texts)
    every = [s for text in texts for s in text.sentences]
    return Counts(
        sum(map(words, every)),
        len(every),
        sum(map(headless, every)),
        sum(map(is_long, every)),
        sum(len(text.long_lines) for text in texts),
    )


# where prose is


def markdown(source: str) -> Text:
    """The prose of a page: headings, paragraphs, items and cells; no code, no link's target."""
    source = re.sub(r"^```.*?^```$", "\n", source, flags=re.DOTALL | re.MULTILINE)
    source = re.sub(r"<!--.*?-->|<a [^>]*></a>", "", source, flags=re.DOTALL)
    source = re.sub(r"^\[[^\]]+\]:.*$", "", source, flags=re.MULTILINE)
    source = re.sub(r"(?<=\n\n)(?: {4}.*\n)+", "\n", source)
    source = re.sub(r"\]\([^)\s]*\)", "]", source)
    tables = re.compile(r"^\s*\|.*$", re.MULTILINE)
    cells = [cell for row in tables.findall(source) for cell in row.strip(" |").split("|")]
    rest = tables.sub("", source)
    # a heading has one line
    long_lines = [x for x in rest.splitlines() if len(x) > LONGEST_LINE and x[0] != "#"]
    # an item and a heading are paragraphs
    rest = re.sub(r"^(\s*(?:[-*]|\d+\.|#+)\s)", r"\n\1", rest, flags=re.MULTILINE)
    rest = re.sub(r"^(#+ .*)$", r"\1\n", rest, flags=re.MULTILINE)
    paragraphs = [*re.split(r"\n\s*\n", rest), *cells]
    headings = [p for p in paragraphs if re.match(r"\s*#+ ", p)]
    prose = [p for p in paragraphs if p not in headings]
    return Text([s for p in prose for s in sentences(_without_code(p))], long_lines)


def python(source: str) -> Text:
    """The prose of a Python module: docstrings without their examples, and comments."""
    texts: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            texts.append(_docstring(ast.get_docstring(node) or ""))
    comments: list[str] = []
    last = -1
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            text = re.sub(r"#\s*(noqa.*|type:.*)?", "", token.string, count=1)
            if token.start[0] == last + 1 and comments:
                comments[-1] += f" {text}"
            else:
                comments.append(text)
            last = token.start[0]
    paragraphs = [p for text in texts for p in re.split(r"\n\s*\n", text)] + comments
    long_lines = [line for line in source.splitlines() if len(line) > LONGEST_LINE]
    return Text([s for p in paragraphs for s in sentences(_without_code(p))], long_lines)


def _docstring(text: str) -> str:
    """Without examples; each section, argument and cell of a table is a paragraph."""
    text = _TABLE.sub(lambda table: re.sub(r"\n| {2,}|=+", "\n\n", table[0]), text)
    lines: list[str] = []
    example = literal = False
    for line in text.splitlines():
        if line.strip().startswith((">>>", "...")):
            example = True
        elif not line.strip():
            example = False
        if line.strip() and not line.startswith(" "):
            literal = False
        if not (example or literal):
            starts = re.match(r"\s*(?:[A-Z]\w+:$|\*?\w+: |[-*] )", line)
            lines += ["", line] if starts else [line]
        literal = literal or line.rstrip().endswith("::")
    return re.sub(r"^\s*[A-Z]\w+:$", "", "\n".join(lines), flags=re.MULTILINE)


_SCALA = re.compile(
    r'"""(?P<raw>.*?)"""|"(?P<string>(?:\\.|[^"\\\n])*)"|//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/'
    r"|'(?:\\.|[^'\\\n])'|(?P<plus>\+)|(?P<other>[^\s\"/'+]+|.)",
    re.DOTALL,
)


def scala(source: str) -> Text:
    """The prose of a Scala source: comments, scaladoc, and strings of four words and more."""
    comments: list[str] = []
    strings: list[str] = []
    joins = between = ""
    for token in _SCALA.finditer(source):
        kind, text = token.lastgroup, token[token.lastgroup] if token.lastgroup else ""
        if kind == "line":
            if joins == "line":
                comments[-1] += f" {text}"
            else:
                comments.append(text)
            joins = "line"
        elif kind == "block":
            comments += re.split(r"\n\s*\n", _scaladoc(text))
            joins = ""
        elif kind == "raw" and "\n" in text:
            strings += _help(text)
            joins = ""
        elif kind in ("string", "raw"):
            text = re.sub(r"\$(?:\{[^}]*\}?|\w+)", _CODE_WORD, text)
            if joins == "string" and between == "+":
                strings[-1] += text
            else:
                strings.append(text)
            joins, between = "string", ""
        elif kind == "plus":
            between += "+"
        elif token[0].strip() not in ("", "s", "f"):
            joins = between = ""
    long_lines = [line for line in source.splitlines() if len(line) > LONGEST_LINE]
    paragraphs = comments + [s for s in strings if words(s) >= 4]
    return Text([s for p in paragraphs for s in sentences(_without_code(p))], long_lines)


def _help(text: str) -> list[str]:
    """The paragraphs of a function's help, without examples; each argument is one."""
    text = "\n".join(line.strip(" |") for line in text.splitlines())
    text = re.sub(r"^> .*?(?=\n\n|\Z)", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\$(?:\{[^}]*\}?|\w+)", _CODE_WORD, text)
    return re.split(r"\n\n+|\n(?=\* )", text)


def _scaladoc(text: str) -> str:
    text = re.sub(r"\{\{\{.*?\}\}\}", "", text, flags=re.DOTALL)
    text = re.sub(r"^\s*\*+ ?", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\s*(?:@\w+ (?:\w+ )?|- |\d+\. )", "\n\n", text, flags=re.MULTILINE)
    return re.sub(r"^\|.*$|\[\[|\]\]", "", text, flags=re.MULTILINE)


def _without_code(paragraph: str) -> str:
    paragraph = re.sub(r"(`+)[^`]+\1", _CODE_WORD, paragraph)
    return re.sub(r"^\s*(?:[-*]|\d+\.)\s", "", paragraph)


# which files


class Group(NamedTuple):
    """Files that are counted together."""

    files: Callable[[], list[Path]]
    read: Callable[[str], Text]


def _pages(*, generated: bool) -> list[Path]:
    made = [ROOT / "docs/functions.md", ROOT / "docs/configuration.md"]
    made += sorted((ROOT / "docs/benchmarks").glob("*.md"))
    if generated:
        return made
    pages = [*ROOT.glob("*.md"), *ROOT.glob(".github/**/*.md"), ROOT / "python/README.md"]
    return sorted({*pages, *ROOT.glob("docs/**/*.md")} - {*made})


GROUPS = {
    "pages": Group(lambda: _pages(generated=False), markdown),
    "Python": Group(lambda: sorted((ROOT / "python/sash").glob("*.py")), python),
    "generated pages": Group(lambda: _pages(generated=True), markdown),
    "Scala": Group(lambda: sorted((ROOT / "scala").glob("**/*.scala")), scala),
}
_READERS = {".md": markdown, ".py": python, ".scala": scala}


def read(path: Path) -> Text:
    """The prose of a file, by its suffix."""
    return _READERS[path.suffix](path.read_text(encoding="utf-8"))


def faults(files: Iterable[Path]) -> list[str]:
    """Each place that counts, files with most of them first."""
    by_file: list[list[str]] = []
    for path in files:
        text = read(path)
        name = path.relative_to(ROOT)
        found = [f"{name}: headless: {s}" for s in text.sentences if headless(s)]
        found += [f"{name}: {words(s)} words: {s}" for s in text.sentences if is_long(s)]
        found += [f"{name}: {len(line)} columns: {line}" for line in text.long_lines]
        by_file.append(found)
    return [fault for found in sorted(by_file, key=len, reverse=True) for fault in found]


def main() -> None:
    """Print counts and faults."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="these only, with all their faults")
    asked = [path.resolve() for path in parser.parse_args().files]
    if asked:
        print(count(map(read, asked)), *faults(asked), sep="\n")
        sys.exit()
    for name, group in GROUPS.items():
        files = group.files()
        print(f"\n== {name}\n{count(map(read, files))}")
        for path in files:
            counts = count([read(path)])
            if counts.headless or counts.long_sentences or counts.long_lines:
                print(f"  {path.relative_to(ROOT)!s:44} {counts}")
        print(*faults(files)[:SHOWN], sep="\n")


if __name__ == "__main__":
    main()
