"""An hour of streams with everything on: are state, heap and batches flat, and answers right?

    make soak
    make soak MINUTES=5

Three streams run in one session: windows of many kinds in append mode, which begin with a table
and let idle keys go; hops in update mode; windows of labels. Each is stopped and started again
every three minutes. Each minute has a sample. Writes soak.json, soak.md and soak.svg to
docs/benchmarks.
"""

import argparse
import gc
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

import engines
import machine
import streams
from harness import BLUE, chart, flags, once, table
from soak_streams import STREAMS, Rows, check, run

FEW = {  # Spark remembers jobs, stages and plans up to these numbers; as shipped, a thousand
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "200",
    "spark.sql.ui.retainedExecutions": "10",
    "spark.sql.streaming.ui.retainedQueries": "5",
}
SETTINGS = {
    **FEW,
    # the stops of queries within a batch would fill the log; a query that fails raises its error
    "spark.log.level": "FATAL",
    # Spark looks for an interrupted call of Python by a pattern that needs a deep stack
    "spark.driver.extraJavaOptions": "-Xss64m",
    "spark.sql.shuffle.partitions": "2",
    "spark.sash.stream.buckets": "16",
    **streams.ROCKS,
    "spark.sql.streaming.minBatchesToRetain": "20",
    "spark.sql.streaming.numRecentProgressUpdates": "60",
}


MIB = 2**20
SERIES = {
    "rows": "rows of the state",
    "sst": "MiB of the state, as RocksDB has it",
    "store_memory": "MiB of RocksDB's memory",
    "files": "files of the state in the checkpoints",
    "checkpoint": "MiB of the state in the checkpoints",
    "heap": "MiB of the JVM's heap after a collection",
    "resident": "MiB of the JVM that are resident",
    "threads": "threads of the JVM",
    "stores": "open RocksDB instances",
    "descriptors": "open files of the JVM",
    "answer": "seconds of a batch, from plan to commit of the state (median)",
    "tasks": "seconds of tasks for a batch",
    "processor": "seconds of the processor for a batch",
}
"""Each series with its words."""
Sample = dict[str, float]


FLAT = 1.1
"""The last third of a flat series is at most this many times the middle third."""
PAGE = """\
# A soak: streams with everything on

Three streams in one session and one JVM, with a heap of {memory}, for {minutes} minutes and
{hours} hours of event time, {rate} rows a second:

- windows of rows and of time, medians, DISTINCT, sessions and other kinds, `lag` and `row_number`
  in append mode, which began with a table and let idle keys go;
- hops of an hour by five minutes, in update mode;
- the rows of the two hours before each label, of two streams.

A new key comes each minute of event time, and another one goes; some come again after hours. A
fifth of the rows are out of order, and one in fifty is late and goes to a folder. Each stream was
stopped and started every three minutes, {restarts} times in all. `make soak` writes this page.

{circumstances}

![The series over the minutes](soak.svg)

A straight line is drawn through the last two thirds. *Slope* is its rise in an hour, as a share
of the middle third. A series is flat if the mean of its last third is at most {flat} times the
mean of the middle one.

{series}

At the end each answer was compared with the answer of a batch query over the rows that were not
late. A hop window has the rows that came before the watermark passed its end; a row that came
after the ends of all its windows has to be in the folder of late rows:

{answers}
"""


def main() -> None:
    """Run the streams, check their answers, and write the page."""
    options = flags(
        __doc__,
        quick={"minutes": 3},
        minutes=(60, "of the streams"),
        rate=(100, "rows a second"),
        memory=("1g", "the heap of the JVM"),
        scratch=(tempfile.gettempdir(), "where files and checkpoints lie meanwhile"),
        again=("", "the folder of a run, to check it again"),
    )
    about = once(options, "soak", lambda: _soak(options))
    _write(about, options.out)
    if any(of["wrong"] or of["missing"] for of in about["answers"].values()):
        sys.exit(f"answers differ from the batch queries': all files are in {about['folder']}")
    if "folder" in about:
        shutil.rmtree(about["folder"], ignore_errors=True)


def _soak(options: argparse.Namespace) -> dict[str, Any]:
    spark = engines.session(2, options.memory, **SETTINGS)
    folder = Path(options.again or tempfile.mkdtemp(prefix="soak-", dir=options.scratch))
    noted = folder / "noted.json"
    if not options.again:
        about = {**machine.about(Spark=spark.version), **_run(spark, folder, options)}
        noted.write_text(json.dumps(about), encoding="utf-8")
    about = json.loads(noted.read_text(encoding="utf-8"))
    answers = check(spark, folder, about["watermarks"])
    spark.stop()
    return {**about, "answers": answers, "folder": str(folder)}


def _run(spark: SparkSession, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """What was noted: a sample a minute, and the last watermarks."""
    rows = Rows(folder, options.rate)
    rows.begin()
    queries = {name: run(name, spark, folder) for name in STREAMS}
    samples = Samples(spark, folder)
    began = time.monotonic()
    for minute in range(1, options.minutes + 1):
        while (left := began + 60 * minute - time.monotonic()) > 0:
            time.sleep(min(1.0, left))
            _raise_of(queries)
        sample = samples.take(queries)
        print(minute, {name: round(value, 2) for name, value in sample.items()}, flush=True)
        name = list(STREAMS)[minute % len(STREAMS)]
        queries[name].stop()
        queries[name] = run(name, spark, folder)
    rows.end()
    return {
        "minutes": options.minutes,
        "rate": options.rate,
        "memory": options.memory,
        "restarts": options.minutes,
        "samples": samples.samples,
        "watermarks": {name: _finish(query, folder, name) for name, query in queries.items()},
    }


def _raise_of(queries: dict[str, StreamingQuery]) -> None:
    for query in queries.values():
        if (error := query.exception()) is not None:
            raise error


def _finish(query: StreamingQuery, folder: Path, name: str) -> str:
    """Read all rows, and say the last watermark, which an idle query's progress lacks."""
    query.processAllAvailable()
    query.stop()
    offsets = folder / "checkpoint" / name / "offsets"
    last = max(int(f.name) for f in offsets.iterdir() if f.name.isdigit())
    about = json.loads((offsets / str(last)).read_text(encoding="utf-8").splitlines()[1])
    time_of = datetime.fromtimestamp(about["batchWatermarkMs"] / 1000, timezone.utc)
    return time_of.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Samples:
    """Samples so far, and the counts that differences are made of."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self._pid = machine.jvm(spark)
        self._seen = dict.fromkeys(STREAMS, -1)
        self._before = self._counts()
        self.samples: list[Sample] = []

    def take(self, queries: dict[str, StreamingQuery]) -> Sample:
        counts = self._counts()
        batches, tasks, processor = (
            max(now - then, 1e-9) for now, then in zip(counts, self._before, strict=True)
        )
        last = [p for q in queries.values() if (p := q.lastProgress) is not None]
        operators = [o for p in last for o in p["stateOperators"]]
        state = [f for name in STREAMS for f in _files(self._checkpoint(name) / "state")]
        took = [self._took(name, query) for name, query in queries.items()]
        # py4j's objects hold their Java objects, stopped queries among them, in cycles
        gc.collect()
        runtime = self._spark._jvm.java.lang.Runtime.getRuntime()
        runtime.gc()
        links = _descriptors(self._pid)
        sample = {
            "rows": sum(o["numRowsTotal"] for o in operators),
            "sst": sum(o["customMetrics"]["rocksdbSstFileSize"] for o in operators) / MIB,
            "store_memory": sum(o["memoryUsedBytes"] for o in operators) / MIB,
            "files": len(state),
            "checkpoint": sum(state) / MIB,
            "heap": (runtime.totalMemory() - runtime.freeMemory()) / MIB,
            "resident": machine.status(self._pid, "VmRSS") / 1024,
            "threads": machine.status(self._pid, "Threads"),
            "stores": sum(Path(link).name == "LOCK" for link in links),
            "descriptors": len(links),
            "answer": statistics.median([t for times in took for t in times] or [0.0]),
            "tasks": tasks / batches,
            "processor": processor / batches,
            "batches": batches,
        }
        self._before = self._counts()
        # each has had a batch since its start
        if len(operators) == len(STREAMS) and batches >= 1:
            self.samples.append(sample)
        return sample

    def _took(self, name: str, query: StreamingQuery) -> list[float]:
        """Seconds of the batches with rows since the last sample."""
        new = [p for p in query.recentProgress if p["batchId"] > self._seen[name]]
        self._seen[name] = max((p["batchId"] for p in new), default=self._seen[name])
        return [p["durationMs"]["addBatch"] / 1000 for p in new if p["numInputRows"] > 0]

    def _counts(self) -> tuple[float, float, float]:
        """Batches, seconds of tasks and seconds of the processor, since the start."""
        executors: Any = self._spark._jsc.sc().statusStore().executorList(True)
        tasks = executors.apply(0).totalDuration() / 1000
        commits = [self._checkpoint(name) / "commits" for name in STREAMS]
        names = [[int(f.name) for f in c.glob("*") if f.name.isdigit()] for c in commits]
        batches = sum(max(found, default=-1) + 1 for found in names)
        return batches, tasks, machine.cpu_seconds(self._spark)

    def _checkpoint(self, name: str) -> Path:
        return self._folder / "checkpoint" / name


def _files(folder: Path) -> list[int]:
    """The bytes of each file. Some go away meanwhile."""
    found = []
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                found.append((Path(root) / name).stat().st_size)
            except FileNotFoundError:
                continue
    return found


def _descriptors(pid: int) -> list[str]:
    found = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.append(str(link.readlink()))
        except FileNotFoundError:
            continue
    return found


def _write(about: dict[str, Any], out: Path) -> None:
    series = {name: [s[name] for s in about["samples"]] for name in SERIES}
    _chart(series, out / "soak.svg")
    counts = ("answers", "late", "wrong", "missing")
    answers = [
        [name, *(f"{of[count]:,}" for count in counts)] for name, of in about["answers"].items()
    ]
    page = PAGE.format(
        circumstances=machine.sentence(about),
        hours=about["minutes"],
        flat=FLAT,
        series=_lines(
            ["each minute", "first third", "middle", "last", "slope an hour", ""],
            [_row(SERIES[name], values) for name, values in series.items()],
        ),
        answers=_lines(["stream", "answers", "late rows", "differ", "missing"], answers),
        **{name: about[name] for name in ("memory", "minutes", "rate", "restarts")},
    )
    (out / "soak.md").write_text(page, encoding="utf-8")


def _lines(heads: list[str], rows: Any) -> str:
    return "\n".join(table(heads, rows))


def _row(words: str, values: list[float]) -> list[str]:
    third = len(values) // 3
    thirds = [values[:third], values[third : 2 * third], values[2 * third :]]
    first, middle, last = (float(np.mean(part)) if part else float("nan") for part in thirds)
    later = values[third:]
    slope = np.polyfit(np.arange(len(later)), later, 1)[0] * 60 / middle if third else np.nan
    verdict = "flat" if last <= FLAT * middle else "**rises**"
    shown = [_number(value) for value in (first, middle, last)]
    return [words, *shown, f"{slope:+.1%}", verdict]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def _chart(series: dict[str, list[float]], path: Path) -> None:
    height = (len(series) + 1) // 2
    with chart(path, (10, 1.7 * height), (height, 2), font=10) as (figure, axes):
        for axis, (name, values) in zip(axes, series.items(), strict=False):
            axis.plot(range(1, len(values) + 1), values, color=BLUE)
            axis.set_title(SERIES[name].replace(" (median)", ""), loc="left", fontsize=9)
            axis.set(ylim=(0, 1.2 * max([*values, 1e-9])))
        figure.supxlabel("minute")


if __name__ == "__main__":
    main()
