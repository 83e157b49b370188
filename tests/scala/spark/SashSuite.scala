package io.sash.spark

import scala.collection.mutable

import org.apache.spark.sql.{AnalysisException, DataFrame, Row, SparkSession}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.scalatest.{Assertion, Tag}
import org.scalatest.funsuite.AnyFunSuite

import io.sash.spark.base.SashConf
import io.sash.spark.plan.SlidingWindowExec

/** A suite over a session with Sash: runs a query with Sash on and off and compares the rows. */
trait SashSuite extends AnyFunSuite with AdaptiveSparkPlanHelper {
  protected def spark: SparkSession = SashSession.shared

  private val alike = mutable.Map.empty[Int, Int]

  /**
   * The tags of one of many tests that a loop makes: the first, and every n-th from there on, are
   * in the sample, and the others are thorough. Each line that asks counts for itself.
   */
  protected def each(n: Int): Seq[Tag] = {
    val line = StackWalker.getInstance.walk { frames =>
      frames.dropWhile(_.getMethodName.startsWith("each")).findFirst.get.getLineNumber
    }
    val before = alike.getOrElse(line, 0)
    alike(line) = before + 1
    if (before % n == 0) Nil else Seq(Thorough)
  }

  protected def withSettings[T](settings: (String, String)*)(body: => T): T = {
    val conf = spark.conf
    val before = settings.map { case (key, _) => (key, conf.getOption(key)) }
    settings.foreach { case (key, value) => conf.set(key, value) }
    try body
    finally before.foreach { case (key, value) => value.fold(conf.unset(key))(conf.set(key, _)) }
  }

  protected def withSash[T](enabled: Boolean)(body: => T): T =
    withSettings(SashConf.Enabled.key -> enabled.toString)(body)

  /** The operators that ran, after adaptive execution has settled on them. */
  protected def sliding(plan: SparkPlan): Seq[SlidingWindowExec] =
    collect(plan) { case s: SlidingWindowExec => s }

  protected def sliding(frame: DataFrame): Seq[SlidingWindowExec] =
    sliding(frame.queryExecution.executedPlan)

  private def run(query: => DataFrame, enabled: Boolean): (Seq[Row], Seq[SlidingWindowExec]) =
    withSash(enabled) {
      val frame = known(query)
      val rows = frame.collect().toSeq
      (rows, sliding(frame))
    }

  /**
   * With Sash off none of its functions is known: what calls one is analyzed with Sash on, and
   * Spark runs it.
   */
  protected def known(query: => DataFrame): DataFrame =
    try query
    catch {
      case e: AnalysisException if e.getCondition == "UNRESOLVED_ROUTINE" =>
        withSash(enabled = true)(query)
    }

  /** Same rows with Sash on and off, and it was Sash's operator that made them. */
  protected def checkSlides(query: => DataFrame): Assertion = {
    val (expected, none) = run(query, enabled = false)
    val (actual, some) = run(query, enabled = true)
    assert(none.isEmpty, "a switched-off Sash planned its operator")
    assert(some.nonEmpty, "vacuous: no operator of Sash ran")
    val difference = RowEquality.difference(expected, actual)
    assert(difference.isEmpty, difference.getOrElse(""))
  }

  protected def checkSlides(query: String): Assertion =
    withClue(s"$query\n")(checkSlides(spark.sql(query)))

  /** Same error with Sash on and off; answers its error condition. */
  protected def checkFails(query: String): String = {
    def failure(enabled: Boolean): String =
      withSash(enabled)(
        ErrorCondition.of(intercept[Throwable](known(spark.sql(query)).collect()))
      )
    withClue(s"$query\n") {
      val expected = failure(enabled = false)
      assert(failure(enabled = true) == expected)
      expected
    }
  }
}
