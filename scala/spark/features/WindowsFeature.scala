package io.sash.spark.features

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.catalyst.expressions.{Expression, RowNumber}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Window}
import org.apache.spark.sql.execution.SparkPlan

import io.sash.spark.features.status.FeatureName
import io.sash.spark.monoids.Refusal
import io.sash.spark.ordering.KeptSort
import io.sash.spark.plan.{
  CommonBounds,
  MergeWindows,
  WrapMovingAggregates,
  SlidingWindowExec,
  SlidingWindowStrategy
}
import io.sash.spark.python.SlidePythonAggregators
import io.sash.spark.windows.OfSubquery

/** Moving and shrinking frames of OVER, in batch. */
private[spark] object WindowsFeature extends Feature {
  private val guard = new Guard(FeatureName.Windows)

  override def inject(extensions: SparkSessionExtensions): Unit = {
    extensions.injectPlannerStrategy(guard.strategy(SlidingWindowStrategy(_)))
    // frames that Spark's analyzer refuses
    extensions.injectResolutionRule(guard.rule(CommonBounds(_)))
    // aggregates over moving frames that Spark's analyzer refuses
    extensions.injectResolutionRule(guard.rule(WrapMovingAggregates(_, overStreams = false)))
    extensions.injectOptimizerRule(guard.rule(_ => MergeWindows))
    // when Spark moves no window any more
    extensions.injectPreCBORule(guard.rule(SlidePythonAggregators(_)))
  }

  override def explained(plan: SparkPlan): Seq[String] = plan match {
    case s: SlidingWindowExec =>
      s.texts.map(c => s"slides: $c") ++
        s.getTagValue(KeptSort.Tag).map(kept => s"ordering: Spark's sort: ${kept.reason}")
    case p if p.nodeName.contains("Window") =>
      p.logicalLink.filterNot(isOfLimit).flatMap(_.getTagValue(Refusal.Tag)).getOrElse(Nil).map {
        case (call, refusal) => s"left to Spark: $call: ${refusal.reason}"
      }
    case _ => Nil
  }

  /**
   * Whether Spark made the window, for LIMIT in a correlated subquery. No query can have a
   * row_number without ORDER BY.
   */
  private def isOfLimit(plan: LogicalPlan): Boolean = plan match {
    case w: Window =>
      w.windowExpressions.exists(isNumber) &&
      w.orderSpec.forall(_.getTagValue(OfSubquery.Order).nonEmpty)
    case _ => false
  }

  private def isNumber(e: Expression): Boolean = e.exists(_.isInstanceOf[RowNumber])
}
