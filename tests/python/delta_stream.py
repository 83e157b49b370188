"""OVER on a stream into a table of Delta, stopped and started again.

Run as `delta_stream.py FOLDER`, it prints a line of JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd

import fetch
from streaming import session
from triggers import batch, features, made, stream, write

DELTA = {
    "spark.jars": ",".join(map(str, fetch.delta())),
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
}


def main() -> None:
    folder = Path(sys.argv[1])
    spark = session(DELTA)
    files = made(1)
    counts = []
    for half in (files[:2], files[2:]):
        write(spark, half, folder / "in")
        query = (
            features(stream(spark, folder / "in", 40))
            .writeStream.format("delta")
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(folder / "table"))
        )
        query.awaitTermination()
        operators = {o["operatorName"] for p in query.recentProgress for o in p["stateOperators"]}
        assert operators == {"transformWithStateExec"}
        counts.append(spark.read.format("delta").load(str(folder / "table")).count())
    answers = spark.read.format("delta").load(str(folder / "table")).collect()
    rows = pd.concat(files)
    expected = batch(spark, rows, rows.ts.max() - pd.Timedelta(seconds=40))
    assert len(answers) == len(expected)
    assert {row.id: tuple(row) for row in answers} == expected
    history = spark.sql(f"DESCRIBE HISTORY delta.`{folder / 'table'}`")
    updates = history.where("operation = 'STREAMING UPDATE'").count()
    print(json.dumps({"rows": counts, "updates": updates}))
    spark.stop()


if __name__ == "__main__":
    main()
