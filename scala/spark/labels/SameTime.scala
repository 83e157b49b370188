package io.sash.spark.labels

import java.time.Duration

import scala.jdk.CollectionConverters._
import scala.util.{Left, Right}

import org.apache.spark.sql.catalyst.expressions.{Cast, Expression}
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.types._

/**
 * Ends of one range whose comparisons cast the same time to different types, as Spark does if the
 * label's values are of different types.
 */
private[labels] object SameTime {
  import SortedConditions.End

  /** The ends over one time, in the widest of the types; Left if no type holds all values. */
  def of(ends: Seq[End]): Either[String, Seq[End]] = {
    val times = ends.map(_.time).distinctBy(_.canonicalized)
    if (times.isEmpty) Left("no range of the rows is compared with the outer row")
    else if (times.length == 1) Right(ends)
    else {
      val zone = times.flatMap(_.collect { case c: Cast => c.timeZoneId }).flatten.headOption
      val types = times.map(_.dataType)
      val widest = types.find(to => types.forall(from => from == to || isExact(from, to, zone)))
      val bare = times.map(narrow).distinctBy(_.canonicalized)
      if (bare.length > 1 || widest.isEmpty)
        Left(s"ranges of two expressions: ${times.map(_.sql).mkString(", ")}")
      else
        Right(ends.map { end =>
          val value = as(end.bound.value, widest.get, zone)
          val time = as(bare.head, widest.get, zone)
          end.copy(time = time, bound = end.bound.copy(value = value))
        })
    }
  }

  /** Whether two expressions order rows alike: they are one time, in types that lose no value. */
  def orderAlike(time: Expression, other: Expression): Boolean =
    narrow(time).semanticEquals(narrow(other))

  private def as(e: Expression, to: DataType, zone: Option[String]): Expression =
    if (e.dataType == to) e else Cast(e, to, zone)

  private def narrow(time: Expression): Expression = time match {
    case c: Cast if isExact(c.child.dataType, c.dataType, c.timeZoneId) => narrow(c.child)
    case _                                                              => time
  }

  /** Whether a cast keeps all values apart, and their order. */
  private def isExact(from: DataType, to: DataType, zone: Option[String]): Boolean =
    Cast.canUpCast(from, to) && ((from, to) match {
      case (DateType, TimestampNTZType) => true
      case (DateType, TimestampType)    => zone.exists(hasEachDay)
      case (f, t)                       => isNumber(f) && isNumber(t)
    })

  /** Whether no two dates have one midnight, as where a zone left out a day. */
  private def hasEachDay(zone: String): Boolean =
    !DateTimeUtils.getZoneId(zone).getRules.getTransitions.asScala.exists { t =>
      t.isGap && t.getDuration.compareTo(Duration.ofDays(1)) >= 0
    }

  /** Whether numbers of a type are exact. */
  private def isNumber(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType | _: DecimalType => true
    case _                                                              => false
  }
}
