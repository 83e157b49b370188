package io.sash.spark.kinds

import org.apache.spark.sql.{AnalysisException, DataFrame}
import org.apache.spark.sql.functions.expr

import io.sash.spark.SashSuite

/** The names of columns that a query does not name. */
class KindNamesSuite extends SashSuite {
  private val order = "ORDER BY id ASC NULLS FIRST"
  private val frame = "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"

  private def kind(of: String): String = s"OVER (PARTITION BY $of $order)"

  private def named(name: String): (String, String) = name -> name

  /** The name of a column, and the column as a user writes it. */
  private val columns = Seq(
    named(s"count(1) ${kind("gap_window(2)")}"),
    named(s"count(1) ${kind("count_window(3)")}"),
    named(s"count(1) ${kind("time_window(2)")}"),
    named(s"sum(id) ${kind("(id % 2), gap_window(2), window_min_periods(2)")}"),
    named(s"(1 + count(1) ${kind("delta_window(id, 2)")})"),
    named(s"sum(id) ${kind("predicate_window(sum(id), total -> (total < 3))")}"),
    s"sliding_agg(sum(id), gap_window(2)) OVER ($order)" ->
      s"sliding_agg(id, 'sum', gap_window(2)) OVER ($order)",
    // Spark's text of a lambda
    s"exists(array(count(1) ${kind("gap_window(2)")}), lambdafunction((namedlambdavariable() IS " +
      "NULL), namedlambdavariable()))" ->
      s"exists(array(count(1) ${kind("gap_window(2)")}), c -> c IS NULL)",
    // the frames of these are in the query, or the default
    named(s"count(1) OVER ($order $frame)"),
    named(s"count(1) OVER (PARTITION BY window_min_periods(2) $order $frame)"),
    named(
      s"count(1) OVER (PARTITION BY window_slide(2) $order ROWS BETWEEN -1 FOLLOWING AND CURRENT " +
        "ROW)"
    )
  )

  for ((name, asked) <- columns) test(name) {
    def check(rows: DataFrame): Unit = assert(rows.columns.toSeq == Seq(name))
    check(spark.sql(s"SELECT $asked FROM range(4)"))
    check(spark.range(4).select(expr(asked)))
    check(spark.sql(s"SELECT * FROM (SELECT $asked FROM range(4))"))
    check(spark.sql(s"SELECT `$name` FROM (SELECT $asked FROM range(4))"))
  }

  test("above GROUP BY") {
    val name = s"sum(count(1)) ${kind("gap_window(2)")}"
    val rows = spark.sql(s"SELECT id, $name FROM range(4) GROUP BY id")
    assert(rows.columns.toSeq == Seq("id", name))
  }

  test("a permanent view names its columns") {
    val error = intercept[AnalysisException](
      spark.sql(s"CREATE VIEW unnamed AS SELECT count(1) ${kind("gap_window(2)")} FROM range(4)")
    )
    assert(error.getCondition == "CREATE_PERMANENT_VIEW_WITHOUT_ALIAS")
  }
}
