"""Writes who.json and gains.json of python/sash/scan: what the pages say, for ``sash scan``.

    python tests/python/scan_tables.py

``who.json`` has the tables of docs/who-runs-what.md, and the names that Spark prints for the
functions in them. ``gains.json`` has the figures of docs/benchmarks beside Spark alone.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from sash.scan.frames import inputs
from sash.scan.operators import operators
from sash.scan.plans import Node, tree

ROOT = Path(__file__).parents[2]
FIGURES = ROOT / "docs" / "benchmarks"
TABLES = ROOT / "python" / "sash" / "scan"
PAGE = ROOT / "docs" / "who-runs-what.md"
SIGNS = {"●": "Sash", "○": "Spark", "✗": "refused", "–": "refused"}
SPARKS = ("naive", "segment_tree")
POSITIONS, AGGREGATES = "Positions and ranks", "Aggregates"
HOP = "window(ts, '10 seconds', '2 seconds')"
EVENTS = """SELECT id k, timestamp_seconds(id) ts, int(id) x, double(id) d, string(id) s
    FROM range(9)"""
OVER = {
    POSITIONS: ["ORDER BY ts"],
    # medians and their like are over whole partitions in Spark
    AGGREGATES: ["ORDER BY ts ROWS 2 PRECEDING", ""],
}


def rows(text: str) -> list[list[str]]:
    """The rows of the tables of a text, without heads."""
    return [row for table in tables(text) for row in table]


def tables(text: str) -> list[list[list[str]]]:
    """The rows of each table of a text, without heads."""
    found = []
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        lines = [line.strip("| ").split(" | ") for line in table.splitlines()]
        found.append([[cell.strip() for cell in line] for line in lines[2:]])
    return found


def section(page: str, title: str) -> str:
    """The text below a heading."""
    return page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def codes(page: str, title: str) -> list[tuple[str, str]]:
    """The functions of a section, each with the name of its row."""
    return [
        (code, name)
        for name, cell, *_ in rows(section(page, title))
        for code in re.findall(r"`([^`]+)`", cell)
    ]


def cells(page: str) -> dict[str, dict[str, list[str]]]:
    """Who runs a row over a window: in batch, in append and in update mode."""
    letters, grid, _ = tables(section(page, "Every function over every window"))
    windows = [(w, letter) for letter, names in letters for w in names.split("; ")]
    found: dict[str, dict[str, list[str]]] = {}
    for names, *answers in grid:
        of = {chr(ord("A") + i): cell for i, cell in enumerate(answers)}
        answered = {
            window: [SIGNS[sign] for sign in of[letter].split(" ")[:3]]
            for window, letter in windows
            if of[letter] != "–" and (window in _PLAIN or window in _FRAMES)
        }
        found |= dict.fromkeys(names.split("; "), answered)
    return found


_PLAIN = ("ORDER BY alone", "hop windows", "LATERAL over a range")
_FRAMES = tuple(row[0] for row in rows(section(PAGE.read_text(encoding="utf-8"), "Frames")))


def printed(spark: Any, page: str) -> dict[str, str]:
    """The row of each name that Spark prints; where two rows have one name, with its inputs."""
    found: dict[str, dict[int, str]] = defaultdict(dict)
    asked = [
        (over, *code) for title in OVER for code in codes(page, title) for over in OVER[title]
    ]
    for over, code, row in asked:
        query = f"SELECT {code} OVER (PARTITION BY k {over}) FROM events"
        for name, count in _names(spark, query) if "DISTINCT" not in code else ():
            # bool_or is printed as max, and has the row of max
            is_own = code.startswith(f"{name}(")
            found[name] |= {} if count in found[name] and not is_own else {count: row}
    names = {"distinct": "DISTINCT"}
    for name, of in found.items():
        one = len(set(of.values())) == 1
        names |= {name if one else f"{name}/{count}": row for count, row in of.items()}
    return dict(sorted(names.items()))


def _names(spark: Any, query: str) -> list[tuple[str, int]]:
    """The functions in the plan of a query, as they are printed, each with its inputs."""
    from pyspark.errors import AnalysisException

    try:
        root = planned(spark, query)
    except AnalysisException:
        return []  # Sash's own, or one that Spark refuses over windows
    return [(c.function, inputs(c.text)) for o in operators(root) for c in o.calls]


def planned(spark: Any, query: str) -> Node:
    """The plan of a query, as a log would have it."""
    plan = spark.sql(query)._jdf.queryExecution().sparkPlan()
    of_plan = spark._jvm.org.apache.spark.sql.execution.SparkPlanInfo
    return tree(_info(of_plan.fromSparkPlan(plan)))


def _info(info: Any) -> dict[str, Any]:
    children = info.children()
    return {
        "nodeName": info.nodeName(),
        "simpleString": info.simpleString(),
        "children": [_info(children.apply(i)) for i in range(children.size())],
    }


def who(spark: Any) -> dict[str, Any]:
    """The table ``who.json``, by a session of Spark alone."""
    spark.sql(EVENTS).createOrReplaceTempView("events")
    page = PAGE.read_text(encoding="utf-8")
    asked = {name: cell for name, *cell in rows(section(page, "Queries"))}
    (as_of,) = (cell for name, cell in asked.items() if "as-of join" in name)
    of_rows = {name: of for name, of in cells(page).items() if of}
    names = {n: row for n, row in printed(spark, page).items() if row in of_rows}
    return {"names": names, "rows": of_rows, "as-of join": as_of}


def gains() -> dict[str, Any]:
    """The table ``gains.json``."""
    return {
        "least rows": _least_rows(),
        "window": {spark: _windows(spark) for spark in SPARKS},
        "functions": _functions(),
        "hop window": _hops(),
        "correlated aggregate": _labels("label_lateral"),
        "range-join aggregate": _labels("label_range_join"),
    }


def _json(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FIGURES / name).read_text(encoding="utf-8"))
    return found


def _pairs(name: str, spark: str, sash: str, of: Any) -> dict[Any, list[tuple[float, ...]]]:
    """By a part of a cell: seconds of Sash and of Spark, rows, and whether Spark was stopped."""
    by_cell: dict[str, dict[str, Any]] = defaultdict(dict)
    for result in _json(name)["results"]:
        cell = {k: v for k, v in result["cell"].items() if k != "engine"}
        by_cell[json.dumps(cell)][result["cell"]["engine"]] = result
    found = defaultdict(list)
    for cell, by in by_cell.items():
        if spark not in by or by[sash]["seconds"] is None:
            continue
        limit = re.match(r"> (\d+) s a run", by[spark]["not_run"] or "")
        seconds = float(limit[1]) if limit else by[spark]["seconds"]
        pair = (by[sash]["seconds"], seconds, by[sash]["rows"], bool(limit))
        found[of(json.loads(cell))].append(pair)
    return found


def _windows(spark: str) -> list[dict[str, Any]]:
    of = _pairs("window.json", spark, "sash", lambda cell: cell["window"])
    return [
        {
            "rows": window,
            "gain": _ends([theirs / ours for ours, theirs, _, _ in pairs]),
            "sash ns": _ends([ours / rows * 1e9 for ours, _, rows, _ in pairs], 0),
            "spark ns": _ends([theirs / rows * 1e9 for _, theirs, rows, _ in pairs], 0),
            "or more": any(stopped for *_, stopped in pairs),
        }
        for window, pairs in sorted(of.items())
    ]


def _least_rows() -> int:
    """Of a figure for windows and hop windows."""
    results, pairs = _json("window.json")["results"], _json("monoids.json")["pairs"]
    return min(int(figure["rows"]) for figure in (*results, *pairs))


def _functions() -> dict[str, float]:
    """Functions of Spark with a figure of their own."""
    named = {code.partition("(")[0] for code, _ in codes(PAGE.read_text("utf-8"), AGGREGATES)}
    return {
        name: round(pair["theirs_ns"] / pair["ours_ns"], 1)
        for pair in _json("monoids.json")["pairs"]
        if pair["beside"] == "Spark as shipped" and pair["ours"] == pair["theirs"]
        if (name := pair["title"].partition("(")[0]) in named
    }


def _hops() -> list[dict[str, Any]]:
    by_panes = defaultdict(list)
    for name in ("hops.json", "hops_below.json"):
        for result in _json(name)["results"]:
            if result["spark"] is not None:
                by_panes[result["cell"]["panes"]].append(result["spark"] / result["sash"])
    return [{"panes": panes, "gain": _ends(of)} for panes, of in sorted(by_panes.items())]


def _labels(spark: str) -> dict[str, Any]:
    of = _pairs("labels.json", spark, "label_sash", lambda _: None)[None]
    least = round(min(theirs for _, theirs, _, _ in of), 1)
    return {"gain": _ends([theirs / ours for ours, theirs, _, _ in of]), "least seconds": least}


def _ends(of: list[float], digits: int = 1) -> list[float]:
    return [round(min(of), digits), round(max(of), digits)]


def text(table: dict[str, Any]) -> str:
    """A table as its file has it."""
    return f"{json.dumps(table, indent=1, ensure_ascii=False)}\n"


def main() -> None:
    """Write both tables."""
    from pyspark.sql import SparkSession

    quiet = {"spark.ui.enabled": "false", "spark.log.level": "OFF"}
    session = SparkSession.builder.master("local[1]").config(map=quiet).getOrCreate()
    (TABLES / "gains.json").write_text(text(gains()), encoding="utf-8")
    (TABLES / "who.json").write_text(text(who(session)), encoding="utf-8")
    session.stop()


if __name__ == "__main__":
    main()
