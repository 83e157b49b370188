package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types._

import io.sash.spark.base.{ArgumentChecks, SashFunction}
import io.sash.spark.monoids.MonoidTraits.outdone

/**
 * The first, last, least and greatest point of a time series. In `io.sash.papers.algebra.M4` the
 * order of arrival decides which point is first and last. Here the time decides, so the order of
 * a group's rows does not matter.
 */
private[spark] case object M4 extends MonoidKind {
  private type Point = Seq[Expression] // time and value

  override def check(arguments: Seq[Expression]): TypeCheckResult = ArgumentChecks.inTurn(
    arguments.map(a => TypeUtils.checkForOrderingExpr(a.dataType, name)): _*
  )

  override def dataType(arguments: Seq[Expression]): DataType = {
    val Seq(x, ts) = arguments
    val point = new StructType().add("time", ts.dataType).add("value", x.dataType)
    StructType(Better.map { case (name, _) => StructField(name, point) })
  }

  override def parts(arguments: Seq[Expression]): MonoidParts = {
    val Seq(x, ts) = arguments
    MonoidParts(
      Seq(ts, x),
      Better.flatMap { case (name, _) =>
        Seq(OneCell.nullable(s"${name}_time", ts), OneCell.nullable(s"${name}_value", x))
      },
      combine = (o, y) => {
        val points = o.grouped(2).zip(y.grouped(2)).toSeq
        points.zip(Better).flatMap { case ((older, younger), (_, isBetter)) =>
          val picks = outdone(older(0), younger(0), isBetter(younger, older))
          MonoidParts.pick(picks)(older, younger)
        }
      },
      lower = cells => {
        val points = cells.grouped(2).map { case Seq(t, v) =>
          CreateNamedStruct(Seq(Literal("time"), t, Literal("value"), v))
        }
        val all = Better.zip(points).flatMap { case ((name, _), p) => Seq(Literal(name), p) }
        If(IsNull(cells.head), nothing(dataType(arguments)), CreateNamedStruct(all))
      }
    )
  }

  /** The four points: whether a younger point replaces an older one. */
  private lazy val Better: Seq[(String, (Point, Point) => Expression)] = Seq(
    "first" -> isEarlier,
    "last" -> ((y, o) => GreaterThanOrEqual(y(0), o(0))),
    "min" -> isFirst(LessThan(_, _)),
    "max" -> isFirst(GreaterThan(_, _))
  )

  private def isEarlier(y: Point, o: Point): Expression = LessThan(y(0), o(0))

  private def isFirst(
      beats: (Expression, Expression) => Expression
  )(y: Point, o: Point): Expression =
    Or(beats(y(1), o(1)), And(EqualTo(y(1), o(1)), isEarlier(y, o)))

  override val function: SashFunction = described("m4")("""
    Returns the first, the last, the least and the greatest point of a time series: the four
    that a chart needs of each column of pixels.

    * x - the value, of any type that can be ordered
    * ts - the time, of any type that can be ordered

    > SELECT _FUNC_(x, ts).max FROM VALUES (1, 3.5), (2, 1.0), (3, 4.5) AS tab(ts, x);
    {"time":3,"value":4.5}

    The answer is a struct of first, last, min and max, each a struct of time and value. Of
    equal values the earliest. Rows in which either is NULL are skipped; NULL over no rows.
    Jugel, Jerzak, Hackenbroich, Markl, M4, PVLDB 2014.
  """)
}
