package io.sash.spark.base

import org.apache.spark.sql.types.{DataType, DateType, TimestampNTZType, TimestampType}

/** The unit in which the values of a type of times are counted. */
private[spark] sealed abstract class TimeUnit {

  /** Whether values of the type are counted in this unit. */
  def isUnitOf(dataType: DataType): Boolean = TimeUnit.of(dataType).contains(this)
}

/**
 * Tells times from numbers and other types. Code that treats a time unlike a number asks here and
 * names the units that it means, so that it takes no other time for a number.
 *
 * Types that some versions of Spark lack are known by their names in SQL, since the jar can link
 * to no class of theirs.
 */
private[spark] object TimeUnit {

  /** DATE: an INT. */
  case object Day extends TimeUnit

  /** TIMESTAMP and TIMESTAMP_NTZ: a BIGINT. */
  case object Micro extends TimeUnit

  /** TIME: nanoseconds since midnight, a BIGINT. */
  case object NanoOfDay extends TimeUnit

  /** TIMESTAMP_NTZ(7) to (9) and TIMESTAMP_LTZ(7) to (9): two numbers, which no BIGINT holds. */
  case object Nano extends TimeUnit

  def unapply(dataType: DataType): Option[TimeUnit] = of(dataType)

  def of(dataType: DataType): Option[TimeUnit] = dataType match {
    case DateType                         => Some(Day)
    case TimestampType | TimestampNTZType => Some(Micro)
    case other                            => named(other)
  }

  private val Named = """(time|timestamp_ntz|timestamp_ltz)\(\d+\)""".r

  private def named(dataType: DataType): Option[TimeUnit] = dataType.typeName match {
    case Named("time") => Some(NanoOfDay)
    case Named(_)      => Some(Nano)
    case _             => None
  }

  /** The remedy for a time that Sash does not count with; none for all other types. */
  def remedy(dataType: DataType): Option[String] = of(dataType).collect {
    case NanoOfDay =>
      "take a number of it, as in time_diff('MICROSECOND', TIME'00:00:00', time)"
    case Nano =>
      val coarser = if (isLocal(dataType)) TimestampNTZType else TimestampType
      s"cast it to ${coarser.sql}, which counts microseconds"
  }

  private def isLocal(dataType: DataType): Boolean = dataType.typeName.contains("ntz")
}
