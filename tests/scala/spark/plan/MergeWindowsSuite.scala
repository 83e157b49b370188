package io.sash.spark.plan

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.Window
import org.apache.spark.sql.expressions.{Window => Over, WindowSpec}
import org.apache.spark.sql.functions._

import io.sash.spark.SashSuite

/** Chains of withColumn over one partition and order become one operator, with the same rows. */
final class MergeWindowsSuite extends SashSuite {
  private def rows: DataFrame =
    spark.range(200).selectExpr("id", "id % 3 AS k", "id * 7 % 50 AS t", "id * 13 % 31 AS x")

  private def over(rows: Int): WindowSpec =
    Over.partitionBy("k").orderBy("t", "id").rowsBetween(-rows, 0)

  private def windows(frame: DataFrame): Int =
    frame.queryExecution.optimizedPlan.collect { case w: Window => w }.length

  private def check(name: String, operators: Int)(query: DataFrame => DataFrame): Unit =
    test(name) {
      assert(windows(query(rows)) == operators)
      checkSlides(query(rows))
    }

  check("inputs that are computed", operators = 1) { rows =>
    (1 to 8).foldLeft(rows)((df, n) => df.withColumn(s"f$n", sum(col("x") * n).over(over(n))))
  }

  check("an answer that is only passed on, and one that is computed with", operators = 1) {
    rows =>
      rows
        .withColumn("a", sum(col("x") + 1).over(over(2)))
        .withColumn("b", col("a") * 2)
        .withColumn("c", max(col("x") - 1).over(over(5)))
        .select(col("id"), col("b"), col("c"))
  }

  check("a window over another's answer", operators = 2) { rows =>
    rows
      .withColumn("a", sum(col("x") + 1).over(over(2)))
      .withColumn("b", max(col("a") + 1).over(over(5)))
      .withColumn("c", min(col("x") + 1).over(over(3)))
  }

  check("another order", operators = 2) { rows =>
    rows
      .withColumn("a", sum(col("x") + 1).over(over(2)))
      .withColumn(
        "b",
        sum(col("x") + 2).over(Over.partitionBy("k").orderBy("id").rowsBetween(-1, 0))
      )
  }

  check("a column that hides the order's own", operators = 2) { rows =>
    rows
      .withColumn("a", sum(col("x") + 1).over(over(2)))
      .withColumn("t", -col("t"))
      .withColumn("b", sum(col("x") + 2).over(over(2)))
  }

  check("a random input is not moved", operators = 2) { rows =>
    rows
      .withColumn("a", sum(col("x") + 1).over(over(2)))
      .withColumn("u", rand(1) * 0)
      .withColumn("b", sum(col("u") + 2).over(over(2)))
  }
}
