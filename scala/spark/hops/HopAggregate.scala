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
 * An Aggregate over `window(time, size, slide)`, of which Spark's analyzer has made an Expand that
 * copies each row into its windows.
 *
 * @param time in microseconds; a row where it is NULL is in no window
 * @param window the column of the windows
 * @param keys what rows are grouped by, beside it
 * @param calls the aggregates, whose answers are their `resultAttribute`s
 * @param results the Aggregate's, over `window`, the keys and the answers
 * @param child below the Expand
 */
private[spark] final case class HopAggregate(
    hops: HopPanes,
    time: Expression,
    window: Attribute,
    keys: Seq[NamedExpression],
    calls: Seq[AggregateExpression],
    monoids: Seq[AggregateMonoid],
    results: Seq[NamedExpression],
    child: LogicalPlan
)

private[spark] object HopAggregate {

  /** None if it is over no hops; on the left why Spark's own operators answer it. */
  def of(aggregate: Aggregate): Option[Either[String, HopAggregate]] =
    CopiedRows.of(aggregate.child).map { case CopiedRows(time, hops, window, child) =>
      grouped(aggregate).flatMap { case (keys, calls, results) =>
        checked(window, keys, calls, aggregate.groupingExpressions).map { monoids =>
          val others = keys.filterNot(_.exprId == window.exprId)
          HopAggregate(hops, time, window, others, calls, monoids, results, child)
        }
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

  private def checked(
      window: Attribute,
      keys: Seq[NamedExpression],
      calls: Seq[AggregateExpression],
      grouping: Seq[Expression]
  ): Either[String, Seq[AggregateMonoid]] = {
    def isOfWindow(e: Expression) = e.references.exists(_.exprId == window.exprId)
    val others = keys.filterNot(_.exprId == window.exprId)
    lazy val unsorted = others.find(k => !RowOrdering.isOrderable(k.dataType))
    lazy val ofOrder =
      calls.map(_.aggregateFunction).collectFirst { case f @ (_: First | _: Last) =>
        f
      }
    lazy val indistinct = others.find(k => !UnsafeRowUtils.isBinaryStable(k.dataType))
    if (!grouping.exists { case a: Attribute => a.exprId == window.exprId; case _ => false })
      Left("rows are not grouped by the window itself")
    else if (others.exists(isOfWindow) || calls.exists(isOfWindow))
      Left("something beside the grouping reads the window")
    else if (calls.exists(_.isDistinct))
      Left("DISTINCT has no partial that is smaller than its rows")
    else if (ofOrder.nonEmpty)
      Left(s"${ofOrder.get.prettyName} depends on the order in which rows arrive")
    else if (unsorted.nonEmpty)
      Left(
        s"${unsorted.get.sql} is a ${unsorted.get.dataType.typeName}, by which nothing is sorted"
      )
    else if ((others ++ calls).exists(!_.deterministic))
      Left("each copy of a row has another value of what is not deterministic")
    else if (indistinct.nonEmpty)
      Left(s"equal values of ${indistinct.get.sql} may differ in their bytes")
    else monoids(calls)
  }

  private def monoids(calls: Seq[AggregateExpression]): Either[String, Seq[AggregateMonoid]] = {
    val (refused, taken) = calls.map(AggregateMonoid.of).partitionMap(identity)
    refused.headOption
      .map(_.reason)
      .orElse(calls.zip(taken).collectFirst {
        case (c, m) if m.running.nonEmpty =>
          s"${c.aggregateFunction.prettyName} has no partial that is smaller than its rows"
      })
      .toLeft(taken)
  }
}
