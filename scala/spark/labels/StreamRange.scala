package io.sash.spark.labels

import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

/**
 * Says why a range is none for a stream. A row waits until the watermark has passed the end of
 * its range, so both ends are at fixed distances from one event time.
 */
private[labels] object StreamRange {

  def fault(query: CorrelatedAggregate, zone: String): Option[String] = {
    val (time, named) = (query.time, LabelText(query.time))
    val ends = (query.lower ++ query.upper).map(_.value).toSeq
    if (time.dataType != TimestampType)
      Some(
        s"the range compares $named, which is of type ${time.dataType.sql}; on a stream, " +
          "compare a TIMESTAMP that has a watermark"
      )
    else if (query.upper.isEmpty) {
      val base = LabelText(Distance.base(ends.head, zone))
      Some(
        s"the range of $named has no upper end, so that a row would wait for ever; add one, as " +
          s"in $named < $base + INTERVAL 1 HOUR"
      )
    } else
      Option.when(LabelRange.of(query, zone) == OwnRange) {
        ends.flatMap(moving(_, zone)).headOption.getOrElse(others(named, ends, zone))
      }
  }

  /** The reason why an end is at no fixed distance. */
  private def moving(end: Expression, zone: String): Option[String] =
    end
      .collect {
        case b: BinaryExpression if isInterval(b.right) && !isFixed(b, zone) => b.right
      }
      .headOption
      .map { interval =>
        val why =
          if (!interval.foldable)
            "is at another distance for each row; write a constant interval"
          else if (hasMonths(interval)) "counts months, which vary in length; write days or hours"
          else
            s"counts days, which vary in length in $zone; write hours, or set " +
              "spark.sql.session.timeZone to UTC"
        s"on a stream, both ends of the range are at fixed distances from one event time: " +
          s"${LabelText(end)} $why"
      }

  private def others(time: String, ends: Seq[Expression], zone: String): String = {
    val bases = ends.map(Distance.base(_, zone)).distinctBy(_.canonicalized).map(LabelText(_))
    if (bases.length > 1)
      s"the ends of the range of $time belong to two values, ${bases.mkString(" and ")}; on a " +
        "stream, let both be at fixed distances from one event time"
    else
      s"the range of $time ends before it begins: ${ends.map(LabelText(_)).mkString(" to ")}; " +
        "exchange its ends"
  }

  private def isInterval(e: Expression): Boolean = e.dataType match {
    case CalendarIntervalType | _: DayTimeIntervalType | _: YearMonthIntervalType => true
    case _                                                                        => false
  }

  private def isFixed(sum: BinaryExpression, zone: String): Boolean =
    Distance.of(sum, zone).exists(!_.base.fastEquals(sum))

  private def hasMonths(interval: Expression): Boolean =
    interval.dataType.isInstanceOf[YearMonthIntervalType] || (interval.eval() match {
      case i: CalendarInterval => i.months != 0
      case _                   => false
    })
}
