package io.sash.spark.plan

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Window}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.split.SplitWindows

/**
 * Plans the windows that many tasks answer, even for one key. [[SlidingWindowStrategy]], or
 * Spark, plans all others.
 */
private[spark] object SplitStrategy extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case window: Window => planned(window, Nil)
    case Filter(condition, window: Window) =>
      RowConditions.planned(condition, window)(planned(window, _))
    case _ => Nil
  }

  private def planned(window: Window, conditions: Seq[Expression]): Seq[SparkPlan] =
    window match {
      // the other strategy unwraps the conditions of FILTER first
      case w if WindowFilter.released(w).nonEmpty => Nil
      case SplitWindows(expressions) =>
        Seq(
          SplitWindows.planned(
            window,
            expressions,
            conditions,
            planLater(window.child),
            SQLConf.get
          )
        )
      case _ => Nil
    }
}
