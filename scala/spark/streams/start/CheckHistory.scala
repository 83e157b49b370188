package io.sash.spark.streams.start

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

import io.sash.spark.history.History
import io.sash.spark.hops.PaneOf
import io.sash.spark.streams.plan.{FieldOf, OfBuckets}

/**
 * Says why a query cannot begin with its histories. Where it can, all rows of a history come in
 * the first batch and belong to windows of Sash, and all other rows of these windows are later.
 */
private[start] object CheckHistory {

  /** @param keepsRows whether an operator of Spark's keeps rows for later batches */
  def fault(query: LogicalPlan, keepsRows: LogicalPlan => Boolean): Option[String] = {
    val begun = query.collect { case OfBuckets(t, p) if reachesHistory(t.child) => (t.child, p) }
    if (!hasHistory(query)) None
    else if (query.collect { case h: History => h.until }.distinct.length > 1)
      Some("with different times in one query; give all histories the same end")
    else if (reachesHistory(query))
      Some(
        "outside of Sash's windows (a tumbling window is Spark's), which would answer the rows " +
          "of the table; read the stream alone there"
      )
    else
      query
        .collectFirst {
          case p if keepsRows(p) && reachesHistory(p) =>
            s"below Spark's ${p.nodeName}, which keeps rows of the table for later batches; " +
              "call it above the windows, or write its rows to a table in between"
        }
        .orElse(begun.collectFirst {
          case (rows, _) if hasOtherStream(rows) =>
            "in a window over two streams, one without a history; begin both with a table up " +
              "to the same time, which may be empty"
        })
        .orElse(begun.collectFirst {
          case (rows, p) if !isTime(rows, rows.output(p.time)) =>
            "below a window by another time; order the window by the column itself"
        })
  }

  /** Whether a plan has a history that no window of Sash reads. */
  private def reachesHistory(plan: LogicalPlan): Boolean = plan match {
    case _: History      => true
    case OfBuckets(_, _) => false
    case other           => other.children.exists(reachesHistory)
  }

  private def hasHistory(plan: LogicalPlan): Boolean = plan.exists(_.isInstanceOf[History])

  /** Whether rows of a stream may come that are not after a history. */
  private def hasOtherStream(plan: LogicalPlan): Boolean = plan match {
    case u: Union if u.children.exists(isHistory) => false
    case OfBuckets(t, _)                          => !hasHistory(t)
    case leaf if leaf.children.isEmpty            => leaf.isStreaming
    case other                                    => other.children.exists(hasOtherStream)
  }

  private def isHistory(plan: LogicalPlan): Boolean = plan match {
    case _: History             => true
    case _: Project | _: Filter => plan.children.forall(isHistory)
    case _                      => false
  }

  /** Whether a column is the time of each history below. */
  private def isTime(plan: LogicalPlan, column: Attribute): Boolean = plan match {
    case h: History => h.time.exprId == column.exprId
    case Project(list, below) =>
      list.find(_.exprId == column.exprId).exists {
        case Alias(FieldOf(_, i), _) => isTimeBelow(below, i)
        case Alias(value, _)         => columnOf(value).exists(isTime(below, _))
        case a                       => isTime(below, a.toAttribute)
      }
    case u: Union =>
      val at = u.output.indexWhere(_.exprId == column.exprId)
      u.children.filter(hasHistory).forall(c => isTime(c, c.output(at)))
    case other => other.children.filter(hasHistory).forall(isTime(_, column))
  }

  /** Whether a field of an operator's answers is the time of each history below it. */
  private def isTimeBelow(operator: LogicalPlan, field: Int): Boolean = operator match {
    case OfBuckets(t, p) =>
      p.fields(field) match {
        case a: Attribute =>
          isTime(t.child, t.child.output(p.input.indexWhere(_.exprId == a.exprId)))
        case _ => false
      }
    case _ => false
  }

  /** The column whose value an expression has, in this or another type. */
  private def columnOf(value: Expression): Option[Attribute] = value match {
    case a: Attribute                         => Some(a)
    case KnownNullable(of)                    => columnOf(of)
    case PaneOf(of, _)                        => columnOf(of)
    case PreciseTimestampConversion(of, _, _) => columnOf(of)
    case _                                    => None
  }
}
