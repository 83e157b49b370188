"""Engines that answer labels from events, each in the words in which it is quickest."""

from __future__ import annotations

from pathlib import Path

from asof_cells import SPARK_ASOF, AsOfQuery
from label_answers import compare, digest
from label_cells import LABEL_SPARKS, SASH, LabelQuery

Asked = LabelQuery | AsOfQuery
MOST_COMPARED = 200_000
"""Labels, and no more than so many events: over more, answers are not compared."""
MOST_CACHED = 20
"""Columns: wider tables would not fit into memory, and are read from Parquet in each run."""


class SparkLabels:
    """Spark with Sash or without, over cached tables."""

    def __init__(self, name: str, cores: int, memory: str) -> None:
        from engines_spark import session

        self._name = name
        self._is_sash = name == SASH
        self.spark = session(cores, memory, with_sash=self._is_sash)
        if name in (SASH, SPARK_ASOF):
            self.spark.conf.set("spark.sql.join.asofJoin.enabled", "true")
        self._folder = Path()

    def load(self, data: Path) -> None:
        """Into the cache, unless the rows are wide."""
        from engines_spark import read

        self._folder = data
        self.spark.catalog.clearCache()
        for name in ("labels", "events"):
            rows = read(self.spark, data / f"{name}.parquet")
            rows.createOrReplaceTempView(name)
            if len(rows.columns) <= MOST_CACHED:
                rows.cache().count()

    def version(self) -> dict[str, str]:
        """Spark's version and Java's."""
        from engines_spark import versions

        return versions(self.spark)

    def check(self, query: Asked) -> None:
        """Sash's operator is in the plan where it has to be, and the answers are the others'."""
        frame = self.spark.sql(query.sql(self._name))
        plan = frame._jdf.queryExecution().executedPlan().toString()
        if ("SlidingWindow" in plan) != self._is_sash:
            raise AssertionError(f"{self._name} runs a plan that is not its own:\n{plan}")
        if self.spark.table("events").count() <= MOST_COMPARED:
            found = self.spark.sql(digest(query, self._name))
            compare(self._folder, query, lambda: tuple(found.collect()[0]))

    def run(self, query: Asked) -> None:
        """The noop sink takes every row, and keeps none."""
        frame = self.spark.sql(query.sql(self._name))
        frame.write.format("noop").mode("overwrite").save()


class DuckDBLabels:
    """DuckDB over tables in memory, to an Arrow table."""

    def __init__(self, name: str, cores: int) -> None:
        import duckdb

        self._name = name
        self._version = duckdb.__version__
        self._connection = duckdb.connect(config={"threads": cores})
        self._folder = Path()

    def load(self, data: Path) -> None:
        """Into tables."""
        self._folder = data
        for name in ("labels", "events"):
            self._connection.execute(
                f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM read_parquet(?)",
                [str(data / f"{name}.parquet")],
            )

    def version(self) -> dict[str, str]:
        """DuckDB's version."""
        return {"DuckDB": self._version}

    def check(self, query: Asked) -> None:
        """The answers are the others'."""
        count = self._connection.execute("SELECT count(*) FROM events").fetchall()[0][0]
        if count <= MOST_COMPARED:
            compare(self._folder, query, lambda: self._digest(query))

    def _digest(self, query: Asked) -> tuple[float, ...]:
        found: tuple[float, ...] = self._connection.execute(digest(query, self._name)).fetchall()[
            0
        ]
        return found

    def run(self, query: Asked) -> None:
        """All columns of the answers, as Arrow."""
        self._connection.execute(query.sql(self._name)).to_arrow_table()


LabelEngine = SparkLabels | DuckDBLabels


def start(name: str, cores: int, memory: str) -> LabelEngine:
    """Start an engine."""
    if name in (*LABEL_SPARKS, SPARK_ASOF):
        return SparkLabels(name, cores, memory)
    return DuckDBLabels(name, cores)
