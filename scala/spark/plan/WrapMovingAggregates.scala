package io.sash.spark.plan

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, Window}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.WINDOW
import org.apache.spark.sql.types._

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
          val isLegal = hasPlaces(window.child) _
          window.transformExpressions {
            case e: WindowExpression if isLegal(e) => kept(moved(e))
          }
      }
}

private[spark] object WrapMovingAggregates extends AliasHelper {
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

  /**
   * False for a list of distinct values in the order of others, with which a value could have
   * several places. Spark refuses it in a GROUP BY, too.
   */
  private def hasPlaces(input: LogicalPlan)(e: WindowExpression): Boolean =
    e.windowFunction match {
      case call: AggregateExpression if call.isDistinct =>
        SlidingAggregate.withoutWindows(call).aggregateFunction match {
          case list: ListAgg if list.orderingFilled =>
            val orders = list.orderExpressions.map(o => written(o.child, input))
            orders.forall(isSame(written(list.child, input), _)) && orders.length == 1
          case _ => true
        }
      case _ => true
    }

  /** An expression before Spark made a column of it below the window. */
  private def written(e: Expression, input: LogicalPlan): Expression = input match {
    case project: Project => replaceAlias(e, getAliasMap(project))
    case _                => e
  }

  /** Whether values are equal to each other just if the values of `order` are. */
  private def isSame(value: Expression, order: Expression): Boolean =
    value.semanticEquals(order) || (value match {
      case Cast(from, _, _, _) => from.semanticEquals(order) && hasOneText(order.dataType)
      case _                   => false
    })

  private def hasOneText(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType | _: DecimalType => true
    case BooleanType | DateType | TimestampNTZType                      => true
    case _                                                              => false
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
