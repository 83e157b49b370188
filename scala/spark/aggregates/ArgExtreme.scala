package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.BinaryLike
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._

import io.sash.spark.base.SashFunction
import io.sash.spark.monoids.MonoidTraits.outdone

/**
 * The argument of the row whose value beats all others. Of equal values the first in arrival
 * order wins, whereas in Spark's `max_by` the last one wins.
 */
private[sash] abstract class ArgExtreme private[aggregates]
    extends OwnMonoidAggregate
    with BinaryLike[Expression] {
  import OwnMonoidAggregate._

  def arg: Expression
  def value: Expression

  private lazy val cells = Seq(cell("arg", arg.dataType), cell("value", value.dataType))

  /** Whether value x beats value y. */
  protected def beats(x: Expression, y: Expression): Expression

  override def left: Expression = arg
  override def right: Expression = value
  override def dataType: DataType = arg.dataType
  override def nullable: Boolean = true
  override def checkInputDataTypes(): TypeCheckResult =
    TypeUtils.checkForOrderingExpr(value.dataType, prettyName)

  override lazy val aggBufferAttributes: Seq[AttributeReference] = cells
  override lazy val initialValues: Seq[Expression] = cells.map(c => nothing(c.dataType))
  override protected def required: Seq[Expression] = Seq(value)
  override protected def lift: Seq[Expression] = Seq(arg, value)

  private def younger(o: Seq[Expression], y: Seq[Expression]): Expression =
    outdone(o(1), y(1), beats(y(1), o(1)))

  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] =
    pick(younger(o, y), (o, y))

  override def selectsRight: Option[Expression] = Some(younger(cells, inputAggBufferAttributes))

  override lazy val evaluateExpression: Expression = cells.head
}

/** See `io.sash.core.algebra.ArgMax`; here values compare as Spark's do. */
private[sash] final case class ArgMax(arg: Expression, value: Expression) extends ArgExtreme {
  override def prettyName: String = ArgMax.Function.name
  override protected def beats(x: Expression, y: Expression): Expression = GreaterThan(x, y)
  override protected def withNewChildrenInternal(a: Expression, v: Expression): ArgMax =
    copy(arg = a, value = v)
}

private[sash] object ArgMax {
  private[spark] val Function: SashFunction = SashFunction(
    "arg_max",
    "Returns `arg` of the row in which `val` is greatest.",
    Seq("arg" -> "of any type", "val" -> "a value of any type that can be ordered"),
    Seq(
      "SELECT _FUNC_(x, y) FROM VALUES ('Ann', 10), ('Bo', 50), ('Cy', 20) AS tab(x, y)" -> "Bo"
    ),
    Seq(
      "Of several such rows the first one to arrive, where `max_by` has the last: in a " +
        "window, the",
      "first by its ORDER BY. Rows whose `val` is NULL are skipped; `arg` may be NULL."
    ),
    classOf[ArgMax]
  ) { case Seq(arg, value) => ArgMax(arg, value) }
}

/** See `io.sash.core.algebra.ArgMin`; here values compare as Spark's do. */
private[sash] final case class ArgMin(arg: Expression, value: Expression) extends ArgExtreme {
  override def prettyName: String = ArgMin.Function.name
  override protected def beats(x: Expression, y: Expression): Expression = LessThan(x, y)
  override protected def withNewChildrenInternal(a: Expression, v: Expression): ArgMin =
    copy(arg = a, value = v)
}

private[sash] object ArgMin {
  private[spark] val Function: SashFunction = SashFunction(
    "arg_min",
    "Returns `arg` of the row in which `val` is least.",
    Seq("arg" -> "of any type", "val" -> "a value of any type that can be ordered"),
    Seq(
      "SELECT _FUNC_(x, y) FROM VALUES ('Ann', 10), ('Bo', 50), ('Cy', 20) AS tab(x, y)" -> "Ann"
    ),
    Seq(
      "Of several such rows the first one to arrive, where `min_by` has the last: in a " +
        "window, the",
      "first by its ORDER BY. Rows whose `val` is NULL are skipped; `arg` may be NULL."
    ),
    classOf[ArgMin]
  ) { case Seq(arg, value) => ArgMin(arg, value) }
}
