package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._

import io.sash.spark.base.SashFunction

/** An aggregate computed from the greatest and the least value. NULL over no rows. */
private[sash] abstract class OfExtremes private[aggregates]
    extends OwnMonoidAggregate
    with UnaryLike[Expression] {
  import OwnMonoidAggregate._

  /**
   * The child. If it is VOID (NULLs only), a cast to DOUBLE makes arithmetic possible, as in
   * Spark's `sum`.
   */
  private lazy val value = if (child.dataType == NullType) Cast(child, DoubleType) else child

  protected lazy val max: AttributeReference = cell("max", value.dataType)
  protected lazy val min: AttributeReference = cell("min", value.dataType)

  override def nullable: Boolean = true
  override lazy val aggBufferAttributes: Seq[AttributeReference] = Seq(max, min)
  override lazy val initialValues: Seq[Expression] = Seq.fill(2)(nothing(value.dataType))
  override protected def required: Seq[Expression] = Nil // a NULL changes neither cell
  override protected def lift: Seq[Expression] = Seq(value, value)

  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] =
    Seq(Greatest(Seq(o(0), y(0))), Least(Seq(o(1), y(1))))
}

/** The range, max(x) - min(x). See `io.sash.core.algebra.Range`. */
private[sash] final case class ValueRange(child: Expression) extends OfExtremes {
  override def prettyName: String = ValueRange.Function.name

  private lazy val difference: Expression = new Subtract(max, min)

  override def checkInputDataTypes(): TypeCheckResult =
    TypeUtils.checkForAnsiIntervalOrNumericType(child)
  override def dataType: DataType = difference.dataType
  override lazy val evaluateExpression: Expression = difference

  override protected def withNewChildInternal(newChild: Expression): ValueRange =
    copy(child = newChild)
}

private[sash] object ValueRange {
  private[spark] val Function: SashFunction = SashFunction(
    "value_range",
    "Returns how far apart the values are: the greatest less the least.",
    Seq("x" -> "a number or an interval"),
    Seq(
      "SELECT _FUNC_(col) FROM VALUES (3), (1), (4) AS tab(col)" -> "3",
      "SELECT _FUNC_(col) FROM VALUES (2.5), (NULL) AS tab(col)" -> "0.0"
    ),
    Seq(
      "Type and overflow are as in max(x) - min(x). NULLs are skipped; NULL over no",
      "rows; a NaN makes it NaN."
    ),
    classOf[ValueRange]
  ) { case Seq(x) => ValueRange(x) }
}

/** The range relative to the maximum. See `io.sash.core.algebra.RelativeVariation`. */
private[sash] final case class RelativeVariation(child: Expression)
    extends OfExtremes
    with ImplicitCastInputTypes {
  override def prettyName: String = RelativeVariation.Function.name
  override def inputTypes: Seq[DataType] = Seq(DoubleType)
  override def dataType: DataType = DoubleType
  override lazy val evaluateExpression: Expression = Doubles.quotient(new Subtract(max, min), max)

  override protected def withNewChildInternal(newChild: Expression): RelativeVariation =
    copy(child = newChild)
}

private[sash] object RelativeVariation {
  private[spark] val Function: SashFunction = SashFunction(
    "relative_variation",
    "Returns how far apart the values are, relative to the greatest: (max - min) / max.",
    Seq("x" -> "a number, taken as a DOUBLE"),
    Seq("SELECT _FUNC_(col) FROM VALUES (3), (1), (4) AS tab(col)" -> "0.75"),
    Seq(
      "A greatest value of 0 makes it infinite, or NaN if all are 0; so does a NaN. NULLs are",
      "skipped; NULL over no rows."
    ),
    classOf[RelativeVariation]
  ) { case Seq(x) => RelativeVariation(x) }
}
