"""A stream that starts from a table, beside the same stream that replays the table's rows.

    make bench-warm-start

The replay reads all rows as a stream, in one batch or in batches of a tenth. Writes
warm-start.md to docs/benchmarks.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import engines_spark
import machine
import sash
import sections
from progress import Progress
from stream_spark import ROCKS

OUT = Path(__file__).parent.parent / "docs" / "benchmarks" / "day.md"
PAST = 10
"""So many times as many rows are in the table as come live."""
FILES = 10
KEYS = "PARTITION BY k ORDER BY ts"
QUERIES = {
    "sum, 10 minutes": f"sum(x) OVER ({KEYS} RANGE INTERVAL 10 MINUTES PRECEDING)",
    "sum, 100 rows": f"sum(x) OVER ({KEYS}, id ROWS 99 PRECEDING)",
    "running sum": f"sum(x) OVER ({KEYS}, id ROWS UNBOUNDED PRECEDING)",
    "sessions": f"count(*) OVER ({KEYS.replace('k', 'k, gap_window(INTERVAL 9 SECONDS)', 1)})",
    "hops of 10 minutes": "",
}
HOPS = "SELECT k, window.end, sum(x) FROM t GROUP BY k, window(ts, '10 minutes', '1 minute')"
WARM, ONE, TEN, COLD = "table", "one batch", "ten batches", "no past"
Figures = tuple[float, float]
"""Seconds, and seconds of the JVM's processors."""


def main() -> None:
    """Measure, and write the page."""
    options = _options()
    settings = {
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.streaming.stateStore.providerClass": ROCKS,
    }
    spark = engines_spark.session(options.cores, "6g", with_sash=True, **settings)
    about = {**machine.about(Spark=spark.version), "runs": options.runs}
    progress = Progress(len(QUERIES))
    with tempfile.TemporaryDirectory() as scratch:
        bench = _Bench(spark, Path(scratch), options.rows)
        bench.write()
        lines = [_line(bench, options.runs, name, progress) for name in QUERIES]
    spark.stop()
    page = [
        "# A stream that starts from a table",
        "",
        f"Microseconds for each of {options.rows:,} rows of the past, of 1,000 keys: the time of "
        f"a stream with the past and {options.rows // PAST:,} live rows, less the time of a "
        f"stream of the live rows alone, {machine.measured(options.runs)}, on {options.cores} "
        "cores. The stream starts from the table (`sash.warm_start`), or replays the past from "
        "files, in one batch or in ten, and does not answer its rows twice. *Processor* counts "
        "the time of all threads of the JVM, *clock* the time until the stream ends. Streams "
        "run in append mode. `make bench-warm-start` writes this section.",
        "",
        machine.sentence(about),
        "",
        "| window | clock: table | one batch | ten batches | processor: table | one batch "
        "| ten batches |",
        "|---|--:|--:|--:|--:|--:|--:|",
        *lines,
    ]
    sections.section(options.out, "bench_warm_start", "\n".join(page))
    print(options.out)


def _line(bench: _Bench, runs: int, name: str, progress: Progress) -> str:
    best = {way: min(bench.run(name, way) for _ in range(runs + 1)) for way in WAYS}
    progress.advance(1, name)
    cells = [
        f"{(best[way][of] - best[COLD][of]) / bench.past * 1e6:.2f}"
        for of in (0, 1)
        for way in (WARM, ONE, TEN)
    ]
    return f"| {name} | {' | '.join(cells)} |"


class _Bench:
    """Files of the past and of the live rows, and a stream over them."""

    def __init__(self, spark: SparkSession, folder: Path, past: int) -> None:
        self.spark = spark
        self.folder = folder
        self.past = past
        self.border = 1_700_000_000 + past // 20

    def write(self) -> None:
        """Write the past as a table, the live rows, and all rows in the order of time."""
        rows = self.spark.range(0, self.past + self.past // PAST, 1, 10).selectExpr(
            "pmod(xxhash64(id), 1000) AS k",
            "timestamp_seconds(1700000000 + id DIV 20) AS ts",
            "rand(7) * 100 + 1 AS x",
            "id",
        )
        until = F.timestamp_seconds(F.lit(self.border))
        rows.where(F.col("ts") <= until).write.parquet(str(self.folder / "past"))
        rows.where(F.col("ts") > until).coalesce(1).write.parquet(str(self.folder / "live"))
        size = (self.past + self.past // PAST) // FILES
        for file in range(FILES):  # one after the other: a stream reads the oldest first
            part = rows.where(F.col("id").between(file * size, (file + 1) * size - 1))
            part.coalesce(1).write.mode("append").parquet(str(self.folder / "all"))

    def run(self, name: str, way: str) -> Figures:
        """Run a stream in a way, to its end."""
        self._rows(way).createOrReplaceTempView("t")
        call = QUERIES[name]
        query = self.spark.sql(f"SELECT *, {call} AS w FROM t" if call else HOPS)
        with tempfile.TemporaryDirectory(dir=self.folder) as checkpoint:
            writer = query.writeStream.format("noop").option("checkpointLocation", checkpoint)
            cpu, begin = machine.cpu_seconds(self.spark), time.perf_counter()
            running = writer.trigger(availableNow=True).start()
            running.awaitTermination()
            seconds = time.perf_counter() - begin
            operators = running.lastProgress["stateOperators"]
            assert operators[0]["operatorName"] == "transformWithStateExec"
            return seconds, machine.cpu_seconds(self.spark) - cpu

    def _rows(self, way: str) -> DataFrame:
        if way == WARM:
            past = self.spark.read.parquet(str(self.folder / "past"))
            until = F.timestamp_seconds(F.lit(self.border))
            return sash.warm_start(self._stream("live"), past, by="ts", until=until)
        if way == COLD:
            return self._stream("live")
        return self._stream("all", **({"maxFilesPerTrigger": 1} if way == TEN else {}))

    def _stream(self, name: str, **files: int) -> DataFrame:
        folder = str(self.folder / name)
        schema = self.spark.read.parquet(folder).schema
        stream = self.spark.readStream.schema(schema).options(**files).parquet(folder)
        return stream.withWatermark("ts", "10 seconds")


WAYS = (WARM, ONE, TEN, COLD)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--rows", type=int, default=5_000_000)
    add("--runs", type=int, default=1)
    add("--cores", type=int, default=2)
    add("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
