package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.types._

import io.sash.spark.base.SashFunction

/**
 * An aggregate over time whose answer may be as of a time after its last row: the time of the row
 * or the label that asks. No partial knows this time. So a call becomes two expressions: an
 * aggregate whose answer is the partial itself, and above it the answer as of that time
 * ([[AnswerAsOf]]). [[AsOfRow]] finds the time in a window, `AsOfLabel` in a subquery. Elsewhere,
 * as in GROUP BY, the answer is as of the last row.
 */
private[spark] trait AsOfTime extends MonoidKind {

  /** The place of the time among the arguments. */
  def timePlace(arguments: Seq[Expression]): Int

  /**
   * The cells of a partial as of `now`, or as of the partial's own last time if that is later.
   *
   * @param now a number on the axis of time, or NULL
   */
  def asOf(
      arguments: Seq[Expression],
      cells: Seq[Expression],
      now: Expression
  ): Seq[Expression]

  /** Whether an answer for a label is as of that label. */
  def asksLabel(arguments: Seq[Expression]): Boolean = true

  /** The span that an answer covers, on the axis of time; None if it is not as of the row. */
  def spanOfRow(arguments: Seq[Expression]): Option[Double] = None
}

private[spark] object AsOfTime {

  /** The aggregate whose answer is the partial of a call, a struct. */
  def partial(kind: AsOfTime, arguments: Seq[Expression]): AggregateFunction =
    OwnMonoid(PartialOf(kind), arguments)

  /**
   * The answer of a call as of a time.
   *
   * @param partial the answer of the call's partial, or NULL for none
   * @param now of the time's type, or NULL
   */
  def answer(
      kind: AsOfTime,
      arguments: Seq[Expression],
      partial: Expression,
      now: Expression
  ): Expression = {
    val parts = kind.parts(arguments)
    val cells = parts.cells.zipWithIndex.map { case (cell, i) =>
      val value = GetStructField(partial, i, Some(cell.name))
      if (cell.attribute.nullable) value else KnownNotNull(value)
    }
    val none = Literal.create(kind.ofNoRows, kind.dataType(arguments))
    AnswerAsOf(If(IsNull(partial), none, parts.lower(kind.asOf(arguments, cells, now))))
  }

  private final case class PartialOf(kind: AsOfTime) extends MonoidKind {
    override def function: SashFunction = kind.function
    override def types(arguments: Seq[Expression]): Seq[DataType] = kind.types(arguments)

    override def dataType(arguments: Seq[Expression]): DataType =
      struct(kind.parts(arguments).cells.map(_.attribute)).dataType

    override def parts(arguments: Seq[Expression]): MonoidParts =
      kind.parts(arguments).copy(lower = struct)

    private def struct(cells: Seq[Expression]): Expression = CreateStruct(cells)
  }
}

/** An answer as of a time. Its text is the call itself, as the user wrote it. */
private[spark] final case class AnswerAsOf(child: Expression)
    extends RuntimeReplaceable
    with UnaryLike[Expression] {
  override def replacement: Expression = child

  override def sql: String =
    child.collectFirst { case GetStructField(partial, _, _) => partial.sql }.getOrElse(child.sql)

  override protected def withNewChildInternal(newChild: Expression): AnswerAsOf =
    copy(child = newChild)
}
