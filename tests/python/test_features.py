"""All of Sash runs on the PySpark of this environment, or says which part of it does not."""

from __future__ import annotations

from pyspark.sql import functions as F

from sash.plan import explanation

MOVING = "SELECT sum(id) OVER (PARTITION BY id % 2 ORDER BY id ROWS 1 PRECEDING) s FROM range(6)"


def test_no_feature_is_off(spark):
    """The links of the jar are all there on each version that it is tested with."""
    status = spark._jvm.io.sash.spark.features.status.FeatureStatus
    assert status.lines().mkString("; ") == ""


def test_windows_and_their_order_are_ours(spark):
    frame = spark.sql(MOVING)
    assert sorted(row.s for row in frame.collect()) == [0, 1, 2, 4, 6, 8]
    said = explanation(frame)
    assert "slides: sum(id)" in said
    assert "ordering: hash + adaptive" in said


def test_hops_are_ours(spark):
    times = spark.range(6).select(F.timestamp_seconds("id").alias("ts"))
    frame = times.groupBy(F.window("ts", "4 seconds", "2 seconds")).count()
    assert sorted(row["count"] for row in frame.collect()) == [2, 2, 4, 4]
    assert "hops: count by windows of 2 panes" in explanation(frame)


def test_windows_on_streams_are_ours(spark, tmp_path):
    source, checkpoint = str(tmp_path / "in"), str(tmp_path / "checkpoint")
    # from 1 on: Spark drops a row of 1970-01-01 00:00:00 as late, since a watermark begins there
    times = spark.range(1, 7).select(F.timestamp_seconds("id").alias("ts"), "id")
    times.coalesce(1).write.parquet(source)
    provider = "spark.sql.streaming.stateStore.providerClass"
    store = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    spark.conf.set(provider, store)
    try:
        stream = spark.readStream.schema(times.schema).parquet(source)
        stream.withWatermark("ts", "0 seconds").createOrReplaceTempView("features_stream")
        counts = spark.sql(
            "SELECT id, sum(id) OVER (ORDER BY ts ROWS 1 PRECEDING) s FROM features_stream"
        )
        query = (
            counts.writeStream.format("memory")
            .queryName("features_answers")
            .outputMode("update")
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination(120)
        rows = spark.table("features_answers").collect()
        assert sorted((row.id, row.s) for row in rows) == [
            (1, 1),
            (2, 3),
            (3, 5),
            (4, 7),
            (5, 9),
            (6, 11),
        ]
    finally:
        spark.conf.unset(provider)
