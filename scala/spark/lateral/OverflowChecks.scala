package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.Literal.TrueLiteral
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

import io.sash.spark.base.Filtered
import io.sash.spark.times.Distance

/**
 * Answers for labels at which an end of a range of numbers overflows: Spark's error in ANSI mode.
 * Otherwise the end wraps around, and the range has no events.
 *
 * [[OffsetRange]] measures from the label's place, and never computes the ends that the query
 * says.
 */
private[lateral] final class OverflowChecks(all: Seq[CorrelatedAggregate], zone: String) {
  private val conditions = all.map(q => LateralRange.noOverflow(q, LateralRange.of(q, zone)))

  private def fails(condition: Expression): Boolean =
    condition.children.forall(Distance.failsBeyond)

  /** The queries, with conditions on labels whose ends wrap around. */
  val queries: Seq[CorrelatedAggregate] = all.zip(conditions).map { case (query, condition) =>
    query.copy(ofLabel = query.ofLabel ++ condition.filterNot(fails))
  }

  /** The labels, all of them, unless an end is an error. */
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
