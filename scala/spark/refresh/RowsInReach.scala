package io.sash.spark.refresh

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

import io.sash.spark.hops.WindowsOf

/**
 * Cuts the inputs of a query down to the rows on which the answers within some spans depend.
 *
 * @param of restricts a plan to its rows within reach of the spans. Arguments: the plan, the keys
 *   and the time as expressions over it, and the reach
 */
private[refresh] final class RowsInReach(
    of: (LogicalPlan, Seq[Expression], Option[Expression], WindowReach) => LogicalPlan
) {

  /** The query over these rows. Its answers outside the spans are wrong. */
  def below(
      plan: LogicalPlan,
      keys: Seq[Expression],
      time: Option[Expression],
      reach: WindowReach
  ): LogicalPlan = {
    def child(plan: LogicalPlan, mapped: Expression => Expression) =
      below(plan, keys.map(mapped), time.map(mapped), reach)
    plan match {
      case p: Project =>
        p.copy(child = child(p.child, RowsBelow.substituted(_, p.projectList)))
      case f: Filter => f.copy(child = child(f.child, identity))
      case u: Union =>
        u.withNewChildren(u.children.map { c =>
          child(c, RowsBelow.mapped(_, u.output, c.output))
        })
      case _: SubqueryAlias | _: View => child(plan.children.head, identity)
      case WindowsOf.Each(hops, window, rows) if !RowsBelow.meet(rows) =>
        val inHop = time.collect {
          case GetStructField(a: Attribute, 0, _) if a.semanticEquals(window) =>
            WindowReach(Some(0L), Some(hops.hops.size - 1))
          case GetStructField(a: Attribute, 1, _) if a.semanticEquals(window) =>
            WindowReach(Some(hops.hops.size), Some(0L))
        }
        inHop.fold(of(plan, keys, time, reach)) { hop =>
          val start = hops.child match {
            case PreciseTimestampConversion(t, _, _) => t
            case other                               => other
          }
          plan.withNewChildren(Seq(below(rows, keys, Some(start), reach + hop)))
        }
      case _ if !RowsBelow.meet(plan) => of(plan, keys, time, reach)
      case a: Aggregate =>
        a.withNewChildren(
          Seq(child(a.child, RowsBelow.substituted(_, a.aggregateExpressions)))
        )
      case j: Join =>
        j.withNewChildren(j.children.map(c => if (RowsBelow.meet(c)) child(c, identity) else c))
      case x: Expand => x // the rows of several projections: all of them are read
      case other     => other.withNewChildren(other.children.map(child(_, identity)))
    }
  }
}
