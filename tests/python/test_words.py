"""Aggregates that users of moving windows asked for, against pandas, in batch and on a stream."""

from __future__ import annotations

import math
import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

import sash
from sash import functions as f
from streaming import ROCKS, to_parquet
from windows import setting

SPAN = timedelta(hours=6)
HALF_LIFE = timedelta(minutes=90)
WINDOW = sash.SlidingWindow.partitionBy("k").orderBy("ts").time(SPAN)


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    drawn = random.Random(37)  # noqa: S311
    times = pd.Timestamp("2026-03-01") + pd.to_timedelta(
        sorted(drawn.sample(range(100_000), 300)), unit="s"
    )
    values = [None if drawn.random() < 0.1 else float(drawn.randint(0, 40)) for _ in times]
    return pd.DataFrame(
        {
            "k": [drawn.choice("ab") for _ in times],
            "ts": times,
            "x": values,
            "s": [drawn.choice("pqrst") for _ in times],
        }
    )


@pytest.fixture(scope="module")
def events(spark: SparkSession, rows: pd.DataFrame) -> DataFrame:
    records = [
        (k, ts.to_pydatetime(), None if pd.isna(x) else x, s)
        for k, ts, x, s in rows.itertuples(index=False)
    ]
    return spark.createDataFrame(records, "k STRING, ts TIMESTAMP, x DOUBLE, s STRING")


def calls() -> dict[str, Column]:
    return {
        "increase": f.counter_increase("x"),
        "rate": f.counter_rate("x", "ts"),
        "cusum": f.cusum(F.col("x") - 20),
        "ewm": f.ewm_mean("x", "ts", HALF_LIFE),
        "ewm_rows": f.ewm_mean_by_rows("x", 0.3),
        "ema": f.ema("x", "ts", "90 minutes"),
        "decayed": f.decayed_sum("x", "ts", HALF_LIFE),
        "rows_decayed": f.decayed_count("ts", HALF_LIFE),
        "funnel": f.funnel(F.col("x") > 30, F.col("x") < 10, F.col("s") == "q"),
        "held": f.time_weighted_avg("x", "ts"),
        "line": f.linear_weighted_avg("x", "ts", SPAN),
        "line_sum": f.linear_weighted_sum("x", "ts", SPAN),
        "held_span": f.time_weighted_avg("x", "ts", F.col("x") + 1, SPAN),
        "first": f.first_n("s", 3),
        "last": f.last_n("s", 3),
        "distinct": f.last_distinct_n("s", 2),
        "max": f.max_n("x", 4),
        "min": f.min_n("x", 4),
        "max_by": f.max_n_by("s", "x", 2),
        "min_by": f.min_n_by("s", "x", 2),
        "counts": f.value_counts("s"),
        "top": f.top_counts("s", 2),
        "entropy": f.entropy("s"),
        "share": f.mode_share("s"),
        "rank": f.rank_in_frame("x"),
        "dense": f.dense_rank_in_frame("x"),
        "percent": f.percent_rank_in_frame("x"),
        "cume": f.cume_dist_in_frame("x"),
    }


def test_weights_are_those_of_pandas(events, rows):
    whole = Window.partitionBy("k").orderBy("ts").rowsBetween(Window.unboundedPreceding, 0)
    moving = Window.partitionBy("k").orderBy("ts").rowsBetween(-49, 0)
    asked = {
        "by_time": f.ewm_mean("x", "ts", HALF_LIFE).over(whole),
        "by_rows": f.ewm_mean_by_rows("x", 0.2).over(whole),
        "moving": f.ewm_mean("x", "ts", HALF_LIFE).over(moving),
        "moving_rows": f.ewm_mean_by_rows("x", 0.2).over(moving),
    }
    answers = events.withColumns(asked).orderBy("k", "ts").toPandas()

    def ewm(part: pd.DataFrame, **by: Any) -> float:
        return float(part["x"].ewm(**by).mean().iloc[-1])

    for _, key in answers.groupby("k"):
        for i in range(len(key)):
            until, last = key.iloc[: i + 1], key.iloc[max(0, i - 49) : i + 1]
            # pandas skips no NaN by time
            of, of_last = until.dropna(subset="x"), last.dropna(subset="x")
            expected = {
                "by_rows": ewm(until, alpha=0.2),
                "moving_rows": ewm(last, alpha=0.2),
                "by_time": ewm(of, halflife=HALF_LIFE, times=of["ts"]) if len(of) else None,
                "moving": ewm(of_last, halflife=HALF_LIFE, times=of_last["ts"])
                if len(of_last)
                else None,
            }
            for name, value in expected.items():
                assert key.iloc[i][name] == pytest.approx(value, rel=1e-9, nan_ok=True), name
    assert len(answers) == len(rows)


def test_decayed_sums_are_those_of_numpy(events, rows):
    asked = {
        "sum": f.decayed_sum("x", "ts", HALF_LIFE).over(WINDOW),
        "count": f.decayed_count("ts", "90 minutes").over(WINDOW),
    }
    answers = events.withColumns(asked).toPandas()
    for _, key in answers.groupby("k"):
        for _, row in key.iterrows():
            age = row["ts"] - key["ts"]
            is_in = (age >= timedelta(0)) & (age <= SPAN)
            weights = 0.5 ** (age[is_in] / HALF_LIFE)
            assert row["count"] == pytest.approx(weights.sum(), rel=1e-9)
            total = (weights * key["x"][is_in]).sum(min_count=1)
            assert row["sum"] == pytest.approx(total, rel=1e-9, nan_ok=True)
    assert len(answers) == len(rows)


def test_a_funnel_within_a_span(events, rows):
    """The greatest answer of a key over windows of a span, as ClickHouse's windowFunnel."""
    steps = [F.col("x") > 30, F.col("x") < 10, F.col("s") == "q", F.col("x") > 30]
    answers = events.select("k", "ts", f.funnel(*steps).over(WINDOW).alias("n"))
    assert "SlidingWindow" in sash.explanation(answers)
    ours = dict(answers.groupBy("k").agg(F.max("n")).collect())
    for k, key in rows.groupby("k"):
        met = [key["x"] > 30, key["x"] < 10, key["s"] == "q", key["x"] > 30]
        best = 0
        for i in range(len(key)):
            level = 0
            for j in range(i, len(key)):
                if key["ts"].iloc[j] - key["ts"].iloc[i] > SPAN:
                    break
                level += level < len(met) and bool(met[level].iloc[j])
            best = max(best, level)
        assert ours[k] == best
    assert set(ours.values()) <= {3, 4}


def test_lines_and_triangles_are_those_of_numpy(events, rows):
    half = SPAN / 2
    by_time = sash.SlidingWindow.partitionBy("k").orderBy("ts")

    def line(of: Column, span: timedelta) -> Column:
        total = f.linear_weighted_sum(of, "ts", span).over(by_time.time(span))
        return F.coalesce(total, F.lit(0.0))

    one = F.when(F.col("x").isNotNull(), 1.0)
    sums, weights = (line(of, SPAN) - line(of, half) for of in (F.col("x"), one))
    asked = {
        "line": f.linear_weighted_avg("x", "ts", SPAN).over(WINDOW),
        "triangle": F.try_divide(sums, weights),
    }
    answers = events.withColumns(asked).toPandas()
    for _, key in answers.groupby("k"):
        for _, row in key.iterrows():
            age = (row["ts"] - key["ts"]) / SPAN
            last = key[(age >= 0) & (age <= 1)].dropna(subset="x")
            if last.empty:
                assert math.isnan(row["line"])
                continue
            age = (row["ts"] - last["ts"]) / SPAN
            # the line falls from the youngest row that has a value
            mean = np.average(last["x"], weights=1 - (age - age.min()))
            assert row["line"] == pytest.approx(mean, rel=1e-9)
            # a triangle of the current row's time wants that row's value
            if not math.isnan(row["x"]) and len(last) > 1:
                heights = np.minimum(age, 1 - age)
                assert row["triangle"] == pytest.approx(np.average(last["x"], weights=heights))
    assert len(answers) == len(rows)


def test_a_row_beyond_the_line_is_an_error(events):
    asked = f.linear_weighted_avg("x", "ts", "1 minute").over(WINDOW)
    with pytest.raises(Exception, match=r"`span` in `linear_weighted_avg` is invalid: a row"):
        events.select(asked).collect()


def test_a_stream_answers_as_a_batch(spark: SparkSession, events: DataFrame, tmp_path: Path):
    asked = {name: call.over(WINDOW) for name, call in calls().items()}
    keyed = sash.SlidingWindow.partitionBy("k").orderBy("ts")
    for closed in ("right", "left", "neither"):
        limited = keyed.time(SPAN, closed).min_periods(5)
        asked |= {f"sum_{closed}": F.sum("x").over(limited)}
    batch = events.select("k", "ts", *(column.alias(n) for n, column in asked.items()))
    (tmp_path / "in").mkdir()
    events.repartitionByRange(4, "ts").write.parquet(str(tmp_path / "in"), mode="overwrite")
    stream = (
        spark.readStream.schema(events.schema)
        .option("maxFilesPerTrigger", 1)
        .parquet(str(tmp_path / "in"))
        .withWatermark("ts", "30 hours")
    )
    answers = stream.select("k", "ts", *(column.alias(n) for n, column in asked.items()))
    # the watermark passes the last row when a later one has come
    later = events.selectExpr("k", "ts + INTERVAL 60 DAYS AS ts", "x", "s").limit(1)
    with setting(spark, "spark.sql.streaming.stateStore.providerClass", ROCKS):
        to_parquet(answers, tmp_path, availableNow=True).awaitTermination(300)
        later.write.parquet(str(tmp_path / "in"), mode="append")
        for _ in range(2):
            to_parquet(answers, tmp_path, availableNow=True).awaitTermination(300)
    given = spark.read.parquet(str(tmp_path / "out"))
    assert text(given) == text(batch)


def text(df: DataFrame) -> list[str]:
    """The rows in order; the last digits of doubles depend on the order of operations."""

    def plain(value: Any) -> str:
        if isinstance(value, dict):
            return str(sorted(value.items()))
        return f"{value:.9g}" if isinstance(value, float) else str(value)

    found = df.orderBy("k", "ts").collect()
    assert found
    return [", ".join(map(plain, row)) for row in found]


def test_hops_answer_as_copies_of_rows(spark: SparkSession, events: DataFrame):
    # rows of a pane come in any order, so no call here depends on it
    asked = [
        column.alias(name)
        for name, column in calls().items()
        if name
        in (
            "ewm",
            "decayed",
            "rows_decayed",
            "line",
            "line_sum",
            "max",
            "min",
            "top",
            "entropy",
            "share",
        )
        or name in ("max_by", "min_by")
    ]

    def answered() -> list[str]:
        hops = events.groupBy("k", F.window("ts", "6 hours", "1 hour").alias("w")).agg(*asked)
        of = hops.select("k", F.col("w.start").alias("ts"), "*").drop("w")
        return text(of)

    ours = answered()
    with setting(spark, "spark.sash.hops.enabled", "false"):
        assert ours == answered()


def test_entropy_is_that_of_duckdb(spark: SparkSession, events: DataFrame, rows: pd.DataFrame):
    duckdb = pytest.importorskip("duckdb")
    spans = "(PARTITION BY k ORDER BY ts ROWS BETWEEN 40 PRECEDING AND 3 PRECEDING)"
    theirs = duckdb.sql(f"SELECT k, ts, entropy(s) OVER {spans} AS e FROM rows").df()
    events.createOrReplaceTempView("counted")
    ours = spark.sql(f"SELECT k, ts, entropy(s) OVER {spans} AS e FROM counted").toPandas()
    both = [frame.sort_values(["k", "ts"])["e"].tolist() for frame in (ours, theirs)]
    # DuckDB has 0 over no rows
    for mine, other in zip(*both, strict=True):
        assert mine == pytest.approx(other) or (math.isnan(mine) and other in (0.0, None))
