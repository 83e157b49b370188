package io.sash.spark.times

import java.time.{Instant, ZoneId}

import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.types.TimestampType

import io.sash.spark.SashSuite

/** Times that rise with another one: at a distance from it, or cut to a unit. */
class RisingTimeSuite extends SashSuite {
  private val time = BoundReference(0, TimestampType, nullable = false)
  private val column = AttributeReference("ts", TimestampType)()
  private val hour = 3600L * 1000 * 1000

  private def over(made: String, zone: String): Expression =
    withSettings("spark.sql.session.timeZone" -> zone) {
      val plan = spark
        .sql(s"SELECT $made FROM (SELECT TIMESTAMP_MICROS(id) AS ts FROM range(1))")
        .queryExecution
        .analyzed
      val Alias(e, _) = plan.expressions.head: @unchecked
      val windows = plan.collect { case p: Project => p.projectList }.flatten.collect {
        case a @ Alias(struct: CreateNamedStruct, _) => a.toAttribute -> struct
      }
      val ofWindows = AttributeMap(windows)
      e.transform {
        case a: Attribute if ofWindows.contains(a) => ofWindows(a)
      }.transform { case _: AttributeReference => column }
    }

  private def rises(made: String, zone: String): Boolean =
    RisingTime.of(over(made, zone), zone).exists(_.base == column)

  private val units =
    Seq("SECOND", "minute", "HOUR", "dd", "week", "month", "quarter", "yyyy")

  private val cuts = units.map(u => s"date_trunc('$u', ts)") ++ Seq(
    "CAST(CAST(ts AS DATE) AS TIMESTAMP)",
    "CAST(trunc(to_date(ts), 'MM') AS TIMESTAMP)",
    "CAST(date_add(to_date(ts), 2) AS TIMESTAMP)",
    "CAST(date_sub(to_date(ts), 2) AS TIMESTAMP) + INTERVAL 1 HOUR",
    "date_trunc('hour', date_trunc('day', ts + INTERVAL 30 MINUTES) - INTERVAL 5 HOURS)",
    "window(ts, '1 hour', '1 hour', '10 minutes').start - INTERVAL 20 MINUTES",
    "window(ts, '15 minutes').end",
    "greatest(date_trunc('hour', ts), ts - INTERVAL 20 MINUTES) + INTERVAL 1 HOUR",
    "date_trunc('minute', least(date_trunc('hour', ts), ts - INTERVAL 20 MINUTES))"
  )

  /** Times just before and at changes of clocks, and some between. */
  private def times(zone: String, random: Random): Seq[Long] = {
    val rules = ZoneId.of(zone).getRules
    val last = Instant.parse("2030-01-01T00:00:00Z")
    val changes = Iterator
      .iterate(rules.nextTransition(Instant.EPOCH))(t => rules.nextTransition(t.getInstant))
      .takeWhile(t => t != null && t.getInstant.isBefore(last))
      .flatMap(t => Seq(-1L, 0L, hour / 2, hour).map(_ + t.getInstant.getEpochSecond * 1000000L))
    (changes ++ Iterator.fill(200)(random.nextInt(1900000000) * 1000000L)).toSeq.sorted
  }

  private val zones = Seq("UTC", "America/New_York", "Europe/Berlin", "America/Sao_Paulo") ++
    Seq("America/Havana", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia")

  /** Zones in which some cuts fall. */
  private val uneven = Seq("America/St_Johns", "Asia/Hong_Kong", "Pacific/Chatham", "Asia/Gaza")

  for (zone <- zones ++ uneven) test(s"no cut falls, and none exceeds its bound: $zone") {
    val random = new Random(zone.hashCode.toLong)
    val at = times(zone, random)
    val asked = cuts(2) +: random.shuffle(cuts).take(5)
    val falls = asked.map { made =>
      val e = over(made, zone)
      val plain = e
        .transform { case `column` => time }
        .transformUp { case r: RuntimeReplaceable => r.replacement }
      val values = at.map(t => plain.eval(InternalRow(t)).asInstanceOf[Long])
      val found = RisingTime.of(e, zone)
      for (f <- found) withClue(made) {
        assert(values.zip(values.tail).forall { case (a, b) => a <= b })
        assert(values.zip(at).forall { case (v, t) => v <= t + f.most })
      }
      found.isEmpty
    }
    assert(falls.exists(identity) == uneven.contains(zone))
  }

  test("the greatest of several times lies as far as the last one, the least as the first") {
    def most(made: String) = RisingTime.of(over(made, "UTC"), "UTC").map(_.most / hour)
    val times = "date_trunc('hour', ts), ts + INTERVAL 2 HOURS"
    assert(most(s"greatest($times)").contains(2L) && most(s"least($times)").contains(0L))
    assert(most(s"greatest($times) + INTERVAL 1 HOUR").contains(3L))
    assert(most(s"greatest($times, TIMESTAMP'2026-01-01')").isEmpty)
    def orNull(condition: Expression) = RisingTime
      .of(If(condition, Literal(null, TimestampType), over(s"least($times)", "UTC")), "UTC")
      .exists(_.base == column)
    val isNull = IsNull(column)
    assert(orNull(Or(isNull, isNull)) && !orNull(GreaterThan(column, Literal(0L))))
    assert(!orNull(Or(isNull, IsNull(AttributeReference("other", TimestampType)()))))
  }

  test("where clocks go back over midnight, a day may fall") {
    val zone = "America/St_Johns"
    for (made <- Seq("date_trunc('DAY', ts)", "CAST(to_date(ts) AS TIMESTAMP)"))
      assert(!rises(made, zone) && rises(made, "UTC"))
    assert(rises("date_trunc('SECOND', ts)", zone))
    val fault = RisingTime.falling(over("date_trunc('DAY', ts) - INTERVAL 1 HOUR", zone), zone)
    assert(fault.exists(_.zones == Seq(zone)))
  }

  test("other values rise with nothing") {
    for (
      made <- Seq(
        "date_trunc('eon', ts)",
        "date_trunc('DAY', ts) - INTERVAL 1 MONTH",
        "timestamp_seconds(-unix_seconds(ts))"
      )
    ) assert(!rises(made, "UTC"), made)
  }

  test("the buckets of Spark 4.2") {
    assume(spark.version >= "4.2")
    for (zone <- zones; size <- Seq("'7' MINUTE", "'1 12' DAY TO HOUR", "'5' MONTH"))
      assert(rises(s"time_bucket(INTERVAL $size, ts)", zone), s"$zone $size")
  }
}
