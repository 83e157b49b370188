package io.sash.spark.hops

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.types.{DataType, StructType}

import io.sash.spark.monoids.AggregateMonoid
import io.sash.spark.multisets.{MovingAggregate, PaneMultiset, WindowMonoid}

/**
 * An aggregate whose answer is the partial of another aggregate: a struct of the monoid's cells.
 *
 * @param function the other aggregate
 * @param filter its FILTER
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

  override lazy val updateExpressions: Seq[Expression] = monoid.combineWith(monoid.lift)

  override lazy val mergeExpressions: Seq[Expression] =
    monoid.combineWith(inputAggBufferAttributes)

  override lazy val evaluateExpression: Expression = CreateNamedStruct(
    monoid.left.zipWithIndex.flatMap { case (cell, i) => Seq(Literal(s"cell$i"), cell) }
  )

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): PanePartial =
    copy(
      function = newChildren.head.asInstanceOf[DeclarativeAggregate],
      filter = newChildren.lift(1)
    )
}

private[spark] object PanePartial {

  /** The aggregate over a pane's rows for a call in the form of [[PaneCalls]]. */
  def of(call: AggregateExpression): AggregateExpression = call.aggregateFunction match {
    case m: MovingAggregate =>
      PaneMultiset(m.runningAnswer.inputs).toAggregateExpression(false, call.filter)
    case d: DeclarativeAggregate => PanePartial(settled(d), call.filter).toAggregateExpression()
    case f => throw new IllegalStateException(s"${f.prettyName} has no partial")
  }

  /**
   * The monoid of a function over rows that are partials. A lift reads the cells from the column
   * of partials.
   */
  def over(partial: Expression, function: AggregateFunction): AggregateMonoid = function match {
    case m: MovingAggregate => PaneMultiset.running(m.runningAnswer, partial)
    case _ =>
      val cells = partial.dataType.asInstanceOf[StructType].fields.indices
      monoid(function.toAggregateExpression())
        .copy(lift = cells.map(GetStructField(partial, _)))
  }

  /**
   * The function with arguments that stay nullable to the optimizer. Some functions have other
   * cells if an argument is never NULL, so the optimizer could change the cells.
   */
  private def settled(function: DeclarativeAggregate): DeclarativeAggregate =
    function
      .mapChildren(c => if (c.nullable && !c.foldable) KnownNullable(c) else c)
      .asInstanceOf[DeclarativeAggregate]

  /** The monoid of a call, which must have one. */
  private[hops] def monoid(call: AggregateExpression): AggregateMonoid =
    WindowMonoid.of(call).fold(r => throw new IllegalStateException(r.reason), identity)
}
