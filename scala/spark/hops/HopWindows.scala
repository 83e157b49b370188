package io.sash.spark.hops

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan, Statistics, UnaryNode}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.types.DataType

import io.sash.spark.base.SashConf
import io.sash.spark.multisets.MovingAggregate

/**
 * Answers hop windows from the partial aggregates of panes. Input: at most one row per (keys,
 * pane). Output: one row per (keys, window) that contains a pane and meets `condition`.
 */
private[hops] trait OverPanes[P <: QueryPlan[P]] extends QueryPlan[P] {
  self: P =>
  def keys: Seq[Attribute]

  def window: WindowOfPanes

  def answers: Seq[AnswerOfPanes]

  /** The window's column, then the columns of the answers. */
  def results: Seq[Attribute]

  /** The condition on keys and windows; windows that fail it are not made. */
  def condition: Option[Expression]

  override def output: Seq[Attribute] = keys ++ results

  override def producedAttributes: AttributeSet = AttributeSet(results)
}

private[spark] final case class HopWindows(
    keys: Seq[Attribute],
    window: WindowOfPanes,
    answers: Seq[AnswerOfPanes],
    results: Seq[Attribute],
    condition: Option[Expression],
    child: LogicalPlan
) extends UnaryNode
    with OverPanes[LogicalPlan] {

  /** The size if each pane were in all of its windows, since the output may be that large. */
  override def stats: Statistics = {
    if (statsCache.isEmpty) {
      val windows = super.stats.sizeInBytes * window.hops.overlapping
      statsCache = Some(Statistics(sizeInBytes = windows))
    }
    statsCache.get
  }

  override protected def withNewChildInternal(newChild: LogicalPlan): HopWindows =
    copy(child = newChild)
}

/** The window of panes, as the struct of its start and its end. */
private[spark] final case class WindowOfPanes(
    child: Expression,
    hops: HopPanes,
    dataType: DataType
) extends UnaryExpression
    with Unevaluable {

  /** The column of panes. */
  def pane: Attribute = child.asInstanceOf[Attribute]

  override protected def withNewChildInternal(newChild: Expression): WindowOfPanes =
    copy(child = newChild)
}

/**
 * The answer of an aggregate over the panes of a window.
 *
 * @param partial the partial aggregate of a pane: see `PanePartial.over`
 * @param function the aggregate, without columns of the child: see `AnswerOfPanes.ofNoRow`
 */
private[spark] final case class AnswerOfPanes(
    partial: Expression,
    function: AggregateFunction
) extends BinaryExpression
    with Unevaluable {

  /** The aggregate's name, for EXPLAIN. */
  def name: String = function match {
    case m: MovingAggregate if m.distinct => s"${m.prettyName} DISTINCT"
    case other                            => other.prettyName
  }

  override def left: Expression = partial

  override def right: Expression = function

  override def dataType: DataType = function.dataType

  override def nullable: Boolean = function.nullable

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression
  ): AnswerOfPanes = copy(newLeft, newRight.asInstanceOf[AggregateFunction])
}

private[spark] object AnswerOfPanes {

  /**
   * The function with placeholders for its arguments, since only its expressions over partials
   * are used.
   */
  def ofNoRow(function: AggregateFunction): AggregateFunction =
    function
      .mapChildren {
        case order: SortOrder =>
          order.copy(child = ofNoRow(order.child), sameOrderExpressions = Nil)
        case argument => ofNoRow(argument)
      }
      .asInstanceOf[AggregateFunction]

  private def ofNoRow(argument: Expression): Expression =
    if (argument.foldable) argument
    else BoundReference(0, argument.dataType, argument.nullable)
}

/** Plans [[HopWindowsExec]]. */
private[spark] final class HopStrategy(session: SparkSession) extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case HopWindows(keys, window, answers, results, condition, child) =>
      val below = panes(child, window.pane)
      val forced = SashConf.algorithm(session.sessionState.conf)
      Seq(HopWindowsExec(keys, window, answers, results, condition, forced, below))
    case _ => Nil
  }

  /**
   * Plans the aggregation by keys and pane. The exchange between its halves is by the keys alone,
   * so that it puts all panes of a key into one partition, as the windows need.
   */
  private def panes(child: LogicalPlan, pane: Attribute): SparkPlan = child match {
    case aggregate: Aggregate =>
      // neither the pane, nor constants, which become columns above the aggregation
      val keys = aggregate.aggregateExpressions.collect {
        case a: Attribute if a.exprId != pane.exprId => a.exprId
      }.toSet
      session.sessionState.planner.Aggregation(aggregate).head.transform {
        case half: BaseAggregateExec if half.requiredChildDistributionExpressions.isDefined =>
          half.makeCopy(
            half.productElementNames
              .zip(half.productIterator)
              .map {
                case ("requiredChildDistributionExpressions", Some(by: Seq[_])) =>
                  Some(by.collect { case a: Attribute if keys(a.exprId) => a })
                case (_, other) => other.asInstanceOf[AnyRef]
              }
              .toArray
          )
      }
    case other => planLater(other)
  }
}
