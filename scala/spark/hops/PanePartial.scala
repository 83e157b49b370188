package io.sash.spark.hops

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.types.DataType

import io.sash.spark.monoids.AggregateMonoid
import io.sash.spark.multisets.WindowMonoid

/**
 * The partial aggregate of a pane's rows, as a struct of its cells in the order of the monoid.
 *
 * @param function the aggregate
 */
private[spark] final case class PanePartial(
    function: DeclarativeAggregate,
    filter: Option[Expression]
) extends DeclarativeAggregate {

  // not transient: tasks need the ids that the cells have here
  private[this] lazy val monoid: AggregateMonoid =
    PanePartial.monoid(function.toAggregateExpression(isDistinct = false, filter))

  override def children: Seq[Expression] = function +: filter.toSeq

  override def nullable: Boolean = false

  override def dataType: DataType = evaluateExpression.dataType

  override lazy val aggBufferAttributes: Seq[AttributeReference] = monoid.left

  override lazy val initialValues: Seq[Expression] = monoid.identity

  override lazy val updateExpressions: Seq[Expression] = combined(monoid.lift)

  override lazy val mergeExpressions: Seq[Expression] = combined(inputAggBufferAttributes)

  override lazy val evaluateExpression: Expression = CreateNamedStruct(
    monoid.left.zipWithIndex.flatMap { case (cell, i) => Seq(Literal(s"cell$i"), cell) }
  )

  private def combined(right: Seq[Expression]): Seq[Expression] = {
    val operands = monoid.right.map(_.exprId).zip(right).toMap
    monoid.combine.map(_.transform {
      case a: AttributeReference if operands.contains(a.exprId) => operands(a.exprId)
    })
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): PanePartial =
    copy(
      function = newChildren.head.asInstanceOf[DeclarativeAggregate],
      filter = newChildren.lift(1)
    )
}

private[spark] object PanePartial {

  /**
   * The function with arguments that the optimizer takes for nullable. Otherwise it could change
   * the cells, since some functions have other cells if an argument is never NULL.
   */
  def settled(function: DeclarativeAggregate): DeclarativeAggregate =
    function
      .mapChildren(c => if (c.nullable && !c.foldable) KnownNullable(c) else c)
      .asInstanceOf[DeclarativeAggregate]

  /** The monoid of a call, which must have one. */
  def monoid(call: AggregateExpression): AggregateMonoid =
    WindowMonoid.of(call).fold(r => throw new IllegalStateException(r.reason), identity)
}
