package io.sash.spark.split

import scala.util.Random

import io.sash.spark.Thorough
import io.sash.spark.base.SashConf

/**
 * RANGE by days and months: around a change of the clocks, and at the end of a month, a later row
 * may have an earlier bound. The rows of such windows in up to 40 tasks are Spark's.
 */
class SplitClocksLawSuite extends SplitLaw {
  import SplitLaw._

  override protected def dividing: Seq[(String, String)] = super.dividing ++ Seq(
    SashConf.WindowSplit.key -> "always",
    "spark.sql.session.timeZone" -> "America/New_York"
  )

  /** Distances of one type. */
  private val distances = Seq(
    Seq("40", "7", "1").map(n => s"INTERVAL $n DAYS"),
    Seq("168", "24", "2").map(n => s"INTERVAL $n HOURS"),
    Seq("7 00:00:00", "1 02:30:00", "0 00:20:00").map(n => s"INTERVAL '$n' DAY TO SECOND"),
    Seq("1", "13").map(n => s"INTERVAL $n MONTHS")
  )

  private def end(random: Random, of: Seq[String], isAfter: Boolean): String =
    random.nextInt(4) match {
      case 0            => "CURRENT ROW"
      case 1 if isAfter => "UNBOUNDED FOLLOWING"
      case 1            => "UNBOUNDED PRECEDING"
      case _ if isAfter => s"${pick(random, of)} FOLLOWING"
      case _            => s"${pick(random, of)} PRECEDING"
    }

  /** Two ends before each row, or behind it. */
  private def ahead(random: Random): String = pick(
    random,
    Seq(
      "INTERVAL 7 DAYS PRECEDING AND INTERVAL 1 DAY PRECEDING",
      "INTERVAL 1 DAY PRECEDING AND INTERVAL 1 DAY PRECEDING",
      "INTERVAL 1 DAY FOLLOWING AND INTERVAL 8 DAYS FOLLOWING",
      "INTERVAL 1 MONTH FOLLOWING AND INTERVAL 2 MONTHS FOLLOWING",
      "INTERVAL 2 MONTHS PRECEDING AND INTERVAL 1 MONTH PRECEDING"
    )
  )

  private def frame(random: Random): String =
    if (random.nextInt(4) == 0) ahead(random)
    else {
      val of = pick(random, distances)
      s"${end(random, of, isAfter = false)} AND ${end(random, of, isAfter = true)}"
    }

  /** Times around changes of the clocks, a day before and behind them, and ends of months. */
  private def times(random: Random, count: Int): Unit = {
    val around =
      Seq("2026-03-08 02:00", "2026-11-01 01:30", "2026-02-27 12:00", "2026-01-30 10:00")
    val values = Seq.tabulate(count) { i =>
      val minutes = pick(random, Seq(-60, 0, 0, 60)) * 24 + random.nextInt(180) - 90
      s"($i, TIMESTAMP'${pick(random, around)}' + make_dt_interval(0, 0, $minutes), " +
        s"${random.nextInt(10)}, ${random.nextInt(100)})"
    } :+ "(-1, NULL, 1, 5)" :+ "(-2, NULL, 1, 7)"
    spark
      .sql(
        s"SELECT id, t, if(g < 8, 1, g) AS g, x, t::TIMESTAMP_NTZ AS n " +
          s"FROM VALUES ${values.mkString(", ")} AS r(id, t, g, x)"
      )
      .repartition(3)
      .createOrReplaceTempView("times")
  }

  law("RANGE by days and months", Thorough.times(24), least = 0.9) { random =>
    times(random, 10 + random.nextInt(150))
    val time = pick(random, Seq("t", "t", "t", "n"))
    val keys = pick(random, Seq("", "PARTITION BY g"))
    val order = s"$keys ORDER BY $time ${pick(random, Seq("", "DESC", "NULLS LAST"))}"
    s"SELECT id, t, g, x, count(*) OVER w AS c, sum(x) OVER w AS s, max(x) OVER w AS m, " +
      s"avg(x) FILTER (WHERE x % 3 = 0) OVER w AS a FROM times " +
      s"WINDOW w AS ($order RANGE BETWEEN ${frame(random)})"
  }

  test("tasks that begin where an hour comes twice, or where a month has fewer days") {
    val inFortyTasks = Seq(
      "spark.sql.shuffle.partitions" -> "40",
      "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "32B"
    )
    withSettings(dividing ++ inFortyTasks: _*) {
      for (
        (from, minutes, frame) <- Seq(
          ("2026-10-31 00:00", 10, "INTERVAL 1 DAY PRECEDING AND CURRENT ROW"),
          ("2026-10-30 00:00", 15, "INTERVAL 1 DAY PRECEDING AND INTERVAL 2 DAYS FOLLOWING"),
          ("2026-01-27 00:00", 400, "INTERVAL 1 MONTH PRECEDING AND CURRENT ROW")
        )
      )
        check(
          s"SELECT id, count(*) OVER w AS c, sum(id) OVER w AS s FROM (SELECT id, " +
            s"TIMESTAMP'$from' + make_dt_interval(0, 0, id * $minutes) AS t FROM range(230)) " +
            s"WINDOW w AS (ORDER BY t RANGE BETWEEN $frame)",
          mustSplit = true
        )
    }
  }
}
