package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

import io.sash.spark.base.ArgumentChecks.isInterval
import io.sash.spark.kinds.OwnBound
import io.sash.spark.times.{Distance, RisingTime}

/**
 * The range of a query over streams. A label waits until the watermark has passed the end of its
 * range, and an event is dropped when no later label may need it. So both ends have to rise with
 * one event time: at fixed distances from it, or truncated to a unit such as its hour.
 */
private[lateral] object StreamTimeRange {

  /**
   * The range. A stream cannot have an `OwnRange`, or a range over anything but an event time.
   */
  def of(query: CorrelatedAggregate, zone: String): LateralRange = {
    val ends = (query.lower ++ query.upper).map(_.value).toSeq
    LateralRange.of(query, zone) match {
      case fixed @ OffsetRange(_: Attribute, _, _)                              => fixed
      case other if ends.forall(Distance.base(_, zone).isInstanceOf[Attribute]) => other
      case other =>
        ends.map(RisingTime.of(_, zone).map(_.base)).distinctBy(_.map(_.canonicalized)) match {
          case Seq(Some(base: Attribute)) if base.dataType == TimestampType => RisingRange(base)
          case _                                                            => other
        }
    }
  }

  /** The value of the label from which the range is measured; none without an upper end. */
  def base(query: CorrelatedAggregate, zone: String): Option[Expression] = of(query, zone) match {
    case RisingRange(base) => Some(base)
    case _                 => query.upper.map(b => Distance.base(b.value, zone))
  }

  def hasWatermark(e: Expression): Boolean = e match {
    case a: Attribute => a.metadata.contains(EventTimeWatermark.delayKey)
    case _            => false
  }

  /**
   * The query with its ends over an event time of the labels. A column that the labels compute
   * from this time, such as its hour, is replaced by its expression.
   */
  def overTimes(
      query: CorrelatedAggregate,
      labels: LogicalPlan,
      zone: String
  ): CorrelatedAggregate = {
    lazy val computed = columns(labels)
    def whole(e: Expression): Expression = e.transform {
      case a: Attribute if computed.contains(a) && !isTime(ofLabels(a)) => whole(computed(a))
      case a: Attribute                                                 => ofLabels(a)
    }
    // the column of window(ts, …) has the watermark, too
    def isTime(a: Attribute) = hasWatermark(a) && !a.dataType.isInstanceOf[StructType]
    def ofLabels(a: Attribute): Attribute = labels.output.find(_.exprId == a.exprId).getOrElse(a)
    def isOfTime(e: Expression) = e.references.subsetOf(labels.outputSet) &&
      (RisingTime.of(e, zone).exists(t => hasWatermark(t.base)) ||
        RisingTime.falling(e, zone).nonEmpty)
    def end(bound: OwnBound): OwnBound =
      Some(whole(bound.value)).filter(isOfTime).fold(bound)(e => bound.copy(value = e))
    // window(l.ts, …) adds this condition, and a stream drops rows whose time is NULL anyway
    val conditions = query.ofLabel.filter {
      case IsNotNull(a: Attribute) => !isTime(ofLabels(a))
      case _                       => true
    }
    query.copy(
      lower = query.lower.map(end),
      upper = query.upper.map(end),
      ofLabel = conditions
    )
  }

  /** The columns that projections in a plan compute, and their expressions. */
  private def columns(plan: LogicalPlan): AttributeMap[Expression] = {
    def of(plan: LogicalPlan): Seq[(Attribute, Expression)] = plan match {
      case Project(list, child) =>
        list.collect { case a: Alias if a.deterministic => a.toAttribute -> a.child } ++ of(child)
      case _: SubqueryAlias | _: View | _: Filter | _: EventTimeWatermark =>
        of(plan.children.head)
      case _ => Nil
    }
    AttributeMap(of(plan))
  }

  def fault(query: CorrelatedAggregate, zone: String): Option[String] = {
    val (time, named) = (query.time, LateralSourceText(query.time))
    val ends = (query.lower ++ query.upper).map(_.value).toSeq
    if (time.dataType != TimestampType)
      Some(SameTime.onClock(time).fold(ofType(time)) { case (_, zone) =>
        s"a difference of $named counts by the clock of $zone, whose hours may come twice; on " +
          s"a stream, compare times, as in $named >= l.ts - INTERVAL 1 HOUR, or set " +
          "spark.sql.session.timeZone to UTC"
      })
    else if (query.upper.isEmpty) {
      val base = LateralSourceText(Distance.base(ends.head, zone))
      Some(
        s"the range of $named has no upper end, so that a row would wait for ever; add one, as " +
          s"in $named < $base + INTERVAL 1 HOUR"
      )
    } else
      ends
        .flatMap(falling(_, zone))
        .headOption
        .orElse(Option.when(of(query, zone) == OwnRange) {
          ends.flatMap(moving(_, zone)).headOption.getOrElse(severalTimes(named, ends, zone))
        })
  }

  private def ofType(time: Expression): String =
    s"the range compares ${LateralSourceText(time)}, which is of type ${time.dataType.sql}; on " +
      "a stream, compare a TIMESTAMP that has a watermark"

  /** The reason why an end may move back. */
  private def falling(end: Expression, zone: String) = RisingTime.falling(end, zone).map { cut =>
    s"on a stream, no end of a range moves back while the outer row's time goes on, and " +
      s"${LateralSourceText(cut.value)} does when clocks change in " +
      s"${cut.zones.mkString(", ")}; set " +
      "spark.sql.session.timeZone to UTC"
  }

  /** The reason, if an end is at no fixed distance. */
  private def moving(end: Expression, zone: String): Option[String] =
    end
      .collect {
        case b: BinaryExpression if isInterval(b.right.dataType) && !isFixed(b, zone) => b.right
      }
      .headOption
      .map { interval =>
        val why =
          if (!interval.foldable)
            "is at another distance for each row; write a constant interval"
          else if (hasMonths(interval)) "counts months, which vary in length; write days or hours"
          else
            s"counts days, which vary in length in $zone, and 24 hours of an INTERVAL are " +
              "a day; write make_interval(0, 0, 0, 0, 24) for 24 hours, or set " +
              "spark.sql.session.timeZone to UTC"
        s"on a stream, both ends of the range are at fixed distances from one event time, " +
          s"or cut to a unit of it: ${LateralSourceText(end)} $why"
      }

  private def severalTimes(time: String, ends: Seq[Expression], zone: String): String = {
    val bases =
      ends.map(Distance.base(_, zone)).distinctBy(_.canonicalized).map(LateralSourceText(_))
    if (bases.length > 1)
      s"the ends of the range of $time belong to two values, ${bases.mkString(" and ")}; on a " +
        "stream, let both be at fixed distances from one event time, or cut to a unit of it as " +
        "in date_trunc('hour', l.ts)"
    else
      s"the range of $time ends before it begins: " +
        s"${ends.map(LateralSourceText(_)).mkString(" to ")}; " +
        "exchange its ends"
  }

  private def isFixed(sum: BinaryExpression, zone: String): Boolean =
    Distance.of(sum, zone).exists(!_.base.fastEquals(sum))

  private def hasMonths(interval: Expression): Boolean =
    interval.dataType.isInstanceOf[YearMonthIntervalType] || (interval.eval() match {
      case i: CalendarInterval => i.months != 0
      case _                   => false
    })
}
