package io.sash.spark.kinds

import org.apache.spark.sql.catalyst.expressions.{Expression, SortOrder}
import org.apache.spark.sql.types._

import io.sash.spark.base.{ArgumentChecks, TimeUnit}
import io.sash.spark.base.TimeUnit.{Day, Micro}
import io.sash.spark.times.ConstantInterval

/** Reasons why a kind of window cannot stand in a window of an order. */
private[kinds] object OrderFaults {
  def noOrder(order: Seq[SortOrder]): Option[String] =
    Option.when(order.isEmpty)("its window has no order; add ORDER BY")

  /** The fault where the order has to be one expression to which `extent` can be added. */
  def unmoved(order: Seq[SortOrder], name: String, extent: Expression): Option[String] =
    noOrder(order).orElse {
      val by = order.head.child
      if (order.length > 1) Some(s"a $name lies in an order by one expression")
      else
        Option.when(ArgumentChecks.checkDifference(by, extent).isFailure)(
          s"its $name of type ${extent.dataType.sql} cannot be added to ${by.sql}, " +
            s"the order, of type ${by.dataType.sql}; ${remedy(by.dataType, name)}"
        )
    }

  /** The fault where no place in the order is a multiple of `hop`. */
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

  private def remedy(order: DataType, name: String): String = order match {
    case _: NumericType => s"write the $name as a number, or order by a timestamp"
    case TimeUnit(Day) =>
      s"write the $name as whole days or months, as in '1 day', or order by a timestamp"
    case TimeUnit(Micro) => s"write the $name as an interval, as in '1 hour'"
    case _ => TimeUnit.remedy(order).getOrElse("order by a number, a date or a timestamp")
  }
}
