package io.sash.spark.history

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern.UNION
import org.apache.spark.sql.types.TimestampType

import io.sash.spark.base.SashErrors

/**
 * Makes a [[History]] of each table that a UNION ALL with a stream reads up to a time. The stream
 * keeps only later rows, so that no row comes twice.
 */
private[spark] object HistoryUnion extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.resolveOperatorsUpWithPruning(_.containsPattern(UNION)) {
      case union: Union if union.resolved && union.isStreaming && hasHistory(union) =>
        begun(union)
    }

  private def hasHistory(union: Union): Boolean =
    union.children.exists(c => c.isInstanceOf[History] || isTable(c))

  private def isTable(plan: LogicalPlan): Boolean =
    !plan.isStreaming && HistoryUntil.isIn(plan)

  private def begun(union: Union): Union = {
    val children = union.children.map(c => if (isTable(c)) History.of(c) else c)
    val ends = children.collect { case h: History =>
      (h.output.indexWhere(_.exprId == h.time.exprId), h.until)
    }
    ends.distinct match {
      case Seq((time, until)) =>
        if (!children.head.isStreaming || children.head.isInstanceOf[History])
          refuse("until", "the stream stands first in the UNION ALL, and the table after it")
        union.withNewChildren(children.map(later(_, time, until))).asInstanceOf[Union]
      case _ => refuse("until", "the histories in a UNION ALL end at one time of one column")
    }
  }

  /** The rows of a stream that are later than the history, and the rows whose time is NULL. */
  private def later(child: LogicalPlan, time: Int, until: Long): LogicalPlan = {
    val at = child.output(time)
    val isLater = Or(IsNull(at), GreaterThan(at, Literal(until, TimestampType)))
    child match {
      case Filter(condition, _) if condition.semanticEquals(isLater) => child
      // a stream with a history of its own already has later rows alone
      case stream if stream.isStreaming && !stream.exists(_.isInstanceOf[History]) =>
        Filter(isLater, stream)
      case other => other
    }
  }

  private[history] def refuse(argument: String, why: String): Nothing =
    throw SashErrors.invalidArgument(HistoryUntil.Name, argument, why)
}
