package io.sash.spark.lateral

import java.time.Duration

import scala.jdk.CollectionConverters._
import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions.{Attribute, Cast, Expression}
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._

import io.sash.spark.kinds.OwnBound
import io.sash.spark.times.Distance

/**
 * Brings the ends of one range to one expression of the time. The comparisons may cast the same
 * time to different types, as Spark does if the label's values are of different types.
 */
private[lateral] object SameTime {
  import SortedConditions.End

  /**
   * The ends over one time, in the widest of their types. Left, with the reason, if none fits.
   */
  def of(ends: Seq[End], zone: String): Either[String, Seq[End]] =
    if (ends.isEmpty) Left(NoRange)
    else if (haveOne(ends)) Right(ends)
    else ofOne(ends.map(alone(_, zone)))

  val NoRange = "no range of the rows is compared with the outer row"

  private def haveOne(ends: Seq[End]): Boolean =
    ends.map(_.time).distinctBy(_.canonicalized).length == 1

  /**
   * Solves an end for the bare time, if the event's side is a number of units of the time, or the
   * time plus a fixed distance.
   */
  private def alone(end: End, zone: String): End = end.time match {
    case UnixUnits(units, time) =>
      val value = FirstTime(end.bound.value, units, more = end.isLower != end.bound.isIncluded)
      End(time, OwnBound(value, isIncluded = end.isLower), end.isLower)
    case time =>
      Distance.of(time, zone).filter(_.units != 0).fold(end) { case Distance(base, units) =>
        end.copy(
          time = base,
          bound = end.bound.copy(value = Distance.from(end.bound.value, -units))
        )
      }
  }

  private def ofOne(ends: Seq[End]): Either[String, Seq[End]] = {
    val times = ends.map(_.time).distinctBy(_.canonicalized)
    if (times.length == 1) Right(ends)
    else {
      val zone = times.flatMap(_.collect { case c: Cast => c.timeZoneId }).flatten.headOption
      val types = times.map(_.dataType)
      val widest = types.find(to => types.forall(from => from == to || isExact(from, to, zone)))
      val bare = times.map(narrow).distinctBy(_.canonicalized)
      if (bare.length > 1 || widest.isEmpty)
        Left(onTwoClocks(times).orElse(ofTwoTypes(ends)).getOrElse(ofSeveral(times)))
      else
        Right(ends.map { end =>
          val value = as(end.bound.value, widest.get, zone)
          val time = as(bare.head, widest.get, zone)
          end.copy(time = time, bound = end.bound.copy(value = value))
        })
    }
  }

  /** The reason, if one end compares local time and another one does not. */
  private def onTwoClocks(times: Seq[Expression]): Option[String] =
    times.flatMap(onClock).find { case (time, _) => times.exists(_.semanticEquals(time)) }.map {
      case (time, zone) =>
        val named = LateralSourceText(time)
        s"a difference of $named counts by the clock of $zone, whose hours may come twice. The " +
          s"other end is $named itself; compare it at both ends, as in $named >= l.ts - " +
          "INTERVAL 1 HOUR, or set spark.sql.session.timeZone to UTC"
    }

  /** Matches a local time that `TimeDifference` has made. Gives its TIMESTAMP and time zone. */
  def onClock(time: Expression): Option[(Expression, String)] = time match {
    case c @ Cast(of, TimestampNTZType, Some(zone), _)
        if of.dataType == TimestampType && isOfSpark(c) =>
      Some(of -> zone)
    case _ => None
  }

  private def isOfSpark(c: Cast): Boolean = c.getTagValue(Cast.USER_SPECIFIED_CAST).isEmpty

  /** The reason, if a time is compared with values of two types, and Spark casts it for one. */
  private def ofTwoTypes(ends: Seq[End]): Option[String] = {
    def withoutCast(time: Expression): Expression = time match {
      case c: Cast if isOfSpark(c) => withoutCast(c.child)
      case other                   => other
    }
    val Seq(one, other) = ends.distinctBy(_.time.canonicalized).take(2)
    Option.when(withoutCast(one.time).semanticEquals(withoutCast(other.time))) {
      val (cast, plain) =
        if (one.time.isInstanceOf[Cast]) (one, other) else (other, one)
      val value = LateralSourceText(plain.bound.value)
      val (typeOfCast, typeOfPlain) = (cast.time.dataType.sql, plain.time.dataType.sql)
      s"${LateralSourceText(plain.time)} is compared with values of two types: $value is of " +
        s"type $typeOfPlain, and ${LateralSourceText(cast.bound.value)} of type $typeOfCast; " +
        s"write CAST($value AS $typeOfCast)"
    }
  }

  private def ofSeveral(times: Seq[Expression]): String = {
    val shown = times.map(LateralSourceText(_))
    val bare = times.find(_.isInstanceOf[Attribute]).filter { time =>
      times.forall(_.references.subsetOf(time.references))
    }
    val advice = bare.fold("")(time => s"; leave ${LateralSourceText(time)} alone at both ends")
    s"ranges of two expressions, and a window has one: ${shown.mkString(", ")}$advice"
  }

  /** Whether two expressions order rows alike: both are exact casts of one expression. */
  def orderAlike(time: Expression, other: Expression): Boolean =
    narrow(time).semanticEquals(narrow(other))

  private def as(e: Expression, to: DataType, zone: Option[String]): Expression =
    if (e.dataType == to) e else Cast(e, to, zone)

  private def narrow(time: Expression): Expression = time match {
    case c: Cast if isExact(c.child.dataType, c.dataType, c.timeZoneId) => narrow(c.child)
    case _                                                              => time
  }

  /** Whether a cast keeps different values different, and keeps their order. */
  private def isExact(from: DataType, to: DataType, zone: Option[String]): Boolean =
    Cast.canUpCast(from, to) && ((from, to) match {
      case (DateType, TimestampNTZType) => true
      case (DateType, TimestampType)    => zone.exists(hasEachDay)
      case (f, t)                       => isNumber(f) && isNumber(t)
    })

  /** False for a zone that once skipped a day: there two dates have one midnight. */
  private def hasEachDay(zone: String): Boolean =
    !DateTimeUtils.getZoneId(zone).getRules.getTransitions.asScala.exists { t =>
      t.isGap && t.getDuration.compareTo(Duration.ofDays(1)) >= 0
    }

  /** Whether a type has exact numbers. */
  private def isNumber(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType | _: DecimalType => true
    case _                                                              => false
  }
}
