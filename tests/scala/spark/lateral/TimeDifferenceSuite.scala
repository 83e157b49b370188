package io.sash.spark.lateral

import scala.util.Random

import io.sash.spark.Thorough

/** Ranges that are said by a difference of times, around changes of clocks. */
final class TimeDifferenceSuite extends LateralSuite {
  private val seed = 20261128L

  import TimeDifferenceSuite.Kind

  private val zones =
    Seq("America/New_York", "Europe/Berlin", "UTC", "Australia/Lord_Howe", "+05:30")

  /** Hours around a change of clocks in each zone, with parts of seconds; some before 1970. */
  private def tables(random: Random): Unit = {
    def one(of: String*) = of(random.nextInt(of.length))
    def time = {
      val day = one(
        "2026-10-25 00",
        "2026-11-01 04",
        "2026-03-29 00",
        "2026-04-04 14",
        "2026-10-03 14",
        "1969-12-31 22"
      )
      val micros = one("0", "1", "250000", "999999", "1800000000", "1799999999")
      s"timestampadd(MICROSECOND, ${random.nextInt(9)} * 1800000000L + $micros, " +
        s"TIMESTAMP'$day:00:00Z')"
    }
    def rows(n: Int) = (1 to n)
      .map(i => s"($i, ${one("1", "2")}, ${if (random.nextInt(12) == 0) "NULL" else time})")
      .mkString(", ")
    for ((name, n) <- Seq("l" -> 20, "e" -> 60)) {
      spark
        .sql(
          "SELECT *, CAST(ts AS TIMESTAMP_NTZ) AS n, CAST(ts AS DATE) AS d " +
            s"FROM VALUES ${rows(n)} AS r(id, k, ts)"
        )
        .createOrReplaceTempView(name)
    }
  }

  private val spans = Seq("'0' HOUR", "'1' HOUR", "'1' DAY", "'30' MINUTE", "-'90' MINUTE")
    .map(s => s"INTERVAL $s") :+ "INTERVAL '0.000001' SECOND" :+ "INTERVAL 1 DAY * 2"

  private val counts = Seq("0", "1", "2", "-1", "3L")
  private val seconds = Seq("3600", "0", "1", "-1800", "86400")

  private val kinds = Seq(
    Kind("l.ts - e.ts", spans, ""),
    Kind("l.n - e.n", spans, "n"),
    Kind("l.d - e.d", Seq("INTERVAL '1' DAY", "INTERVAL '0' DAY", "INTERVAL '30' HOUR"), "d"),
    Kind("datediff(l.d, e.d)", counts, "d"),
    Kind("datediff(l.ts, e.ts)", counts, ""),
    Kind("unix_date(l.d) - unix_date(e.d)", counts, "d"),
    Kind("unix_seconds(l.ts) - unix_seconds(e.ts)", seconds, "ts"),
    Kind("unix_millis(l.ts) - unix_millis(e.ts)", seconds.map(s => s"1000 * $s"), "ts"),
    Kind("unix_micros(l.ts) - unix_micros(e.ts)", seconds.map(s => s"1000000L * $s"), "ts"),
    Kind("unix_timestamp(l.ts) - unix_timestamp(e.ts)", seconds, "ts"),
    Kind("CAST(l.ts AS BIGINT) - CAST(e.ts AS BIGINT)", seconds, "ts")
  ) ++ Seq("MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK")
    .map(u => Kind(s"timestampdiff($u, e.ts, l.ts)", counts, ""))

  private def conditions(kind: Kind, random: Random): String = {
    def one(of: String*) = of(random.nextInt(of.length))
    val Kind(ahead, constants, plain) = kind
    val back =
      ahead.replaceAll("\\bl\\.", "x.").replaceAll("\\be\\.", "l.").replaceAll("\\bx\\.", "e.")
    val difference = one(ahead, back)
    // with the same constant twice Spark's check of its own optimizer fails
    val Seq(c, other) = random.shuffle(constants).take(2)
    val sign = one("<", "<=", ">", ">=")
    val turned = Map("<" -> ">", "<=" -> ">=", ">" -> "<", ">=" -> "<=")(sign)
    val opposite = if (sign.startsWith("<")) ">=" else "<"
    one(
      s"$difference $sign $c",
      s"$c $turned $difference",
      s"NOT ($difference $sign $c)",
      s"$difference BETWEEN $c AND $other",
      s"$difference $sign $c AND $difference $opposite $other",
      // one end by a difference, the other by the time: of one time where the clock is fixed
      if (plain.isEmpty) s"$difference <= $c"
      else
        s"${back} ${if (sign.startsWith("<")) "<" else ">="} $c AND " +
          s"e.$plain ${if (sign.startsWith("<")) ">=" else "<"} l.$plain"
    )
  }

  for (zone <- zones) test(s"each difference is Spark's in $zone", each(3): _*) {
    withSettings(
      "spark.sql.session.timeZone" -> zone,
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.adaptive.enabled" -> "false",
      "spark.sql.shuffle.partitions" -> "2"
    ) {
      val random = new Random(seed + zone.hashCode)
      tables(random)
      for (
        some <- kinds.flatMap(k => Seq.fill(Thorough.times(4))(conditions(k, random))).grouped(9)
      ) {
        val columns = some.zipWithIndex.map { case (c, i) =>
          s"(SELECT count(*) FROM e WHERE e.k = l.k AND $c) AS c$i"
        }
        checkWindows(s"SELECT l.*, ${columns.mkString(", ")} FROM l")
      }
    }
  }

  for (zone <- Seq("America/New_York", "UTC")) test(s"each equality is Spark's in $zone") {
    withSettings(
      "spark.sql.session.timeZone" -> zone,
      "spark.sql.codegen.wholeStage" -> "false",
      "spark.sql.shuffle.partitions" -> "2"
    ) {
      tables(new Random(seed + zone.hashCode))
      val narrowed = Seq("DAY", "HOUR", "DAY TO MINUTE").map { to =>
        Kind(s"CAST(l.n - e.n AS INTERVAL $to)", Seq("INTERVAL '0' DAY", "INTERVAL '1' HOUR"), "")
      }
      for (
        Kind(difference, constants, _) <- kinds ++ narrowed;
        sign <- Seq("=", "<=>", "<=").take(
          if (narrowed.exists(_.difference == difference)) 3 else 2
        )
      ) {
        val columns = constants.zipWithIndex.map { case (c, i) =>
          s"(SELECT count(*) FROM e WHERE $difference $sign $c AND e.k <= l.k) AS c$i"
        }
        withClue(s"$difference $sign $constants\n") {
          check(spark.sql(s"SELECT l.*, ${columns.mkString(", ")} FROM l"))
        }
      }
    }
  }

  test("an equality of whole hours slides, as a range of times") {
    val hour = "timestampdiff(HOUR, e.ts, l.ts) = 0 AND e.ts < l.ts"
    assert(asked("UTC", hour).contains("slides: "))
  }

  private def asked(zone: String, condition: String): String = {
    withSettings("spark.sql.session.timeZone" -> zone) {
      tables(new Random(seed))
      told(
        check(
          spark.sql(s"SELECT *, (SELECT count(*) FROM e WHERE e.k = l.k AND $condition) FROM l")
        )
      )
    }
  }

  for (
    condition <- Seq(
      "l.ts - e.ts < INTERVAL '7' DAY AND e.ts < l.ts",
      "timestampdiff(HOUR, e.ts, l.ts) < 24 AND e.ts < l.ts",
      "unix_seconds(l.ts) - unix_seconds(e.ts) <= 3600 AND e.ts < l.ts",
      "unix_timestamp(e.ts) >= unix_timestamp(l.ts) - 3600 AND e.ts < l.ts",
      "e.ts + INTERVAL 2 HOURS > l.ts AND e.ts < l.ts",
      "e.d + 2 > l.d AND e.d < l.d"
    )
  ) test(s"with an end that is the time itself: $condition") {
    assert(asked("UTC", condition).contains("slides: "))
    val told = asked("Europe/Berlin", condition)
    if (condition.contains("unix") || condition.contains("+")) assert(told.contains("slides: "))
    else assert(told.contains("counts by the clock of Europe/Berlin"))
  }

  for (
    (condition, why) <- Seq(
      "timestampdiff(MONTH, e.ts, l.ts) < 2" -> "MONTH has no fixed length",
      "datediff(l.d, e.d) < 3000000000" -> "leave the event's column alone on one side",
      "datediff(l.d, e.d) < 2147483647" -> "leave the event's column alone on one side",
      "CAST(l.n - e.n AS INTERVAL DAY) < INTERVAL '1' DAY" ->
        "leave the event's column alone on one side",
      "l.id - e.id < 7" -> "leave the event's column alone on one side",
      "l.ts - e.ts < make_dt_interval(l.id)" -> "leave the event's column alone on one side"
    )
  ) test(s"left to Spark: $condition") {
    assert(asked("UTC", condition).contains(why))
  }
}

private object TimeDifferenceSuite {

  /** A difference, constants to compare it with, and an end of the same time. */
  final case class Kind(difference: String, constants: Seq[String], plain: String)
}
