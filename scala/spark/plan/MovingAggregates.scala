package io.sash.spark.plan

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Window}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.WINDOW

import io.sash.spark.base.SashConf
import io.sash.spark.kinds.SlidingAggregate
import io.sash.spark.running.MovingAggregate

/**
 * Lets aggregates pass over windows where Spark's analyzer would refuse them: DISTINCT over any
 * frame; median, percentile_cont, percentile_disc and listagg WITHIN GROUP over an ordered one.
 * What Sash cannot run either is left as it is, for Spark to refuse. A FILTER is kept from the
 * optimizer, which would break the window (see `WindowFilter`).
 *
 * @param overStreams whether the windows are those of streams, or all others
 */
private[spark] final case class MovingAggregates(session: SparkSession, overStreams: Boolean)
    extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SashConf.enabled(session)) plan
    else
      plan.resolveOperatorsUpWithPruning(_.containsPattern(WINDOW)) {
        case window: Window if window.resolved && window.child.isStreaming == overStreams =>
          // nothing looks for literals in what is planned while it is analyzed
          val kept = if (overStreams) identity[WindowExpression] _ else filtered _
          window.transformExpressions { case e: WindowExpression => kept(moved(e)) }
      }

  private def filtered(e: WindowExpression): WindowExpression = e.windowFunction match {
    case call: AggregateExpression => e.copy(windowFunction = WindowFilter.keep(call))
    case _                         => e
  }

  private def moved(e: WindowExpression): WindowExpression = e.windowFunction match {
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
    call.isDistinct || (MovingAggregates.isOrdered(call.aggregateFunction) &&
      (spec.orderSpec.nonEmpty || spec.frameSpecification != MovingAggregates.Entire))
}

private[spark] object MovingAggregates {
  private val Entire = SpecifiedWindowFrame(RowFrame, UnboundedPreceding, UnboundedFollowing)

  /** Functions with an order of their own, which Spark takes over whole partitions only. */
  private def isOrdered(f: AggregateFunction): Boolean = f match {
    case _: Median | _: PercentileCont | _: PercentileDisc => true
    case list: ListAgg                                     => list.orderingFilled
    case _                                                 => false
  }
}
