package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.UnaryLike
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._

import io.sash.spark.base.SashFunction
import io.sash.spark.monoids.WrappingLong
import io.sash.spark.monoids.MonoidTraits.outdone

/** Counts how often the extreme value occurs, compared as in `max` and `min`. 0 over no rows. */
private[sash] abstract class ExtremeCount private[aggregates]
    extends OwnMonoidAggregate
    with UnaryLike[Expression] {
  import OwnMonoidAggregate._

  private lazy val extreme = cell("extreme", child.dataType)
  private lazy val times = count("times")

  /** Whether value x beats value y. */
  protected def beats(x: Expression, y: Expression): Expression

  override def dataType: DataType = LongType
  override def nullable: Boolean = false
  override def checkInputDataTypes(): TypeCheckResult =
    TypeUtils.checkForOrderingExpr(child.dataType, prettyName)

  override lazy val defaultResult: Option[Literal] = Some(Literal(0L))
  override lazy val aggBufferAttributes: Seq[AttributeReference] = Seq(extreme, times)
  override lazy val initialValues: Seq[Expression] = Seq(nothing(child.dataType), Literal(0L))
  override protected def required: Seq[Expression] = Seq(child)
  override protected def lift: Seq[Expression] = Seq(child, Literal(1L))

  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] = {
    val younger = outdone(o(0), y(0), beats(y(0), o(0)))
    val Seq(kept, _) = pick(younger, (o, y))
    // both may be NULL; their counts are 0 then
    val both = WrappingLong.add(o(1), y(1))
    val all = If(EqualNullSafe(o(0), y(0)), both, o(1))
    Seq(kept, If(younger, y(1), all))
  }

  override lazy val evaluateExpression: Expression = times
}

/** See `io.sash.core.algebra.MaxCount`; here Spark's `=` decides whether values are equal. */
private[sash] final case class MaxCount(child: Expression) extends ExtremeCount {
  override def prettyName: String = MaxCount.Function.name
  override protected def beats(x: Expression, y: Expression): Expression = GreaterThan(x, y)
  override protected def withNewChildInternal(newChild: Expression): MaxCount =
    copy(child = newChild)
}

private[sash] object MaxCount {
  private[spark] val Function: SashFunction = SashFunction(
    "max_count",
    "Returns how often the greatest value occurs.",
    Seq("x" -> "a value of any type that can be ordered"),
    Seq("SELECT _FUNC_(col) FROM VALUES (4), (5), (3), (5) AS tab(col)" -> "2"),
    Seq("NULLs are skipped; 0 over no rows. Values are compared as by `max`."),
    classOf[MaxCount]
  ) { case Seq(x) => MaxCount(x) }
}

/** See `io.sash.core.algebra.MinCount`; here Spark's `=` decides whether values are equal. */
private[sash] final case class MinCount(child: Expression) extends ExtremeCount {
  override def prettyName: String = MinCount.Function.name
  override protected def beats(x: Expression, y: Expression): Expression = LessThan(x, y)
  override protected def withNewChildInternal(newChild: Expression): MinCount =
    copy(child = newChild)
}

private[sash] object MinCount {
  private[spark] val Function: SashFunction = SashFunction(
    "min_count",
    "Returns how often the least value occurs.",
    Seq("x" -> "a value of any type that can be ordered"),
    Seq("SELECT _FUNC_(col) FROM VALUES (4), (3), (3), (5) AS tab(col)" -> "2"),
    Seq("NULLs are skipped; 0 over no rows. Values are compared as by `min`."),
    classOf[MinCount]
  ) { case Seq(x) => MinCount(x) }
}
