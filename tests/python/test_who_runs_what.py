"""The page "Who runs what": its queries run, in batch and on a stream, as its cells say.

``WhoRunsWhatSuite`` plans every function over every window. Here the windows run with a sum, and
the functions over the frames that a user meets first.
"""

from __future__ import annotations

import contextlib
import io
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import pyspark
import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import pandas_udf

from conftest import REPOSITORY
from streaming import ROCKS

PAGE = (REPOSITORY / "docs" / "who-runs-what.md").read_text(encoding="utf-8")
ROWS = """
    ('a', TIMESTAMP '2026-03-01 09:00:00', 1, 1.5D, 'p'),
    ('a', TIMESTAMP '2026-03-01 09:00:01', 2, 2.5D, 'q'),
    ('b', TIMESTAMP '2026-03-01 09:00:02', 3, 3.5D, 'p'),
    ('a', TIMESTAMP '2026-03-01 09:01:00', 3, 0.5D, 'q')"""
OVER = {
    "Frames": "sum(x) OVER (PARTITION BY k ORDER BY ts {})",
    "Kinds of window": "sum(x) OVER (PARTITION BY k, {} ORDER BY ts)",
    "Positions and ranks": "{} OVER (PARTITION BY k ORDER BY ts)",
    "Aggregates": "{} OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)",
    "Aggregates in Python": "{} OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING)",
}
"""What stands in the code of a section's table."""
ASKED = ["batch", "append mode", "update mode"]
SIGNS = {"●": "Sash", "○": "Spark", "✗": "refused", "–": "refused"}
HOPS = {"batch": "batch", "stream": "append mode"}
SINCE = {"sum(x) FILTER (WHERE d > 1)": "4.2", "max_by(s, x, 2)": "4.2"}
"""Spark's own version for code that it does not take earlier."""
SPARK_REFUSES = "doesn't support group aggregate pandas UDF"
"""Said in the first batch only."""
MODES = ["append", "update"]
HOP = "window(ts, '10 seconds', '2 seconds')"
TUMBLE = "window(ts, '2 seconds')"
RANGE = "e.k = l.k AND e.ts <= l.ts AND e.ts >= l.ts - INTERVAL 5 SECONDS"
LATERAL = (
    f"SELECT l.k, l.ts, n FROM {{0}} l, LATERAL (SELECT count(*) n FROM {{1}} e WHERE {RANGE})"
)
QUERIES: dict[str, Callable[[str], str]] = {
    "hop windows": lambda t: f"SELECT k, {HOP} w, sum(x) FROM {t} GROUP BY k, {HOP}",
    "tumbling windows": lambda t: f"SELECT k, {TUMBLE} w, sum(x) FROM {t} GROUP BY k, {TUMBLE}",
    "LATERAL over a range": lambda t: LATERAL.format(t, t),
    "an as-of join": lambda t: (
        f"SELECT l.k, l.ts, y FROM {t} l LEFT JOIN LATERAL (SELECT x y FROM {t} e"
        " WHERE e.k = l.k AND e.ts <= l.ts ORDER BY e.ts DESC LIMIT 1) ON true"
    ),
    "LATERAL of a static table": lambda t: LATERAL.format("batched", t),
    "windows with several": lambda t: (
        "SELECT k, ts, sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 2 PRECEDING),"
        f" sum(x) OVER (PARTITION BY s ORDER BY ts ROWS 2 PRECEDING) FROM {t}"
    ),
    "a window over hop windows": lambda t: (
        "SELECT sum(n) OVER (PARTITION BY k ORDER BY at ROWS 2 PRECEDING)"
        " FROM (SELECT k, window_time(w) at, n FROM"
        f" (SELECT k, {HOP} w, count(*) n FROM {t} GROUP BY k, {HOP}))"
    ),
}
"""By the first words of a row of the last table."""


class Line(NamedTuple):
    """A row of a table: its section, its name, the pieces of code, and the cells by column."""

    section: str
    name: str
    codes: list[str]
    cells: dict[str, str]


def tables(text: str) -> list[list[dict[str, str]]]:
    """The rows of each table in a text, by the first row's cells."""
    found = []
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        head, _, *rows = (
            [cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()
        )
        found.append([dict(zip(head, row, strict=True)) for row in rows])
    return found


def sections(page: str) -> dict[str, str]:
    return dict(re.findall(r"^## (.*)\n((?:(?!## ).*\n)*)", page, re.MULTILINE))


class Grid:
    """The tables of every function over every window."""

    def __init__(self, text: str) -> None:
        columns, rows, _ = tables(text)
        letters = {w: row["column"] for row in columns for w in row["windows"].split("; ")}
        self.letters = letters
        self.rows = {
            function: {head.split(":")[0]: cell for head, cell in row.items()}
            for row in rows
            for function in row["function"].split("; ")
        }

    def cells(self, function: str, window: str) -> dict[str, str]:
        """Who runs a function over a window, by column of the other tables."""
        cell = self.rows[function][self.letters[window]]
        signs = ["–"] * 3 if cell == "–" else cell.split(" ")[:3]
        return dict(zip(ASKED, (SIGNS[sign] for sign in signs), strict=True))

    def of(self, section: str, name: str) -> dict[str, str]:
        """The cells of a row of a section."""
        if section == "Positions and ranks":
            return self.cells(name, "ORDER BY alone")
        if section != "Aggregates":
            return self.cells("sums, averages and counts", name)
        hops = self.cells(name, "hop windows")
        assert hops["append mode"] == hops["update mode"]
        in_hops = {f"hop windows, {to}": hops[of] for to, of in HOPS.items()}
        return {**self.cells(name, "looks back"), **in_hops}


def lines(page: str) -> Iterator[Line]:
    """The rows of the tables of code; a row without answers has those of the grid."""
    found = sections(page)
    crossed = found.pop("Every function over every window", None)
    for title, text in found.items():
        (table,) = tables(text)
        for row in table:
            written = re.findall(r"`([^`]+)`", row.pop("in SQL", ""))
            codes = [code for code in written if pyspark.__version__ >= SINCE.get(code, "4.0")]
            name, *_ = row.values()
            cells = dict(list(row.items())[1:])
            if not cells:
                assert crossed is not None
                cells = Grid(crossed).of(title, name)
            yield Line(title, name, codes, cells)


LINES = list(lines(PAGE))
OF_WINDOWS = [line for line in LINES if line.section != "Queries"]
OF_AGGREGATES = [line for line in LINES if line.section.startswith("Aggregates")]
OF_QUERIES = [line for line in LINES if line.section == "Queries"]


@pytest.fixture(scope="module")
def session(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """The rows as ``batched`` and as ``streamed``."""
    session = spark.newSession()
    session.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKS)
    session.conf.set("spark.sash.stream.buckets", "4")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.udf.register("py_mean", pandas_udf(_mean, "double"))
    rows = session.sql(f"SELECT * FROM VALUES {ROWS} AS rows(k, ts, x, d, s)")
    folder = tmp_path_factory.mktemp("rows")
    rows.coalesce(1).write.mode("overwrite").parquet(str(folder))
    session.read.parquet(str(folder)).createOrReplaceTempView("batched")
    stream = session.readStream.schema(rows.schema).parquet(str(folder))
    stream.withWatermark("ts", "1 second").createOrReplaceTempView("streamed")
    return session


def _mean(x: pd.Series) -> float:
    return x.mean()


def call(line: Line, code: str) -> str:
    return OVER[line.section].replace("{}", code)


def plan(df: DataFrame) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        df.explain()
    return printed.getvalue()


def in_batch(session: SparkSession, query: str) -> str:
    """Who answers a query over a table."""
    try:
        found = plan(session.sql(query))
    except AnalysisException:
        return "refused"
    return "Sash" if "SlidingWindow" in found or "HopWindows" in found else "Spark"


def on_stream(
    session: SparkSession, query: str, mode: str, folder: Path, answers: str | None = None
) -> str:
    """Who answers a query over a stream, which runs to its end; ``answers`` names their table."""
    try:
        write = session.sql(query).writeStream.format("memory" if answers else "noop")
        started = (
            (write.queryName(answers) if answers else write)
            .outputMode(mode)
            .option("checkpointLocation", str(folder / uuid.uuid4().hex))
            .trigger(availableNow=True)
            .start()
        )
    except AnalysisException:
        return "refused"
    try:
        started.awaitTermination()
    except StreamingQueryException as error:
        if SPARK_REFUSES not in str(error):
            raise
        return "refused"
    metrics = [name for p in started.recentProgress for name in p.observedMetrics]
    return "Sash" if "sash.0" in metrics else "Spark"


def plain(value: Any) -> Any:
    """A value to compare: floats lose their last digits, and sets their order."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return sorted((plain(k), plain(v)) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value


def rows_of(df: DataFrame) -> list[dict[str, Any]]:
    """The rows, by time."""
    return [{c: plain(row[c]) for c in df.columns} for row in df.sort("ts").collect()]


def runs(session: SparkSession, call: str) -> bool:
    """Whether a call over the table is one that this session's Spark has."""
    try:
        plan(session.sql(f"SELECT {call} AS a FROM batched"))
    except AnalysisException:
        return False
    return True


def together(calls: list[str], table: str) -> str:
    return f"SELECT k, ts, {', '.join(f'{c} AS a{i}' for i, c in enumerate(calls))} FROM {table}"


@pytest.mark.parametrize("line", OF_WINDOWS, ids=lambda line: line.name)
def test_a_window_over_a_table(session, line):
    for code in line.codes:
        query = f"SELECT {call(line, code)} AS a FROM batched"
        assert in_batch(session, query) == line.cells["batch"], code


def test_the_windows_that_sash_runs_over_a_table_have_sparks_answers(session):
    lines = [line for line in OF_WINDOWS if line.cells["batch"] == "Sash"]
    calls = [call(line, code) for line in lines for code in line.codes]
    assert len(calls) > 90
    assert session.sql(together(calls, "batched")).count() == 4
    session.conf.set("spark.sash.enabled", "false")
    try:
        sparks = [call for call in calls if runs(session, call)]
        theirs = rows_of(session.sql(together(sparks, "batched")))
    finally:
        session.conf.set("spark.sash.enabled", "true")
    assert len(sparks) > 40
    assert rows_of(session.sql(together(sparks, "batched"))) == theirs


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("looks_ahead", [False, True])
def test_the_windows_that_run_on_a_stream(session, tmp_path, mode, looks_ahead):
    """All in one query, but for those that look ahead: nothing else may stand beside these."""
    column = f"{mode} mode"
    calls = [
        call(line, code)
        for line in OF_WINDOWS
        if line.cells[column] == "Sash"
        and (line.cells["update mode"] == "refused") == looks_ahead
        for code in line.codes
    ]
    if mode == "update" and looks_ahead:
        assert calls == []
        return
    assert len(calls) >= 6
    name = f"answers_{mode}_{looks_ahead}"
    query = together(calls, "streamed")
    assert on_stream(session, query, mode, tmp_path, answers=name) == "Sash"
    batch = {row["ts"]: row for row in rows_of(session.sql(together(calls, "batched")))}
    stream = rows_of(session.table(name))
    # the watermark stays behind the last row, and what looks ahead waits for rows of its key
    assert len(stream) == (4 if mode == "update" else 1 if looks_ahead else 3)
    assert stream == [batch[row["ts"]] for row in stream]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_the_windows_that_a_stream_refuses(session, tmp_path, mode):
    refused = [line for line in OF_WINDOWS if line.cells[f"{mode} mode"] == "refused"]
    assert refused
    for line in refused:
        for code in line.codes:
            query = f"SELECT k, ts, {call(line, code)} AS a FROM streamed"
            assert on_stream(session, query, mode, tmp_path) == "refused", code


def hops(call: str, table: str) -> str:
    return f"SELECT k, {HOP} AS w, {call} AS a FROM {table} GROUP BY k, {HOP}"


@pytest.mark.parametrize("line", OF_AGGREGATES, ids=lambda line: line.name)
def test_hop_windows_over_a_table(session, line):
    for code in line.codes:
        assert in_batch(session, hops(code, "batched")) == line.cells["hop windows, batch"], code


@pytest.mark.slow
def test_hop_windows_on_a_stream(session, tmp_path):
    by_answer: dict[str, list[list[str]]] = {"Sash": [], "Spark": [], "refused": []}
    for line in OF_AGGREGATES:
        by_answer[line.cells["hop windows, stream"]].append(line.codes)
    ours = [code for codes in by_answer["Sash"] for code in codes]
    answers = ", ".join(f"{code} AS a{i}" for i, code in enumerate(ours))
    query = f"SELECT k, {HOP} AS w, {answers} FROM streamed GROUP BY k, {HOP}"
    assert on_stream(session, query, "append", tmp_path) == "Sash"
    for answer in ("Spark", "refused"):
        assert by_answer[answer]
        for code, *_ in by_answer[answer]:
            found = on_stream(session, hops(code, "streamed"), "append", tmp_path)
            assert found == answer, code


def test_the_page_has_these_queries():
    assert len(OF_QUERIES) == len(QUERIES)


@pytest.mark.slow
@pytest.mark.parametrize("start", QUERIES)
def test_queries(session, tmp_path, start):
    plain = {re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", line.name): line for line in OF_QUERIES}
    (line,) = [line for name, line in plain.items() if name.startswith(start)]
    query = QUERIES[start]
    assert in_batch(session, query("batched")) == line.cells["batch"]
    for mode in MODES:
        found = on_stream(session, query("streamed"), mode, tmp_path)
        assert found == line.cells[f"{mode} mode"], mode


def test_every_function_and_kind_of_sash_is_on_the_page():
    text = (REPOSITORY / "docs" / "functions.md").read_text(encoding="utf-8")
    names = set(re.findall(r"^`(\w+)\(", text, re.MULTILINE))
    assert len(names) > 40
    codes = " ".join(code for line in LINES for code in line.codes)
    # a condition of the rows below a window
    assert {name for name in names if f"{name}(" not in codes} == {
        "history_until",
    }


@pytest.mark.slow
def test_a_wrong_cell_is_noticed(session, tmp_path):
    """The tests above can fail: a window that Spark runs, and one that a stream refuses."""
    wrong = "| a | `ROWS UNBOUNDED PRECEDING` | Sash | Sash | refused |\n"
    (line,) = lines(
        f"## Frames\n| frame | in SQL | batch | append mode | update mode |\n|---|\n{wrong}"
    )
    query = f"SELECT k, ts, {call(line, line.codes[0])} AS a FROM"
    assert in_batch(session, f"{query} batched") != line.cells["batch"]
    assert on_stream(session, f"{query} streamed", "update", tmp_path) != "refused"
    ahead = query.replace("UNBOUNDED PRECEDING", "BETWEEN 1 PRECEDING AND 1 FOLLOWING")
    assert on_stream(session, f"{ahead} streamed", "update", tmp_path) == "refused"
