package io.sash.spark.refresh

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.{classic, DataFrame}
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.sash.RefreshInternals

import io.sash.spark.SashSuite

/** A span ends exactly where the last window ends that holds a changed row. */
class RefreshSuite extends SashSuite {

  /** The spans of a change at time 20 of key 1, as `first..last`; the table has times 0 to 39. */
  private def spans(query: String, at: String = "20"): Seq[String] = {
    spark
      .sql("""SELECT 1 AS k, id AS t, id % 7 AS x, timestamp_micros(id) AS ts, CAST(
             |  timestamp_micros(id) AS TIMESTAMP_NTZ) AS ntz, date_from_unix_date(int(id)) AS d,
             |  timestamp_seconds(3600 * id) AS h FROM range(40)""".stripMargin)
      .createOrReplaceTempView("events")
    val changed = spark.table("events").where(s"t IN ($at)")
    val plan = refresh(query, changed)
    val units = plan.spans.selectExpr(
      plan.spans.columns
        .takeRight(2)
        .map { end =>
          val e = s"`$end`"
          plan.spans.schema(end).dataType.sql match {
            case "TIMESTAMP"     => s"unix_micros($e)"
            case "TIMESTAMP_NTZ" => s"unix_micros(CAST($e AS TIMESTAMP))"
            case "DATE"          => s"unix_date($e)"
            case _               => e
          }
        }
        .toIndexedSeq: _*
    )
    units.collect().map(r => s"${or(r.get(0))}..${or(r.get(1))}").sorted.toSeq
  }

  private def or(end: Any): String = Option(end).fold("")(_.toString)

  private def refresh(query: String, changed: DataFrame): Refresh =
    Refresh.of(ofClassic(spark.sql(query)), Map("events" -> ofClassic(changed)).asJava)

  private def ofClassic(rows: DataFrame): classic.DataFrame = rows.asInstanceOf[classic.DataFrame]

  private def over(order: String, frame: String, call: String = "sum(x)"): String = {
    val time = order.split("[ ,]").head
    s"SELECT k, $time, $call OVER (PARTITION BY k ORDER BY $order $frame) AS a FROM events"
  }

  private def kind(kind: String): String =
    s"SELECT k, ts, sum(x) OVER (PARTITION BY k, $kind ORDER BY ts) AS a FROM events"

  test("a span has the frame's ends, turned around") {
    Seq(
      over("t", "RANGE 5 PRECEDING") -> "20..25",
      over("t", "RANGE BETWEEN 5 PRECEDING AND 3 FOLLOWING") -> "17..25",
      over("t", "RANGE BETWEEN 3 FOLLOWING AND 5 FOLLOWING") -> "15..20",
      over("t", "RANGE BETWEEN 5 PRECEDING AND 3 PRECEDING") -> "20..25",
      over("t DESC", "RANGE BETWEEN 5 PRECEDING AND 3 FOLLOWING") -> "15..23",
      over("t", "") -> "20..",
      over("t", "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING") -> "..20",
      over("t DESC", "") -> "..20",
      over("t", "ROWS 3 PRECEDING") -> "20..",
      over("t", "ROWS BETWEEN CURRENT ROW AND 3 FOLLOWING") -> "..20",
      over("t", "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING") -> "..",
      over("t", "", "lag(x)") -> "20..",
      over("t", "", "lead(x)") -> "..20",
      over("t", "", "ntile(3)") -> "..",
      over("d", "RANGE 5 PRECEDING") -> "20..25",
      over("ts", "RANGE INTERVAL 0.000005 SECONDS PRECEDING") -> "20..25",
      over("ntz", "RANGE INTERVAL 0.000005 SECONDS PRECEDING") -> "20..25"
    ).foreach { case (query, span) => withClue(query)(assert(spans(query) == Seq(span))) }
  }

  test("months and days of a zone whose clocks change reach as far as the longest") {
    assert(spans(over("d", "RANGE INTERVAL 2 MONTHS PRECEDING")) == Seq("20..82"))
    val day = 24 * 3600 * 1000000L
    val at = 20 * 3600 * 1000000L
    withSettings("spark.sql.session.timeZone" -> "UTC") {
      assert(spans(over("h", "RANGE INTERVAL 3 DAYS PRECEDING")) == Seq(s"$at..${at + 3 * day}"))
    }
    withSettings("spark.sql.session.timeZone" -> "America/New_York") {
      val days = spans(over("h", "RANGE INTERVAL 3 DAYS PRECEDING"))
      assert(days == Seq(s"${at - 0}..${at + 5 * day}"))
      val months = spans(over("h", "RANGE INTERVAL 1 MONTH PRECEDING"))
      assert(months == Seq(s"$at..${at + 33 * day}"))
    }
  }

  test("kinds of window reach as far as they say") {
    Seq(
      "time_window(INTERVAL 0.000005 SECONDS)" -> "20..25",
      "time_window(INTERVAL 0.000006 SECONDS, center => true)" -> "17..23",
      "time_window(INTERVAL 0.000005 SECONDS, hop => INTERVAL 0.000002 SECONDS)" -> "20..27",
      "count_window(3)" -> "20..",
      "gap_window(INTERVAL 0.000003 SECONDS)" -> "20..",
      "delta_window(x, 2)" -> "20..",
      "groups_window(1, 0)" -> "20..",
      "groups_window(1, 1)" -> "..",
      "count_window(3), window_slide(2)" -> ".."
    ).foreach { case (of, span) => withClue(of)(assert(spans(kind(of)) == Seq(span))) }
  }

  test("windows over windows reach as far as both") {
    val inner = over("t", "RANGE 5 PRECEDING").replace(" FROM events", ", x FROM events")
    val outer =
      "max(a) OVER (PARTITION BY k ORDER BY t RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING)"
    assert(spans(s"SELECT k, t, $outer AS b FROM ($inner)") == Seq("19..27"))
    // a window beside another does not reach farther
    val beside = outer.replace("max(a)", "max(x)")
    assert(spans(s"SELECT k, t, a, $beside AS b FROM ($inner)") == Seq("19..25"))
    // which rows there are depends on the windows below
    assert(spans(s"SELECT k, t, $beside AS b FROM ($inner) WHERE a > 9") == Seq("19..27"))
  }

  test("spans of a key join where they meet") {
    val query = over("t", "RANGE 2 PRECEDING")
    assert(spans(query, "3, 5, 8") == Seq("3..7", "8..10"))
    assert(spans(query, "3, 4, 30") == Seq("3..6", "30..32"))
    // one time is enough to meet at
    assert(spans(query, "3, 5") == Seq("3..7"))
  }

  test("hops hold their rows, and ranges of another table's rows their events") {
    val hops = "SELECT k, window.start AS s, sum(x) AS a FROM events " +
      "GROUP BY k, window(ts, '6 microseconds', '2 microseconds')"
    assert(spans(hops) == Seq("16..16", "18..18", "20..20"))
    // over the answers of other windows, a hop may change whose rows have not
    val below = over("ts", "RANGE INTERVAL 0.000005 SECONDS PRECEDING")
    assert(spans(hops.replace("x", "a").replace("events", s"($below)")) == Seq(".."))
    spark.range(40).selectExpr("1 AS k", "id AS t").createOrReplaceTempView("labels")
    val lateral =
      "SELECT l.k, l.t, f.a FROM labels l, LATERAL (SELECT sum(e.x) AS a FROM events e " +
        "WHERE e.k = l.k AND e.t >= l.t - 5 AND e.t < l.t) f"
    assert(spans(lateral) == Seq("20..25"))
  }

  test("a span ends with the type of its time") {
    val query = over("d", "RANGE 2147483000 PRECEDING")
    assert(spans(query) == Seq("20..2147483020"))
    assert(spans(over("d", "RANGE 2147483640 PRECEDING")) == Seq("20.."))
  }

  test("answers are of the rows within reach alone") {
    val query = over("t", "RANGE 2 PRECEDING")
    spans(query)
    val plan = refresh(query, spark.table("events").where("t = 20"))
    val spansOf = plan.spans
    val bounds = plan.bounds(spansOf).head()
    assert(bounds.toSeq == Seq(1L, 1L, 20L, 22L))
    val answers = plan.answers(spansOf, 20L, 22L)
    val sums = answers.collect().map(r => r.getLong(1) -> r.getLong(2)).sorted.toSeq
    assert(sums == Seq(20L -> 15L, 21L -> 11L, 22L -> 7L))
    val text = answers.queryExecution.optimizedPlan.toString
    assert(text.contains(">= 18") && text.contains("<= 22"))
    val stored = plan.within(ofClassic(spark.table("events")), spansOf, 20L, 22L)
    assert(stored.count() == 3)
    val near = (least: Long) => plan.near(ofClassic(spark.table("events")), least, 22L).count()
    assert(near(20L) == 3 && near(Long.MinValue) == 23)
    // a filter that no row meets still has partitions; rows that are known to be none have not
    val none = (rows: DataFrame) => Refresh.isNone(ofClassic(rows))
    assert(!none(spark.table("events").where("t = 50")) && none(spark.sql("SELECT 1 LIMIT 0")))
    assert(plan.keyNames.toSeq == Seq("k") && plan.timeName == "t")
  }

  test("the table that a DataFrame is all of has a name") {
    spark.range(3).createOrReplaceTempView("`of it`")
    assert(Refresh.tableName(ofClassic(spark.table("`of it`"))) == "`of it`")
    assert(Refresh.tableName(ofClassic(spark.range(3).toDF())) == null)
  }

  test("a look-up finds all rows of an id, and few others") {
    def rows(step: Int, k: String) =
      ofClassic(spark.range(0, 1000, step).selectExpr("id", s"$k AS k"))
    val k = "IF(id = 0, NULL, id % 5)"
    val table = rows(1, k)
    def found(of: classic.DataFrame): Set[Long] = {
      val among = Among.one(table, of, Seq("id", "`k`"), of.count())
      val plan = table.queryExecution.analyzed
      val kept = among.fold(plan)(a => Filter(a(plan.output), plan))
      RefreshInternals.rows(table.sparkSession, kept).collect().map(_.getLong(0)).toSet
    }
    val wanted = (0L until 1000L by 7).toSet
    Seq("CODEGEN_ONLY", "NO_CODEGEN").foreach { mode =>
      withSettings("spark.sql.codegen.factoryMode" -> mode) {
        val all = found(rows(7, k))
        assert(wanted.subsetOf(all) && all.size < 200)
      }
    }
    // equal values whose hashes differ are not looked for
    assert(found(rows(7, s"CAST($k AS INT)")).size == 1000)
  }
}
