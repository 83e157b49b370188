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
myst_heading_anchors = 3

autodoc_member_order = "bysource"
napoleon_custom_sections = ["Cost"]


def setup(app: Sphinx) -> None:
    """Make anchors in HTML, which GitHub takes, targets that Sphinx knows and checks."""

    def targets(_: Sphinx, __: str, source: list[str]) -> None:
        source[0] = re.sub(r'^<a id="([^"]+)"></a>$', r"(\1)=", source[0], flags=re.MULTILINE)

    app.connect("source-read", targets)
