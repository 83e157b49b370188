"""What benchmarks share: flags, results that a later run resumes, pages, tables and charts."""

import argparse
import json
import math
import re
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any

import machine
from progress import Progress
from results import opened, save

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
BLUE, ORANGE, VERMILION, GREEN, PINK, GREY, LIGHT = (  # Okabe and Ito's, for colour-blind readers
    ["#0072B2", "#E69F00", "#D55E00", "#009E73", "#CC79A7", "#666666", "#AAAAAA"]
)
_SECTION = re.compile(r"<!-- by (\w+) -->\n.*?<!-- end -->\n", re.DOTALL)


def flags(
    doc: str, quick: Mapping[str, Any] | None = None, runs: int = 3, **more: tuple[Any, str]
) -> argparse.Namespace:
    """The flags of every benchmark, and ``more``: a default, and a word of help.

    ``quick`` has the values that take the place of others, for a look in minutes.
    """
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--cells", default="", help="regular expression on the names of cells")
    add("--runs", type=int, default=runs, help="measured runs of a cell, after one warm-up")
    add("--resume", action="store_true", help="keep what the JSON file has, measure the rest")
    add("--quick", action="store_true", help=f"a look, with {dict(quick or {})}")
    add("--report", action="store_true", help="measure nothing: page and charts from the JSON")
    add("--out", type=Path, default=OUT, help="the folder of page, charts and JSON")
    for name, (default, words) in more.items():
        flag, many = f"--{name.replace('_', '-')}", isinstance(default, list)
        if isinstance(default, bool):
            add(flag, action="store_true", help=words)
        else:
            kind = type(default[0] if many else default)
            add(flag, type=kind, default=default, nargs="+" if many else None, help=words)
    options = parser.parse_args()
    if options.quick:
        vars(options).update(quick or {})
    options.out.mkdir(parents=True, exist_ok=True)
    return options


class Store:
    """The results of a benchmark by cell, and under which circumstances they came about.

    A file of another machine or of other settings is not resumed. The fields of a cell of class
    ``flat`` are beside its results.
    """

    def __init__(
        self,
        options: argparse.Namespace,
        file: str,
        load: Callable[[Any], Hashable] = lambda cell: cell,
        under: str = "results",
        flat: Any = None,
        **about: Any,
    ) -> None:
        self._path, self._under = options.out / f"{file}.json", under
        self._is_flat = flat is not None
        now = None if options.report else {**machine.about(), **about}
        self.about, saved = opened(self._path, now, options.resume, under)
        for r in saved if flat else []:
            r["cell"] = {field.name: r.pop(field.name) for field in fields(flat)}
        load = (lambda cell: flat(**cell)) if flat else load
        self.results: dict[Any, Any] = {load(r.pop("cell")): r for r in saved}

    def todo(self, options: argparse.Namespace, cells: Iterable[Any]) -> Iterator[Any]:
        """The cells that are selected and have no results yet, with a bar of progress."""
        left = [c for c in cells if c not in self.results and is_chosen(options, str(c))]
        progress = Progress(len(left))
        for cell in left:
            yield cell
            progress.advance(1, str(cell))

    def add(self, found: Mapping[Any, Any], **versions: str) -> None:
        """Keep results, on disk too: a run that is stopped goes on from here."""
        self.about["versions"].update(versions)
        self.results.update(found)
        self.save()

    def save(self) -> None:
        named = ((_saved(cell), r) for cell, r in self.results.items())
        results = [{**(c if self._is_flat else {"cell": c}), **r} for c, r in named]
        save(self._path, {**self.about, self._under: results})


def _saved(cell: Any) -> Any:
    return asdict(cell) if is_dataclass(cell) else cell


def once(options: argparse.Namespace, file: str, measure: Callable[[], dict[str, Any]]) -> Any:
    """The figures of a benchmark that is measured as a whole."""
    path = options.out / f"{file}.json"
    if not options.report:
        save(path, measure())
    return json.loads(path.read_text(encoding="utf-8"))


def by_turns(
    ways: Mapping[Any, Callable[[], Any]],
    runs: int,
    long: float = math.inf,
    are_prepared: bool = False,
) -> dict[Any, list[float]]:
    """The seconds of each way, which take turns; the first run warms up.

    A way whose first run takes longer than ``long`` has that alone. Ways that ``are_prepared``
    give what is timed.
    """
    times: dict[Any, list[float]] = {way: [] for way in ways}
    for turn in range(runs + 1):
        for way, run in ways.items():
            if turn == 0 or times[way][0] <= long:
                run = run() if are_prepared else run
                start = time.perf_counter()
                run()
                times[way].append(time.perf_counter() - start)
    return {way: taken[1:] or taken for way, taken in times.items()}


def is_chosen(options: argparse.Namespace, name: str) -> bool:
    return re.search(options.cells, name) is not None


def counted(count: int, what: str) -> str:
    """A number with its noun: ``1 core``, ``10,000 keys``."""
    return f"{count:,} {what}" + ("" if count == 1 else "s")


def table(heads: Iterable[str], rows: Iterable[Iterable[str]], left: str = "") -> Iterator[str]:
    """Lines of Markdown: the first column is of words, and so are those that ``left`` names."""
    heads = list(heads)
    yield "|" + "|".join(f" {head} " if head else " " for head in heads) + "|"
    words = {heads[0], *left.split(",")} if left != "none" else set()
    yield "|" + "|".join("---" if head in words else "--:" for head in heads) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def or_empty(value: Any, shape: str = "{}") -> str:
    return "" if value is None else shape.format(value)


def page(path: Path, text: str) -> None:
    """Write a page, and leave the sections of other scripts at its end."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    others = [found[0] for found in _SECTION.finditer(old)]
    path.write_text("\n".join([text.rstrip() + "\n", *others]), encoding="utf-8")


def section(path: Path, script: str, text: str) -> None:
    """Write a script's section of a page, from a text that begins with a title of a page."""
    below = re.sub(r"^(#+ )", r"#\1", text.strip(), flags=re.MULTILINE)
    made = f"<!-- by {script} -->\n{below}\n<!-- end -->\n"
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    old = next((f[0] for f in _SECTION.finditer(before) if f[1] == script), "")
    after = before.replace(old, made) if old else f"{before.rstrip()}\n\n{made}".lstrip()
    path.write_text(after, encoding="utf-8")


@contextmanager
def chart(
    path: Path, size: tuple[float, float], shape: tuple[int, int] = (1, 1), font=11.0, **more: Any
) -> Iterator[Any]:
    """A figure and its axes, which are written in the end; axes that are not used are hidden."""
    import matplotlib  # which not every environment of a benchmark has

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    style = {"font.size": font, "svg.hashsalt": "sash", "svg.fonttype": "none"}
    with plt.rc_context(style):
        figure, axes = plt.subplots(
            *shape, figsize=size, layout="constrained", squeeze=False, **more
        )
        yield figure, list(axes.flat)
        for axis in axes.flat:
            axis.spines[["top", "right"]].set_visible(False)
            axis.set_visible(axis.has_data())
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
