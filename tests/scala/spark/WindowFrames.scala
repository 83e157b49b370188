package io.sash.spark

import scala.util.Random

/**
 * A key that RANGE frames order by.
 *
 * @param tied an expression with nulls and ties
 * @param unique one of the same type with a value of its own for each row
 * @param offset the frame bound that lies k > 0 steps away
 */
final case class RangeKey(tied: String, unique: String, offset: Int => String)

/** Random window specifications. */
object WindowFrames {
  private val unique = "timestampadd(MINUTE, 97 * uq, TIMESTAMP'2020-03-25 10:00:00')"

  val Keys: Seq[RangeKey] = Seq(
    RangeKey("b", "CAST(uq - 100 AS BYTE)", k => s"${math.min(5 * k, 27)}"),
    RangeKey("h", "CAST(3 * uq AS SMALLINT)", k => s"${2 * k}"),
    RangeKey("i", "uq", k => s"${3 * k}"),
    RangeKey("l", "100000000000 * uq", k => s"${1000000L * k}"),
    RangeKey("f", "CAST(uq AS FLOAT)", k => s"${0.5 * k}"),
    RangeKey("d", "uq / 2.0D", k => s"${0.75 * k}"),
    RangeKey("small", "CAST(uq AS DECIMAL(10, 2))", k => s"${1.25 * k}"),
    RangeKey("large", "CAST(uq AS DECIMAL(38, 10))", k => s"${1000000L * k}.5"),
    RangeKey("dt", "date_add(DATE'2020-01-01', uq)", k => s"${2 * k}"),
    RangeKey("dt", "date_add(DATE'2020-01-01', uq)", k => s"INTERVAL '$k' DAY"),
    RangeKey("dt", "date_add(DATE'2019-12-25', uq)", k => s"INTERVAL '$k' MONTH"),
    RangeKey("ts", unique, k => s"INTERVAL '${7 * k}' HOUR"),
    RangeKey("ts", unique, k => s"INTERVAL '$k' DAY"),
    RangeKey("ts", unique, k => s"INTERVAL '$k 01:02:03' DAY TO SECOND"),
    RangeKey("ts", unique, k => s"INTERVAL '$k' MONTH"),
    RangeKey("tn", s"CAST($unique AS TIMESTAMP_NTZ)", k => s"INTERVAL '${7 * k}' HOUR"),
    RangeKey("tn", s"CAST($unique AS TIMESTAMP_NTZ)", k => s"INTERVAL '${2 * k}' DAY"),
    RangeKey("tn", s"CAST($unique AS TIMESTAMP_NTZ)", k => s"INTERVAL '$k' YEAR"),
    RangeKey("ym", "INTERVAL '1' MONTH * uq", k => s"INTERVAL '${2 * k}' MONTH"),
    RangeKey("dti", "INTERVAL '10' MINUTE * uq", k => s"INTERVAL '${90 * k}' MINUTE")
  )

  /** Bounds of calendar intervals, which Spark only parses under its legacy setting. */
  val CalendarKeys: Seq[RangeKey] =
    Seq(("ts", unique), ("tn", s"CAST($unique AS TIMESTAMP_NTZ)")).flatMap { case (tied, once) =>
      Seq("month", "months 2 days", "days 5 hours", "hours").map { unit =>
        RangeKey(tied, once, k => s"INTERVAL '$k $unit'")
      }
    }

  private def pick[T](random: Random, values: Seq[T]): T = values(random.nextInt(values.length))

  def bound(steps: Int, offset: Int => String): String =
    if (steps == 0) "CURRENT ROW"
    else if (steps < 0) s"${offset(-steps)} PRECEDING"
    else s"${offset(steps)} FOLLOWING"

  private def between(lower: String, upper: String): String = s"BETWEEN $lower AND $upper"

  /** Bounds of all kinds but those that start at UNBOUNDED PRECEDING. */
  private def bounds(random: Random, steps: Seq[Int], offset: Int => String): String = {
    val Seq(lower, upper) = Seq(pick(random, steps), pick(random, steps)).sorted
    val end = if (random.nextInt(4) == 0) "UNBOUNDED FOLLOWING" else bound(upper, offset)
    between(bound(lower, offset), end)
  }

  private def partition(random: Random): String =
    pick(random, Seq("", "PARTITION BY g", "PARTITION BY g, g2", "PARTITION BY sc, bo"))

  def direction(random: Random): String =
    pick(random, Seq("", "DESC", "ASC NULLS LAST", "DESC NULLS FIRST"))

  def rows(random: Random): String = {
    val key = pick(random, Seq("tie", "d", "sc", "ts", "st"))
    val frame = bounds(random, Seq(-150, -20, -5, -2, -1, 0, 1, 2, 7, 30), _.toString)
    s"(${partition(random)} ORDER BY $key ${direction(random)}, id ROWS $frame)"
  }

  /** @param once whether each row needs a place of its own */
  def range(random: Random, key: RangeKey, once: Boolean): String = {
    val by = if (once) key.unique else key.tied
    val frame = bounds(random, Seq(-40, -3, -2, -1, 0, 1, 2, 5), key.offset)
    s"(${partition(random)} ORDER BY $by ${direction(random)} RANGE $frame)"
  }

  /** RANGE from the current row's peers on, under an order of several keys. */
  def peers(random: Random, once: Boolean): String = {
    val keys = random.shuffle(Seq("tie", "d", "sc", "bin", "bo", "ts", "st", "ym")).take(2)
    val by = (if (once) keys :+ "id" else keys).map(k => s"$k ${direction(random)}")
    val end = pick(random, Seq("CURRENT ROW", "UNBOUNDED FOLLOWING"))
    s"(${partition(random)} ORDER BY ${by.mkString(", ")} RANGE BETWEEN CURRENT ROW AND $end)"
  }
}
