package io.sash.spark.plan

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Window}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.split.SplitWindows

/**
 * Plans the windows that many tasks answer, even for one key. [[SlidingWindowStrategy]] or Spark
 * plans all other windows.
 */
private[spark] object SplitStrategy extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case window: Window => planned(plan, window, Nil)
    case Filter(condition, window: Window) =>
      RowConditions.planned(condition, window)(planned(plan, window, _))
    case _ => Nil
  }

  /** @param plan the window, or the filter above it; it gets the reason as a tag for EXPLAIN */
  private def planned(
      plan: LogicalPlan,
      window: Window,
      conditions: Seq[Expression]
  ): Seq[SparkPlan] = {
    val released = WindowFilter.released(window).getOrElse(window)
    released match {
      case SplitWindows(expressions) =>
        Seq(
          SplitWindows.planned(
            released,
            expressions,
            conditions,
            planLater(window.child),
            SQLConf.get
          )
        )
      case _ =>
        released
          .getTagValue(SplitWindows.OneTask)
          .foreach(plan.setTagValue(SplitWindows.OneTask, _))
        Nil
    }
  }
}
