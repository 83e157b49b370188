package io.sash.spark.split

import scala.util.{Random, Try}

import org.apache.spark.sql.Row

import io.sash.spark.Thorough
import io.sash.spark.base.SashConf

/** Windows at another table's times that many tasks answer have the rows of Spark's own joins. */
class SplitLateralLawSuite extends SplitLaw {
  import SplitLaw._

  override protected def dividing: Seq[(String, String)] = super.dividing ++ Seq(
    SashConf.WindowSplit.key -> "always",
    SashConf.LateralFilterThreshold.key -> "0",
    "spark.sql.session.timeZone" -> "America/New_York"
  )

  /** One task answers a query that Spark's optimizer fails for. */
  override protected def expected(query: String): Seq[Row] = Try(super.expected(query))
    .getOrElse(withSettings(SashConf.WindowSplit.key -> "off")(rows(query)._1))

  /** A time as an expression over minutes, and distances from it. */
  private case class Times(of: String, steps: Seq[String])

  private val types = Seq(
    Times(
      "TIMESTAMP'2026-03-06 22:00:00' + make_dt_interval(0, 0, %s * 5)",
      Seq("INTERVAL 2 HOURS", "INTERVAL 1 DAY", "INTERVAL '1' MONTH", "INTERVAL 90 MINUTES")
    ),
    Times(
      "TIMESTAMP_NTZ'2026-03-06 22:00:00' + make_dt_interval(0, 0, %s * 5)",
      Seq("INTERVAL 2 HOURS", "INTERVAL 1 DAY")
    ),
    Times(
      "date_add(DATE'2026-02-01', int(%s / 9))",
      Seq("INTERVAL 2 DAYS", "INTERVAL '1' MONTH")
    ),
    Times("CAST(%s AS BIGINT)", Seq("3", "40", "500")),
    Times("CAST(%s AS DOUBLE) / 4", Seq("3", "0.25D", "40")),
    Times("CAST(%s AS DECIMAL(10, 2))", Seq("2.5", "77.01")),
    Times("lpad(%s, 5, '0')", Nil)
  )

  private val aggregates = Seq(
    "count(*)",
    "sum(e.x)",
    "avg(e.x)",
    "max(e.x)",
    "min(e.s)",
    "sum(e.x) FILTER (WHERE e.x % 2 = 0)",
    "coalesce(sum(e.x), 0) + count(*)",
    "count_if(e.x > 50)",
    "max(struct(e.x, e.s))",
    "bool_or(e.x > 97)"
  )

  private def tables(random: Random, times: Times): Unit = {
    def table(name: String, rows: Int, more: String): Unit = {
      val minutes = random.nextInt(3) match {
        case 0 => "id * 7 % 1000"
        case 1 => "id * 31 % 60"
        case _ => "nullif(id * 13 % 400, 3)"
      }
      val of = times.of.replace("%s", s"($minutes)")
      spark
        .sql(
          s"SELECT id, nullif(if(id % 10 < 8, 1, id % 7), 5) AS k, $of AS t, $more " +
            s"FROM (SELECT id + ${random.nextInt(1000)} AS id FROM range($rows))"
        )
        .repartition(1 + random.nextInt(3))
        .createOrReplaceTempView(name)
    }
    def rows(most: Int) = pick(random, Seq(0, 1, most / 4, most, most, most, most))
    val other = times.of.replace("%s", "(id * 17 % 1000)")
    table("labels", rows(120), s"$other AS a, int(id % 90) AS w")
    table("events", rows(400), "id * 37 % 100 AS x, string(id % 11) AS s")
  }

  private def value(random: Random, times: Times): String = random.nextInt(5) match {
    case 0 => "l.a"
    case 1 | 2 if times.steps.nonEmpty =>
      s"l.t ${pick(random, Seq("-", "-", "+"))} ${pick(random, times.steps)}"
    case _ => "l.t"
  }

  private def range(random: Random, times: Times): String = {
    val upper = s"e.t ${pick(random, Seq("<", "<="))} ${value(random, times)}"
    val lower = s"e.t ${pick(random, Seq(">", ">="))} ${value(random, times)}"
    random.nextInt(6) match {
      case 0 => upper
      case 1 => lower
      case 2 => s"$lower AND $upper AND e.t >= ${value(random, times)}"
      case _ => s"$lower AND $upper"
    }
  }

  private def joined(random: Random, times: Times, key: String, n: Int): String = {
    val where = s"WHERE $key${range(random, times)}" +
      pick(random, Seq("", "", " AND e.x > 20", " AND l.w < 60"))
    if (random.nextInt(3) == 0) {
      val order = pick(random, Seq("DESC", "ASC"))
      s"LEFT JOIN LATERAL (SELECT e.t AS t$n FROM events e $where ORDER BY e.t $order " +
        s"LIMIT ${pick(random, Seq(1, 1, 3))}) f$n ON true"
    } else {
      val columns = random.shuffle(aggregates).take(1 + random.nextInt(3)).zipWithIndex.map {
        case (a, i) => s"$a AS a${n}_$i"
      }
      s"JOIN LATERAL (SELECT ${columns.mkString(", ")} FROM events e $where) f$n"
    }
  }

  law("labels and events", Thorough.times(24), least = 0.9) { random =>
    val times = pick(random, types)
    tables(random, times)
    val key = pick(random, Seq("", "e.k = l.k AND ", "e.k <=> l.k AND "))
    val joins = (0 to random.nextInt(2)).map(joined(random, times, key, _))
    // several rows of a label come in any order
    val order = if (joins.exists(_.contains("LIMIT 3"))) " ORDER BY ALL" else ""
    s"SELECT * FROM labels l ${joins.mkString(" ")}$order"
  }
}
