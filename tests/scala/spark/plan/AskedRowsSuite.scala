package io.sash.spark.plan

import org.apache.spark.sql.execution.FilterExec
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper

import org.scalatest.tags.Slow

import io.sash.spark.SashSuite

/** A filter above a window is part of the operator, where it reads columns of the rows alone. */
@Slow
final class AskedRowsSuite extends SashSuite with AdaptiveSparkPlanHelper {
  private val Frames = Seq(
    "ROWS 9 PRECEDING",
    "ROWS BETWEEN CURRENT ROW AND 9 FOLLOWING",
    "RANGE BETWEEN 20 PRECEDING AND 1 PRECEDING",
    "ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING"
  )

  private def query(frame: String, condition: String): String =
    s"""SELECT * FROM (
       |  SELECT *, sum(x) OVER (PARTITION BY k ORDER BY t $frame) AS s,
       |    max(x) OVER (PARTITION BY k ORDER BY t $frame) AS m
       |  FROM (SELECT id, id % 3 AS k, id * 7 % 500 AS t, if(id % 5 = 0, NULL, id % 31) AS x,
       |          id % 11 = 0 AS asked FROM range(500)))
       |WHERE $condition""".stripMargin

  private def check(name: String, condition: String, asked: Boolean, above: Int): Unit =
    for (frame <- Frames; codegen <- Seq("true", "false"))
      test(s"$name, $frame, codegen $codegen", each(3): _*) {
        withSettings("spark.sql.codegen.wholeStage" -> codegen) {
          val df = spark.sql(query(frame, condition))
          val rows = df.collect().toSeq
          val plan = df.queryExecution.executedPlan
          val operator = collect(plan) { case w: SlidingWindowExec => w }.head
          assert(operator.conditions.nonEmpty == asked)
          assert(collect(plan) { case f: FilterExec => f }.length == above)
          val left = operator.metrics("numOutputRows").value
          if (above == 0) assert(left == rows.length)
          else assert(left >= rows.length && left < 500 == asked)
          // the filter as Spark's own operator
          val all = spark.sql(query(frame, "true")).localCheckpoint()
          assert(rows.nonEmpty && rows.toSet == all.where(condition).collect().toSet)
        }
      }

  check("a column", "asked", asked = true, above = 0)
  check("a column with NULLs", "x > 15", asked = true, above = 0)
  check(
    "columns and an answer",
    "asked AND (x IS NULL OR x < 20) AND s > 10",
    asked = true,
    above = 1
  )
  check("an answer", "s > 10", asked = false, above = 1)
  check("a row and its answer in one condition", "asked OR s > 150", asked = false, above = 1)
  check(
    "a random number",
    "asked AND monotonically_increasing_id() >= 0",
    asked = true,
    above = 1
  )
  check(
    "a column behind a random number",
    "monotonically_increasing_id() >= 0 AND (x IS NULL OR x > 15)",
    asked = false,
    above = 1
  )

  test("a condition behind one on an answer may rely on it") {
    val query =
      """SELECT * FROM (SELECT *, count(*) OVER (PARTITION BY k ORDER BY t ROWS 1 PRECEDING) AS c
        |  FROM VALUES (1, 1, 0), (1, 2, 5) AS r(k, t, x))
        |WHERE x >= 0 AND c > 1 AND 10 / x > 1 AND t < 9""".stripMargin
    withSettings("spark.sql.ansi.enabled" -> "true") {
      val frame = spark.sql(query)
      assert(frame.collect().map(_.getInt(1)).toSeq == Seq(2))
      val asked = sliding(frame).flatMap(_.conditions).map(_.sql).mkString(" ")
      assert(asked.contains("x") && asked.contains("t") && !asked.contains("/"))
    }
  }

  test("no row is asked") {
    for (frame <- Frames)
      assert(spark.sql(query(frame, "t < 0")).collect().isEmpty)
  }

  test("a row that is not asked raises no error") {
    withSettings("spark.sql.ansi.enabled" -> "true") {
      val sums = """SELECT id, sum(x) OVER (ORDER BY id ROWS 1 PRECEDING) AS s
                   |FROM (SELECT id, if(id < 2, 9223372036854775807L, id) AS x FROM range(6))
                   |""".stripMargin
      val rows = spark.sql(s"SELECT * FROM ($sums) WHERE id > 2").collect()
      assert(rows.map(_.getLong(1)).toSeq == Seq(5L, 7L, 9L))
    }
  }

  test("EXPLAIN tells the condition") {
    val text = spark.sql(query(Frames.head, "asked")).queryExecution.executedPlan.toString
    assert(text.contains("for rows where ") && !text.contains("Filter asked"))
  }
}
