"""What Sash gives to a session, as SQL statements that any way into Spark takes.

Run as a program, it makes a session, asks the statements of that session and of those made from
it, and prints what came out as JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
from typing import Any

SETUP = (
    "CREATE OR REPLACE TEMPORARY VIEW means AS"
    " SELECT geometric_mean(id + 1) > 2.2 AS m FROM range(4)",
    "DROP TEMPORARY FUNCTION IF EXISTS mean_of",
    "CREATE TEMPORARY FUNCTION mean_of(n BIGINT) RETURNS TABLE(m DOUBLE)"
    " RETURN SELECT geometric_mean(id + 1) FROM range(4)",
    "DROP TEMPORARY FUNCTION IF EXISTS ema",
    "CREATE TEMPORARY FUNCTION ema(x BIGINT) RETURNS STRING RETURN 'my own'",
    "CREATE OR REPLACE FUNCTION m4(x BIGINT) RETURNS STRING RETURN 'kept'",
)

_HOPS = (
    "EXPLAIN SELECT window.start, count(*)"
    " FROM (SELECT timestamp_seconds(id) AS ts FROM range(9))"
    " GROUP BY window(ts, '{size}', '1 second')"
)

# the feature, a statement, and what its answer contains
STATEMENTS = {
    "aggregate": ("SELECT geometric_mean(id + 1) > 2.2 FROM range(4)", "true"),
    "aggregate in Sash's schema": (
        "SELECT sash.geometric_mean(id + 1) > 2.2 FROM range(4)",
        "true",
    ),
    "IDENTIFIER": ("SELECT IDENTIFIER('geometric_mean')(id + 1) > 2.2 FROM range(4)", "true"),
    "version": ("SELECT sash_version() IS NOT NULL", "true"),
    "sliding_agg": (
        "SELECT max(s) FROM"
        " (SELECT sliding_agg(id, 'sum') OVER (ORDER BY id ROWS 1 PRECEDING) s FROM range(4))",
        "5",
    ),
    "own monoid": (
        "SELECT monoid_agg(id, x -> x, (a, b) -> a + b) FROM range(4)",
        "6",
    ),
    "kind of window": (
        "SELECT max(n) FROM"
        " (SELECT count(*) OVER (PARTITION BY gap_window(2) ORDER BY id) n FROM range(4))",
        "4",
    ),
    "DESCRIBE": ("DESCRIBE FUNCTION gap_window", "gap_window(gap"),
    "view": ("SELECT * FROM means", "true"),
    "SQL function": ("SELECT m > 2.2 FROM mean_of(1)", "true"),
    "the user's own name": ("SELECT ema(id) FROM range(1)", "my own"),
    "the user's name in the catalog": ("SELECT m4(id) FROM range(1)", "kept"),
    "a parameter": ("EXECUTE IMMEDIATE 'SELECT :x + 1' USING 1 AS x", "2"),
    "OVER": (
        "EXPLAIN SELECT sum(id) OVER (ORDER BY id ROWS 2 PRECEDING) FROM range(4)",
        "SlidingWindow",
    ),
    "OVER with DISTINCT": (
        "SELECT max(n) FROM"
        " (SELECT count(DISTINCT id) OVER (ORDER BY id ROWS 1 PRECEDING) n FROM range(4))",
        "2",
    ),
    "ordering": (
        "EXPLAIN SELECT sum(id) OVER (PARTITION BY id % 2 ORDER BY id ROWS 2 PRECEDING)"
        " FROM range(4)",
        "Ordering",
    ),
    "hop windows": (_HOPS.format(size="3 seconds"), "HopWindow"),
    "many hop windows": (_HOPS.format(size="600 seconds"), "HopWindow"),
    "LATERAL": (
        "EXPLAIN SELECT l.id, f.s FROM range(3) l, LATERAL"
        " (SELECT sum(e.id) s FROM range(4) e WHERE e.id > l.id - 2 AND e.id <= l.id) f",
        "SlidingWindow",
    ),
}


def answers(session: Any) -> dict[str, str]:
    """What each statement gives in a session, or the error."""
    for statement in SETUP:
        session.sql(statement).collect()
    told = {}
    for feature, (statement, _) in STATEMENTS.items():
        try:
            rows = session.sql(statement).collect()
            told[feature] = "\n".join(str(value).lower() for row in rows for value in row)
        except Exception as error:
            told[feature] = f"{type(error).__name__}: {error}"
    return told


def wrong(told: dict[str, str]) -> dict[str, str]:
    """The features of which a session has said something else."""
    return {
        feature: told.get(feature, "nothing")
        for feature, (_, right) in STATEMENTS.items()
        if right.lower() not in told.get(feature, "").lower()
    }


def extension_points(session: Any) -> dict[str, bool]:
    """Spark's extension points, by the names of their `inject…`, and whether Sash is in each."""
    state = session._jsparkSession.sessionState()
    analyzer, optimizer = state.analyzer(), state.optimizer()
    places = {
        "HintResolutionRule": analyzer.hintResolutionRules(),
        "ResolutionRule": analyzer.extendedResolutionRules(),
        "PostHocResolutionRule": analyzer.postHocResolutionRules(),
        "CheckRule": analyzer.extendedCheckRules(),
        "OptimizerRule": optimizer.extendedOperatorOptimizationRules(),
        "PreCBORule": optimizer.preCBORules(),
        "PlannerStrategy": state.planner().strategies(),
        "Columnar": state.columnarRules(),
        "QueryStagePrepRule": state.adaptiveRulesHolder().queryStagePrepRules(),
        "PlanNormalizationRule": state.planNormalizationRules(),
    }
    return {place: "io.sash.spark" in rules.toString() for place, rules in places.items()}


def in_a_stream(session: Any) -> dict[str, str]:
    """A window on a stream, and what the session says that Spark has cloned for the stream."""
    directory = tempfile.mkdtemp()
    session.range(4).selectExpr("id", "timestamp_seconds(id) AS ts").write.parquet(
        f"{directory}/rows"
    )
    rows = session.readStream.schema("id BIGINT, ts TIMESTAMP").parquet(f"{directory}/rows")
    rows.withWatermark("ts", "0 seconds").createOrReplaceTempView("rows")
    told: dict[str, str] = {}

    def keep(batch: Any, _: int) -> None:
        told.setdefault("in the stream's session", json.dumps(wrong(answers(batch.sparkSession))))
        counts = sorted(row.n for row in batch.collect())
        told["rows"] = told.get("rows", "") + " ".join(map(str, counts))

    windows = session.sql(
        "SELECT count(*) OVER (PARTITION BY gap_window('2 seconds') ORDER BY ts) AS n FROM rows"
    )
    query = windows.writeStream.foreachBatch(keep).trigger(availableNow=True)
    query.option("checkpointLocation", f"{directory}/state").start().awaitTermination()
    return told


def errors_of_the_parser(session: Any) -> list[str]:
    """The errors that Spark's parser gives, under Spark's own classes and conditions."""
    session.conf.set("spark.sql.scripting.enabled", "true")
    told = []
    for statement in ("SELEC 1", "BEGIN SELECT 1; DECLARE y INT; END"):
        try:
            session.sql(statement)
        except Exception as error:
            told.append(f"{type(error).__name__}: {error}")
    return told


def main() -> None:
    """Make a session with the settings of the first argument, JSON, and print what it says."""
    from pyspark.sql import SparkSession

    import sash

    builder = SparkSession.builder.config(map=json.loads(sys.argv[1]))
    session = sash.configure(builder, streaming=True).getOrCreate()
    told: dict[str, Any] = {"active": sash.is_active(session)}
    sessions = {"session": session}
    if not hasattr(session, "_client"):
        cloned = session._jsparkSession.cloneSession()
        sessions["cloned session"] = SparkSession(session.sparkContext, cloned)
        sessions["new session"] = session.newSession()
        told["stream"] = in_a_stream(session)
        told["errors"] = errors_of_the_parser(session)
    told["wrong"] = {name: wrong(answers(each)) for name, each in sessions.items()}
    if "cloned session" in sessions:
        told["points"] = {name: extension_points(each) for name, each in sessions.items()}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
