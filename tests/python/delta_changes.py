"""Windows that follow the change feed of a table of Delta, merged into another one.

Run as `delta_changes.py FOLDER`, it prints a line of JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import DataFrame

from delta_stream import DELTA
from streaming import session

OVER = "OVER (PARTITION BY user ORDER BY ts RANGE INTERVAL 7 DAYS PRECEDING)"
CALLS = [f"sum(amount) {OVER} AS total", f"count(*) {OVER} AS orders"]
CHANGES = [
    """INSERT INTO orders
       SELECT id, id % 3, TIMESTAMP'2026-01-01' + INTERVAL 1 DAY * id, id FROM range(40)""",
    "UPDATE orders SET amount = amount * 10 WHERE id % 7 = 0",
    "DELETE FROM orders WHERE id % 5 = 0",
    "UPDATE orders SET ts = ts - INTERVAL 3 DAYS WHERE id % 11 = 0",
    """MERGE INTO orders o USING (SELECT id * 4 AS id FROM range(12)) n ON o.id = n.id
       WHEN MATCHED AND o.id % 3 = 0 THEN DELETE
       WHEN MATCHED THEN UPDATE SET amount = -1
       WHEN NOT MATCHED THEN
         INSERT (id, user, ts, amount)
         VALUES (n.id, 1, TIMESTAMP'2026-01-01' + INTERVAL 1 DAY * n.id, 5)""",
]


def merge(batch: DataFrame, _: int) -> None:
    """As docs/streaming-reference.md says."""
    batch.createOrReplaceTempView("changed")
    batch.sparkSession.sql("""
        MERGE INTO totals t USING changed c ON t.id = c.id
        WHEN MATCHED AND c._change_type IN ('delete', 'update_preimage') THEN DELETE
        WHEN MATCHED THEN UPDATE SET total = c.total, orders = c.orders
        WHEN NOT MATCHED AND c._change_type NOT IN ('delete', 'update_preimage') THEN
          INSERT (id, total, orders) VALUES (c.id, c.total, c.orders)""")


def main() -> None:
    folder = Path(sys.argv[1])
    spark = session(DELTA)
    spark.conf.set("spark.sash.stream.changesBy", "id")
    spark.conf.set("spark.databricks.delta.snapshotPartitions", 2)
    spark.sql(f"""CREATE TABLE orders (id BIGINT, user BIGINT, ts TIMESTAMP, amount BIGINT)
        USING delta LOCATION '{folder / "orders"}'
        TBLPROPERTIES (delta.enableChangeDataFeed = true)""")
    spark.sql(f"""CREATE TABLE totals (id BIGINT, total BIGINT, orders BIGINT)
        USING delta LOCATION '{folder / "totals"}'""")
    changed, operators = 0, set()
    # two changes lie in one batch
    for changes in (CHANGES[:1], CHANGES[1:3], CHANGES[3:4], CHANGES[4:]):
        for change in changes:
            spark.sql(change)
        feed = spark.readStream.option("readChangeFeed", "true").option("startingVersion", 0)
        rows = feed.table("orders").withWatermark("ts", "1000 days")
        query = (
            rows.selectExpr("id", "_change_type", "_commit_version", "user", "ts", *CALLS)
            .writeStream.outputMode("update")
            .option("checkpointLocation", str(folder / "checkpoint"))
            .trigger(availableNow=True)
            .foreachBatch(merge)
            .start()
        )
        query.awaitTermination()
        operators |= {
            o["operatorName"] for p in query.recentProgress for o in p["stateOperators"]
        }
        expected = sorted(map(tuple, spark.table("orders").selectExpr("id", *CALLS).collect()))
        found = sorted(map(tuple, spark.table("totals").collect()))
        assert found == expected, (changes, set(found) ^ set(expected))
        changed += 1
    assert operators == {"transformWithStateExec"}
    print(json.dumps({"changed": changed, "rows": len(expected)}))
    spark.stop()


if __name__ == "__main__":
    main()
