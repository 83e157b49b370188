package io.sash.spark.split

import org.apache.spark.sql.DataFrame

import io.sash.spark.SashSuite
import io.sash.spark.base.SashConf

/** Finds the operators that divide windows. */
trait SplitSuite extends SashSuite {

  /** Settings under which 16 tasks answer a window of some thousand rows. */
  protected val inManyTasks: Seq[(String, String)] = Seq(
    SashConf.WindowSplitThreshold.key -> "0",
    "spark.sql.shuffle.partitions" -> "16",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "1KB"
  )

  protected def operators(frame: DataFrame): Seq[SplitWindowExec] =
    collect(frame.queryExecution.executedPlan) { case s: SplitWindowExec => s }
}
