package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.physical.{AllTuples, Distribution}
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SparkPlan}

import io.sash.spark.base.SparkVersions

/**
 * The order of rows that a window needs: each key's rows together and sorted by `within`, and the
 * keys in any order. A sort by the keys, in any sequence and direction, and then by `within`
 * gives this order; so does [[OrderingExec]]. Spark's `Seq[SortOrder]` cannot express it.
 */
private[spark] final case class KeyOrder(keys: Seq[Expression], within: Seq[SortOrder]) {

  /** The rows of a key have to be in one partition. Without keys, all rows have to be. */
  def distribution: Distribution =
    if (keys.isEmpty) AllTuples else SparkVersions.clusteredDistribution(keys)

  /** Spark's sort that gives this order: by keys, and then by `within`. */
  def sorted: Seq[SortOrder] = sortedKeys ++ within

  def sortedKeys: Seq[SortOrder] = keys.map(SortOrder(_, Ascending))

  /**
   * Whether a plan gives this order in the right partitions. Otherwise the rows would be shuffled
   * once more, which loses the order.
   */
  def isGivenBy(plan: SparkPlan): Boolean =
    plan.outputPartitioning.satisfies(distribution) && isKeptBy(plan)

  /**
   * Whether each partition of a plan has this order, by the plan's own promise or by an
   * [[OrderingExec]] below it.
   */
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

  /** Whether the columns are exactly the keys, in any sequence. */
  private def isOfAllKeys(columns: Seq[Seq[Expression]]): Boolean =
    keys.forall(k => columns.exists(_.exists(k.semanticEquals))) &&
      columns.forall(_.exists(c => keys.exists(c.semanticEquals)))

  /**
   * A sort that gives this order and satisfies `asked`; none if there is no such sort. It is
   * `asked` itself, or the keys with which `asked` begins, then the other keys, then `within`.
   */
  def sortedBy(asked: Seq[SortOrder]): Option[Seq[SortOrder]] = {
    val byKeys = asked.takeWhile(o => keys.exists(o.child.semanticEquals))
    val others = keys.filterNot(k => byKeys.exists(_.child.semanticEquals(k)))
    val extended = byKeys ++ others.map(SortOrder(_, Ascending)) ++ within
    Seq(asked, extended).find(s => isGivenBy(s) && SortOrder.orderingSatisfies(s, asked))
  }
}

private[spark] object KeyOrder {

  /**
   * Whether a projection computes a column of the order anew, even under the same expression ID.
   */
  def computes(project: ProjectExec, order: Seq[SortOrder]): Boolean = {
    val columns = AttributeSet(order)
    project.projectList.exists {
      case alias: Alias => columns.contains(alias.toAttribute)
      case _            => false
    }
  }
}
