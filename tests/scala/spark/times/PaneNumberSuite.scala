package io.sash.spark.times

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.scalatest.funsuite.AnyFunSuite

/** The number of the pane that holds a time: exact for all times of BIGINT, by either evaluation. */
class PaneNumberSuite extends AnyFunSuite {
  private val random = new Random(20261127)

  private def any: Long = random.nextInt(3) match {
    case 0 => Seq(0L, -1L, Long.MinValue, Long.MaxValue)(random.nextInt(4))
    case 1 => random.nextLong()
    case _ => random.nextInt(2000) - 1000L
  }

  private def floor(time: Long, width: Long, start: Long): BigInt = {
    val (quotient, rest) = (BigInt(time) - start) /% BigInt(width)
    if (rest < 0) quotient - 1 else quotient
  }

  test("a pane begins at the start and at each multiple of the width from there") {
    for (_ <- 1 to 100000) {
      val (time, start) = (any, any)
      val width =
        2 + (any & Long.MaxValue) % (if (random.nextBoolean()) 50 else Long.MaxValue - 2)
      val number = PaneNumber(Literal(time), width, start).eval()
      assert(number === floor(time, width, start).toLong, (time, width, start))
    }
  }

  test("generated code numbers timestamps and dates alike") {
    val rows = Seq[Any](-1L, 0L, 6L, 7L, Long.MinValue, null).map(InternalRow(_))
    def number(child: Expression) = PaneNumber(child, 7L, 3L)
    val time = number(BoundReference(0, TimestampType, nullable = true))
    val compiled = UnsafeProjection.create(Seq(time))
    rows.foreach { row =>
      val value = time.eval(row)
      val answer = compiled(row)
      assert((if (answer.isNullAt(0)) null else answer.getLong(0)) === value)
    }
    val day = UnsafeProjection.create(Seq(number(BoundReference(0, DateType, nullable = false))))
    assert(Seq(-5, -4, 2, 3).map(d => day(InternalRow(d)).getLong(0)) === Seq(-2, -1, -1, 0))
  }

  test("a slide's panes: by time, by days and by months") {
    val zone = "America/New_York"
    def pane(every: String, order: String) =
      PaneNumber.ofSlide(literal(order), literal(every), zone).map(_.eval())
    assert(pane("INTERVAL 7 SECONDS", "TIMESTAMP_NTZ'1969-12-31 23:59:59'") === Some(-1L))
    assert(pane("INTERVAL 2 DAYS", "DATE'1969-12-31'") === Some(-1L))
    assert(pane("INTERVAL 1 HOUR", "DATE'1969-12-31'") === None)
    assert(pane("INTERVAL 3 MONTHS", "DATE'1969-12-31'") === Some(1969L * 4 + 3))
    // one hour before midnight in UTC, in the evening before in New York
    assert(pane("INTERVAL 1 MONTH", "TIMESTAMP'2024-03-01 04:59:59Z'") === Some(2024L * 12 + 1))
    assert(pane("INTERVAL 1 MONTH", "TIMESTAMP'2024-03-01 05:00:00Z'") === Some(2024L * 12 + 2))
    assert(pane("INTERVAL 1 DAY", "5") === None)
    assert(pane("DATE'2024-01-01'", "DATE'2024-01-01'") === None)
  }

  private def literal(sql: String): Expression =
    org.apache.spark.sql.catalyst.parser.CatalystSqlParser.parseExpression(sql)
}
