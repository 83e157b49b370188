package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.trees.BinaryLike
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._

import io.sash.spark.base.{ArgumentChecks, SashFunction}
import io.sash.spark.monoids.MonoidTraits.outdone

/**
 * The first, last, least and greatest point of a time series. In `io.sash.core.algebra.M4` the
 * order of arrival decides which point is first and last. Here the time decides, so the order of
 * a group's rows does not matter.
 */
private[sash] final case class M4(time: Expression, value: Expression)
    extends OwnMonoidAggregate
    with BinaryLike[Expression] {
  import M4.Names
  import OwnMonoidAggregate._

  private lazy val cells: Seq[AttributeReference] = Names.flatMap { name =>
    Seq(cell(s"${name}_time", time.dataType), cell(s"${name}_value", value.dataType))
  }

  override def prettyName: String = M4.Function.name
  override def left: Expression = time
  override def right: Expression = value
  override def nullable: Boolean = true

  override def dataType: DataType = {
    val point = new StructType().add("time", time.dataType).add("value", value.dataType)
    StructType(Names.map(StructField(_, point)))
  }

  override def checkInputDataTypes(): TypeCheckResult = ArgumentChecks.inTurn(
    TypeUtils.checkForOrderingExpr(time.dataType, prettyName),
    TypeUtils.checkForOrderingExpr(value.dataType, prettyName)
  )

  override lazy val aggBufferAttributes: Seq[AttributeReference] = cells
  override lazy val initialValues: Seq[Expression] = cells.map(c => nothing(c.dataType))
  override protected def required: Seq[Expression] = Seq(time, value)
  override protected def lift: Seq[Expression] = Names.flatMap(_ => Seq(time, value))

  override protected def combine(o: Seq[Expression], y: Seq[Expression]): Seq[Expression] = {
    val points = o.grouped(2).zip(y.grouped(2)).toSeq
    points.zip(better).flatMap { case ((older, younger), isBetter) =>
      pick(outdone(older(0), younger(0), isBetter(younger, older)), (older, younger))
    }
  }

  /** For each of the four points: whether a younger point replaces an older one. */
  private def better: Seq[(Seq[Expression], Seq[Expression]) => Expression] = {
    def earlier(y: Seq[Expression], o: Seq[Expression]): Expression = LessThan(y(0), o(0))
    def first(beats: (Expression, Expression) => Expression)(
        y: Seq[Expression],
        o: Seq[Expression]
    ): Expression = Or(beats(y(1), o(1)), And(EqualTo(y(1), o(1)), earlier(y, o)))
    Seq(
      earlier,
      (y, o) => GreaterThanOrEqual(y(0), o(0)),
      first(LessThan(_, _)),
      first(GreaterThan(_, _))
    )
  }

  override lazy val evaluateExpression: Expression = {
    val points = cells.grouped(2).map { case Seq(t, v) =>
      CreateNamedStruct(Seq(Literal("time"), t, Literal("value"), v))
    }
    val all = CreateNamedStruct(Names.zip(points).flatMap { case (n, p) => Seq(Literal(n), p) })
    If(IsNull(cells.head), nothing(dataType), all)
  }

  override protected def withNewChildrenInternal(t: Expression, v: Expression): M4 =
    copy(time = t, value = v)
}

private[sash] object M4 {
  private val Names = Seq("first", "last", "min", "max")

  private[spark] val Function: SashFunction = SashFunction(
    "m4",
    "Returns the first, the last, the least and the greatest point of a time series: the four " +
      "that a chart needs of each column of pixels.",
    Seq(
      "ts" -> "the time, of any type that can be ordered",
      "x" -> "the value, of any type that can be ordered"
    ),
    Seq(
      "SELECT _FUNC_(ts, x).max FROM VALUES (1, 3.5), (2, 1.0), (3, 4.5) AS tab(ts, x)" ->
        "{\"time\":3,\"value\":4.5}"
    ),
    Seq(
      "The answer is a struct of first, last, min and max, each a struct of time and value. Of",
      "equal values the earliest. Rows in which either is NULL are skipped; NULL over no rows.",
      "Jugel, Jerzak, Hackenbroich, Markl, M4, PVLDB 2014."
    ),
    classOf[M4]
  ) { case Seq(ts, x) => M4(ts, x) }
}
