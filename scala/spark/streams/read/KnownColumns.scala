package io.sash.spark.streams.read

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

import io.sash.spark.streams.program.StreamProgram

/**
 * The columns of a query for which a moment has values: the columns of PARTITION BY and ORDER BY,
 * under any name, and expressions over them.
 */
private[read] object KnownColumns {

  /**
   * For each of these columns, by its place in the program's output, its expression over rows.
   *
   * @param below the plan of the program's rows
   */
  def of(program: StreamProgram, below: LogicalPlan): Map[Int, Expression] = {
    val made = definitions(below)
    def inFull(e: Expression): Expression = e.transform {
      case a: Attribute if made.contains(a.exprId) => inFull(made(a.exprId))
    }
    val known = (program.keys.flatMap(_.references) :+ program.input(program.time)).distinct
    val defined = known.map(a => inFull(a) -> a)
    program.output.zipWithIndex
      .collect { case (column: Attribute, i) =>
        i -> inFull(column).transformDown { case e =>
          defined.collectFirst { case (of, a) if e.semanticEquals(of) => a }.getOrElse(e)
        }
      }
      .filter { case (_, e) =>
        e.deterministic && e.references.nonEmpty && e.references.subsetOf(AttributeSet(known))
      }
      .toMap
  }

  /** The definitions of the columns that reach the rows unchanged. */
  private def definitions(plan: LogicalPlan): Map[ExprId, Expression] = plan match {
    case Project(list, child) =>
      definitions(child) ++ list.collect { case a: Alias => a.exprId -> a.child }
    case _: Filter | _: SubqueryAlias | _: View | _: EventTimeWatermark =>
      definitions(plan.children.head)
    case _ => Map.empty
  }
}
