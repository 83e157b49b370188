"""Windows in batch over the keys of a table of Delta that its change feed names.

Run as `delta_changes.py FOLDER`, it prints a line of JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pages
from delta_stream import DELTA
from streaming import session

OVER = "OVER (PARTITION BY user ORDER BY ts RANGE INTERVAL 7 DAYS PRECEDING)"
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


def main() -> None:
    folder = Path(sys.argv[1])
    spark = session(DELTA)
    spark.conf.set("spark.databricks.delta.snapshotPartitions", 2)
    section = (
        pages.path("streaming-reference").read_text("utf-8").partition("### Rows that change\n")
    )
    code = section[2].partition("```text\n")[2].partition("```")[0]
    spark.sql(f"""CREATE TABLE orders (id BIGINT, user BIGINT, ts TIMESTAMP, amount BIGINT)
        USING delta LOCATION '{folder / "orders"}'
        TBLPROPERTIES (delta.enableChangeDataFeed = true)""")
    spark.sql(f"""CREATE TABLE totals (id BIGINT, user BIGINT, total BIGINT)
        USING delta LOCATION '{folder / "totals"}'""")
    changed = 0
    # two changes lie in one batch
    for changes in (CHANGES[:1], CHANGES[1:3], CHANGES[3:]):
        for change in changes:
            spark.sql(change)
        exec(code, {"spark": spark, "checkpoint": str(folder / "checkpoint")})  # noqa: S102
        (query,) = spark.streams.active
        query.processAllAvailable()
        query.stop()
        orders = spark.table("orders").selectExpr("id", "user", f"sum(amount) {OVER}")
        expected = sorted(map(tuple, orders.collect()))
        found = sorted(map(tuple, spark.table("totals").collect()))
        assert found == expected, (changes, set(found) ^ set(expected))
        changed += 1
    print(json.dumps({"changed": changed, "rows": len(expected)}))
    spark.stop()


if __name__ == "__main__":
    main()
