package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.DeclarativeAggregate
import org.apache.spark.sql.types.DataType

import io.sash.spark.base.ArgumentChecks
import io.sash.spark.monoids.MonoidTraits

/** An aggregate that is defined as a monoid over cells: its kind, and its arguments. */
private[sash] final case class OwnMonoid(kind: MonoidKind, children: Seq[Expression])
    extends DeclarativeAggregate
    with MonoidTraits
    with ImplicitCastInputTypes {
  @transient private lazy val parts = kind.parts(children)

  override def prettyName: String = kind.name
  override protected def stringArgs: Iterator[Any] = children.iterator
  override def inputTypes: Seq[DataType] = kind.types(children)
  override def dataType: DataType = kind.dataType(children)
  override def nullable: Boolean = !kind.answersNoRows
  override def defaultResult: Option[Literal] =
    Option.when(kind.answersNoRows)(Literal.create(kind.ofNoRows, dataType))

  override def checkInputDataTypes(): TypeCheckResult =
    ArgumentChecks.inTurn(kind.check(children), super.checkInputDataTypes())

  override lazy val aggBufferAttributes: Seq[AttributeReference] = parts.cells.map(_.attribute)
  override lazy val initialValues: Seq[Expression] = parts.cells.map(_.none)

  override lazy val updateExpressions: Seq[Expression] = OwnMonoid.counting(
    parts.required,
    next = parts.combine(aggBufferAttributes, parts.cells.map(_.row)),
    now = aggBufferAttributes
  )

  override lazy val mergeExpressions: Seq[Expression] =
    parts.combine(aggBufferAttributes, inputAggBufferAttributes)

  override lazy val evaluateExpression: Expression = parts.lower(aggBufferAttributes)

  override def selectsRight: Option[Expression] =
    parts.picksYounger.map(_(aggBufferAttributes, inputAggBufferAttributes))

  override def recipe: Int = parts.recipe

  override protected def withNewChildrenInternal(
      children: IndexedSeq[Expression]
  ): OwnMonoid = copy(children = children)
}

private[spark] object OwnMonoid {

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
}
