package io.sash.spark.streams.read

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._

import io.sash.spark.streams.program.StreamProgram

/**
 * The columns of a query for which a moment has values: the columns of PARTITION BY and ORDER BY,
 * under any name, and expressions over them.
 *
 * @param below the plan of the program's rows
 */
private[read] final class KnownColumns(program: StreamProgram, below: LogicalPlan) {
  private[this] val made = KnownColumns.definitions(below)

  /** The columns of PARTITION BY and ORDER BY. */
  val columns: Seq[Attribute] =
    (program.keys.flatMap(_.references) :+ program.input(program.time)).distinct

  private[this] val defined = columns.map(a => inFull(a) -> a)

  /** For each known column, by its place in the program's output, its expression over rows. */
  def ofOutput: Map[Int, Expression] =
    program.output.zipWithIndex
      .collect { case (column: Attribute, i) => i -> definition(column) }
      .filter { case (_, e) =>
        e.deterministic && e.references.nonEmpty && e.references.subsetOf(AttributeSet(columns))
      }
      .toMap

  /** A column over the known columns, and over others of the plan below. */
  def definition(column: Attribute): Expression = inFull(column).transformDown { case e =>
    defined.collectFirst { case (of, a) if e.semanticEquals(of) => a }.getOrElse(e)
  }

  private def inFull(e: Expression): Expression = e.transform {
    case a: Attribute if made.contains(a.exprId) => inFull(made(a.exprId))
  }
}

private object KnownColumns {

  /** The definitions of the columns that reach the rows unchanged. */
  private def definitions(plan: LogicalPlan): Map[ExprId, Expression] = plan match {
    case Project(list, child) =>
      definitions(child) ++ list.collect { case a: Alias => a.exprId -> a.child }
    case _: Filter | _: SubqueryAlias | _: View | _: EventTimeWatermark =>
      definitions(plan.children.head)
    case _ => Map.empty
  }
}
