package io.sash.spark.kinds

import java.math.BigDecimal
import java.time.{Instant, LocalDate, ZoneId}
import java.time.temporal.ChronoUnit

import scala.util.Random

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.util.DateTimeUtils

import io.sash.spark.{SashSuite, Thorough}

/**
 * Windows of kinds over values near and at the ends of each type, against windows that are made here
 * of all pairs of rows, in arithmetic without ends.
 */
class KindBoundsSuite extends SashSuite {
  import KindBoundsSuite._

  private val seed = 35L

  /** Values of an order, and widths that it moves by; None is NULL. */
  private val axes: Seq[Axis] = {
    def integers(name: String, least: String, most: String) = Axis(
      s"CAST(%s AS $name)",
      Seq(least, most, "0", "1", "-1", "3").map(v => s"'$v'" -> Exact(v)) ++
        Seq(new BigDecimal(most).subtract(BigDecimal.ONE).toString).map(v => s"'$v'" -> Exact(v)),
      Seq("1", "-1", "0", "2", "100Y", "2147483647", "9223372036854775807L", "0.5BD", "2.5BD")
        .map(w => w -> Exact(w.filterNot(_.isLetter))) ++
        Seq(
          "100000000000000000000BD" -> Exact("100000000000000000000"),
          "-0.5BD" -> Exact("-0.5")
        )
    )
    val nines = "9" * 38
    Seq(
      integers("TINYINT", "-128", "127"),
      integers("SMALLINT", "-32768", "32767"),
      integers("INT", "-2147483648", "2147483647"),
      integers("BIGINT", "-9223372036854775808", "9223372036854775807"),
      Axis(
        "CAST(%s AS DECIMAL(38, 0))",
        Seq(nines, "-" + nines, "9" * 37 + "8", "0", "1", "-1").map(v => s"'$v'" -> Exact(v)),
        Seq("0.5", "1", "0", "-1", nines, "-0.5").map(w => s"${w}BD" -> Exact(w)) :+
          ("3" -> Exact("3"))
      ),
      Axis(
        "CAST(%s AS DECIMAL(10, 2))",
        Seq("99999999.99", "-99999999.99", "0.01", "0", "1.5").map(v => s"'$v'" -> Exact(v)),
        Seq("0.005", "0.01", "0", "-0.001", "99999999.995").map(w => s"${w}BD" -> Exact(w)) ++
          Seq("1" -> Exact("1"), "9223372036854775807L" -> Exact("9223372036854775807"))
      ),
      Axis(
        "double(%s)",
        // no value that a width of another size would round away
        Seq("NaN", "Infinity", "-Infinity", "1.7E308", "-1.7E308", "1E300", "0")
          .map(v => s"'$v'" -> Exact(v)),
        Seq("1", "0", "-1", "1.7E308", "Infinity", "NaN", "-Infinity")
          .map(w => s"double('$w')" -> Exact(w))
      ),
      Axis(
        "float(%s)",
        Seq("NaN", "Infinity", "-Infinity", "0", "1.5", "-2").map(v => s"'$v'" -> Exact(v)),
        Seq("1", "1.5BD", "0", "-1").map(w => w -> Exact(w.filterNot(_.isLetter)))
      ),
      Axis(
        "date_from_unix_date(%s)",
        Seq("-2147483648", "2147483647", "-719162", "2932896", "0", "31")
          .map(v => v -> Exact(v)),
        Seq("1", "0", "-1", "2147483647").map(w => w -> Exact(w)) ++
          Seq("INTERVAL '31' DAY" -> Exact("31"), "INTERVAL '-1' DAY" -> Exact("-1"))
      ),
      Axis(
        "date_from_unix_date(%s)",
        Seq("-2147483648", "2147483647", "-719162", "2932896", "0", "31")
          .map(v => v -> Exact(v)),
        Seq(1, 0, -1, 2147483647).map(m => s"make_ym_interval(0, $m)" -> Months(m))
      ),
      Axis(
        "make_ym_interval(0, %s)",
        Seq("-2147483648", "2147483647", "2147483646", "0", "1").map(v => v -> Exact(v)),
        Seq("1", "0", "-1", "2147483647").map(w => s"make_ym_interval(0, $w)" -> Exact(w))
      ),
      Axis(
        "CAST(%s * INTERVAL '0.000001' SECOND AS INTERVAL DAY TO SECOND)",
        Seq("-9223372036854775807L", "9223372036854775807L", "0L", "1L")
          .map(v => v -> Exact(v.filterNot(_.isLetter))),
        Seq("1", "0", "-1", "9223372036854775807").map(w =>
          s"(${w}L * INTERVAL '0.000001' SECOND)" -> Exact(w)
        )
      ),
      instants("timestamp_micros(%s)", Zone),
      instants("CAST(timestamp_micros(%s) AS TIMESTAMP_NTZ)", ZoneId.of("UTC"))
    )
  }

  private def instants(made: String, zone: ZoneId): Axis = {
    val hour = 3600L * 1000 * 1000
    // the ends, but for a local time that no zone moves out of the type; and around the changes of the clock
    val ends =
      if (zone == Zone) Seq(Long.MinValue, Long.MaxValue, Long.MaxValue - 1)
      else Seq(Long.MinValue + 24 * hour, Long.MaxValue - 24 * hour)
    val spring = Instant.parse("2020-03-28T12:30:00Z").getEpochSecond * 1000 * 1000
    val inside =
      Seq(0L, 1L, spring, spring + 23 * hour, spring + 24 * hour, spring + 31 * 24 * hour)
    Axis(
      made,
      (ends ++ inside).map { v =>
        // of a TIMESTAMP_NTZ, the time of the clock
        val at = DateTimeUtils.microsToInstant(v).atZone(Zone).toLocalDateTime
        val micros =
          if (zone == Zone) new BigDecimal(v)
          else microsOf(at.toInstant(java.time.ZoneOffset.UTC))
        s"CAST('$v' AS BIGINT)" -> Exact(0, micros)
      },
      Seq[(String, Width)](
        "INTERVAL '1' HOUR" -> Calendar(0, 0, hour, zone),
        "INTERVAL '-1' SECOND" -> Calendar(0, 0, -1000000L, zone),
        "INTERVAL '1' DAY" -> Calendar(0, 1, 0, zone),
        "INTERVAL '106751990' DAY" -> Calendar(0, 106751990, 0, zone),
        "INTERVAL '1' MONTH" -> Calendar(1, 0, 0, zone),
        "make_ym_interval(0, 2147483647)" -> Calendar(Int.MaxValue, 0, 0, zone),
        "make_ym_interval(0, -1)" -> Calendar(-1, 0, 0, zone),
        "make_interval(0, 1, 0, 1, 1)" -> Calendar(1, 1, hour, zone),
        "make_interval(0, 0, 0, 0, 1)" -> Calendar(0, 0, hour, zone),
        "make_interval(0, 0, 0, 0, -1)" -> Calendar(0, 0, -hour, zone)
      )
    )
  }

  /** ANSI, code generation, and orders: the four of them in the two modes. */
  private val modes = Seq(
    ("true", "CODEGEN_ONLY", Seq("ASC" -> "FIRST", "DESC" -> "LAST")),
    ("false", "NO_CODEGEN", Seq("ASC" -> "LAST", "DESC" -> "FIRST"))
  )

  private def withMode[T](ansi: String, factory: String)(body: => T): T = withSettings(
    "spark.sql.ansi.enabled" -> ansi,
    "spark.sql.codegen.factoryMode" -> factory,
    "spark.sql.codegen.wholeStage" -> (factory != "NO_CODEGEN").toString,
    "spark.sql.session.timeZone" -> Zone.getId
  )(body)

  private def rows(axis: Axis, random: Random, widths: Seq[(String, Width)]): Seq[Keyed] =
    (0 until 24).map { id =>
      def pick[T](of: Seq[(String, T)]): (String, Option[T]) =
        if (random.nextInt(8) == 0) ("NULL", None)
        else {
          val (sql, v) = of(random.nextInt(of.length))
          (sql, Some(v))
        }
      val (sql, key) = pick(axis.values)
      val (width, by) = pick(widths)
      Keyed(id, s"($id, ${axis.made.format(sql)}, $width)", key, by)
    }

  /** Windows, and how many rows each row's has. */
  private type Asked = (String, Seq[Keyed] => Seq[Int])

  private def compare(asked: Seq[Asked], of: Seq[Keyed]): Unit = {
    val columns = asked.map { case (window, _) => s"count(*) OVER ($window)" }
    val query = s"SELECT id, ${columns.mkString(", ")} " +
      s"FROM VALUES ${of.map(_.sql).mkString(", ")} AS v(id, o, w)"
    withClue(s"seed $seed\n$query\n") {
      val frame = spark.sql(query)
      val actual = frame.collect().toSeq.sortBy(_.getInt(0))
      assert(sliding(frame).nonEmpty, "vacuous: no operator of Sash ran")
      for (((window, expected), i) <- asked.zipWithIndex) withClue(s"$window\n") {
        // rows of equal keys come in any order
        def byKey(counts: Seq[Int]) =
          of.zip(counts).map { case (r, n) => (r.key.toString, n) }.sorted
        assert(byKey(actual.map(_.getLong(i + 1).toInt)) == byKey(expected(of)))
      }
    }
  }

  for ((axis, number) <- axes.zipWithIndex)
    test(
      s"${axis.made.format("x")} by ${axis.widths.head._1}",
      (if (number % 3 == 1) Nil else Seq(Thorough)): _*
    ) {
      val random = new Random(seed + number)
      for ((ansi, factory, orders) <- modes; family <- axis.families)
        withMode(ansi, factory) {
          val constants = family.filterNot(_._2.isNegative)
          val (sql, width) = constants(random.nextInt(constants.length))
          val ofOrders: Seq[Asked] = orders.flatMap { case (direction, nulls) =>
            val (order, ascending) = (s"ORDER BY o $direction NULLS $nulls", direction == "ASC")
            val ranges: Asked =
              (s"PARTITION BY range_window(w) $order", ownWidths(_, ascending))
            val gaps: Asked =
              (
                s"PARTITION BY gap_window($sql) $order",
                gap(_, width, ascending, nulls == "FIRST")
              )
            if (width.isZero) Seq(ranges) else Seq(ranges, gaps)
          }
          val deltas: Asked = (s"PARTITION BY delta_window(o, $sql) ORDER BY id", delta(_, width))
          compare(ofOrders :+ deltas, rows(axis, random, family))
        }
    }

  private def ownWidths(rows: Seq[Keyed], ascending: Boolean): Seq[Int] = rows.map { r =>
    r.width.filterNot(_.isNegative).fold(0) { w =>
      r.key match {
        case None => rows.count(_.key.isEmpty)
        case Some(k) =>
          val end = w.from(k, up = !ascending)
          rows.flatMap(_.key).count { o =>
            if (ascending) o >= end && o <= k else o <= end && o >= k
          }
      }
    }
  }

  private def delta(rows: Seq[Keyed], by: Width): Seq[Int] = {
    var first = 0
    rows.indices.map { i =>
      rows(i).key.foreach { k =>
        val end = by.from(k, up = false)
        while (first < i && rows(first).key.forall(!_.>=(end))) first += 1
      }
      i - first + 1
    }
  }

  private def gap(rows: Seq[Keyed], by: Width, ascending: Boolean, nullsFirst: Boolean) = {
    val sorted = rows.sortWith { (a, b) =>
      (a.key, b.key) match {
        case (Some(x), Some(y)) => if (ascending) !(x >= y) else !(x <= y)
        case (None, Some(_))    => nullsFirst
        case (Some(_), None)    => !nullsFirst
        case _                  => false
      }
    }
    var length = 0
    var before: Option[Keyed] = None
    val counts = sorted.map { r =>
      val behind = before.exists { b =>
        (b.key, r.key) match {
          case (Some(x), Some(y)) if x >= y && x <= y => false
          case (Some(x), Some(y)) =>
            val end = by.from(x, up = ascending)
            if (ascending) y >= end else y <= end
          case (x, y) => x.nonEmpty || y.nonEmpty
        }
      }
      length = if (behind) 1 else length + 1
      before = Some(r)
      r.id -> length
    }.toMap
    rows.map(r => counts(r.id))
  }

  test("a window of 24 hours is no day, where a day has 23") {
    withSettings("spark.sql.session.timeZone" -> "America/New_York") {
      for {
        size <- Seq(24, 35)
        (closed, more) <- Seq("right" -> 0, "both" -> 1)
      } withClue(s"$size hours $closed") {
        val rows = spark.sql(
          s"SELECT id, count(*) OVER (PARTITION BY time_window(make_interval(0, 0, 0, 0, $size), " +
            s"'$closed') ORDER BY ts) FROM (SELECT id, timestamp_seconds(1772773200 + id * 3600) " +
            "AS ts FROM range(60))"
        )
        assert(sliding(rows).nonEmpty)
        val expected = (0L until 60L).map(id => Row(id, math.min(id + 1, size.toLong + more)))
        assert(rows.collect().sortBy(_.getLong(0)).toSeq == expected)
      }
    }
  }
}

object KindBoundsSuite {
  private val Zone = ZoneId.of("Europe/Berlin")

  private def microsOf(at: Instant): BigDecimal = new BigDecimal(at.getEpochSecond)
    .scaleByPowerOfTen(6)
    .add(new BigDecimal(at.getNano / 1000))

  /** How far a window reaches. */
  private sealed trait Width {
    def isNegative: Boolean
    def isZero: Boolean
    def from(key: Exact, up: Boolean): Exact
  }

  /** A number without ends: -Infinity is of rank -1, Infinity of 1 and NaN of 2. */
  private final case class Exact(rank: Int, value: BigDecimal) extends Width {
    private def compare(other: Exact): Int =
      if (rank != other.rank) rank - other.rank else value.compareTo(other.value)
    def >=(other: Exact): Boolean = compare(other) >= 0
    def <=(other: Exact): Boolean = compare(other) <= 0

    override def isNegative: Boolean = rank == 2 || rank == -1 || rank == 0 && value.signum < 0
    override def isZero: Boolean = rank == 0 && value.signum == 0
    override def from(key: Exact, up: Boolean): Exact = key.plus(this, up)

    def plus(by: Exact, up: Boolean): Exact =
      if (rank == 2) this
      else if (by.rank == 1) Exact(if (up) 1 else -1, BigDecimal.ZERO)
      else if (rank != 0) this
      else Exact(0, if (up) value.add(by.value) else value.subtract(by.value))

    override def toString: String = s"$rank ${value.stripTrailingZeros.toPlainString}"
  }

  private object Exact {
    def apply(text: String): Exact = text match {
      case "NaN"       => Exact(2, BigDecimal.ZERO)
      case "Infinity"  => Exact(1, BigDecimal.ZERO)
      case "-Infinity" => Exact(-1, BigDecimal.ZERO)
      case number      => Exact(0, new BigDecimal(number))
    }
  }

  /** Of a date. */
  private final case class Months(months: Int) extends Width {
    override def isNegative: Boolean = months < 0
    override def isZero: Boolean = months == 0
    override def from(key: Exact, up: Boolean): Exact = {
      val date = LocalDate.ofEpochDay(key.value.longValueExact)
      val moved = date.plusMonths(if (up) months.toLong else -months.toLong)
      Exact(0, new BigDecimal(moved.toEpochDay))
    }
  }

  /** Of a timestamp. */
  private final case class Calendar(months: Int, days: Int, micros: Long, zone: ZoneId)
      extends Width {
    override def isNegative: Boolean = months < 0 || days < 0 || micros < 0
    override def isZero: Boolean = months == 0 && days == 0 && micros == 0
    override def from(key: Exact, up: Boolean): Exact = {
      val at = DateTimeUtils.microsToInstant(key.value.longValueExact).atZone(zone)
      val sign = if (up) 1L else -1L
      val moved = at
        .plusMonths(sign * months)
        .plusDays(sign * days)
        .plus(sign * micros, ChronoUnit.MICROS)
      Exact(0, microsOf(moved.toInstant))
    }
  }

  /** @param made a value of the order from one of `values` */
  private final case class Axis(
      made: String,
      values: Seq[(String, Exact)],
      widths: Seq[(String, Width)]
  ) {

    /** Widths that can be in one column. */
    def families: Seq[Seq[(String, Width)]] = {
      def of(sql: String) =
        if (sql.startsWith("make_interval")) 2
        else if (sql.startsWith("make_ym") || sql.contains("MONTH")) 1
        else if (sql.contains("BD")) { if (sql.contains(".")) 3 else 5 }
        else if (sql.startsWith("INTERVAL")) 4
        else 0
      widths.groupBy(w => of(w._1)).toSeq.sortBy(_._1).map(_._2)
    }
  }

  private final case class Keyed(id: Int, sql: String, key: Option[Exact], width: Option[Width])
}
