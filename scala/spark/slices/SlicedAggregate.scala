package io.sash.spark.slices

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{
  AggregateFunction,
  DeclarativeAggregate
}
import org.apache.spark.sql.types.DataType

import io.sash.spark.monoids.{AggregateMonoid, KnownMonoid}

/**
 * An aggregate whose input rows are partials of slices.
 *
 * @param function the aggregate over events, for EXPLAIN alone; its columns no longer exist
 * @param partials its monoid. The lift reads a partial's cells from the columns `cells`
 */
private[slices] final case class SlicedAggregate(
    function: AggregateFunction,
    partials: AggregateMonoid,
    cells: Seq[Expression]
) extends DeclarativeAggregate
    with KnownMonoid {

  override def prettyName: String = function.prettyName
  override protected def stringArgs: Iterator[Any] = cells.iterator
  override def children: Seq[Expression] = cells
  override def dataType: DataType = function.dataType
  override def nullable: Boolean = function.nullable
  override def sql(isDistinct: Boolean): String = function.sql(isDistinct)

  override def monoid: AggregateMonoid =
    partials.copy(lift = partials.left.zip(cells).map { case (cell, column) =>
      if (cell.nullable || !column.nullable) column else KnownNotNull(column)
    })

  override lazy val aggBufferAttributes: Seq[AttributeReference] = partials.left
  override lazy val inputAggBufferAttributes: Seq[AttributeReference] = partials.right
  override lazy val initialValues: Seq[Expression] = partials.identity
  override lazy val mergeExpressions: Seq[Expression] = partials.combine
  override lazy val evaluateExpression: Expression = partials.lower

  override lazy val updateExpressions: Seq[Expression] = partials.combineWith(monoid.lift)

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): SlicedAggregate = copy(cells = newChildren)
}

/**
 * The partial of a slice's events for one aggregate.
 *
 * @param monoid the aggregate's monoid
 * @param lift the cells of one event, over the events' columns
 * @param update the cells of a partial after one more event, over the events' columns and
 *   `monoid.left`
 * @param cells the output columns of a partial, with the types of the monoid's cells
 */
private[slices] final case class SlicePartial(
    monoid: AggregateMonoid,
    lift: Seq[Expression],
    update: Seq[Expression],
    cells: Seq[Attribute]
) extends Expression
    with Unevaluable {
  override def children: Seq[Expression] = lift ++ update
  override protected def stringArgs: Iterator[Any] = lift.iterator
  override def dataType: DataType = cells.head.dataType
  override def nullable: Boolean = false

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): SlicePartial = {
    val (lifted, updated) = newChildren.splitAt(lift.length)
    copy(lift = lifted, update = updated)
  }
}
