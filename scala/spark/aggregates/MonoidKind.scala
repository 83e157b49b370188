package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckSuccess
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import io.sash.spark.base.SashFunction
import io.sash.spark.monoids.WrappingLong

/** A function of SQL that is a monoid over cells. */
private[spark] abstract class MonoidKind extends Serializable {
  def function: SashFunction

  final def name: String = function.name

  /** The types to which Spark casts the arguments. */
  def types(arguments: Seq[Expression]): Seq[DataType] = arguments.map(_.dataType)

  /** Checks the arguments, before Spark casts them. */
  def check(arguments: Seq[Expression]): TypeCheckResult = TypeCheckSuccess

  def dataType(arguments: Seq[Expression]): DataType

  /** The answer over no rows, which is NULL unless `answersNoRows`. */
  def ofNoRows: Any = null

  final def answersNoRows: Boolean = ofNoRows != null

  /** The monoid, over arguments that are checked. */
  def parts(arguments: Seq[Expression]): MonoidParts

  /** @param text see `SashFunction.of` */
  protected final def described(name: String, optional: Int = 0, repeats: Int = 0)(
      text: String
  ): SashFunction =
    SashFunction.of(name, text, classOf[OwnMonoid], optional, repeats)(arguments =>
      OwnMonoid(this, read(arguments))
    )

  /** Makes the expression's arguments from the arguments that the call has. */
  protected def read(arguments: Seq[Expression]): Seq[Expression] = arguments

  protected final def nothing(dataType: DataType): Expression = Literal.create(null, dataType)
}

/** The first argument is a number, taken as a DOUBLE, and the answer is a DOUBLE. */
private[aggregates] trait OfDouble extends MonoidKind {
  override def types(arguments: Seq[Expression]): Seq[DataType] =
    DoubleType +: arguments.drop(1).map(_.dataType)

  override def dataType(arguments: Seq[Expression]): DataType = DoubleType
}

/**
 * A monoid over cells.
 *
 * @param required the arguments that must not be NULL, or else the row is skipped
 * @param combine the cells of two neighbouring parts together; the first one has the older rows
 * @param lower the answer
 * @param picksYounger if the combine always picks one part: whether it picks the younger
 * @param recipe see `AggregateMonoid`
 */
private[spark] final case class MonoidParts(
    required: Seq[Expression],
    cells: Seq[OneCell],
    combine: (Seq[Expression], Seq[Expression]) => Seq[Expression],
    lower: Seq[Expression] => Expression,
    picksYounger: Option[(Seq[Expression], Seq[Expression]) => Expression] = None,
    recipe: Int = 1
)

private[spark] object MonoidParts {

  /** Monoids of one cell each, side by side, and an answer from all of them. */
  def beside(required: Expression*)(cells: (OneCell, OneCell.Combine)*)(
      lower: Seq[Expression] => Expression
  ): MonoidParts = MonoidParts(
    required,
    cells.map(_._1),
    combine = (older, younger) =>
      cells.map(_._2).lazyZip(older).lazyZip(younger).map((combine, o, y) => combine(o, y)).toSeq,
    lower
  )

  /** Combines two parts that have rows. A part without rows leaves the other as it is. */
  def ofRows(isEmpty: Seq[Expression] => Expression)(
      joined: (Seq[Expression], Seq[Expression]) => Seq[Expression]
  ): (Seq[Expression], Seq[Expression]) => Seq[Expression] = (o, y) =>
    joined(o, y).lazyZip(o).lazyZip(y).toSeq.map { case (both, older, younger) =>
      If(isEmpty(o), younger, If(isEmpty(y), older, both))
    }

  /** All cells of the younger part if `younger` is true, else all of the older. */
  def pick(younger: Expression)(
      older: Seq[Expression],
      young: Seq[Expression]
  ): Seq[Expression] = older.zip(young).map { case (o, y) => If(younger, y, o) }
}

/**
 * A cell of a partial aggregate.
 *
 * @param none its value over no rows. The cell may be NULL if this is
 * @param row its value over one row, in which no required argument is NULL
 */
private[spark] final case class OneCell(name: String, none: Literal, row: Expression) {
  def attribute: AttributeReference =
    AttributeReference(name, none.dataType, nullable = none.value == null)()
}

private[spark] object OneCell {
  type Combine = (Expression, Expression) => Expression

  def number(name: String, row: Expression, none: Double = 0.0): OneCell =
    OneCell(name, Literal(none), row)

  def count(name: String): OneCell = OneCell(name, Literal(0L), Literal(1L))

  /** NULL over no rows. */
  def nullable(name: String, row: Expression): OneCell =
    OneCell(name, Literal.create(null, row.dataType), row)

  def sum(x: Expression): (OneCell, Combine) = number("sum", x) -> (new Add(_, _))

  def rows: (OneCell, Combine) = count("count") -> WrappingLong.add

  def greatest(x: Expression): (OneCell, Combine) =
    nullable("max", x) -> ((o, y) => Greatest(Seq(o, y)))

  def least(x: Expression): (OneCell, Combine) =
    nullable("min", x) -> ((o, y) => Least(Seq(o, y)))
}
