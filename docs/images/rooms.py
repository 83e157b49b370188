"""The first picture of docs/architecture.md: the rooms of the sources, in their order.

python docs/images/rooms.py
"""

from __future__ import annotations

import re
from pathlib import Path
from xml.sax.saxutils import escape

LIST = Path(__file__).parents[2] / "tests" / "scala" / "core" / "resources" / "rooms.txt"
TITLES = {
    "papers": ("scala/papers, a library beside the plugin, on top of scala/core", "#CC79A7"),
    "spark": ("scala/spark, on top of", "#0072B2"),
    "core": ("scala/core, the kernel, which knows nothing of Spark", "#009E73"),
}
WIDTH, ROW, NAMES, LEFT = 860, 22, 170, 24


def main() -> None:
    """Draw it beside this file."""
    Path(__file__).with_suffix(".svg").write_text(picture(), encoding="utf-8")


def picture() -> str:
    """The text of the SVG: the last room of the list on top, as others stand below it."""
    rooms = _rooms()
    drawn: list[str] = []
    y = 34
    for project, (title, colour) in TITLES.items():
        drawn.append(_text(LEFT, y, title, "#000000", bold=True))
        own = [(name, question) for of, name, question in reversed(rooms) if of == project]
        for name, question in own:
            y += ROW
            shown = f"scala/{project}" if name == "." else name
            drawn.append(
                f'<rect x="{LEFT}" y="{y - 15}" width="{WIDTH - 2 * LEFT}" height="{ROW - 3}" '
                f'fill="{colour}" fill-opacity="0.12"/>'
            )
            drawn.append(_text(LEFT + 8, y, shown, colour, bold=True))
            drawn.append(_text(LEFT + NAMES, y, question, "#333333"))
        y += 2 * ROW
    drawn.append(
        _text(LEFT, y - ROW + 4, "Each uses what stands below it, and nothing above.", "#000000")
    )
    body = "\n".join(drawn)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" '
        f'font-family="sans-serif" font-size="13">\n'
        f'<rect width="{WIDTH}" height="{y}" fill="white"/>\n{body}\n</svg>\n'
    )


def _rooms() -> list[tuple[str, str, str]]:
    """Project, folder and question of each, from the ground up."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    found = [re.fullmatch(r"(core|spark|papers) (\S+)(?: = \S+)?: (.*)", line) for line in lines]
    return [(match[1], match[2], match[3]) for match in found if match]


def _text(x: int, y: int, text: str, colour: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x}" y="{y}" fill="{colour}"{weight}>{escape(text)}</text>'


if __name__ == "__main__":
    main()
