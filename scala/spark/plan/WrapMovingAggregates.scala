package io.sash.spark.plan

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Window}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.WINDOW

import io.sash.spark.base.SashConf
import io.sash.spark.kinds.SlidingAggregate
import io.sash.spark.multisets.MovingAggregate

/**
 * Allows aggregates over windows that Spark's analyzer would refuse: DISTINCT over any frame, and
 * median, percentile_cont, percentile_disc and listagg WITHIN GROUP over an ordered one. If Sash
 * cannot run an aggregate either, it stays unchanged, and Spark refuses it. In batch, a
 * `WindowFilter` hides each FILTER from the optimizer, which could break the window.
 *
 * @param overStreams whether the rule applies to windows over streams, or to all others
 */
private[spark] final case class WrapMovingAggregates(session: SparkSession, overStreams: Boolean)
    extends Rule[LogicalPlan] {
  import WrapMovingAggregates._

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.enabled(session)) plan
    else
      plan.resolveOperatorsUpWithPruning(_.containsPattern(WINDOW)) {
        case window: Window if window.resolved && window.child.isStreaming == overStreams =>
          // windows over streams are planned during analysis, before the optimizer
          val kept = if (overStreams) identity[WindowExpression] _ else filtered _
          window.transformExpressions { case e: WindowExpression => kept(moved(e)) }
      }
}

private[spark] object WrapMovingAggregates {
  private val Entire = SpecifiedWindowFrame(RowFrame, UnboundedPreceding, UnboundedFollowing)

  /** Hides the condition of FILTER from the optimizer. */
  def filtered(e: WindowExpression): WindowExpression = e.windowFunction match {
    case call: AggregateExpression => e.copy(windowFunction = WindowFilter.keep(call))
    case _                         => e
  }

  /** Replaces an aggregate that Spark refuses over windows by one that it allows. */
  def moved(e: WindowExpression): WindowExpression = e.windowFunction match {
    case call: AggregateExpression if isRefused(call, e.windowSpec) =>
      moving(call.aggregateFunction, call.isDistinct).fold(e) { moving =>
        e.copy(windowFunction = call.copy(aggregateFunction = moving, isDistinct = false))
      }
    case _ => e
  }

  private def moving(f: AggregateFunction, distinct: Boolean): Option[AggregateFunction] =
    f match {
      case s: SlidingAggregate => moving(s.function, distinct).map(of => s.copy(function = of))
      case _                   => MovingAggregate.of(f, distinct)
    }

  private def isRefused(call: AggregateExpression, spec: WindowSpecDefinition): Boolean =
    call.isDistinct || (isOrdered(call.aggregateFunction) &&
      (spec.orderSpec.nonEmpty || spec.frameSpecification != Entire))

  /**
   * Whether the function orders its input itself. Spark accepts it over whole partitions alone.
   */
  private def isOrdered(f: AggregateFunction): Boolean = f match {
    case _: Median | _: PercentileCont | _: PercentileDisc => true
    case list: ListAgg                                     => list.orderingFilled
    case _                                                 => false
  }
}
