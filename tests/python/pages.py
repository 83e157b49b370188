"""Pages of docs/ whose code runs: its output is what the page shows.

    python tests/python/pages.py

writes the outputs anew. In a page, ``python`` and ``sql`` blocks that follow each other without
a word between them ask the same, in two languages; a block without a language after them is what
each of them prints, unless it prints nothing. A SQL block prints the rows of its last statement.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F

import python_page
import sash
from streaming import ROCKS

DOCS = Path(__file__).parents[2] / "docs"
README = "../README"
PAGES = [
    README,
    "rolling-features",
    "training-sets",
    "own-aggregates",
    "window-kinds",
    "streaming",
    "from-pandas-rolling",
    "scan",
    "without-partition-by",
    "backfill",
    "refresh",
    "recipes",
    "errors",
]
_CODE = re.compile(r"```(python|sql)\n(.*?)```\n", re.DOTALL)
_ASKED = re.compile(
    r"(?:```(?:python|sql)\n.*?```\n\n?)+(?:```\n(?P<shown>.*?)```\n)?", re.DOTALL
)


def path(page: str) -> Path:
    """Where a page lies."""
    return DOCS / f"{page}.md"


def text_of(page: str, before: str | None = None) -> str:
    """A page's text, or the part of it before a heading."""
    text = path(page).read_text(encoding="utf-8")
    assert before is None or f"\n{before}\n" in text, f"{page} has no heading {before}"
    return text if before is None else text.partition(f"\n{before}\n")[0]


def run(
    page: str,
    spark: SparkSession,
    names: dict[str, Any] | None = None,
    before: str | None = None,
) -> str:
    """Run a page's blocks, in order, and return its text with the outputs that they had.

    Args:
        page: Its name.
        spark: A page has a session of its own, beside this one.
        names: The page's variables, for who looks at them afterwards.
        before: The heading before which the text ends.
    """
    spark = spark.newSession()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    # as sash.configure(builder, streaming=True) does
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKS)
    names = {} if names is None else names
    names |= {"spark": spark, "sash": sash, "F": F, "Window": Window}
    text = text_of(page, before)
    renewed, end = [], 0
    for asked in _ASKED.finditer(text):
        printed = [_printed(lang, code, names) for lang, code in _CODE.findall(asked[0])]
        outputs = list(dict.fromkeys(output for output in printed if output))
        if asked["shown"] is None:
            assert not outputs, f"{page}: not shown:\n{outputs[0]}"
            continue
        assert len(outputs) == 1, f"{page}: not one answer:\n" + "\n".join(outputs)
        renewed += [text[end : asked.start("shown")], outputs[0]]
        end = asked.end("shown")
    return "".join([*renewed, text[end:]])


def _printed(language: str, code: str, names: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        if language == "python":
            exec(code, names)  # noqa: S102
        else:
            _run_sql(code, names["spark"])
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().rstrip().splitlines())


def _run_sql(code: str, spark: SparkSession) -> None:
    *_, last = [spark.sql(statement) for statement in code.split(";") if statement.strip()]
    if last.columns:
        last.show()


if __name__ == "__main__":
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.log.level", "ERROR")
    session = sash.configure(builder.config("spark.sql.shuffle.partitions", 2)).getOrCreate()
    for page in PAGES:
        path(page).write_text(run(page, session), encoding="utf-8")
    python_page.PAGE.write_text(python_page.page(), encoding="utf-8")
