package io.sash.spark.kinds

import org.apache.spark.sql.{AnalysisException, Row}

import io.sash.spark.SashSuite

/** The functions that `sash.on_change` calls: a condition of a window, and the time of leaving. */
class OnChangeFunctionsSuite extends SashSuite {
  private val items =
    "(SELECT id, id % 2 k, id % 3 x, timestamp_seconds(1772773200 + id * 3600) ts FROM range(60))"

  for (factory <- Seq("CODEGEN_ONLY", "NO_CODEGEN"))
    test(s"a time that its type does not have is NULL, $factory") {
      withSettings(
        "spark.sql.codegen.factoryMode" -> factory,
        "spark.sql.codegen.wholeStage" -> (factory == "CODEGEN_ONLY").toString
      ) {
        val ends = Seq(
          "TINYINT" -> 127L,
          "SMALLINT" -> 32767L,
          "INT" -> Int.MaxValue.toLong,
          "BIGINT" -> Long.MaxValue
        )
        for ((name, most) <- ends; after <- Seq(0L, 1L, 2L, Long.MaxValue)) withClue(name) {
          val moved = spark
            .sql(
              s"SELECT CAST(sash.leaving_time(t, ${after}L) AS BIGINT) FROM (SELECT " +
                s"explode(CAST(array(0, $most - 1, NULL) AS ARRAY<$name>)) t)"
            )
            .collect()
            .toSeq
          def sum(t: Long): Any = if (BigInt(t) + after <= most) t + after else null
          assert(moved == Seq(Row(sum(0)), Row(sum(most - 1)), Row(null)))
        }
        val times = "SELECT unix_micros(sash.leaving_time(t, 3L)), " +
          "sash.leaving_time(date_from_unix_date(d), 3L) FROM (SELECT explode(array(" +
          s"timestamp_micros(7), timestamp_micros(${Long.MaxValue - 2}))) t, 2147483646 d)"
        assert(spark.sql(times).collect().toSeq == Seq(Row(10L, null), Row(null, null)))
      }
    }

  test("a condition of a window is the FILTER of its aggregates") {
    for {
      kind <- Seq(
        "count_window(5)",
        "time_window(4, 'left')",
        "predicate_window(sum(x), s -> s < 4)"
      )
      call <- Seq("count(*)", "sum(x) FILTER (WHERE x <> 1)", "median(x)", "count(DISTINCT x)")
    } withClue(s"$call $kind") {
      val conditions = call.replace("sum(x) FILTER (WHERE x <> 1)", "sum(x)")
      val both = if (conditions == call) "id % 4 < 3" else "x <> 1 AND id % 4 < 3"
      val over = s"OVER (PARTITION BY k, $kind"
      val found =
        s"SELECT id, $call $over, window_where(id % 4 < 3) ORDER BY id) AS a FROM $items"
      val filtered =
        s"SELECT id, $conditions FILTER (WHERE $both) $over ORDER BY id) AS a FROM $items"
      val rows = spark.sql(found)
      assert(sliding(rows).nonEmpty)
      assert(rows.collect().toSet == spark.sql(filtered).collect().toSet)
    }
  }

  test("a time has units, which are a BIGINT") {
    for ((call, why) <- Seq("id, 3" -> "BIGINT", "1.5D, 3L" -> "TIMESTAMP"))
      assert(
        intercept[AnalysisException](
          spark.sql(s"SELECT sash.leaving_time($call) FROM range(1)")
        ).getMessage
          .contains(why)
      )
  }

  test("a condition is a BOOLEAN in PARTITION BY") {
    def fails(call: String): String =
      intercept[AnalysisException](spark.sql(s"SELECT $call FROM $items").collect()).getMessage
    assert(fails("sum(x) OVER (PARTITION BY window_where(x) ORDER BY id)").contains("BOOLEAN"))
    assert(
      fails("sliding_agg(x, 'sum', window_where(x > 1)) OVER (ORDER BY id)")
        .contains("it belongs into PARTITION BY; write FILTER")
    )
    assert(
      fails("row_number() OVER (PARTITION BY window_where(x > 1) ORDER BY id)")
        .contains("is about the window of an aggregate")
    )
  }

  test("a window of 24 hours is no day, where a day has 23") {
    withSettings("spark.sql.session.timeZone" -> "America/New_York") {
      for {
        (hours, size) <- Seq("24 hours" -> 24, "35 hours" -> 35)
        (closed, more) <- Seq("right" -> 0, "both" -> 1)
      } withClue(s"$hours $closed") {
        val rows = spark.sql(
          s"SELECT id, count(*) OVER (PARTITION BY time_window(make_interval(0, 0, 0, 0, $size), " +
            s"'$closed') ORDER BY ts) FROM $items"
        )
        assert(sliding(rows).nonEmpty)
        val expected = (0L until 60L).map(id => Row(id, math.min(id + 1, size.toLong + more)))
        assert(rows.collect().sortBy(_.getLong(0)).toSeq == expected)
      }
    }
  }
}
