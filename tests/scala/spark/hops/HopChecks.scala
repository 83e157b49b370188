package io.sash.spark.hops

import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.Assertion

import io.sash.spark.{Explain, SashSuite}
import io.sash.spark.base.SashConf

/** Runs hops with and without Sash, and compares the rows. */
trait HopChecks extends SashSuite {
  protected def events: DataFrame = spark.sql("""
    SELECT id, nullif(id * 7 % 5, 4) AS k, id % 3 AS g,
      IF(id % 31 = 0, NULL,
        timestamp_millis(1600000000000 + (id * 7919 % 900) * 333 + IF(id % 17 = 0, 4000000, 0))) AS ts,
      nullif(id * 31 % 100, 5) AS x, (id * 13 % 64) / 8D AS d, char(97 + id % 26) AS s,
      CAST(id % 50 AS DECIMAL(10, 2)) AS m
    FROM range(600)""")

  protected def rowsOf(frame: DataFrame): Seq[String] =
    frame.collect().map(said).sorted.toSeq

  /** Sums of floats may differ in their last bits. */
  private def said(value: Any): String = value match {
    case d: Double if Math.abs(d) < 1e-9 => if (1 / d == Double.NegativeInfinity) "-0" else "0"
    case d: Double                       => f"$d%.9e"
    case bytes: Array[Byte]              => bytes.mkString("bytes ", " ", "")
    case row: Row                        => row.toSeq.map(said).mkString("[", ",", "]")
    case several: collection.Seq[_]      => several.map(said).mkString("(", ",", ")")
    case other                           => String.valueOf(other)
  }

  protected def hopsOf(frame: DataFrame): Seq[HopWindowsExec] =
    collectWithSubqueries(frame.queryExecution.executedPlan) { case h: HopWindowsExec => h }

  protected def withHops[T](on: Boolean)(body: => T): T =
    withSettings(SashConf.HopsEnabled.key -> on.toString)(body)

  protected def check(query: String): Assertion = checkFrame(query)(spark.sql(query))

  /** The same over windows that are made below the aggregate, of which the query reads a column. */
  protected def below(query: String, window: String): String =
    query
      .replace(window, "window")
      .replaceAll("FROM events\\b", s"FROM (SELECT *, $window FROM events)")

  /** Both, the latter interpreted. */
  protected def checkBoth(query: String, window: String): Assertion = {
    check(query)
    withSettings("spark.sql.codegen.factoryMode" -> "NO_CODEGEN")(check(below(query, window)))
  }

  protected def checkFrame(clue: String)(query: => DataFrame): Assertion = withClue(clue) {
    events.createOrReplaceTempView("events")
    def run(on: Boolean) = withHops(on) {
      val frame = query
      (frame.schema, rowsOf(frame), hopsOf(frame))
    }
    val (schema, expected, none) = run(on = false)
    val (ownSchema, actual, some) = run(on = true)
    assert(none.isEmpty && some.nonEmpty, "vacuous: no operator of Sash ran")
    assert(expected.nonEmpty, "vacuous: no row")
    assert(ownSchema == schema)
    assert(actual == expected)
  }

  /** Spark's operators run, in Spark's own plan, and EXPLAIN says why. */
  protected def checkLeft(query: String, why: String): Assertion = withClue(query) {
    events.createOrReplaceTempView("events")
    val frame = spark.sql(query)
    val (expected, plan) = withHops(on = false) {
      val sparks = spark.sql(query)
      (rowsOf(sparks), sparks.queryExecution.optimizedPlan)
    }
    assert(rowsOf(frame) == expected)
    assert(hopsOf(frame).isEmpty)
    assert(frame.queryExecution.optimizedPlan.sameResult(plan))
    val said = new Explain().generateExtendedInfo(frame.queryExecution.executedPlan)
    if (why.nonEmpty) assert(said.contains("hops left to Spark") && said.contains(why))
    succeed
  }
}
