package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.types.DataType

import io.sash.spark.monoids.MonoidTraits

/**
 * An aggregate that is defined as a monoid: lift turns a row into cells, combine joins the cells
 * of two neighbouring runs of rows. Rows in which an argument of `required` is NULL are skipped.
 */
private[aggregates] abstract class OwnMonoidAggregate
    extends DeclarativeAggregate
    with MonoidTraits {

  /** The arguments that must not be NULL, or else the row is skipped. */
  protected def required: Seq[Expression]

  /** The cells of one row, over the arguments. No argument of `required` is NULL here. */
  protected def lift: Seq[Expression]

  /** The combined cells. The left operand holds the older rows. */
  protected def combine(older: Seq[Expression], younger: Seq[Expression]): Seq[Expression]

  override lazy val updateExpressions: Seq[Expression] = OwnMonoidAggregate.counting(
    required,
    next = combine(aggBufferAttributes, lift),
    now = aggBufferAttributes
  )

  override lazy val mergeExpressions: Seq[Expression] =
    combine(aggBufferAttributes, inputAggBufferAttributes)
}

private[spark] object OwnMonoidAggregate {
  def cell(name: String, dataType: DataType): AttributeReference =
    AttributeReference(name, dataType)()

  def count(name: String): AttributeReference =
    AttributeReference(name, org.apache.spark.sql.types.LongType, nullable = false)()

  def nothing(dataType: DataType): Expression = Literal.create(null, dataType)

  /** The cells after a row: `next`, or `now` if an argument of `required` is NULL in it. */
  def counting(
      required: Seq[Expression],
      next: Seq[Expression],
      now: Seq[Expression]
  ): Seq[Expression] =
    required.filter(_.nullable).map(IsNotNull(_): Expression).reduceOption(And(_, _)) match {
      case None         => next
      case Some(counts) => next.zip(now).map { case (n, before) => If(counts, n, before) }
    }

  /** All cells of the younger operand if `younger` is true, else all of the older. */
  def pick(
      younger: Expression,
      cells: (Seq[Expression], Seq[Expression])
  ): Seq[Expression] = cells._1.zip(cells._2).map { case (o, y) => If(younger, y, o) }
}
