package io.sash.spark.hops

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, UnaryNode}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.types.DataType

/**
 * The windows of hops, from the partials of panes, of which there is one at most for each keys and
 * pane: a row for each keys and window with a pane.
 */
private[hops] trait OfPanes[P <: QueryPlan[P]] extends QueryPlan[P] {
  self: P =>
  def keys: Seq[Attribute]

  def window: WindowOfPanes

  def answers: Seq[AnswerOfPanes]

  /** The column of the windows, and behind it those of the answers. */
  def made: Seq[Attribute]

  override def output: Seq[Attribute] = keys ++ made

  override def producedAttributes: AttributeSet = AttributeSet(made)
}

private[spark] final case class HopWindows(
    keys: Seq[Attribute],
    window: WindowOfPanes,
    answers: Seq[AnswerOfPanes],
    made: Seq[Attribute],
    child: LogicalPlan
) extends UnaryNode
    with OfPanes[LogicalPlan] {
  override protected def withNewChildInternal(newChild: LogicalPlan): HopWindows =
    copy(child = newChild)
}

/** The window, as the struct of its start and end, that panes are in. */
private[spark] final case class WindowOfPanes(
    child: Expression,
    hops: HopPanes,
    dataType: DataType
) extends UnaryExpression
    with Unevaluable {

  /** The column of the panes. */
  def pane: Attribute = child.asInstanceOf[Attribute]

  override protected def withNewChildInternal(newChild: Expression): WindowOfPanes =
    copy(child = newChild)
}

/**
 * What an aggregate comes to over the panes of a window.
 *
 * @param partial that of a pane, a struct of cells
 * @param function the aggregate, over nothing of the child; see `AnswerOfPanes.unbound`
 */
private[spark] final case class AnswerOfPanes(
    partial: Expression,
    function: DeclarativeAggregate
) extends BinaryExpression
    with Unevaluable {
  override def left: Expression = partial

  override def right: Expression = function

  override def dataType: DataType = function.dataType

  override def nullable: Boolean = function.nullable

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression
  ): AnswerOfPanes = copy(newLeft, newRight.asInstanceOf[DeclarativeAggregate])
}

private[spark] object AnswerOfPanes {

  /** A function with its columns as places: just how partials combine is asked of it. */
  def unbound(function: DeclarativeAggregate, input: Seq[Attribute]): DeclarativeAggregate =
    function
      .transform { case a: Attribute =>
        BoundReference(input.indexWhere(_.exprId == a.exprId), a.dataType, a.nullable)
      }
      .asInstanceOf[DeclarativeAggregate]
}

/** Plans [[HopWindowsExec]]. */
private[spark] object HopStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case HopWindows(keys, window, answers, made, child) =>
      Seq(HopWindowsExec(keys, window, answers, made, planLater(child)))
    case _ => Nil
  }
}
