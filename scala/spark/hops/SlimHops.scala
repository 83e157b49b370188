package io.sash.spark.hops

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule

import io.sash.spark.base.Filtered

/**
 * Optimizes HopWindows as Spark's optimizer does an Aggregate, since it does not know this node.
 * A condition on keys moves below the windows. A condition on windows becomes `condition`, so
 * that other windows are never made. If aggregates can fail, they do not read the rows of other
 * windows. Answers that nobody reads are removed.
 */
private[spark] object SlimHops extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.transform {
    case filter @ Filter(condition, windows: HopWindows) =>
      // conditions after a nondeterministic one must only see the rows that it keeps
      val (first, rest) = splitConjunctivePredicates(condition).span(_.deterministic)
      val (ofKeys, others) = first.partition(reads(_, windows.keys))
      val (ofWindows, ofAnswers) = others.partition { c =>
        reads(c, windows.keys :+ windows.results.head) && !isPlanned(c)
      }
      if (ofKeys.isEmpty && ofWindows.isEmpty) filter
      else {
        val asked = if (ofWindows.isEmpty) Nil else windows.condition.toSeq ++ ofWindows
        val fewer = windows.copy(
          condition = (windows.condition ++ ofWindows).reduceOption(And),
          child = Filtered(ofKeys ++ ofPanes(windows, asked), windows.child)
        )
        Filtered(ofAnswers ++ rest, fewer)
      }
    case project @ Project(list, windows: HopWindows) =>
      withAnswers(windows, list).fold[LogicalPlan](project)(Project(list, _))
    case project @ Project(list, filter @ Filter(condition, windows: HopWindows)) =>
      withAnswers(windows, list :+ condition)
        .fold[LogicalPlan](project)(less => Project(list, filter.copy(child = less)))
  }

  private def ofPanes(windows: HopWindows, conditions: Seq[Expression]): Seq[Expression] =
    new PaneConditions(windows.results.head, windows.window.pane, windows.window.hops)
      .of(conditions, exactly = PaneConditions.canFail(aggregated(windows.child)))

  /** The expressions that are computed for rows between `plan` and the rows' own plan. */
  private def aggregated(plan: LogicalPlan): Seq[Expression] = plan match {
    case _: Aggregate | _: Project => plan.expressions ++ plan.children.flatMap(aggregated)
    case _: Filter                 => plan.children.flatMap(aggregated)
    case _                         => Nil
  }

  /** Whether a part of the condition, such as a subquery, has to be planned by Spark. */
  private def isPlanned(condition: Expression): Boolean = condition.exists {
    case _: Attribute => false
    case e            => e.isInstanceOf[Unevaluable]
  }

  private def reads(condition: Expression, columns: Seq[Attribute]): Boolean =
    condition.references.nonEmpty && condition.references.subsetOf(AttributeSet(columns))

  /**
   * The windows with only the answers that are read; none if all are read. One answer stays in
   * any case, since a slot has to hold something.
   */
  private def withAnswers(windows: HopWindows, read: Seq[Expression]): Option[HopWindows] = {
    val used = AttributeSet.fromAttributeSets(read.map(_.references))
    val all = windows.results.tail.zip(windows.answers)
    val some = all.filter { case (result, _) => used.contains(result) }
    val (results, answers) = (if (some.isEmpty) all.take(1) else some).unzip
    Option.when(answers.length < all.length) {
      windows.copy(answers = answers, results = windows.results.head +: results)
    }
  }
}
