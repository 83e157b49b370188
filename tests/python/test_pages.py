"""What the pages of docs/ show is what their code prints."""

from __future__ import annotations

import re

import pytest

import pages
from conftest import REPOSITORY


@pytest.mark.parametrize("page", pages.PAGES)
def test_a_page_shows_what_its_code_prints(spark, page):
    shown = pages.path(page).read_text(encoding="utf-8")
    assert shown == pages.run(page, spark), "run `python tests/python/pages.py`"


@pytest.mark.parametrize("page", ["../README", *pages.PAGES])
def test_the_links_of_a_page_lead_somewhere(page):
    text = pages.path(page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    assert links
    missing = [link for link in links if not (pages.path(page).parent / link).exists()]
    assert missing == []


def test_every_page_is_one_of_the_readme():
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert [page for page in pages.PAGES if f"(docs/{page}.md)" not in readme] == []


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
