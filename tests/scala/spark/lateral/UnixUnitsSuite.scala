package io.sash.spark.lateral

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{LongType, TimestampType}

import org.scalatest.funsuite.AnyFunSuite

/** The first time that has a number of units, beside Spark's own numbers. */
final class UnixUnitsSuite extends AnyFunSuite {
  private val time = BoundReference(0, TimestampType, nullable = false)
  private val format = Literal("yyyy-MM-dd")
  private val ends = Seq(Long.MinValue, Long.MinValue / 2, Long.MaxValue / 2, Long.MaxValue)
  private val times =
    ends ++ (for (s <- -3 to 3; part <- Seq(-1, 0, 1, 400000)) yield s * 1000000L + part)

  for (
    number <- Seq(
      UnixSeconds(time),
      UnixMillis(time),
      UnixMicros(time),
      Cast(time, LongType),
      new UnixTimestamp(time, format)
    )
  ) test(number.sql) {
    val UnixUnits(units, _) = number: @unchecked
    val numbers = times.map(t => number.eval(InternalRow(t)).asInstanceOf[Long])
    for {
      (t, n) <- times.zip(numbers)
      least <- numbers
      more <- Seq(false, true)
      first = FirstTime(time, units, more).of(least) if first != Long.MaxValue
    } assert((if (more) n > least else n >= least) == (t >= first), s"$t, $n, $least, $more")
  }
}
