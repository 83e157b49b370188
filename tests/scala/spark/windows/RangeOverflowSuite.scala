package io.sash.spark.windows

import scala.util.{Random, Try}

import org.apache.spark.sql.Row

import org.scalatest.tags.Slow

import io.sash.spark.{ErrorCondition, SashSuite}

/** Range bounds at the ends of a type: Sash fails and wraps around exactly where Spark does. */
@Slow
class RangeOverflowSuite extends SashSuite {
  private val seed = 31L

  private lazy val Times =
    Seq("TIMESTAMP'9999-12-31 23:59:59'", "TIMESTAMP'2020-01-01 00:00:00'")

  /** Values near the ends of a type, and the bounds to go from there. */
  private val keys: Seq[(Seq[String], Seq[String])] = Seq(
    Seq("-128Y", "-127Y", "-1Y", "0Y", "1Y", "126Y", "127Y") -> Seq("1", "2", "100"),
    Seq("-32768S", "0S", "32766S", "32767S") -> Seq("1", "300", "32767"),
    Seq("-2147483648", "-2147483647", "0", "2147483646", "2147483647") -> Seq("1", "2000000000"),
    Seq("-9223372036854775807L", "0L", "9223372036854775807L") -> Seq(
      "1L",
      "9223372036854775807L"
    ),
    Seq("9e37", "-9e37", "0").map(v => s"CAST($v AS DECIMAL(38, 0))") ->
      Seq("1", "90000000000000000000000000000000000000"),
    Seq("DATE'0001-01-01'", "DATE'9999-12-31'", "DATE'2020-01-01'") ->
      Seq("1", "2147483647", "INTERVAL '2000000000' MONTH"),
    Times -> Seq("INTERVAL '1' DAY", "INTERVAL '106751990' DAY"),
    Times -> Seq("INTERVAL '1' MONTH", "INTERVAL '2000000000' MONTH"),
    Seq("INTERVAL '106751990' DAY", "INTERVAL '-106751990' DAY", "INTERVAL '0' DAY") ->
      Seq("INTERVAL '1' DAY", "INTERVAL '106751990' DAY"),
    Seq("INTERVAL '2147483646' MONTH", "INTERVAL '0' MONTH") ->
      Seq("INTERVAL '1' MONTH", "INTERVAL '2147483646' MONTH"),
    Seq("double('infinity')", "double('-infinity')", "double('NaN')", "1.7e308D", "0.0D") ->
      Seq("1", "1.7e308", "0")
  )

  private def pick[T](random: Random, values: Seq[T]): T = values(random.nextInt(values.length))

  private def query(random: Random): String = {
    val (values, offsets) = pick(random, keys)
    val rows = (0 to random.nextInt(8)).map { id =>
      s"($id, ${if (random.nextInt(6) == 0) "NULL" else pick(random, values)})"
    }
    def bound(end: String, direction: String): String = random.nextInt(5) match {
      case 0 => "CURRENT ROW"
      case 1 => end
      case _ => s"${pick(random, offsets)} $direction"
    }
    val frame = pick(
      random,
      Seq(
        (bound("CURRENT ROW", "PRECEDING"), bound("UNBOUNDED FOLLOWING", "FOLLOWING")),
        (s"${offsets.last} PRECEDING", s"${offsets.head} PRECEDING"),
        (s"${offsets.head} FOLLOWING", s"${offsets.last} FOLLOWING")
      )
    )
    val order = pick(random, Seq("", "DESC", "NULLS LAST", "DESC NULLS FIRST"))
    s"SELECT id, count(*) OVER w AS n, max(id) OVER w AS m, sum(id) OVER w AS s " +
      s"FROM VALUES ${rows.mkString(", ")}, (99, ${values.head}) AS t(id, k) " +
      s"WINDOW w AS (ORDER BY k $order RANGE BETWEEN ${frame._1} AND ${frame._2})"
  }

  /** Rows, or the condition of the error. */
  private def outcome(sql: String, enabled: Boolean): Either[String, Seq[Row]] =
    withSash(enabled)(Try(spark.sql(sql).collect().toSeq.sortBy(_.getInt(0))).toEither).left
      .map(ErrorCondition.of)

  for (ansi <- Seq(true, false))
    test(s"bounds beyond the ends of a type, ANSI $ansi", each(2): _*) {
      val random = new Random(seed)
      val outcomes = (1 to 60).map { n =>
        val sql = query(random)
        withClue(s"seed $seed, query $n\n$sql\n") {
          withSettings("spark.sql.ansi.enabled" -> ansi.toString) {
            val expected = outcome(sql, enabled = false)
            assert(outcome(sql, enabled = true) == expected)
            expected
          }
        }
      }
      val failures = outcomes.collect { case Left(condition) => condition }
      assert(failures.length < outcomes.length * 2 / 3, "many queries should answer")
      assert(failures.nonEmpty, "some should fail")
    }

  for (zone <- Seq("PST", "EST", "CST", "+8:00", "UTC+3", "Europe/Berlin", "Z"))
    test(s"hours and days in a session's time zone as Spark spells it: $zone") {
      withSettings("spark.sql.session.timeZone" -> zone) {
        for (width <- Seq("1 HOUR", "1 DAY", "'1 3' DAY TO HOUR"))
          checkSlides(
            s"SELECT id, sum(id) OVER (ORDER BY t RANGE INTERVAL $width PRECEDING) AS s FROM (" +
              "SELECT id, timestamp'2024-03-08 00:00:00' + id * INTERVAL '37' MINUTE AS t " +
              "FROM range(200))"
          )
      }
    }
}
