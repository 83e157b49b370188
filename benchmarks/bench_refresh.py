"""A table of windows refreshed after changes, beside whole runs, dbt's way and DuckDB.

    make bench-refresh                                        # 100 million events: two hours
    python benchmarks/bench_refresh.py --rows 20000000        # twenty minutes
    python benchmarks/bench_refresh.py --cells '^(0.1 %|a new day)'   # those with a bar: an hour

Rows come late, spread over the year, and a day more comes. After each change the refreshed table
must equal the whole run's. Writes refresh.json, refresh.md and refresh.svg to docs/benchmarks.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
from pyspark.sql import SparkSession

import engines
import harness
import machine
import sash
from harness import BLUE, GREEN, GREY, ORANGE, VERMILION, Store, chart, flags, is_chosen, page
from progress import Progress

SASH, DUCKDB = "sash", "duckdb"
WHOLE, DBT, BY_HAND = "whole", "dbt", "by hand"
NAMES = {
    SASH: "sash.refresh",
    WHOLE: "whole run",
    DBT: "last 90 days, as dbt",
    BY_HAND: "the day by hand",
    DUCKDB: "whole run of DuckDB",
}
PAINT = dict(zip(NAMES, (BLUE, GREY, VERMILION, ORANGE, GREEN), strict=True))


class Cell(NamedTuple):
    """A change of the events: rows that are spread evenly over some of the days."""

    title: str
    share: float | None
    """Of all rows; none for as many as a day has."""
    days: int | None = None
    """The last ones; none for all of them."""
    beside: str | None = None


CELLS = [
    Cell("0.1 % late in the last week", 1e-3, 7, DBT),
    *(Cell(f"{100 * share:g} % over the year", share) for share in (1e-5, 1e-4, 1e-3, 1e-2)),
    Cell("a new day", None, 1, BY_HAND),
]
LATE, *SPREAD, NEW = (cell.title for cell in CELLS)
BARRED = SPREAD[2]
PAGE = """\
# Tables of windows, refreshed

{rows:,} events of {users:,} users, spread evenly over a year, in a table of Delta by day with
its change feed. A second table, also by day and with deletion vectors, has sums, counts, means
and maxima of each user's last 7 and 30 days, for each event. Events are inserted, and
`sash.refresh` brings the second table up to date, beside the whole query, which is written to a
table of its own. Each time that table and the refreshed one were equal. On {cores} cores, with
a heap of {memory}; each run is one, in a JVM that is warm from {small:,} rows. The process reads
these bytes from files: the tables, the change feed, and Delta's log.

![Seconds of each run](refresh.svg)

{lines}

*As dbt* deletes the answers of the last 90 days, and inserts them again from the events of the
last 120. *By hand* answers the new day from the events of the last 31 days; then the table is
restored. Delta has loaded the tables' state before each run. DuckDB {duckdb} reads the same files
of events, and writes one file of Parquet.

{counts}

## Bars

{bars}

{spread}

{circumstances}
"""
FETCHED = Path(sys.prefix) / "fetched" / "delta"
JARS = sorted(FETCHED.glob("*.jar"))
DELTA = {
    "spark.jars": ",".join(map(str, JARS)),
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # a file for each day, and marks in place of copies of files where few rows change
    "spark.databricks.delta.optimizeWrite.enabled": "true",
    "spark.databricks.delta.properties.defaults.enableDeletionVectors": "true",
    "spark.databricks.delta.snapshotPartitions": "2",
    # else Hadoop does not count the bytes that Parquet reads
    "spark.hadoop.parquet.hadoop.vectored.io.enabled": "false",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}
FIRST = date(2025, 1, 1)
DAY = 86_400_000_000
"""Microseconds."""
DAYS = 365
SMALL = 40_000, 200, 40
"""Rows, users and days of the first round, whose answers are all compared. It warms the JVM."""
EVENTS = """
    SELECT CAST(pmod(xxhash64(id, {batch}), {users}) AS INT) AS user_id,
      timestamp_micros({first} + id * {step} + {batch}) AS ts,
      CAST(timestamp_micros({first} + id * {step}) AS DATE) AS day,
      CAST(pmod(xxhash64(id, {batch}, 1), 1000) AS INT) AS amount
    FROM range(0, {rows}, 1, {files})"""
FEATURES = ", ".join(
    f"{call}(amount) OVER last_{days} AS {call}_{days}"
    for days in (7, 30)
    for call in ("sum", "count", "avg", "max")
)
WINDOWS = ", ".join(
    f"last_{days} AS (PARTITION BY user_id ORDER BY ts RANGE BETWEEN INTERVAL {days} DAYS "
    "PRECEDING AND CURRENT ROW)"
    for days in (7, 30)
)
ID = ["user_id", "ts"]
SUMS = "count(*) AS n, sum(sum_7) AS a, sum(count_30) AS b, sum(max_30) AS c"
"""Of whole numbers, which are exact in each engine."""
Figures = dict[str, float]
"""Seconds, and bytes read."""


def main() -> None:
    options = flags(
        __doc__,
        quick={"rows": 400_000, "users": 2_000},
        rows=(100_000_000, "events of a year"),
        users=(100_000, "whose events they are"),
        cores=(2, "of Spark, and of DuckDB"),
        memory=("8g", "heap of the JVM, and DuckDB's memory"),
        scratch=(tempfile.gettempdir(), "where the tables lie meanwhile"),
    )
    about = {name: getattr(options, name) for name in ("rows", "users", "cores", "memory")}
    store = Store(options, "refresh", flat=_Title, **about)
    if not options.report:
        if not JARS:
            raise SystemExit("there is no Delta for this Spark; see tests/python/fetch.py")
        with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
            _run(store, options, scratch)
    _report(store, options.out)


@dataclass(frozen=True)
class _Title:
    title: str


def _run(store: Store, options: argparse.Namespace, scratch: str) -> None:
    more = {**DELTA, "spark.local.dir": scratch, "spark.sql.warehouse.dir": scratch}
    spark = engines.session(options.cores, options.memory, **more)
    delta = (FETCHED / "made-of").read_text().rpartition(":")[2]
    versions = {**engines.versions(spark), "Delta": delta, "DuckDB": duckdb.__version__}
    cells = [cell for cell in CELLS if is_chosen(options, cell.title)]
    progress = Progress(2 * len(cells) + 1)
    for rows, users, days in (SMALL, (options.rows, options.users, DAYS)):
        bench = _Bench(spark, Path(scratch) / str(rows), rows, users, days)
        bench.write()
        for cell in cells:
            found = bench.cell(cell)
            progress.advance(1, f"{rows:,} rows, {cell.title}")
            if rows == options.rows:
                store.add({_Title(cell.title): found}, **versions)
        store.about[DUCKDB] = bench.duckdb(options.cores, options.memory)
        bench.drop()
    spark.stop()
    progress.advance(1, NAMES[DUCKDB])
    store.save()


class _Bench:
    """Both tables, and what brings the second one up to date."""

    def __init__(
        self, spark: SparkSession, folder: Path, rows: int, users: int, days: int
    ) -> None:
        self._sql = spark.sql
        self._spark = spark
        self._folder = folder
        self._rows = rows
        self._users = users
        self._days = days
        self._step = days * DAY // rows
        self._batch = 0
        self._digest: tuple[Any, ...] = ()

    def write(self) -> None:
        """The events of a year, and the answers of all."""
        feed = "TBLPROPERTIES (delta.enableChangeDataFeed = true)"
        events = self._events(self._rows, 0, self._step, self._days)
        self._create("events", f"{feed} AS {events}")
        self._create("features", f"AS {_query()}")

    def cell(self, cell: Cell) -> dict[str, Any]:
        """Change events, refresh, and compare with the whole run."""
        since = self._sql("DESCRIBE HISTORY events LIMIT 1").collect()[0]["version"]
        rows = max(1, int(self._rows * (cell.share or 1 / self._days)))
        days = cell.days or self._days
        first = self._days if cell.beside == BY_HAND else self._days - days
        # between the times that there are, and at a place of its own in each cell
        step = days * DAY // rows // self._step * self._step
        self._batch += 1
        self._sql(f"INSERT INTO events {self._events(rows, first, step, 1)}")
        done = []
        by_hand: dict[str, Figures] = {}
        answers: tuple[Any, ...] = ()
        if cell.beside == BY_HAND:
            by_hand[BY_HAND], answers = self._by_hand(first)

        def refresh() -> None:
            changes = sash.changed(self._spark.table("events"), since=since)
            done.append(sash.refresh(_query(), {"events": changes}, into="features", id=ID))

        self._warm()
        runs = {SASH: self._measured(refresh), **by_hand}
        assert not by_hand or self._since(first) == answers
        runs[WHOLE] = self._measured(lambda: self._create("whole", f"AS {_query()}"))
        self._compare()
        if cell.beside == DBT:
            runs[DBT] = self._measured(self._as_dbt)
            self._compare()
        self._drop("whole")
        return {"rows": rows, **done[0]._asdict(), "runs": runs}

    def duckdb(self, cores: int, memory: str) -> Figures:
        """The whole run of DuckDB, over the files of events."""
        files = [
            file.removeprefix("file://") for file in self._spark.table("events").inputFiles()
        ]
        # without its zone, for which DuckDB needs an extension
        columns = "user_id, CAST(ts AS TIMESTAMP) AS ts, CAST(ts AS DATE) AS day, amount"
        query = _query(
            f"(SELECT {columns} FROM read_parquet({files}, hive_partitioning = false))"
        )
        answers = self._folder / "answers.parquet"
        settings = {"threads": cores, "memory_limit": memory, "temp_directory": str(self._folder)}
        with duckdb.connect(config=settings) as engine:
            begin = time.perf_counter()
            engine.execute(f"COPY ({query}) TO '{answers}' (FORMAT parquet, COMPRESSION zstd)")
            seconds = time.perf_counter() - begin
            found = engine.execute(f"SELECT {SUMS} FROM '{answers}'").fetchall()
        assert tuple(map(int, found[0])) == self._digest, "DuckDB has other answers"
        answers.unlink()
        return {"seconds": seconds}

    def drop(self) -> None:
        for table in ("events", "features"):
            self._drop(table)

    def _warm(self) -> None:
        """Let Delta load the state of both tables, as the first query after a change does."""
        for table in ("events", "features"):
            self._sql(f"SELECT max(ts) FROM {table} WHERE ts > '{_day(self._days)}'").collect()

    def _by_hand(self, first: int) -> tuple[Figures, tuple[Any, ...]]:
        """The new day's answers into the table, which then is as it was before."""
        (before,) = self._sql("DESCRIBE HISTORY features LIMIT 1").collect()
        self._warm()
        figures = self._measured(lambda: self._insert("features", first, 30))
        answers = self._since(first)
        self._sql(f"RESTORE TABLE features TO VERSION AS OF {before.version}").collect()
        return figures, answers

    def _since(self, day: int) -> tuple[Any, ...]:
        return self._read(f"SELECT * FROM features WHERE day >= '{_day(day)}'")

    def _as_dbt(self) -> None:
        self._sql(f"DELETE FROM features WHERE day >= '{_day(self._days - 90)}'")
        self._insert("features", self._days - 90, 30)

    def _insert(self, table: str, first: int, lookback: int) -> None:
        """The answers from a day on, from the events since some days before."""
        events = f"(SELECT * FROM events WHERE day >= '{_day(first - lookback)}')"
        query = f"SELECT * FROM ({_query(events)}) WHERE day >= '{_day(first)}'"
        self._sql(f"INSERT INTO {table} {query}")

    def _compare(self) -> None:
        """The refreshed table equals the whole run's; by a hash where there are many rows."""
        features, whole = (self._read(f"SELECT * FROM {t}") for t in ("features", "whole"))
        assert features == whole, f"refreshed: {features}, a whole run: {whole}"
        self._digest = tuple(map(int, whole[1:]))
        if self._rows == SMALL[0]:
            tables = self._spark.table("features"), self._spark.table("whole")
            assert tables[0].exceptAll(tables[1]).isEmpty()

    def _read(self, query: str) -> tuple[Any, ...]:
        """A sum of all rows' hashes, and SUMS."""
        of_rows = "sum(CAST(xxhash64(*) AS DECIMAL(20, 0)))"
        return tuple(self._sql(f"SELECT {of_rows} AS hash, {SUMS} FROM ({query})").collect()[0])

    def _measured(self, run: Callable[[], object]) -> Figures:
        before, begin = self._bytes(), time.perf_counter()
        run()
        return {"seconds": time.perf_counter() - begin, "bytes": self._bytes() - before}

    def _bytes(self) -> int:
        """All that was read from files; tasks count the rows that Spark keeps in memory, too."""
        jvm: Any = self._spark.sparkContext._jvm
        return sum(
            of.getBytesRead() for of in jvm.org.apache.hadoop.fs.FileSystem.getAllStatistics()
        )

    def _events(self, rows: int, day: int, step: int, files: int) -> str:
        first = (_day(day) - date(1970, 1, 1)).days * DAY
        users, batch = self._users, self._batch
        return EVENTS.format(
            rows=rows, first=first, step=step, files=files, users=users, batch=batch
        )

    def _create(self, table: str, more: str) -> None:
        place = f"LOCATION '{self._folder / table}'"
        self._sql(f"CREATE TABLE {table} USING delta PARTITIONED BY (day) {place} {more}")

    def _drop(self, table: str) -> None:
        self._sql(f"DROP TABLE {table}")
        shutil.rmtree(self._folder / table)


def _query(events: str = "events") -> str:
    return f"SELECT user_id, ts, day, {FEATURES} FROM {events} WINDOW {WINDOWS}"


def _day(number: int) -> date:
    return FIRST + timedelta(days=number)


def _report(store: Store, out: Path) -> None:
    about, order = store.about, [cell.title for cell in CELLS]
    named = {cell.title: result for cell, result in store.results.items()}
    results = {title: named[title] for title in order if title in named}
    lines, counts = [], []
    for title, result in results.items():
        whole = result["runs"][WHOLE]
        for name, run in result["runs"].items():
            shares = [f"{run[unit] / whole[unit]:.3f}" for unit in ("seconds", "bytes")]
            mb = f"{run['bytes'] / 1e6:,.1f}"
            lines.append([title, NAMES[name], f"{run['seconds']:.1f}", shares[0], mb, shares[1]])
        keys = f"{result['keys']:,}, {_percent(result['keys'] / about['users'])}"
        numbers = [f"{result[n]:,}" for n in ("read", "answers", "inserted", "updated")]
        counts.append([title, f"{result['rows']:,}", keys, *numbers])
    engine = about[DUCKDB]["seconds"]
    share = f"{engine / whole['seconds']:.3f}"
    lines.append([title, NAMES[DUCKDB], f"{engine:.1f}", f"{share} | |"])
    of_whole = "of the whole run"
    heads = ["changed", "", "seconds", of_whole, "MB read", of_whole]
    changed = ["changed", "rows", "keys, of all", "rows read", "answers computed"]
    text = PAGE.format(
        lines="\n".join(harness.table(heads, lines)),
        counts="\n".join(harness.table([*changed, "inserted", "updated"], counts)),
        bars="\n".join(harness.table(["", "must be at most", "is", ""], _bars(results))),
        spread=_spread(results, about["users"]),
        duckdb=about["versions"]["DuckDB"],
        small=SMALL[0],
        circumstances=machine.sentence(about),
        **{name: about[name] for name in ("rows", "users", "cores", "memory")},
    )
    page(out / "refresh.md", text)
    _chart(results, engine, out / "refresh.svg")


def _bars(results: dict[str, dict[str, Any]]) -> list[list[str]]:
    asked = [
        (LATE, "seconds", WHOLE, 0.12),
        (LATE, "bytes", WHOLE, 0.12),
        (BARRED, "seconds", WHOLE, 1),
        (NEW, "seconds", BY_HAND, 1.5),
    ]
    lines = []
    for title, unit, other, most in asked:
        if title not in results:
            continue
        runs = results[title]["runs"]
        ratio = runs[SASH][unit] / runs[other][unit]
        met = "met" if ratio <= most else "missed"
        where = f"{title}: {unit} of {NAMES[SASH]}, of {NAMES[other]}"
        lines.append([where, f"{most:g}", f"{ratio:.2f}", met])
    return lines


def _spread(results: dict[str, dict[str, Any]], users: int) -> str:
    """From which share of the keys on a whole run is cheaper."""
    dearer = [
        results[title]["keys"] / users
        for title in results.keys() & SPREAD
        if results[title]["runs"][SASH]["seconds"] > results[title]["runs"][WHOLE]["seconds"]
    ]
    if not dearer:
        return "Refreshing was cheaper than a whole run at each of these shares."
    share = _percent(min(dearer))
    return (
        f"A whole run was cheaper where {share} of the keys, or more, had changes over the year."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _chart(results: dict[str, dict[str, Any]], engine: float, path: Path) -> None:
    bars = [(t, n, run["seconds"]) for t, r in results.items() for n, run in r["runs"].items()]
    bars.append((list(results)[-1], DUCKDB, engine))
    with chart(path, (10, 5)) as (_, (axis,)):
        for at, (title, name, seconds) in enumerate(bars):
            axis.barh(at, seconds, color=PAINT[name])
            beside = {"va": "center", "textcoords": "offset points", "annotation_clip": False}
            axis.annotate(f"{NAMES[name]}, {seconds:.1f}", (seconds, at), (5, 0), **beside)
            if at == 0 or bars[at - 1][0] != title:
                axis.annotate(title, (0, at), (-5, 0), **beside, ha="right", weight="bold")
        axis.set(xlabel="seconds", yticks=[])
        axis.invert_yaxis()


if __name__ == "__main__":
    main()
