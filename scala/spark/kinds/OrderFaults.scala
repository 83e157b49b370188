package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._

import io.sash.spark.base.{ArgumentChecks, TimeUnit}
import io.sash.spark.base.TimeUnit.{Day, Micro}
import io.sash.spark.times.ConstantInterval

/** Reasons why a kind of window cannot stand in a window of an order. */
private[kinds] object OrderFaults {
  def noOrder(order: Seq[SortOrder]): Option[String] =
    Option.when(order.isEmpty)("its window has no order; add ORDER BY")

  /** The fault if the order is not one expression to which `extent` can be added. */
  def unmoved(order: Seq[SortOrder], name: String, extent: Expression): Option[String] =
    noOrder(order).orElse {
      val by = order.head.child
      if (order.length > 1)
        Some(s"a $name lies in an order by one expression; ORDER BY ${by.sql} alone")
      else
        Option.when(ArgumentChecks.checkDifference(by, extent).isFailure)(
          s"its $name of type ${extent.dataType.sql} cannot be added to ${by.sql}, " +
            s"the order, of type ${by.dataType.sql}; ${remedy(by, name)}"
        )
    }

  /**
   * The fault if the size changes when Spark casts it to the order's type: a decimal is rounded,
   * and an integer may wrap around.
   */
  def unheld(order: Expression, size: Expression): Option[String] = {
    val of = order.dataType
    def as(e: Expression, to: DataType) = Literal(Cast(e, to, None, EvalMode.TRY).eval(), to)
    val isExact = ArgumentChecks.isInteger(of) || of.isInstanceOf[DecimalType]
    Option.when(
      isExact && LessThanOrEqual(as(as(size, of), size.dataType), size).eval() != true
    )(
      s"its size, ${size.sql}, is no ${of.sql}, the type of the order; ORDER BY a CAST of " +
        s"${order.sql} to a type that has both"
    )
  }

  /** The fault if an order of this type has no multiples of `hop`. */
  def uncut(order: Expression, size: Expression, hop: Expression): Option[String] =
    if (ConstantInterval.of(hop).exists(_.months != 0))
      Some("its hop has months, which differ in length; write the hop in days or hours")
    else
      order.dataType match {
        case TimeUnit(Day | Micro)                                        => None
        case of if ArgumentChecks.isInteger(of) && areIntegers(size, hop) => None
        case of if ArgumentChecks.isInteger(of) =>
          Some("an order by integers wants a hop and a size that are integers")
        case of => Some(s"${withoutUnits(of)}, or leave out `hop`")
      }

  /** Says that no distance is a whole number of units in an order of this type. */
  def withoutUnits(of: DataType): String = {
    val remedy = TimeUnit.remedy(of).getOrElse("order by integers, dates or timestamps")
    s"an order of type ${of.sql} has no units; $remedy"
  }

  private def areIntegers(extents: Expression*): Boolean =
    extents.forall(e => ArgumentChecks.isInteger(e.dataType))

  private def remedy(order: Expression, name: String): String =
    (extentOf(order.dataType, name), order.dataType) match {
      case (Some(extent), _: NumericType) => s"$extent, or order by a timestamp"
      case (Some(extent), TimeUnit(Day)) =>
        s"$extent, or ORDER BY CAST(${order.sql} AS TIMESTAMP_NTZ)"
      case (Some(extent), _) => extent
      case (None, of) => TimeUnit.remedy(of).getOrElse("order by a number, a date or a timestamp")
    }

  /** How an extent between values of a type is written; None if the type has no extents. */
  private def extentOf(of: DataType, name: String): Option[String] = of match {
    case _: NumericType  => Some(s"write the $name as a number")
    case TimeUnit(Day)   => Some(s"write the $name as whole days or months, as in '1 day'")
    case TimeUnit(Micro) => Some(s"write the $name as an interval, as in '1 hour'")
    case _               => None
  }

  /** The remedy where no `delta` can be subtracted from an attribute. */
  def remedyOfDelta(attribute: DataType): String = extentOf(attribute, "delta")
    .orElse(TimeUnit.remedy(attribute))
    .getOrElse("name an attribute that is a number, a date or a timestamp")
}
