package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.types.{ArrayType, DataType, StructType}

import io.sash.spark.monoids.MonoidTraits

/**
 * The list of the first n rows of ORDER BY, in its order; an empty list over no rows. Among equal
 * rows, those are kept which came first.
 *
 * @param row the value that is kept of a row, never NULL
 */
private[lateral] final case class FirstRows(row: Expression, orders: Seq[SortOrder], n: Int)
    extends DeclarativeAggregate
    with MonoidTraits {
  override def prettyName: String = "first_rows"

  /** The text has n, since a stream's checkpoint tells aggregates apart by their text. */
  override def sql(isDistinct: Boolean): String =
    s"$prettyName(${(children.map(_.sql) :+ s"$n").mkString(", ")})"

  override def children: Seq[Expression] = row +: orders
  override def isShort: Boolean = n <= FirstRows.Short
  override def commutes: Boolean = true
  override def dataType: DataType = evaluateExpression.dataType
  override def nullable: Boolean = false
  override def defaultResult: Option[Literal] = Some(Literal.create(Seq.empty, dataType))

  /** An element of the list: a row and its keys. */
  private lazy val element = CreateNamedStruct(
    (row +: orders.map(_.child)).zipWithIndex.flatMap { case (e, i) => Seq(Literal(s"c$i"), e) }
  )

  private lazy val list = AttributeReference(
    "list",
    ArrayType(element.dataType, containsNull = false),
    nullable = false
  )()

  override lazy val aggBufferAttributes: Seq[AttributeReference] = Seq(list)
  override lazy val inputAggBufferAttributes: Seq[AttributeReference] = Seq(list.newInstance())
  override lazy val initialValues: Seq[Expression] =
    Seq(Literal.create(Seq.empty, list.dataType))

  override lazy val updateExpressions: Seq[Expression] =
    Seq(merged(list, CreateArray(Seq(element))))

  override lazy val mergeExpressions: Seq[Expression] =
    Seq(merged(list, inputAggBufferAttributes.head))

  override lazy val evaluateExpression: Expression = {
    val fields = element.dataType.asInstanceOf[StructType]
    GetArrayStructFields(list, fields.head, ordinal = 0, fields.length, containsNull = false)
  }

  private def merged(older: Expression, younger: Expression): Expression =
    MergedRows(older, younger, orders.map(o => (o.direction, o.nullOrdering)), n)

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): FirstRows =
    copy(newChildren.head, newChildren.tail.map(_.asInstanceOf[SortOrder]))
}

private[lateral] object FirstRows {

  /** With at most this many rows, a partial is taken to be short: some kilobytes. */
  private val Short = 100
}
