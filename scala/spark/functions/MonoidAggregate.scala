package io.sash.spark.functions

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.types.DataType

import io.sash.spark.monoids.MonoidTraits

/**
 * An aggregate that is said as a monoid: what one row becomes, and how two neighbours become one.
 * Rows in which one of `required` is NULL are skipped.
 */
private[functions] abstract class MonoidAggregate extends DeclarativeAggregate with MonoidTraits {

  /** The arguments without which a row does not count. */
  protected def required: Seq[Expression]

  /** The cells of one row, over the arguments, none of `required` being NULL. */
  protected def lift: Seq[Expression]

  /** The cells of both, the older rows' being on the left. */
  protected def combine(older: Seq[Expression], younger: Seq[Expression]): Seq[Expression]

  override lazy val updateExpressions: Seq[Expression] = MonoidAggregate.counting(
    required,
    next = combine(aggBufferAttributes, lift),
    now = aggBufferAttributes
  )

  override lazy val mergeExpressions: Seq[Expression] =
    combine(aggBufferAttributes, inputAggBufferAttributes)
}

private[functions] object MonoidAggregate {
  def cell(name: String, dataType: DataType): AttributeReference =
    AttributeReference(name, dataType)()

  def count(name: String): AttributeReference =
    AttributeReference(name, org.apache.spark.sql.types.LongType, nullable = false)()

  def nothing(dataType: DataType): Expression = Literal.create(null, dataType)

  /** The cells after a row, `next` if none of `required` is NULL in it. */
  def counting(
      required: Seq[Expression],
      next: Seq[Expression],
      now: Seq[Expression]
  ): Seq[Expression] =
    required.filter(_.nullable).map(IsNotNull(_): Expression).reduceOption(And(_, _)) match {
      case None         => next
      case Some(counts) => next.zip(now).map { case (n, before) => If(counts, n, before) }
    }

  /** One of two operands, in all of its cells. */
  def pick(
      younger: Expression,
      cells: (Seq[Expression], Seq[Expression])
  ): Seq[Expression] = cells._1.zip(cells._2).map { case (o, y) => If(younger, y, o) }
}
