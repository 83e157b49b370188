"""The recipe of each key's latest answer, which a stream merges into a table of Delta.

Run as `delta_latest.py FOLDER`, it prints a line of JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd
from pyspark.sql import functions as F

import pages
import sash
from delta_stream import DELTA
from streaming import session
from triggers import SCHEMA, made, stream, write


def main() -> None:
    folder = Path(sys.argv[1])
    spark = session(DELTA)
    spark.conf.set("spark.databricks.delta.snapshotPartitions", 2)
    text = pages.path("recipes").read_text(encoding="utf-8")
    recipe = text.partition("## The latest answer of each key\n")[2]
    code = recipe.partition("```text\n")[2].partition("```")[0]
    by_row = sash.SlidingWindow.partitionBy("sensor").orderBy("ts", "id")
    spark.sql(f"""CREATE TABLE features (sensor BIGINT, ts TIMESTAMP, id BIGINT, total BIGINT)
        USING delta LOCATION '{folder / "features"}'""")
    files, changed = made(1)[:2], 0
    for n, file in enumerate(files):
        write(spark, [file], folder / "in")
        before = {row.sensor: row for row in spark.table("features").collect()}
        rows = stream(spark, folder / "in", 40).withColumnRenamed("k", "sensor")
        names = {"F": F, "by_row": by_row, "stream": rows}
        exec(code, names | {"checkpoint": str(folder / "checkpoint")})  # noqa: S102
        (query,) = spark.streams.active
        query.processAllAvailable()
        query.stop()
        operators = {o["operatorName"] for p in query.recentProgress for o in p["stateOperators"]}
        assert operators == {"transformWithStateExec"}
        so_far = spark.createDataFrame(pd.concat(files[: n + 1]), SCHEMA)
        total = F.sum("x").over(by_row.count(100)).alias("total")
        batch = so_far.withColumnRenamed("k", "sensor").select("sensor", "ts", "id", total)
        last = F.max(F.struct("ts", "id", "total")).alias("last")
        expected = {
            row.sensor: row
            for row in batch.groupBy("sensor").agg(last).select("sensor", "last.*").collect()
        }
        found = {row.sensor: row for row in spark.table("features").collect()}
        assert found == expected
        changed += sum(found[k] != row for k, row in before.items())
    print(json.dumps({"keys": len(found), "changed": changed}))
    spark.stop()


if __name__ == "__main__":
    main()
