package io.sash.spark.hops

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions
import org.apache.spark.sql.catalyst.planning.PhysicalAggregation
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils

import io.sash.spark.monoids.AggregateMonoid

/**
 * An Aggregate over `window(time, size, slide)`, below which the analysis has copied each row into its
 * windows.
 *
 * @param time in microseconds; a row where it is NULL is in no window
 * @param window the column of the windows
 * @param keys what rows are grouped by, beside it
 * @param calls the aggregates, which have monoids, and whose answers are their `resultAttribute`s
 * @param results the Aggregate's, over `window`, the keys and the answers
 * @param child without the copies
 */
private[spark] final case class HopAggregate(
    hops: HopPanes,
    time: Expression,
    window: Attribute,
    keys: Seq[NamedExpression],
    calls: Seq[AggregateExpression],
    results: Seq[NamedExpression],
    child: LogicalPlan
) {

  /** What the keys are, without their names. */
  def keyValues: Seq[Expression] = keys.map {
    case Alias(e, _) => e
    case e           => e
  }

  /** The rows below that are in windows. */
  def rows: LogicalPlan = Filter((IsNotNull(time) +: beforeEnds).reduce(And), child)

  /** In ANSI mode a time of which some window does not exist is to fail. */
  private def beforeEnds: Seq[Expression] =
    if (hops.isAnsi) Nil
    else
      Seq(
        GreaterThanOrEqual(time, Literal(hops.startOfAll)),
        LessThan(time, Literal(hops.endOfAll))
      )
}

private[spark] object HopAggregate {

  /**
   * None if it is over no hops; on the left why Spark's own operators answer it.
   *
   * @param reason why they would, where it could be taken apart
   */
  def of(aggregate: Aggregate)(
      reason: HopAggregate => Option[String]
  ): Option[Either[String, HopAggregate]] =
    CopiedRows.of(aggregate.child).map { case CopiedRows(time, hops, window, child) =>
      grouped(aggregate).flatMap { case (keys, calls, results) =>
        val others = keys.filterNot(_.exprId == window.exprId)
        val hop = HopAggregate(hops, time, window, others, calls, results, child)
        refusal(hop, aggregate.groupingExpressions).orElse(reason(hop)).toLeft(hop)
      }
    }

  private type Parts = (Seq[NamedExpression], Seq[AggregateExpression], Seq[NamedExpression])

  private def grouped(aggregate: Aggregate): Either[String, Parts] = {
    // the child's plan is left as it is
    val alone = aggregate.withNewChildren(Seq(LocalRelation(aggregate.child.output)))
    ReplaceExpressions(alone) match {
      case PhysicalAggregation(keys, calls, results, _) => Right((keys, calls, results))
      case _ => Left("it is no aggregation that Spark takes apart")
    }
  }

  private def refusal(hop: HopAggregate, grouping: Seq[Expression]): Option[String] = {
    import hop.{calls, keys}
    def isWindow(a: Attribute) = a.exprId == hop.window.exprId
    def isOfWindow(e: Expression) = e.references.exists(isWindow)
    lazy val unsorted = keys.find(k => !RowOrdering.isOrderable(k.dataType))
    lazy val ofOrder =
      calls.map(_.aggregateFunction).collectFirst { case f @ (_: First | _: Last) =>
        f
      }
    lazy val indistinct = keys.find(k => !UnsafeRowUtils.isBinaryStable(k.dataType))
    if (!grouping.exists { case a: Attribute => isWindow(a); case _ => false })
      Some("rows are not grouped by the window itself")
    else if (keys.exists(isOfWindow) || calls.exists(isOfWindow))
      Some("something beside the grouping reads the window")
    else if (calls.exists(_.isDistinct))
      Some("DISTINCT has no partial that is smaller than its rows")
    else if (ofOrder.nonEmpty)
      Some(s"${ofOrder.get.prettyName} depends on the order in which rows arrive")
    else if (unsorted.nonEmpty)
      Some(
        s"${unsorted.get.sql} is a ${unsorted.get.dataType.typeName}, by which nothing is sorted"
      )
    else if ((keys ++ calls).exists(!_.deterministic))
      Some("each copy of a row has another value of what is not deterministic")
    else if (indistinct.nonEmpty)
      Some(s"equal values of ${indistinct.get.sql} may differ in their bytes")
    else calls.flatMap(refusalOf).headOption
  }

  private def refusalOf(call: AggregateExpression): Option[String] =
    AggregateMonoid.of(call) match {
      case Left(refusal) => Some(refusal.reason)
      case Right(monoid) =>
        Option.when(monoid.running.nonEmpty) {
          s"${call.aggregateFunction.prettyName} has no partial that is smaller than its rows"
        }
    }
}
