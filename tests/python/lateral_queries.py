"""Correlated queries over a range of another table's rows, with Sash and without.

Scala's LateralWindowsSuite has the law of such queries, at random. These are fixed. Run as a
program, it asks them through Spark Connect.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

import client
from windows import assert_slides_as_spark, setting

LABELS = """
    SELECT id, nullif(id % 4, 3) AS k, id % 3 AS w, id * 3 % 16 AS n,
        timestampadd(HOUR, INT(id * 7 % 40), TIMESTAMP'2026-03-28 20:00:00') AS t,
        date_add(DATE'2026-02-20', INT(id * 5 % 16)) AS d
    FROM range(14)"""
EVENTS = """
    SELECT nullif(id % 4, 3) AS k, id AS x, id * 7 % 16 AS n, id % 2 = 0 AS b,
        nullif(string(id % 5), '4') AS s,
        timestampadd(HOUR, INT(id * 3 % 40), TIMESTAMP'2026-03-28 20:00:00') AS t,
        date_add(DATE'2026-02-20', INT(id % 16)) AS d
    FROM range(48)"""

LAST_DAY = "e.k = l.k AND e.t > l.t - INTERVAL 1 DAY AND e.t <= l.t"
LAST_ROWS = "SELECT e.x, e.s FROM events e WHERE e.k = l.k AND e.x <= l.n ORDER BY e.x DESC"
COUNTED = "SELECT count(*) AS c FROM events e WHERE e.k = l.k AND e.t <= l.t"

QUERIES = {
    "a scalar subquery": f"""
        SELECT l.*, (SELECT sum(x) FROM events e WHERE {LAST_DAY}) FROM labels l""",
    "aggregates of every kind": f"""
        SELECT * FROM labels l, LATERAL (SELECT count(*), avg(x), min(s), count(DISTINCT s),
            sum(x) FILTER (WHERE b), median(x), sort_array(collect_list(x)), max(struct(s, x)),
            coalesce(sum(x), 0) + count(*) FROM events e WHERE {LAST_DAY})""",
    "sketches, of which some are NULL without events": f"""
        SELECT * FROM labels l, LATERAL (SELECT approx_count_distinct(s),
            hll_sketch_estimate(hll_sketch_agg(x)), hex(count_min_sketch(x, 0.1d, 0.9d, 1))
            FROM events e WHERE {LAST_DAY})""",
    "a range of months": """
        SELECT l.*, (SELECT count(*) FROM events e WHERE e.k = l.k
            AND e.t BETWEEN l.t - INTERVAL '1' MONTH AND l.t) FROM labels l""",
    "a range of dates, in days": """
        SELECT l.*, (SELECT max(x) FROM events e WHERE e.k <=> l.k
            AND e.d >= l.d - 3 AND e.d < l.d) FROM labels l""",
    "a width of the label's own": """
        SELECT l.*, (SELECT count(*) FROM events e WHERE e.k = l.k
            AND e.t > l.t - make_dt_interval(0, INT(l.w)) AND e.t < l.t) FROM labels l""",
    "a range after the label, of a number, without keys": """
        SELECT l.*, (SELECT sum(x) FROM events e WHERE e.n > l.n AND e.n <= l.n + 5)
        FROM labels l""",
    "one end alone, and more conditions": """
        SELECT * FROM labels l LEFT JOIN LATERAL (SELECT sum(x), count(*) FROM events e
            WHERE e.k = l.k AND e.t < l.t AND e.b AND l.id < 7) ON true""",
    "EXISTS": f"""
        SELECT * FROM labels l WHERE EXISTS (SELECT 1 FROM events e WHERE {LAST_DAY})""",
    "NOT EXISTS": f"""
        SELECT * FROM labels l WHERE NOT EXISTS (SELECT 1 FROM events e WHERE {LAST_DAY})""",
    "a condition on a count": f"""
        SELECT * FROM labels l WHERE (SELECT count(*) FROM events e WHERE {LAST_DAY}) > 1""",
    "the last row": f"SELECT * FROM labels l LEFT JOIN LATERAL ({LAST_ROWS} LIMIT 1) ON true",
    "the last three rows": f"SELECT * FROM labels l, LATERAL ({LAST_ROWS} LIMIT 3)",
    "a second subquery that compares its count with the first's": f"""
        SELECT * FROM labels l, LATERAL ({COUNTED}) f,
            LATERAL (SELECT sum(x) AS s FROM events e WHERE {LAST_DAY}
                HAVING count(*) * 3 >= f.c) g""",
    "a second subquery that computes with the first's count": f"""
        SELECT * FROM labels l, LATERAL ({COUNTED}) f,
            LATERAL (SELECT z.s * f.c FROM (SELECT sum(x) AS s FROM events e
                WHERE {LAST_DAY}) z) g""",
}


def check(spark: SparkSession) -> int:
    """Compare the answers of each query, which Sash runs; return the number of queries."""
    spark.sql(LABELS).repartition(2).createOrReplaceTempView("labels")
    spark.sql(EVENTS).repartition(3).createOrReplaceTempView("events")
    # events of small tables are combined, too
    with setting(spark, "spark.sash.lateral.sliceThreshold", "0"):
        for name, query in QUERIES.items():
            try:
                assert_slides_as_spark(spark, lambda query=query: spark.sql(query))
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from error
    return len(QUERIES)


if __name__ == "__main__":
    client.main(check)
