"""Engines that answer few labels from many events, both read from Parquet in each run."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import machine
from few_cells import DUCKDBS, ONE_BY_ONE, SASH, SCAN, SPARK, FewQuery
from label_answers import compare, digest

Counts = dict[str, float]
"""What a run took, beside its time."""


class SparkFew:
    """Spark with Sash or without."""

    def __init__(self, name: str, cores: int, memory: str) -> None:
        from engines_spark import session

        self._name = name
        self._has_sash = name in (SASH, ONE_BY_ONE)
        self.spark = session(cores, memory, with_sash=self._has_sash)
        if name == SPARK and has_asof():
            self.spark.conf.set("spark.sql.join.asofJoin.enabled", "true")
        self._folder = Path()
        self.counts: Counts = {}

    def load(self, data: Path) -> None:
        """Views of the files."""
        self._folder = data
        for name in ("labels", "events"):
            file = (data / f"{name}.parquet").as_uri()
            self.spark.read.parquet(file).createOrReplaceTempView(name)
        if self._has_sash:
            # small tables only compare answers, and are cut wherever they can be
            cut = "0" if (data / "small").exists() else "128MB"
            threshold = "-1" if self._name == ONE_BY_ONE else cut
            self.spark.conf.set("spark.sash.lateral.sliceThreshold", threshold)

    def version(self) -> dict[str, str]:
        """Spark's version and Java's."""
        from engines_spark import versions

        return versions(self.spark)

    def check(self, query: FewQuery) -> None:
        """Sash's operators are in the plan where they have to be; over small tables, answers."""
        if self._name == SCAN:
            return
        frame = self.spark.sql(str(query.sql(self._name)))
        plan = frame._jdf.queryExecution().executedPlan().toString()
        is_small = (self._folder / "small").exists()
        if ("SlidingWindow" in plan) != self._has_sash:
            raise AssertionError(f"{self._name} runs a plan that is not its own:\n{plan}")
        if is_small and ("EventSlices" in plan) != (self._name == SASH):
            raise AssertionError(f"{self._name} runs a plan that is not its own:\n{plan}")
        if is_small:
            found = self.spark.sql(digest(query, self._name))
            compare(self._folder, query, lambda: tuple(found.collect()[0]))

    def run(self, query: FewQuery) -> None:
        """The noop sink takes every row, and keeps none."""
        before, cpu = self._stages(), machine.cpu_seconds(self.spark)
        frame = self.spark.sql(str(query.sql(self._name)))
        frame.write.format("noop").mode("overwrite").save()
        spent = machine.cpu_seconds(self.spark) - cpu
        made = [stage for key, stage in self._stages().items() if key not in before]
        self.counts = {name: sum(stage[name] for stage in made) for name in _OF_STAGE}
        self.counts["cpu"] = spent

    def _stages(self) -> dict[int, Counts]:
        """The stages that have run, by their numbers."""
        context = self.spark.sparkContext
        jvm, scala = context._jvm, context._jsc.sc()
        assert jvm is not None
        scala.listenerBus().waitUntilEmpty()
        quantiles = context._gateway.new_array(jvm.double, 0)
        found = scala.statusStore().stageList(
            None, False, False, quantiles, jvm.java.util.ArrayList()
        )
        return {
            found.apply(i).stageId(): {
                name: float(getattr(found.apply(i), method)())
                for name, method in _OF_STAGE.items()
            }
            for i in range(found.length())
        }


_OF_STAGE = {
    "read": "inputRecords",
    "exchanged": "shuffleWriteRecords",
    "bytes": "shuffleWriteBytes",
}


class DuckDBFew:
    """DuckDB, to an Arrow table."""

    def __init__(self, name: str, cores: int) -> None:
        import duckdb

        self._name = name
        self._version = duckdb.__version__
        self._connection = duckdb.connect(config={"threads": cores})
        self._folder = Path()
        self.counts: Counts = {}

    def load(self, data: Path) -> None:
        """Views of the files."""
        self._folder = data
        for name in ("labels", "events"):
            self._connection.execute(
                f"CREATE OR REPLACE VIEW {name} AS FROM read_parquet('{data}/{name}.parquet')"
            )

    def version(self) -> dict[str, str]:
        """DuckDB's version."""
        return {"DuckDB": self._version}

    def check(self, query: FewQuery) -> None:
        """Over small tables, the answers are the others'."""
        if (self._folder / "small").exists():
            compare(self._folder, query, lambda: self._found(query))

    def _found(self, query: FewQuery) -> tuple[Any, ...]:
        rows = self._connection.execute(digest(query, self._name)).fetchall()
        found: tuple[Any, ...] = rows[0]
        return found

    def run(self, query: FewQuery) -> None:
        """All columns of the answers, as Arrow."""
        before = _cpu()
        self._connection.execute(str(query.sql(self._name))).to_arrow_table()
        self.counts = {"cpu": _cpu() - before}


def start(name: str, cores: int, memory: str) -> SparkFew | DuckDBFew:
    """Start an engine."""
    return DuckDBFew(name, cores) if name in DUCKDBS else SparkFew(name, cores, memory)


def has_asof() -> bool:
    """Whether this PySpark has ASOF JOIN."""
    import pyspark

    return tuple(int(n) for n in pyspark.__version__.split(".")[:2]) >= (4, 3)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
