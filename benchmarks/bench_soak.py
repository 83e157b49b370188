"""An hour of streams with everything on: are state, heap and batches flat, and answers right?

    make soak
    make soak MINUTES=5

Three streams run in one session: windows of many kinds in append mode, which begin with a table
and let idle keys go; hops in update mode; windows of labels. Each is stopped and started again
every three minutes. Each minute has a sample. Writes soak.json, soak.md and soak.svg to
docs/benchmarks.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.streaming import StreamingQuery

import engines_spark
import machine
import soak_report
from soak_check import check
from soak_queries import STREAMS
from soak_rows import Rows
from soak_samples import Samples
from stream_spark import ROCKS

OUT = Path(__file__).parent.parent / "docs" / "benchmarks"
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
    "spark.sql.streaming.stateStore.providerClass": ROCKS,
    "spark.sql.streaming.minBatchesToRetain": "20",
    "spark.sql.streaming.numRecentProgressUpdates": "60",
}


def main() -> None:
    """Run the streams, check their answers, and write the page."""
    options = _options()
    spark = engines_spark.session(2, options.memory, with_sash=True, **SETTINGS)
    folder = options.again or Path(tempfile.mkdtemp(prefix="soak-", dir=options.scratch))
    noted = folder / "noted.json"
    if options.again is None:
        about = {**machine.about(Spark=spark.version), **_soak(spark, folder, options)}
        noted.write_text(json.dumps(about), encoding="utf-8")
    about = json.loads(noted.read_text(encoding="utf-8"))
    answers = check(spark, folder, about["watermarks"])
    spark.stop()
    soak_report.write({**about, "answers": answers}, options.out)
    if any(of["wrong"] or of["missing"] for of in answers.values()):
        sys.exit(f"answers differ from the batch queries': all files are in {folder}")
    shutil.rmtree(folder)


def _soak(spark: SparkSession, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """What was noted: a sample a minute, and the last watermarks."""
    rows = Rows(folder, options.rate)
    rows.begin()
    queries = {stream.name: stream.run(spark, folder) for stream in STREAMS}
    samples = Samples(spark, folder)
    began = time.monotonic()
    for minute in range(1, options.minutes + 1):
        while (left := began + 60 * minute - time.monotonic()) > 0:
            time.sleep(min(1.0, left))
            _raise_of(queries)
        sample = samples.take(queries)
        print(minute, {name: round(value, 2) for name, value in sample.items()}, flush=True)
        stream = STREAMS[minute % len(STREAMS)]
        queries[stream.name].stop()
        queries[stream.name] = stream.run(spark, folder)
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


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--rate", type=int, default=100, help="rows a second")
    parser.add_argument("--memory", default="1g", help="the heap of the JVM")
    parser.add_argument("--scratch", type=Path, help="where files and checkpoints lie meanwhile")
    parser.add_argument("--again", type=Path, help="the folder of a run, to check it again")
    parser.add_argument("--out", type=Path, default=OUT)
    return parser.parse_args()


if __name__ == "__main__":
    main()
