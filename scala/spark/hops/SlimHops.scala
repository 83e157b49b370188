package io.sash.spark.hops

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * What Spark's optimizer does for its own Aggregate, and not for a node that it does not know: a
 * condition on keys goes below the windows, and answers that nobody reads are left out.
 */
private[spark] object SlimHops extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case filter @ Filter(condition, windows: HopWindows) =>
      val keys = AttributeSet(windows.keys)
      // those behind one that is not deterministic see the rows that it has left
      val (first, rest) = splitConjunctivePredicates(condition).span(_.deterministic)
      val (below, above) =
        first.partition(c => c.references.nonEmpty && c.references.subsetOf(keys))
      below.reduceOption(And(_, _)).fold[LogicalPlan](filter) { ofKeys =>
        val fewer = windows.copy(child = Filter(ofKeys, windows.child))
        (above ++ rest).reduceOption(And(_, _)).fold[LogicalPlan](fewer)(Filter(_, fewer))
      }
    case project @ Project(list, windows: HopWindows) =>
      asked(windows, list).fold[LogicalPlan](project)(Project(list, _))
    case project @ Project(list, filter @ Filter(condition, windows: HopWindows)) =>
      asked(windows, list :+ condition)
        .fold[LogicalPlan](project)(less => Project(list, filter.copy(child = less)))
  }

  /** With just the answers that are read, if that is less; a slot has to hold something. */
  private def asked(windows: HopWindows, read: Seq[Expression]): Option[HopWindows] = {
    val used = AttributeSet.fromAttributeSets(read.map(_.references))
    val all = windows.made.tail.zip(windows.answers)
    val some = all.filter { case (made, _) => used.contains(made) }
    val (made, answers) = (if (some.isEmpty) all.take(1) else some).unzip
    Option.when(answers.length < all.length) {
      windows.copy(answers = answers, made = windows.made.head +: made)
    }
  }
}
