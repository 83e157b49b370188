"""What the pages of docs/ show is what their code prints."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import re
import statistics

import pyspark
import pytest

import pages
from conftest import REPOSITORY

# by page, the heading from which on Spark 4.0 runs none of its code
NOT_ON_SPARK_4_0 = {
    # it refuses ANSI mode
    "from-pandas-rolling": "## pandas API on Spark",
    # it passes no Arrow arrays to a UDF
    "own-aggregates": "## A class in Python",
}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[] if page == pages.README else [pytest.mark.slow])
        for page in pages.PAGES
    ],
)
def test_a_page_shows_what_its_code_prints(spark, page):
    before = NOT_ON_SPARK_4_0.get(page) if pyspark.__version__.startswith("4.0.") else None
    shown = pages.text_of(page, before)
    assert shown == pages.run(page, spark, before=before), "run `python tests/python/pages.py`"


BENCHMARKS = REPOSITORY / "docs" / "benchmarks"
WITH_LINKS = [
    *REPOSITORY.glob("*.md"),
    *(REPOSITORY / "docs").glob("*.md"),
    BENCHMARKS / "README.md",
    REPOSITORY / "examples" / "README.md",
]
DOCUMENTS = [*(REPOSITORY / "docs").glob("*.md"), *BENCHMARKS.glob("*.md")]


@pytest.mark.parametrize("page", sorted(WITH_LINKS), ids=lambda page: page.stem)
def test_the_links_of_a_page_lead_somewhere(page):
    text = re.sub(r"(`+)[^`]+\1", "", page.read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    # the code host's own pages, beside those of the sources
    files = [link for link in links if not link.startswith("../../actions/")]
    missing = [link for link in files if not (page.parent / link).exists()]
    assert missing == []


def test_every_page_is_one_of_the_first_page():
    first = (REPOSITORY / "docs" / "index.md").read_text(encoding="utf-8")
    all_pages = {page.stem for page in (REPOSITORY / "docs").glob("*.md")} - {"index"}
    assert "{" not in re.sub(r"`[^`]*`", "", first), "a code host shows no directives"
    assert [page for page in all_pages if f"]({page}.md)" not in first] == []
    assert "(docs/index.md)" in (REPOSITORY / "README.md").read_text(encoding="utf-8")


def test_every_benchmark_is_on_the_page_of_benchmarks():
    listed = (BENCHMARKS / "README.md").read_text(encoding="utf-8")
    pages_there = {page.name for page in BENCHMARKS.glob("*.md")} - {"README.md"}
    assert {page for page in pages_there if f"]({page})" not in listed} == set()
    titles = [path.read_text("utf-8").splitlines()[0] for path in DOCUMENTS]
    assert sorted(titles) == sorted(set(titles)), "two entries of the site's menu are alike"


def test_the_site_has_a_menu_of_the_lists(monkeypatch):
    pytest.importorskip("sphinx")
    monkeypatch.syspath_prepend(str(REPOSITORY / "docs"))
    conf = importlib.import_module("conf")
    tree = conf.tree(
        "# A\n\n## Tasks\n\n- [One](one.md): x.\n- [Two\n  lines](two/b.md)\n\n## Rest\n"
    )
    assert tree.count("toctree") == 1
    assert ":caption: Tasks\n:hidden:\n\none\ntwo/b\n```" in tree
    assert conf.keywords("<!-- search: a b, c -->\n") == "```{index} ! a b, ! c\n```\n"
    shown = conf.documented("- `sash.grid`: Return\n  times.\n- `sash.Monoid`: An\n  - `.x`: y\n")
    assert ".. autofunction:: sash.grid" in shown
    assert ".. autoclass:: sash.Monoid" in shown
    assert ".x" not in shown


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_the_sources_that_a_page_names_exist(page):
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)*\w+\.scala)`", text)
    assert len(named) >= 4
    places = ["", "scala/spark", "scala/core", "scala/spark/aggregates", "scala/spark/monoids"]
    places += ["tests/scala/papers/inorder"]
    missing = [n for n in named if not any((REPOSITORY / p / n).exists() for p in places)]
    assert missing == []


def test_the_readme_shows_plans_of_its_query(spark):
    names = {}
    readme = pages.run(pages.README, spark, names)
    shown = re.findall(r"```text\n(.*?)```", readme, re.DOTALL)
    assert len(shown) == 2
    for enabled, plan in zip(("false", "true"), shown, strict=True):
        names["spark"].conf.set("spark.sash.enabled", enabled)
        again = names["spark"].table("flights")
        df = again.select("*", pages.F.avg("delay").over(names["last_1000"]).alias("mean_delay"))
        real = _plan(df)
        for line in plan.splitlines():
            assert any(r.startswith(line.rstrip("…").strip()) for r in real), (line, real)
    names["spark"].conf.set("spark.sash.enabled", "true")


def _plan(df):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        df.explain()
    return [re.sub(r"#\d+", "", line).strip() for line in out.getvalue().splitlines()]


def test_the_code_of_a_page_has_to_agree_with_what_is_shown(spark, monkeypatch, tmp_path):
    monkeypatch.setattr(pages, "DOCS", tmp_path)

    def shown(text):
        (tmp_path / "page.md").write_text(text, encoding="utf-8")
        return pages.run("page", spark)

    code = "```python\nprint(1 + 1)\n```\n\n```sql\nSET x = 1\n```\n"
    with pytest.raises(AssertionError, match="not one answer"):
        shown(f"{code}\n```\n2\n```\n")
    code = "A\n\n```python\nprint(1 + 1)\n```\n"
    assert shown(f"{code}\n```\n2\n```\nB\n") == f"{code}\n```\n2\n```\nB\n"
    assert shown(f"{code}\n```\n3\n```\nB\n") == f"{code}\n```\n2\n```\nB\n"
    with pytest.raises(AssertionError, match="not shown"):
        shown(code)


def test_the_ratios_of_the_algorithms_are_those_measured():
    pages = [BENCHMARKS / name for name in ("core.json", "trees.json")]
    measured = [r for p in pages for r in json.loads(p.read_text(encoding="utf-8"))["results"]]

    def ratio(figure, series):
        runs = [r["runs"] for r in measured if (r["figure"], r["series"]) == (figure, series)]
        ratios = [min(r["ours"]) / min(r["theirs"]) for r in runs]
        return f"{statistics.median(ratios):.2f} ({max(ratios):.2f})"

    text = (REPOSITORY / "docs" / "algorithms.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")]
    shown = {re.sub(r"(:|, one|, min).*", "", r[0][2:]): r[6] for r in rows if len(r) == 8}
    others = {"Reactive Aggregator": "static-logarithmic", "FiBA": "trees", "AMTA": "trees"}
    del shown["algorithm"]
    for name, cell in shown.items():
        series = "FiBA, minimum arity 4" if name == "FiBA" else name
        if cell != "–":
            assert cell == ratio(others.get(name, "static"), series), name
    assert sum(cell != "–" for cell in shown.values()) == 9
    words = " ".join(text.split())
    assert f"late insertions take {ratio('out-of-order', 'FiBA, minimum arity 4')}" in words
    assert f"bulk evictions {ratio('bulk-evict', 'FiBA, minimum arity 4')}" in words
