"""How Sphinx makes target/site of these pages: `make site`."""

import re

from sphinx.application import Sphinx

from sash import __version__

project = "Sash"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["*.py"]

html_theme = "furo"
html_title = f"Sash {version}"
html_copy_source = False
html_static_path = ["static"]
html_css_files = ["site.css"]

# links to a heading are GitHub's
myst_heading_anchors = 4

autodoc_member_order = "bysource"
napoleon_custom_sections = ["Cost"]

README = """\
```{include} ../README.md
:start-after: "## Use it"
:end-before: "## Read on"
:relative-docs: docs/
```
"""
"""In place of the link to the README: a site shows its text."""


def targets(text: str) -> str:
    """Make anchors in HTML, which GitHub takes, targets that Sphinx knows and checks."""
    return re.sub(r'^<a id="([^"]+)"></a>$', r"(\1)=", text, flags=re.MULTILINE)


def keywords(text: str) -> str:
    """Make of `<!-- search: words, words -->` entries that the search of a site finds first."""

    def entries(found: re.Match[str]) -> str:
        # a main entry, which stands before the pages that have the words somewhere
        words = ", ".join(f"! {word}" for word in found[1].split(", "))
        return f"```{{index}} {words}\n```"

    return re.sub(r"^<!-- search: (.+) -->$", entries, text, flags=re.MULTILINE)


def tree(text: str) -> str:
    """Add a table of contents for each list of pages, by the heading above it."""
    trees = []
    for caption, section in re.findall(r"^#+ (.*)\n((?:(?!#).*\n)*)", text + "\n", re.MULTILINE):
        pages = re.findall(r"^- \[.*?\]\(([\w/-]+)\.md\)", section, re.MULTILINE | re.DOTALL)
        if pages:
            names = "\n".join(pages)
            trees.append(f"```{{toctree}}\n:caption: {caption}\n:hidden:\n\n{names}\n```\n")
    return "\n".join([text, *trees])


def documented(text: str) -> str:
    """Put the docstrings of the names that a page lists in place of its lists."""
    by_kind = {
        "function": ".. autofunction:: {}",
        "class": ".. autoclass:: {}\n   :members:\n   :inherited-members: WindowSpec\n"
        "   :exclude-members: keys, order",
    }

    def shown(listed: re.Match[str]) -> str:
        names = re.findall(r"^- `(?:class )?([\w.]+)", listed[0], re.MULTILINE)
        kinds = ["class" if name.split(".")[-1][0].isupper() else "function" for name in names]
        blocks = [by_kind[kind].format(name) for kind, name in zip(kinds, names, strict=True)]
        return "```{eval-rst}\n" + "\n\n".join(blocks) + "\n```\n"

    return re.sub(r"(?:^- `.*\n(?:  .*\n)*)+", shown, text, flags=re.MULTILINE)


def setup(app: Sphinx) -> None:
    """Turn plain Markdown, which a code host shows, into that of a site."""

    def read(_: Sphinx, name: str, source: list[str]) -> None:
        text = keywords(targets(source[0]))
        if name in ("index", "benchmarks/README"):
            text = tree(re.sub(r"^\[The README\].*\n", README, text, flags=re.MULTILINE))
        if name == "python":
            text = documented(text)
        source[0] = text

    app.connect("source-read", read)
