package io.sash.spark.split

import org.apache.spark.sql.DataFrame

import io.sash.spark.{CheckedExec, CheckedPromises, Explain, RowEquality, SashSuite}
import io.sash.spark.base.SashConf

/** Finds the operators that divide windows, and checks their rows and their promises. */
trait SplitSuite extends SashSuite {

  /** Settings under which 16 tasks answer a window of some thousand rows. */
  protected val inManyTasks: Seq[(String, String)] = Seq(
    SashConf.WindowSplitThreshold.key -> "0",
    "spark.sql.shuffle.partitions" -> "16",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "1KB"
  )

  protected def operators(frame: DataFrame): Seq[SplitWindowExec] =
    collect(frame.queryExecution.executedPlan) { case s: SplitWindowExec => s }

  /** What EXPLAIN says of the windows. */
  protected def told(frame: DataFrame): String =
    new Explain().generateExtendedInfo(frame.queryExecution.executedPlan)

  /** A metric of the frame's operator. */
  protected def metric(frame: DataFrame, name: String): Long =
    operators(frame).head.metrics(name).value

  /**
   * The frame that ran in many tasks.
   *
   * @param without the setting under which the query has the same rows, by default in one task
   */
  protected def divided(
      query: String,
      without: (String, String) = SashConf.WindowSplit.key -> "off"
  ): DataFrame = withClue(s"$query\n") {
    val expected = withSettings(without)(spark.sql(query).collect().toSeq)
    val frame = spark.sql(query)
    val actual = CheckedPromises.whileOn(frame.collect().toSeq)
    assert(operators(frame).size == 1, told(frame))
    collect(frame.queryExecution.executedPlan) { case c: CheckedExec => c }
      .foreach(c => assert(CheckedPromises.broken(c).isEmpty))
    val difference = RowEquality.difference(expected, actual)
    assert(difference.isEmpty, difference.getOrElse(""))
    frame
  }
}
