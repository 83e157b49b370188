"""A table of windows in Delta, refreshed from the change feed of the table below.

Run as `delta_refresh.py FOLDER`, it changes the rows again and again, and prints a line of JSON.
`delta_refresh.py FOLDER make` makes both tables and changes rows once, and `delta_refresh.py
FOLDER refresh` refreshes after that, and compares. `delta_refresh.py FOLDER stops` stops before
each step of a refresh. `delta_refresh.py FOLDER dbt` runs the page's recipe.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import Mock, patch

import pytest
from pyspark.errors import PySparkValueError
from pyspark.sql import SparkSession
from pyspark.sql.catalog import Catalog

import sash
from conftest import REPOSITORY
from delta_stream import DELTA
from streaming import session

QUERY = """SELECT id, user, ts, amount,
    sum(amount) OVER (PARTITION BY user ORDER BY ts RANGE INTERVAL 7 DAYS PRECEDING) AS week,
    count(*) OVER (PARTITION BY user ORDER BY ts RANGE INTERVAL 30 DAYS PRECEDING) AS month
  FROM orders WHERE amount <> 13"""
LATER = """INSERT INTO orders SELECT id + 60000, id % 9,
  TIMESTAMP'2030-01-01' + INTERVAL 6 HOURS * id, 3 FROM range(20)"""
NEW = """SELECT {id} AS id, id % 9 AS user,
  TIMESTAMP'2026-01-01' + INTERVAL 6 HOURS * id AS ts, id % 20"""
REST = """SELECT id, user, ts, count(*) OVER (PARTITION BY user ORDER BY ts
    RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS rest FROM orders"""
CHANGES = [
    f"INSERT INTO orders {NEW.format(id='id + 10000')} FROM range(100, 110)",
    "UPDATE orders SET amount = amount + 1 WHERE id % 97 = 0",
    "DELETE FROM orders WHERE id % 101 = 0",
    "UPDATE orders SET ts = ts - INTERVAL 3 DAYS WHERE id % 89 = 0",
    "UPDATE orders SET user = NULL, ts = NULL WHERE id % 157 = 0",
    "UPDATE orders SET user = 3 WHERE id % 111 = 0",
    """MERGE INTO orders o USING (SELECT id * 50 AS id FROM range(12)) n ON o.id = n.id
       WHEN MATCHED AND o.id % 3 = 0 THEN DELETE
       WHEN MATCHED THEN UPDATE SET amount = -1
       WHEN NOT MATCHED THEN INSERT (id, user, ts, amount) VALUES (n.id, 1, NULL, 5)""",
    "DELETE FROM orders WHERE user = 4",
    "UPDATE orders SET amount = 13 WHERE id % 53 = 0",
]


def opened(spark, folder):
    for name, columns in (
        ("orders", "amount BIGINT"),
        ("features", "amount BIGINT, week BIGINT, month BIGINT"),
    ):
        feed = "TBLPROPERTIES (delta.enableChangeDataFeed = true)" if name == "orders" else ""
        spark.sql(f"""CREATE TABLE {name} (id BIGINT, user BIGINT, ts TIMESTAMP, {columns})
            USING delta LOCATION '{folder / name}' {feed}""")


def filled(spark):
    spark.sql(f"INSERT INTO orders {NEW.format(id='id')} FROM range(600)")
    spark.sql(f"INSERT INTO features {QUERY}")
    return version(spark)


def version(spark):
    return spark.sql("DESCRIBE HISTORY orders LIMIT 1").head().version


def refreshed(spark, since, query=QUERY, into="features", ids="id"):
    changes = sash.changed(spark.table("orders"), since=since)
    return sash.refresh(query, {"orders": changes}, into=into, id=ids)


def compare(spark, query=QUERY, into="features"):
    expected = sorted(map(str, spark.sql(query).collect()))
    assert sorted(map(str, spark.table(into).collect())) == expected
    return len(expected)


def again_and_again(spark, folder):
    opened(spark, folder)
    since = filled(spark)
    done = [0, 0, 0]
    for changes in (CHANGES[:1], CHANGES[1:3], *([c] for c in CHANGES[3:])):
        for change in changes:
            spark.sql(change)
        new = refreshed(spark, since)
        assert new.spans >= new.keys > 0
        assert new.inserted + new.updated <= new.answers
        assert new.read >= new.inserted + new.updated
        done = [a + b for a, b in zip(done, new[4:], strict=True)]
        compare(spark)
        # once more: nothing is left to do, and no version of the table is written
        before = spark.sql("DESCRIBE HISTORY features").count()
        assert refreshed(spark, since) == new._replace(inserted=0, updated=0, deleted=0)
        assert spark.sql("DESCRIBE HISTORY features").count() == before
        since = version(spark)
    assert sash.changed(spark.table("orders"), since=since).isEmpty()
    assert refreshed(spark, since)._replace(read=0) == (0, 0, 0, 0, 0, 0, 0)
    without_a_first_time(spark, folder)
    refreshed(spark, since)
    since = version(spark)
    compare(spark)
    # a MERGE that fails changes nothing
    spark.sql("ALTER TABLE features ADD CONSTRAINT few CHECK (month < 1000)")
    spark.sql(
        "INSERT INTO orders SELECT id + 20000, 8, TIMESTAMP'2026-02-01', 1 FROM range(1200)"
    )
    stored = sorted(map(str, spark.table("features").collect()))
    with pytest.raises(Exception, match=r"(?i)constraint"):
        refreshed(spark, since)
    assert sorted(map(str, spark.table("features").collect())) == stored
    spark.sql("ALTER TABLE features DROP CONSTRAINT few")
    refreshed(spark, since)
    rows = compare(spark)
    # two answers of one id are refused
    since = version(spark)
    spark.sql("INSERT INTO orders VALUES (1, 5, TIMESTAMP'2026-02-02', 1)")
    with pytest.raises(PySparkValueError, match="id = 1 twice"):
        refreshed(spark, since)
    spark.sql(
        "INSERT INTO orders VALUES (30000, 5, TIMESTAMP'2026-02-02', 1), (30000, 5, NULL, 2)"
    )
    spark.sql("DELETE FROM orders WHERE id = 1")
    with pytest.raises(PySparkValueError, match="2 rows of id = 30000"):
        refreshed(spark, since)
    of_two_rows(spark, folder)
    return {"rows": rows, "inserted": done[0], "updated": done[1], "deleted": done[2]}


def of_two_rows(spark, folder):
    """An id that an answer outside of the spans has, too, is refused, and nothing changes."""
    spark.sql("DELETE FROM orders")
    times = "(3, 1, TIMESTAMP'2026-01-01', 10), (3, 1, TIMESTAMP'2027-01-01', 20)"
    spark.sql(f"INSERT INTO orders VALUES {times}, (4, 2, TIMESTAMP'2026-01-01', 5)")
    since = version(spark)
    spark.sql(f"""CREATE TABLE pairs USING delta LOCATION '{folder / "pairs"}' AS {QUERY}""")
    stored = sorted(map(str, spark.table("pairs").collect()))
    for change in (
        "UPDATE orders SET amount = amount + 1 WHERE ts > '2026-06-01' OR id = 4",
        "DELETE FROM orders WHERE ts > '2026-06-01'",
    ):
        spark.sql(change)
        with pytest.raises(PySparkValueError, match="id = 3 twice"):
            refreshed(spark, since, into="pairs")
        assert sorted(map(str, spark.table("pairs").collect())) == stored
    refreshed(spark, since, into="pairs", ids=["id", "ts"])
    compare(spark, into="pairs")


def without_a_first_time(spark, folder):
    """Spans that are open at one end hold the rows without a time."""
    spark.sql("INSERT INTO orders VALUES (40000, 7, NULL, 1)")
    spark.sql(f"""CREATE TABLE rests USING delta LOCATION '{folder / "rests"}' AS {REST}""")
    since = version(spark)
    spark.sql("DELETE FROM orders WHERE user = 7 AND amount = 5")
    done = refreshed(spark, since, REST, "rests")
    compare(spark, REST, "rests")
    assert done.inserted == 0
    assert done.updated > 0


class Stopped(BaseException):
    """As a signal would do it."""


def stopped_before(spark, since, step, ids):
    """Whether a refresh asked Spark so often, and was stopped there."""
    left = step

    def stopping(call):
        def one_less(*arguments, **more):
            nonlocal left
            left -= 1
            if left == 0:
                raise Stopped
            return call(*arguments, **more)

        return one_less

    frame = type(spark.range(0))
    steps = "collect", "count", "head", "persist", "localCheckpoint", "unpersist"
    asked = [(frame, step) for step in steps]
    asked += [(SparkSession, "sql"), (SparkSession, "table"), (Catalog, "dropTempView")]
    with ExitStack() as stack:
        for of, name in asked:
            stack.enter_context(patch.object(of, name, stopping(getattr(of, name))))
        try:
            refreshed(spark, since, ids=ids)
        except Stopped:
            return True
    return False


def stopped_anywhere(spark, since, changes, ids):
    """Each time all answers are old or all are new, and the next run makes them new."""
    for change in changes:
        spark.sql(change)

    def stored():
        return sorted(map(str, spark.table("features").collect()))

    old, new = stored(), sorted(map(str, spark.sql(QUERY).collect()))
    assert old != new
    found = []
    for step in itertools.count(1):
        if not stopped_before(spark, since, step, ids):
            break
        found.append([old, new].index(stored()))
    compare(spark)
    assert found == sorted(found)
    return {"old": found.count(0), "new": found.count(1)}


def later_rows(spark, since):
    """Rows that are later than all others are inserted, once."""
    ids = ["user", "ts", "id"]
    told = stopped_anywhere(spark, since, [LATER], ids)

    def last():
        return spark.sql("DESCRIBE HISTORY features LIMIT 1").head()

    inserted = last()
    assert inserted.operation == "MERGE"
    assert refreshed(spark, since, ids=ids)[4:] == (0, 0, 0)
    # two answers of one id are refused
    since = version(spark)
    twice = "(70000, 5, TIMESTAMP'2040-01-01', 1)"
    spark.sql(f"INSERT INTO orders VALUES {twice}, {twice}")
    with pytest.raises(PySparkValueError, match="id = 70000"):
        refreshed(spark, since, ids=ids)
    assert last().version == inserted.version
    spark.sql("DELETE FROM orders WHERE id = 70000")
    return told


def by_dbt(spark, folder):
    """The model of docs/refresh.md, and MERGE as dbt's adapter for Spark writes it."""
    page = (REPOSITORY / "docs" / "refresh.md").read_text(encoding="utf-8")
    (model,) = re.findall(r"^def model.*?(?=^```)", page, re.DOTALL | re.MULTILINE)
    # names of the page, in the columns of this program
    query = QUERY.replace("id, user, ts, amount", "user, ts AS day, id")
    names = {"FEATURES": query.replace("FROM orders", "FROM {events}"), "sash": sash}
    exec(model, names)  # noqa: S102
    dbt = Mock(is_incremental=False)
    dbt.config.get.return_value = "orders"
    whole = names["model"](dbt, spark)
    (keys,) = [call.kwargs["unique_key"] for call in dbt.config.call_args_list]
    whole.write.format("delta").save(str(folder / "model"))
    since = version(spark)
    spark.sql("UPDATE orders SET amount = amount + 20 WHERE id % 7 = 0")
    sash.changed(spark.table("orders"), since=since).createOrReplaceTempView("events_changes")
    dbt.is_incremental = True
    names["model"](dbt, spark).createOrReplaceTempView("model__dbt_tmp")
    same = " AND ".join(f"DBT_INTERNAL_SOURCE.{key} <=> DBT_INTERNAL_DEST.{key}" for key in keys)
    spark.sql(f"""MERGE INTO delta.`{folder / "model"}` AS DBT_INTERNAL_DEST
        USING model__dbt_tmp AS DBT_INTERNAL_SOURCE ON {same}
        WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *""")
    expected = sorted(map(str, spark.sql(names["FEATURES"].format(events="orders")).collect()))
    merged = spark.read.format("delta").load(str(folder / "model")).collect()
    assert sorted(map(str, merged)) == expected
    return len(expected)


def main() -> None:
    folder = Path(sys.argv[1])
    spark = session({**DELTA, "spark.databricks.delta.snapshotPartitions": "2"})
    mode = sys.argv[2] if len(sys.argv) > 2 else None
    if mode is None:
        told = again_and_again(spark, folder)
    elif mode == "dbt":
        opened(spark, folder)
        filled(spark)
        told = {"rows": by_dbt(spark, folder)}
    elif mode == "stops":
        opened(spark, folder)
        since = filled(spark)
        told = {"later": later_rows(spark, since)}
        told |= stopped_anywhere(spark, version(spark), CHANGES[1:5], "id")
    elif mode == "make":
        opened(spark, folder)
        told = {"since": filled(spark)}
        for change in CHANGES[:5]:
            spark.sql(change)
    else:
        for name in ("orders", "features"):
            spark.sql(f"CREATE TABLE {name} USING delta LOCATION '{folder / name}'")
        told = {"updated": refreshed(spark, since=int(mode)).updated, "rows": compare(spark)}
    print(json.dumps(told))
    spark.stop()


if __name__ == "__main__":
    main()
