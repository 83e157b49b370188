package io.sash.spark.hops

import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.catalyst.optimizer.ReplaceExpressions
import org.apache.spark.sql.catalyst.planning.PhysicalAggregation
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.types._

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
  def of(aggregate: Aggregate): Option[Either[String, HopAggregate]] = aggregate.child match {
    case Filter(_, Expand(projections, window +: rest, child))
        if isWindow(window) && projections.length > 1 && rest == child.output =>
      hopsOf(projections.map(_.head)).map { case (time, hops) =>
        grouped(aggregate).flatMap { case (keys, calls, results) =>
          checked(window, keys, calls, aggregate.groupingExpressions).map { monoids =>
            val others = keys.filterNot(_.exprId == window.exprId)
            HopAggregate(hops, time, window, others, calls, monoids, results, child)
          }
        }
      }
    case _ => None
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
    lazy val indistinct = others.find(k => !UnsafeRowUtils.isBinaryStable(k.dataType))
    if (!grouping.exists { case a: Attribute => a.exprId == window.exprId; case _ => false })
      Left("rows are not grouped by the window itself")
    else if (others.exists(isOfWindow) || calls.exists(isOfWindow))
      Left("something beside the grouping reads the window")
    else if (calls.exists(_.isDistinct))
      Left("DISTINCT has no partial that is smaller than its rows")
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

  private def isWindow(a: Attribute): Boolean = a.metadata.contains(TimeWindow.marker)

  /** The windows, from the structs of a row's copies: what they are for some times. */
  private def hopsOf(copies: Seq[Expression]): Option[(Expression, HopPanes)] = {
    val times = copies.flatMap(_.collect {
      case PreciseTimestampConversion(time, TimestampType | TimestampNTZType, LongType) => time
    })
    times.headOption.filter(t => times.forall(_.semanticEquals(t))).flatMap { time =>
      def at(copy: Expression, micros: Long): (Long, Long) = {
        val row = copy.transform {
          case e if e.semanticEquals(time) => Literal(micros, e.dataType)
        }
        val window = row.eval().asInstanceOf[org.apache.spark.sql.catalyst.InternalRow]
        (window.getLong(0), window.getLong(1))
      }
      val (start, end) = at(copies.head, 0L)
      val hops = HopPanes(end - start, start - at(copies(1), 0L)._1, start)
      // what each copy of a row says has to be what the panes say
      val isSo = hops.slide > 0 && hops.overlapping == copies.length && Seq(0L, 1L, -1L).forall {
        n =>
          val last = hops.lastWindowOf(hops.paneOf(n))
          Seq(0, copies.length - 1).forall { i =>
            at(copies(i), n) == (hops.startOf(last - i) -> hops.endOf(last - i))
          }
      }
      val micros = PreciseTimestampConversion(time, time.dataType, LongType)
      if (isSo) Some((micros, hops.sinceEpoch)) else None
    }
  }
}
