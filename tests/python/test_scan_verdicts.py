"""``sash scan`` says of Spark's plan what the plugin does with the query, and its figures."""

from __future__ import annotations

import json
import re
from typing import Any

import pyspark
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

import scan_tables
from conftest import REPOSITORY
from sash.scan import verdicts
from sash.scan.frames import Call
from sash.scan.gains import gain
from sash.scan.operators import HOPS, JOIN, WINDOW, Operator, operators
from sash.scan.plans import Node, bracketed, entries, tree
from test_who_runs_what import OF_AGGREGATES, OF_QUERIES, PAGE, QUERIES, in_batch, plan

CODES = {title: scan_tables.codes(PAGE, title) for title in ("Frames", *scan_tables.OVER)}
LATERAL = """SELECT l.k, l.ts, a FROM batched l, LATERAL (SELECT {} AS a FROM batched e
    WHERE e.k = l.k AND e.ts <= l.ts AND e.ts >= l.ts - INTERVAL 5 SECONDS)"""
HOP = "window(ts, '10 seconds', '2 seconds')"


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    session = spark.newSession()
    session.sql(scan_tables.EVENTS).createOrReplaceTempView("batched")
    return session


def without_sash(session: SparkSession, query: str) -> list[Operator] | None:
    """What a scan finds in Spark's own plan; none where Spark refuses the query."""
    session.conf.set("spark.sash.enabled", "false")
    try:
        return list(operators(scan_tables.planned(session, query)))
    except AnalysisException:
        return None
    finally:
        session.conf.set("spark.sash.enabled", "true")


def check(session: SparkSession, query: str) -> bool:
    """Compare the verdict with the plugin's plan; false where Spark alone refuses the query."""
    found = without_sash(session, query)
    if found is None:
        return False
    said = {verdicts.verdict(of).who for of in found}
    assert said, query
    assert ("Sash" if "Sash" in said else "Spark") == in_batch(session, query), query
    return True


def test_every_function_over_a_moving_frame(session):
    over = "SELECT {} OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING) FROM batched"
    codes = [code for code, _ in CODES["Aggregates"]]
    assert sum(check(session, over.replace("{}", code)) for code in codes) > 35


def test_every_position(session):
    over = "SELECT {} OVER (PARTITION BY k ORDER BY ts) FROM batched"
    assert all(
        check(session, over.replace("{}", code)) for code, _ in CODES[scan_tables.POSITIONS]
    )


def test_every_frame(session):
    for frame, _ in CODES["Frames"]:
        for call in ("sum(x)", "first(x)", "percentile(d, 0.5)"):
            over = f"{call} OVER (PARTITION BY k ORDER BY ts {frame})"
            assert check(session, f"SELECT {over} FROM batched")


@pytest.mark.slow
@pytest.mark.parametrize("query", ["hops", "lateral"])
def test_every_aggregate_over_hop_windows_and_in_subqueries(session, query):
    hops = f"SELECT k, {HOP} w, {{}} a FROM batched GROUP BY k, {HOP}"
    asked = hops if query == "hops" else LATERAL
    codes = [code for line in OF_AGGREGATES for code in line.codes if "py_mean" not in code]
    assert sum(check(session, asked.replace("{}", code)) for code in codes) > 40


def test_several_distinct_aggregates(session):
    """Spark computes them by an Expand of its own."""
    calls = "count(DISTINCT x), sum(DISTINCT d), avg(x)"
    query = f"SELECT k, {HOP} w, {calls} FROM batched GROUP BY k, {HOP}"
    assert check(session, query)
    (found,) = without_sash(session, query)
    assert {call.function for call in found.calls} == {"count distinct", "sum distinct", "avg"}
    assert check(session, query.replace("avg(x)", "first(x)"))


def test_without_partition_by_the_size_decides(session):
    query = "SELECT sum(x) OVER (ORDER BY ts), row_number() OVER (ORDER BY ts) FROM batched"
    (found,) = without_sash(session, query)
    assert verdicts.verdict(found) == ("maybe", verdicts.SPLIT)
    assert "spark.sash.window.splitThreshold" in verdicts.SPLIT
    assert in_batch(session, query) == "Spark"
    session.conf.set("spark.sash.window.splitThreshold", "0")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    assert "SplitWindow" in plan(session.sql(query))
    session.conf.unset("spark.sash.window.splitThreshold")
    whole = "SELECT max(x) OVER () FROM batched"
    assert verdicts.verdict(*without_sash(session, whole)) == ("Spark", verdicts.ENTIRE)


def test_queries_of_the_page(session):
    """Joins of two streams, tables and windows are one query here: over a table."""
    assert len(OF_QUERIES) == len(QUERIES)
    ran = [
        check(session, query("batched"))
        for start, query in QUERIES.items()
        if start not in ("tumbling windows", "a window over hop windows")
    ]
    assert all(ran)


def test_the_tables_are_those_of_the_pages(session):
    folder = scan_tables.TABLES
    assert (folder / "gains.json").read_text("utf-8") == scan_tables.text(scan_tables.gains())
    if not pyspark.__version__.startswith("4.2"):
        return
    session.conf.set("spark.sash.enabled", "false")
    try:
        made = scan_tables.who(session)
    finally:
        session.conf.set("spark.sash.enabled", "true")
    assert json.loads((folder / "who.json").read_text("utf-8")) == made, (
        "python tests/python/scan_tables.py writes the tables"
    )


def test_the_reasons_are_the_plugins():
    source = (REPOSITORY / "scala/spark/monoids/Refusal.scala").read_text(encoding="utf-8")
    for reason in (verdicts.ENTIRE, verdicts.GROWING, verdicts.POSITION, verdicts.PYTHON):
        assert f'{reason}"' in source
    grouped = (REPOSITORY / "scala/spark/lateral/GroupedJoins.scala").read_text(encoding="utf-8")
    joined = re.sub(r'"\s*\+\s*s?"', "", grouped)
    assert verdicts.GROUPED.partition(", and Sash")[0] in joined


# figures


def window(*frames: int | None, function: str = "sum") -> Operator:
    calls = tuple(
        Call(f"{function}(x)", function, "ROWS" if rows else "RANGE", "looks back", rows)
        for rows in frames
    )
    return Operator(WINDOW, Node("Window", "", {}), (), calls)


def of(operator: Operator, ns: float, rows: int = 1_000_000, tree: bool = False) -> Any:
    return gain(operator, ns * rows / 1e9, rows, tree)


def test_a_gain_is_that_of_the_nearest_figures():
    cells = {c["rows"]: c for c in scan_tables.gains()["window"]["naive"]}
    assert list(of(window(10), 1200))[:2] == cells[10]["gain"]
    between = of(window(50), 3000)
    assert (between.low, between.high) == (cells[10]["gain"][0], cells[100]["gain"][1])
    # the longest frame is what Spark's time goes into
    assert of(window(1, 50), 3000) == between
    # Spark was stopped at 1,000 rows: the figures are a lower bound, and the own pace an upper
    wide = of(window(1000), 80_000)
    assert cells[1000]["gain"][0] <= wide.low < 80_000 / cells[1000]["sash ns"][1] < wide.high


def test_short_keys_gain_little_from_long_frames():
    short = of(window(1000), 600)
    assert short.low < 1 < short.high < 1.5


def test_the_pace_tells_which_ranges_are_alike():
    few, many = of(window(None), 700), of(window(None), 60_000)
    assert few.low < 2 < few.high < many.low < many.high


def test_no_figure_is_no_range():
    assert of(window(100, function="percentile"), 5000) is None
    assert of(window(100), 5000, rows=5000) is None
    assert of(window(100, function="collect_list"), 5000).low == 1.5
    hops = Operator(HOPS, Node("Expand", "", {}), (), (Call("sum(x)", "sum"),), panes=1440)
    assert of(hops, 1, rows=10_000_000).or_more
    lists = Operator(HOPS, Node("Expand", "", {}), (), (Call("", "collect_list"),), panes=60)
    assert of(lists, 1, rows=10_000_000) is None


def test_joins_that_are_shorter_than_any_figure_have_none():
    join = Operator(JOIN, Node("SortMergeJoin", "", {}), (), (Call("sum(x)", "sum"),))
    assert gain(join, 1.0, 1_000_000, False) is None
    assert gain(join, 100.0, 1_000_000, False).or_more


def test_the_segment_tree_has_figures_of_its_own():
    assert of(window(1000), 2000, tree=True).high < of(window(1000), 20_000).low


# texts of plans


def test_lists_of_a_text():
    assert entries("a, f(b, c), [d, e], g(h, [i, j])") == [
        "a",
        "f(b, c)",
        "[d, e]",
        "g(h, [i, j])",
    ]
    assert entries("") == []
    assert bracketed("[a, f(b, c), ... 6 more fields]") == ["a", "f(b, c)"]


@pytest.mark.parametrize(
    "text",
    [
        "Window",
        "Window ",
        "Window [",
        "Window []",
        "Window [x",
        "Window [a) windowspecdefinition(",
    ],
)
def test_a_window_that_cannot_be_read_is_no_crash(text):
    (found,) = operators(tree({"nodeName": "Window", "simpleString": text}))
    assert verdicts.verdict(found).who == "cannot tell"


def test_an_unknown_function_is_not_guessed():
    text = (
        "Window [mine(x#1) windowspecdefinition(k#2, ts#3 ASC NULLS FIRST, "
        "specifiedwindowframe(RowFrame, -2, currentrow$())) AS a#4], [k#2]"
    )
    (found,) = operators(tree({"nodeName": "Window", "simpleString": text}))
    assert verdicts.verdict(found) == (
        "cannot tell",
        "mine is not in Sash's table; ask sash.explain",
    )


def test_windows_of_pandas_stay_with_spark():
    for name in ("WindowInPandas", "ArrowWindowPython"):
        (found,) = operators(tree({"nodeName": name, "simpleString": f"{name} [mine(x#1)]"}))
        assert verdicts.verdict(found) == (
            "Spark",
            "an aggregate runs in Python and cannot be merged",
        )
