package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.{AllTuples, Distribution}
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SparkPlan}

import io.sash.spark.base.SparkVersions

/**
 * What a window needs of the order of its rows: each key's rows together, by `within`, and the
 * keys in no order. Every sort by the keys, in whatever sequence and direction, and then by
 * `within` gives it, and so does [[OrderingExec]]; `Seq[SortOrder]`, in which Spark's operators
 * promise, has no word for it.
 */
private[spark] final case class KeyOrder(keys: Seq[Expression], within: Seq[SortOrder]) {

  /** Where the rows of a key have to be: in one partition, and without keys all are. */
  def distribution: Distribution =
    if (keys.isEmpty) AllTuples else SparkVersions.clusteredDistribution(keys)

  /** Spark's sort for it. */
  def sorted: Seq[SortOrder] = sortedKeys ++ within

  def sortedKeys: Seq[SortOrder] = keys.map(SortOrder(_, Ascending))

  /** Whether a plan's rows come so: where they have to be, else they would be shuffled once more. */
  def isGivenBy(plan: SparkPlan): Boolean =
    plan.outputPartitioning.satisfies(distribution) && isKeptBy(plan)

  /** Whether the rows of each partition come so, by what a plan promises or by the step below it. */
  private def isKeptBy(plan: SparkPlan): Boolean = isGivenBy(plan.outputOrdering) || (plan match {
    case step: OrderingExec   => isGivenBy(step.keyOrder)
    case window: KeptOrder    => isKeptBy(window.child)
    case project: ProjectExec => !KeyOrder.computes(project, sorted) && isKeptBy(project.child)
    case filter: FilterExec   => isKeptBy(filter.child)
    case _                    => false
  })

  def isGivenBy(sort: Seq[SortOrder]): Boolean = {
    val (first, rest) = sort.splitAt(keys.length)
    first.length == keys.length && isOfAllKeys(
      first.map(o => o.child +: o.sameOrderExpressions.toSeq)
    ) &&
    SortOrder.orderingSatisfies(rest, within)
  }

  private def isGivenBy(other: KeyOrder): Boolean =
    keys.length == other.keys.length && isOfAllKeys(other.keys.map(Seq(_))) &&
      SortOrder.orderingSatisfies(other.within, within)

  /** Whether each of the columns is another key. */
  private def isOfAllKeys(columns: Seq[Seq[Expression]]): Boolean =
    keys.forall(k => columns.exists(_.exists(k.semanticEquals))) &&
      columns.forall(_.exists(c => keys.exists(c.semanticEquals)))

  /**
   * A sort that gives this order and satisfies another that is asked for, if there is one: of the
   * keys as they stand there, those that it leaves out behind them, and then `within`.
   */
  def sortedBy(asked: Seq[SortOrder]): Option[Seq[SortOrder]] = {
    val byKeys = asked.takeWhile(o => keys.exists(o.child.semanticEquals))
    val others = keys.filterNot(k => byKeys.exists(_.child.semanticEquals(k)))
    val extended = byKeys ++ others.map(SortOrder(_, Ascending)) ++ within
    Seq(asked, extended).find(s => isGivenBy(s) && SortOrder.orderingSatisfies(s, asked))
  }
}

private[spark] object KeyOrder {

  /** Whether a projection computes a column of an order anew, be it under the same expression ID. */
  def computes(project: ProjectExec, order: Seq[SortOrder]): Boolean = {
    val columns = AttributeSet(order)
    project.projectList.exists {
      case alias: Alias => columns.contains(alias.toAttribute)
      case _            => false
    }
  }
}
