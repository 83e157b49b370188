package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.sash.spark.base.Filtered
import io.sash.spark.times.Distance

/**
 * Checks for labels at which an end of a range of numbers overflows. In ANSI mode the query fails
 * with Spark's error. Otherwise the end wraps around, and the range has no events.
 *
 * The checks are needed since an [[OffsetRange]] measures distances from the label's number, and
 * never computes the query's own ends.
 */
private[lateral] final class OverflowChecks(all: Seq[CorrelatedAggregate], zone: String) {
  private val conditions = all.map(q => LateralRange.noOverflow(q, LateralRange.of(q, zone)))

  private def fails(condition: Expression): Boolean =
    condition.children.forall(Distance.failsBeyond)

  /** The queries, each with the condition that the label's ends have not wrapped around. */
  val queries: Seq[CorrelatedAggregate] = all.zip(conditions).map { case (query, condition) =>
    query.copy(ofLabel = query.ofLabel ++ condition.filterNot(fails))
  }

  /** All labels, below a filter that fails where the addition of an end does. */
  def over(labels: LogicalPlan): LogicalPlan = {
    val checks = all.zip(conditions).collect {
      case (query, Some(condition)) if fails(condition) =>
        val ofLabel = query.ofLabel.reduceOption(And)
        ofLabel.fold(condition)(If(_, condition, TrueLiteral))
    }
    Filtered(
      checks.distinctBy(_.canonicalized).map(c => Coalesce(Seq(c, TrueLiteral))),
      labels
    )
  }
}
