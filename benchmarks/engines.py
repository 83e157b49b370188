"""An engine in a process of its own: it loads files and runs queries as standard input asks for.

    python engines.py ENGINE CORES MEMORY

ENGINE is a JSON object, and so is every line in and out; the first line out tells the versions.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import machine

MOST_CACHED = 20
"""Columns: wider tables would not fit into memory, and are read from Parquet in each run."""
OF_STAGE = {
    "read": "inputRecords",
    "exchanged": "shuffleWriteRecords",
    "bytes": "shuffleWriteBytes",
}


def session(
    cores: int, memory: str, with_sash: bool = True, streaming: bool = False, **more: str
) -> Any:
    """A quiet local session; without Sash, its jar is not even on the class path.

    ``more`` has further settings, with dots in their names.
    """
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.memory": memory,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "8",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sash.enabled": str(with_sash).lower(),
    }
    builder = SparkSession.builder.master(f"local[{cores}]").config(map={**settings, **more})
    if with_sash:
        import sash

        builder = sash.configure(builder, streaming=streaming)
    return builder.getOrCreate()


def versions(spark: Any) -> dict[str, str]:
    java = spark.sparkContext._jvm.java.lang.System.getProperty("java.version")
    return {"Spark": spark.version, "Java": java}


def to_noop(frame: Any) -> None:
    """The noop sink takes every row, and keeps none."""
    frame.write.format("noop").mode("overwrite").save()


def plan_of(frame: Any) -> str:
    return str(frame._jdf.queryExecution().executedPlan().toString())


def _tables(data: Path) -> dict[str, Path]:
    """The tables of a file or a folder, by name."""
    if data.is_file():
        return {"input": data}
    return {path.stem: path for path in sorted(data.glob("*.parquet"), reverse=True)}


class Spark:
    """With Sash or without, over tables that are cached or read in each run."""

    def __init__(self, spec: dict[str, Any], cores: int, memory: str) -> None:
        self._spec = spec
        self._spark = session(cores, memory, spec["sash"], **spec["conf"])
        self.versions = versions(self._spark)

    def load(self, data: Path, conf: dict[str, str]) -> None:
        self._spark.catalog.clearCache()
        for name, path in _tables(data).items():
            rows = self._spark.read.parquet(path.as_uri())
            if dict(rows.dtypes)["ts"] == "timestamp_ntz":
                rows = rows.withColumn("ts", rows["ts"].cast("timestamp"))
            if self._spec["partitioned"]:
                rows = rows.repartition("k")
            rows.createOrReplaceTempView(name)
            if self._spec["in_memory"] and len(rows.columns) <= MOST_CACHED:
                rows.cache().count()
        for key, value in conf.items():
            self._spark.conf.set(key, value)

    def check(self, sql: str, promised: dict[str, bool]) -> None:
        """The plan above the cache has the operators that the engine's name promises."""
        plan = plan_of(self._spark.sql(sql))
        above_cache = plan.split("InMemoryTableScan")[0]
        if any((part in above_cache) != promise for part, promise in promised.items()):
            raise AssertionError(f"{self._spec['title']} runs another plan:\n{plan}")

    def answer(self, sql: str) -> list[float]:
        return [float(value) for value in self._spark.sql(sql).collect()[0]]

    def run(self, sql: str, _: Any) -> dict[str, float]:
        if not self._spec["counting"]:
            to_noop(self._spark.sql(sql))
            return {}
        before, cpu = self._stages(), machine.cpu_seconds(self._spark)
        to_noop(self._spark.sql(sql))
        spent = machine.cpu_seconds(self._spark) - cpu
        made = [stage for key, stage in self._stages().items() if key not in before]
        return {**{name: sum(stage[name] for stage in made) for name in OF_STAGE}, "cpu": spent}

    def _stages(self) -> dict[int, dict[str, float]]:
        """The stages that have run, by their numbers."""
        context = self._spark.sparkContext
        jvm, scala = context._jvm, context._jsc.sc()
        scala.listenerBus().waitUntilEmpty()
        quantiles = context._gateway.new_array(jvm.double, 0)
        found = scala.statusStore().stageList(
            None, False, False, quantiles, jvm.java.util.ArrayList()
        )
        stages = [found.apply(i) for i in range(found.length())]
        return {
            s.stageId(): {name: float(getattr(s, method)()) for name, method in OF_STAGE.items()}
            for s in stages
        }


class DuckDB:
    """From tables in memory, or files, to an Arrow table."""

    def __init__(self, spec: dict[str, Any], cores: int, _: str) -> None:
        import duckdb

        self._connection = duckdb.connect(config={"threads": cores})
        self._spec = spec
        self.versions = {"DuckDB": duckdb.__version__}

    def load(self, data: Path, _: Any) -> None:
        kind = "TABLE" if self._spec["in_memory"] else "VIEW"
        for name, path in _tables(data).items():
            read = f"SELECT * FROM read_parquet('{path}')"
            self._connection.execute(f"CREATE OR REPLACE {kind} {name} AS {read}")

    def check(self, sql: str, promised: dict[str, bool]) -> None:
        """Its one way to run a query needs no check."""

    def answer(self, sql: str) -> list[float]:
        return [float(value) for value in self._connection.execute(sql).fetchall()[0]]

    def run(self, sql: str, _: Any) -> dict[str, float]:
        before = _cpu()
        self._connection.execute(sql).to_arrow_table()
        return {"cpu": _cpu() - before}


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Polars:
    """From a frame in memory to a frame. It takes the rows' order from the input."""

    def __init__(self, _: dict[str, Any], cores: int, __: str) -> None:
        import polars

        assert os.environ["POLARS_MAX_THREADS"] == str(cores)
        self._polars = polars
        self.versions = {"Polars": polars.__version__}

    def load(self, data: Path, _: Any) -> None:
        self._frame = self._polars.read_parquet(data).rechunk()

    def check(self, sql: str, promised: dict[str, bool]) -> None:
        """Its one way to run a window needs no check."""

    def run(self, _: str, asked: dict[str, Any]) -> dict[str, float]:
        column = self._polars.col("n" if asked["aggregate"] == "sum_bigint" else "x")
        call = {"sum_bigint": "sum", "stddev": "std"}.get(asked["aggregate"], asked["aggregate"])
        window = asked["window"]
        if asked["frame"] == "rows":
            rolling = getattr(column, f"rolling_{call}")(window, min_samples=1)
        else:  # (t - w, t]: the second w before the row's is left out
            rolling = getattr(column, f"rolling_{call}_by")("ts", f"{window}s")
        self._frame.select(rolling.over("k").alias("r"))
        return {}


def main() -> None:
    spec, cores, memory = sys.argv[1:]
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries and the JVM print must not mix with the replies

    def reply(message: dict[str, Any]) -> None:
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    kinds = {"spark": Spark, "duckdb": DuckDB, "polars": Polars}
    engine: Any = kinds[json.loads(spec)["kind"]](json.loads(spec), int(cores), memory)
    reply({"versions": engine.versions})
    for line in sys.stdin:
        asked = json.loads(line)
        found: dict[str, Any] = {"answer": None}
        if "promised" in asked:
            engine.check(asked["sql"], asked["promised"])
            if asked["digest"]:
                found["answer"] = engine.answer(asked["digest"])
        start = time.perf_counter()
        if "load" in asked:
            engine.load(Path(asked["load"]), asked["conf"])
        else:
            found["counts"] = engine.run(asked["sql"], asked["query"])
        reply({**found, "seconds": time.perf_counter() - start})


if __name__ == "__main__":
    main()
