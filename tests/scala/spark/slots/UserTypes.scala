package io.sash.spark.slots

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.CalendarInterval

/** A number, written out, that Spark keeps as another type. */
sealed abstract class UserType(
    override val sqlType: DataType,
    to: String => Any,
    from: PartialFunction[Any, String]
) extends UserDefinedType[String] {
  override def userClass: Class[String] = classOf[String]
  override def serialize(number: String): Any = if (number == null) null else to(number)
  override def deserialize(datum: Any): String = from(datum)
}

object UserTypes {
  object OfBinary
      extends UserType(
        BinaryType,
        _.getBytes(UTF_8),
        { case b: Array[Byte] => new String(b, UTF_8) }
      )

  object OfDecimal
      extends UserType(DecimalType(20, 0), Decimal(_), { case d: Decimal => d.toString })

  object OfLong extends UserType(LongType, _.toLong, { case l: Long => l.toString })

  /**
   * An interval under the name of another type: a row leaves room for its NULLs, too, as it
   * does for a timestamp of nanoseconds.
   */
  final case class Named(override val typeName: String)
      extends UserDefinedType[CalendarInterval] {
    override def sqlType: DataType = CalendarIntervalType
    override def userClass: Class[CalendarInterval] = classOf[CalendarInterval]
    override def serialize(of: CalendarInterval): Any = of
    override def deserialize(datum: Any): CalendarInterval = datum.asInstanceOf[CalendarInterval]
  }
}
