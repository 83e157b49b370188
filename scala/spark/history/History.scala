package io.sash.spark.history

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution._

import io.sash.spark.base.PassesRows

/**
 * The rows of a table that come before a stream. To Spark they are part of the stream, but only
 * the first batch reads them.
 *
 * @param time the column of their event times
 * @param until the latest time that they may have, in microseconds; the stream has later rows
 */
private[spark] final case class History(child: LogicalPlan, time: Attribute, until: Long)
    extends PassesRows {
  override def output: Seq[Attribute] = child.output

  override def isStreaming: Boolean = true

  override protected def withNewChildInternal(newChild: LogicalPlan): History =
    copy(child = newChild)
}

private[spark] object History extends PredicateHelper {

  /**
   * Makes a history of a table with `history_until` among its conditions; throws if it cannot.
   */
  private[history] def of(table: LogicalPlan): History = found(table).getOrElse(
    HistoryUnion.refuse(
      "ts",
      "it is a column of the table in the UNION ALL, and the call a condition of WHERE by " +
        "itself, with no OR, NOT or UNION around it"
    )
  )

  /** Follows the column from the condition to the rows of the plan. */
  private def found(plan: LogicalPlan): Option[History] = plan match {
    case Filter(condition, child) =>
      val parts = splitConjunctivePredicates(condition)
      val own = parts.collectFirst { case h @ HistoryUntil(time: Attribute, _) => (h, time) }
      own match {
        case Some((h, time)) if isAlone(h, parts, child) => h.until.map(History(plan, time, _))
        case Some(_)                                     => None
        case None if HistoryUntil.isIn(condition)        => None
        case None                                        => above(plan, child)(Some(_))
      }
    case Project(list, child) =>
      above(plan, child) { time =>
        list.collectFirst {
          case a: Attribute if a.exprId == time.exprId                 => a
          case a @ Alias(of: Attribute, _) if of.exprId == time.exprId => a.toAttribute
        }
      }
    case alias: SubqueryAlias =>
      above(plan, alias.child)(t => alias.output.find(_.exprId == t.exprId))
    case view: View => above(plan, view.child)(t => view.output.find(_.exprId == t.exprId))
    case _          => None
  }

  private def above(plan: LogicalPlan, child: LogicalPlan)(
      timeOf: Attribute => Option[Attribute]
  ): Option[History] = for {
    below <- found(child)
    time <- timeOf(below.time)
  } yield History(plan, time, below.until)

  private def isAlone(h: HistoryUntil, parts: Seq[Expression], below: LogicalPlan): Boolean =
    parts.forall(p => (p eq h) || !HistoryUntil.isIn(p)) && !HistoryUntil.isIn(below)
}

private[spark] object PlanHistory extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case History(child, _, _) => Seq(HistoryExec(planLater(child)))
    case _                    => Nil
  }
}

/** Reads the rows of a [[History]]. */
private[spark] final case class HistoryExec(child: SparkPlan) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  /** The plan for a later batch: it has no rows. */
  def withoutRows: SparkPlan = {
    // Spark counts a batch's rows only if its plans have equally many leaves
    val leaves = child.collectLeaves().map(_ => EmptyHistoryExec(output, Nil))
    if (leaves.length == 1) leaves.head else EmptyHistoryExec(output, leaves)
  }

  override protected def withNewChildInternal(newChild: SparkPlan): HistoryExec =
    copy(child = newChild)
}

/** No rows, since an earlier batch has read the history. */
private[spark] final case class EmptyHistoryExec(
    output: Seq[Attribute],
    override val children: Seq[SparkPlan]
) extends SparkPlan {
  override protected def doExecute(): RDD[InternalRow] =
    session.sparkContext.emptyRDD[InternalRow]

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[SparkPlan]
  ): EmptyHistoryExec = copy(children = newChildren)
}
