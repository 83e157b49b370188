package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.types._

import io.sash.spark.base.SashFunction
import io.sash.spark.monoids.WrappingLong

/**
 * The geometric mean, from the count and the sum of logarithms, as in
 * `io.sash.core.algebra.GeometricMean`, but NULL over no rows.
 */
private[sash] final case class GeometricMean(child: Expression)
    extends OwnMonoidAggregate
    with ImplicitCastInputTypes
    with UnaryLike[Expression] {
  import OwnMonoidAggregate.count

  private lazy val logarithms = AttributeReference("logarithms", DoubleType, nullable = false)()
  private lazy val rows = count("count")

  override def prettyName: String =
    getTagValue(FunctionRegistry.FUNC_ALIAS).getOrElse(GeometricMean.Function.name)
  override def inputTypes: Seq[DataType] = Seq(DoubleType)
  override def dataType: DataType = DoubleType
  override def nullable: Boolean = true

  override lazy val aggBufferAttributes: Seq[AttributeReference] = Seq(logarithms, rows)
  override lazy val initialValues: Seq[Expression] = Seq(Literal(0.0), Literal(0L))
  override protected def required: Seq[Expression] = Seq(child)
  override protected def lift: Seq[Expression] =
    Seq(Doubles.log(KnownNotNull(child)), Literal(1L))

  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] =
    Seq(new Add(o(0), y(0)), WrappingLong.add(o(1), y(1)))

  override lazy val evaluateExpression: Expression = If(
    EqualTo(rows, Literal(0L)),
    Literal.create(null, DoubleType),
    Doubles.exp(Doubles.mean(logarithms, rows))
  )

  override protected def withNewChildInternal(newChild: Expression): GeometricMean =
    copy(child = newChild)
}

private[sash] object GeometricMean {
  private[spark] val Function: SashFunction = SashFunction(
    "geometric_mean",
    "Returns the geometric mean of the values: the nth root of their product.",
    Seq("x" -> "a number, taken as a DOUBLE"),
    Seq(
      "SELECT _FUNC_(col) FROM VALUES (2), (8), (NULL) AS tab(col)" -> "4.0",
      "SELECT _FUNC_(col) FROM VALUES (0), (8) AS tab(col)" -> "0.0"
    ),
    Seq(
      "Computed from the sum of logarithms, so that no product overflows. A 0 makes it 0, a",
      "negative number NaN. NULLs are skipped; NULL over no rows."
    ),
    classOf[GeometricMean]
  ) { case Seq(x) => GeometricMean(x) }
}
