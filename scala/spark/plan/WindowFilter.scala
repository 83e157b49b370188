package io.sash.spark.plan

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.plans.logical.Window
import org.apache.spark.sql.types.DataType

/**
 * Hides the condition of a window's FILTER between analysis and planning. If Spark's optimizer
 * finds such a condition false, it replaces the aggregate by a literal. That is no valid window
 * function, and has no slide. The optimizer does not see that this expression is constant.
 */
private[spark] final case class WindowFilter(child: Expression) extends UnaryExpression {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = child.nullable
  override def foldable: Boolean = false
  override def sql: String = child.sql
  override def toString: String = child.toString
  override def eval(input: InternalRow): Any = child.eval(input)

  override def genCode(ctx: CodegenContext): ExprCode = child.genCode(ctx)

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    child.genCode(ctx)

  override protected def withNewChildInternal(newChild: Expression): WindowFilter =
    copy(child = newChild)
}

private[spark] object WindowFilter {

  /** The call with its condition hidden from the optimizer. */
  def keep(call: AggregateExpression): AggregateExpression = call.filter match {
    case Some(condition) if !condition.isInstanceOf[WindowFilter] =>
      call.copy(filter = Some(WindowFilter(condition)))
    case _ => call
  }

  /** The window with its conditions unwrapped; none if no condition is wrapped. */
  def released(window: Window): Option[Window] =
    Option.when(window.windowExpressions.exists(_.exists(_.isInstanceOf[WindowFilter]))) {
      window
        .transformExpressionsUp { case WindowFilter(condition) => condition }
        .asInstanceOf[Window]
    }
}
