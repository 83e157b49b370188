package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.types.DataType

import io.sash.spark.monoids.MonoidTraits

/**
 * The first row of ORDER BY; NULL over no rows. Among equal rows, it is the one that came first.
 *
 * @param row the value that is kept of a row, never NULL
 */
private[lateral] final case class FirstByOrder(row: Expression, orders: Seq[SortOrder])
    extends DeclarativeAggregate
    with MonoidTraits {
  override def prettyName: String = "first_by_order"
  override def children: Seq[Expression] = row +: orders
  override def dataType: DataType = row.dataType
  override def nullable: Boolean = true

  override lazy val aggBufferAttributes: Seq[AttributeReference] =
    AttributeReference("row", row.dataType)() +:
      orders.map(o => AttributeReference("key", o.dataType)())

  override lazy val inputAggBufferAttributes: Seq[AttributeReference] =
    aggBufferAttributes.map(_.newInstance())

  override lazy val initialValues: Seq[Expression] =
    aggBufferAttributes.map(a => Literal.create(null, a.dataType))

  override lazy val updateExpressions: Seq[Expression] =
    picked(aggBufferAttributes, row +: orders.map(_.child))

  override lazy val mergeExpressions: Seq[Expression] =
    picked(aggBufferAttributes, inputAggBufferAttributes)

  override lazy val evaluateExpression: Expression = aggBufferAttributes.head

  override def commutes: Boolean = true

  override def selectsRight: Option[Expression] =
    Some(isYounger(aggBufferAttributes, inputAggBufferAttributes))

  private def picked(older: Seq[Expression], younger: Seq[Expression]): Seq[Expression] = {
    val isBetter = isYounger(older, younger)
    older.zip(younger).map { case (o, y) => If(isBetter, y, o) }
  }

  private def isYounger(older: Seq[Expression], younger: Seq[Expression]): Expression =
    MonoidTraits.outdone(older.head, younger.head, isBefore(younger.tail, older.tail))

  /** Whether the keys `a` come before the keys `b`. */
  private def isBefore(a: Seq[Expression], b: Seq[Expression]): Expression =
    orders
      .lazyZip(a)
      .lazyZip(b)
      .toSeq
      .foldRight[Expression](Literal.FalseLiteral) { case ((order, a, b), rest) =>
        Or(FirstByOrder.isBefore(order, a, b), And(EqualNullSafe(a, b), rest))
      }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]
  ): FirstByOrder =
    copy(newChildren.head, newChildren.tail.map(_.asInstanceOf[SortOrder]))
}

private[lateral] object FirstByOrder {

  /** A comparison with a NULL is NULL; then NULLS FIRST or NULLS LAST decides. */
  private def isBefore(order: SortOrder, a: Expression, b: Expression): Expression = {
    val compared = if (order.isAscending) LessThan(a, b) else GreaterThan(a, b)
    val (first, last) = if (order.nullOrdering == NullsFirst) (a, b) else (b, a)
    Coalesce(Seq(compared, And(IsNull(first), IsNotNull(last))))
  }
}
