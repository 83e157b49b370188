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
      val used = AttributeSet.fromAttributeSets(list.map(_.references))
      val asked =
        windows.made.tail.zip(windows.answers).filter { case (a, _) => used.contains(a) }
      // a slot has to hold something
      val (made, answers) = (if (asked.isEmpty) first(windows) else asked).unzip
      if (answers.length == windows.answers.length) project
      else Project(list, windows.copy(answers = answers, made = windows.made.head +: made))
  }

  private def first(windows: HopWindows) = Seq(windows.made(1) -> windows.answers.head)
}
