package io.sash.spark.refresh

import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.sql.{classic, DataFrame}
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.catalyst.util.ArrayData
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
    val found = plan.spans.rows
    val units = found.selectExpr(
      found.columns
        .takeRight(2)
        .map { end =>
          val e = s"`$end`"
          found.schema(end).dataType.sql match {
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

  test("a frame reaches back to a row whose frame ends later") {
    val day = 24 * 3600 * 1000000L
    val at = 20 * 3600 * 1000000L
    val month = "RANGE BETWEEN CURRENT ROW AND INTERVAL 1 MONTH FOLLOWING"
    val two = "RANGE BETWEEN INTERVAL 1 DAY FOLLOWING AND INTERVAL 2 DAYS FOLLOWING"
    withSettings("spark.sql.session.timeZone" -> "UTC") {
      val span = s"${at - 33 * day}..${at + 5 * day}"
      assert(spans(over("h", month)) == Seq(span))
      assert(spans(over("h DESC", month)) == Seq(s"${at - 5 * day}..${at + 33 * day}"))
      assert(spans(over("h", two)) == Seq(s"${at - 2 * day}..$at"))
      // rows that a FILTER leaves out have frames, too
      val both = "(SELECT k, h, 0 AS o FROM events UNION ALL " +
        "SELECT 1 AS k, timestamp_seconds(id) AS h, 1 AS o FROM range(40))"
      val counted = over("h", month, "count(*) FILTER (WHERE o = 1)").replace("events", both)
      assert(spans(counted) == Seq(span))
    }
    withSettings("spark.sql.session.timeZone" -> "America/New_York") {
      assert(spans(over("h", two)) == Seq(s"${at - 4 * day}..${at + 2 * day}"))
    }
    assert(spans(over("d", month)) == Seq("-11..20"))
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
    assert(spans(lateral.replace("e.t >= l.t - 5 AND e.t < l.t", "e.t > l.t")) == Seq("..20"))
  }

  test("a column made of a hop window is a key, and leaves out no row below it") {
    val hops = "SELECT k, window.start AS s, hour(window.end) AS e, sum(x) AS a FROM events " +
      "GROUP BY k, window(ts, '6 microseconds', '2 microseconds')"
    assert(spans(hops) == Seq("16..16", "18..18", "20..20"))
    val plan = refresh(hops, spark.table("events").where("t = 20"))
    assert(plan.keyNames.toSeq == Seq("k", "e"))
    val answers = plan.answers(plan.spans).collect().toSet
    assert(answers.size == 3 && answers.subsetOf(spark.sql(hops).collect().toSet))
  }

  test("a changed label is answered alone") {
    spark.range(40).selectExpr("1 AS k", "id AS t", "id AS x").createOrReplaceTempView("others")
    Seq("e.t >= l.t - 5 AND e.t < l.t" -> "20..20", "e.t >= l.t" -> "20..20").foreach {
      case (range, span) =>
        val query = "SELECT l.k, l.t, f.a FROM events l, LATERAL (SELECT sum(e.x) AS a FROM " +
          s"others e WHERE e.k = l.k AND $range) f"
        withClue(range)(assert(spans(query) == Seq(span)))
    }
    // it still is a row among others, where windows count rows
    val both = "(SELECT k, t, 0 AS o FROM events UNION ALL SELECT k, t, 1 AS o FROM others)"
    def counted(frame: String) = "SELECT k, t, count(*) FILTER (WHERE o = 1) OVER (" +
      s"PARTITION BY k ORDER BY t $frame) AS n FROM $both"
    assert(spans(counted("RANGE 5 PRECEDING")) == Seq("20..20"))
    assert(spans(counted("ROWS 5 PRECEDING")) == Seq("20.."))
  }

  test("a row is in a span, or in reach of one, or not") {
    val random = new Random(7)
    val none = Seq(Long.MinValue, Long.MaxValue)
    (1 to 2000).foreach { _ =>
      val ends = Seq.fill(2 * random.nextInt(5))(random.nextInt(40).toLong).distinct.sorted
      val open = none.filter(_ => random.nextBoolean() && ends.nonEmpty)
      val all = (ends ++ open).sorted
      val spans = all.drop(all.length % 2).grouped(2).map(s => s.head -> s.last).toSeq
      val from = random.nextInt(42).toLong - 1
      val until = from + random.nextInt(3)
      val kept = ArrayData.toArrayData(all.drop(all.length % 2).toArray)
      val found = InSpans.meet(from, until, kept)
      val meets = spans.exists { case (first, last) => first <= until && last >= from }
      withClue(s"$spans, $from, $until")(assert(found == meets))
    }
  }

  test("spans of a key are joined where they meet, in any order") {
    val random = new Random(8)
    (1 to 2000).foreach { _ =>
      val spans = Seq.fill(random.nextInt(9)) {
        val first = random.nextInt(40).toLong
        first -> (first + random.nextInt(6))
      }
      val lists = Seq(new SpanList, new SpanList)
      spans.foreach { case (first, last) => lists(random.nextInt(2)).add(first, last) }
      val aggregate = JoinedSpans(Literal(0L), Literal(0L))
      val bytes = aggregate.serialize(lists.last)
      val found = aggregate.merge(lists.head, aggregate.deserialize(bytes)).ends.toSeq
      val times = (0L to 50L).filter(t => spans.exists { case (a, b) => a <= t && t <= b })
      val joined = found.grouped(2).flatMap(s => s.head to s.last).toSeq
      withClue(spans)(assert(joined == times && found == found.sorted))
      // no two of them meet
      assert(found.drop(1).grouped(2).filter(_.length == 2).forall(s => s.head < s.last))
    }
  }

  test("joins with groups of other tables leave spans as they are") {
    spark.range(40).selectExpr("1 AS k", "id AS y").createOrReplaceTempView("others")
    val windows = over("t", "RANGE 5 PRECEDING")
    val groups = "(SELECT k, sum(y) AS y FROM others GROUP BY k)"
    assert(
      spans(s"SELECT w.*, g.y FROM ($windows) w JOIN $groups g ON w.k = g.k") ==
        Seq("20..25")
    )
    val ofGroups = "(SELECT k, d, sum(x) AS a FROM events GROUP BY k, d)"
    assert(
      spans(s"SELECT g.*, o.y FROM $ofGroups g JOIN $groups o ON g.k = o.k") ==
        Seq("20..20")
    )
  }

  test("keys may be constant, or the time itself") {
    val windows = over("t", "RANGE 5 PRECEDING")
    assert(spans(windows.replace("BY k", "BY 'all'")) == Seq("20..25"))
    assert(spans(windows.replace("BY k", "BY t")) == Seq("20..20"))
    // or another time
    val ofTime = windows.replace("BY k", "BY ts").replace("SELECT k", "SELECT ts")
    assert(spans(ofTime) == Seq("20..25"))
    spans(ofTime)
    val changed = spark.table("events").where("t = 20")
    assert(refresh(ofTime, changed).keyNames.toSeq == Seq("ts"))
  }

  test("the time is a column of order, or of hops, before other numbers") {
    def timeOf(query: String): String = {
      spans(query)
      refresh(query, spark.table("events").where("t = 20")).timeName
    }
    val hops = "FROM events GROUP BY k, window(ts, '1 second')"
    assert(timeOf(s"SELECT k, unix_micros(window.start) AS s, sum(x) AS a $hops") == "s")
    assert(timeOf(s"SELECT x, ${over("t", "").drop(7)}") == "t")
  }

  test("scans know the limits of a time that another one is cut from") {
    def limits(time: String, frame: String): Seq[String] = {
      val cut = s"(SELECT k, x, $time AS c FROM events)"
      val query = over("c", frame).replace("FROM events", s"FROM $cut")
      spans(query)
      val plan = refresh(query, spark.table("events").where("t = 20"))
      val text = plan.answers(plan.spans).queryExecution.optimizedPlan.toString
      "[<>]= [0-9]{4}-[0-9-]+ [0-9:]+".r.findAllIn(text).toSeq.distinct.sorted
    }
    withSettings("spark.sql.session.timeZone" -> "UTC") {
      // Spark may know some itself
      val ofDate = limits("CAST(h AS DATE)", "RANGE 1 PRECEDING")
      assert(Seq("<= 1970-01-05 00:00:00", ">= 1969-12-29 00:00:00").diff(ofDate).isEmpty)
      val ofDay = limits("date_trunc('DAY', h)", "RANGE INTERVAL 1 HOUR PRECEDING")
      assert(Seq("<= 1970-01-04 01:00:00", ">= 1969-12-31 23:00:00").diff(ofDay).isEmpty)
    }
  }

  test("tables with columns of CHAR and VARCHAR are refreshed") {
    try {
      spark.sql("CREATE TABLE chars (k CHAR(4), v VARCHAR(9), t INT) USING parquet")
      spark.sql("INSERT INTO chars SELECT 'ab', 'c', CAST(id AS INT) FROM range(40)")
      val query = "SELECT k, v, t, count(*) OVER (PARTITION BY k, v ORDER BY t RANGE 2 " +
        "PRECEDING) AS n FROM chars"
      val bare = spark.sql("SELECT 'ab' AS k, 'c' AS v, 20 AS t")
      Seq(spark.table("chars").where("t = 20"), bare).map(ofClassic).foreach { changed =>
        val plan = Refresh.of(ofClassic(spark.sql(query)), Map("chars" -> changed).asJava)
        val found = plan.spans
        assert(found.rows.collect().map(_.toString) === Seq("[ab  ,c,20,22]"))
        assert(plan.answers(found).count() == 3)
      }
      assert(Refresh.tableName(ofClassic(spark.table("chars"))) != null)
    } finally spark.sql("DROP TABLE IF EXISTS chars")
  }

  test("spans of a key without a time, and without a limit, hold rows without a time") {
    spark
      .sql("SELECT id % 3 AS k, IF(id < 3, NULL, id) AS t, id AS x FROM range(30)")
      .createOrReplaceTempView("events")
    def answered(frame: String, changed: String, mode: String) = {
      val query = over("t", frame)
      val plan = refresh(query, spark.table("events").where(changed))
      withSettings("spark.sql.codegen.factoryMode" -> mode) {
        val rows = plan.answers(plan.spans).collect().toSeq
        val whole = spark.sql(query).collect().toSeq
        assert(rows.toSet.subsetOf(whole.toSet))
        rows.map(r => r.getLong(0) -> or(r.get(1))).sorted
      }
    }
    Seq("CODEGEN_ONLY", "NO_CODEGEN").foreach { mode =>
      assert(answered("RANGE 3 PRECEDING", "t = 4", mode) == Seq(1L -> "4", 1L -> "7"))
      assert(answered("RANGE 3 PRECEDING", "x = 1", mode).length == 10)
      val until = "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"
      assert(answered(until, "t = 7", mode) == Seq(1L -> "", 1L -> "4", 1L -> "7"))
      assert(answered("", "t = 25", mode) == Seq(1L -> "", 1L -> "25", 1L -> "28"))
      val ahead = "RANGE BETWEEN CURRENT ROW AND 3 FOLLOWING"
      assert(answered(ahead, "t = 7", mode) == Seq(1L -> "4", 1L -> "7"))
    }
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
    val found = plan.spans
    assert((found.keys, found.count, found.least, found.greatest) == (1L, 1L, 20L, 22L))
    val answers = plan.answers(found)
    val sums = answers.collect().map(r => r.getLong(1) -> r.getLong(2)).sorted.toSeq
    assert(sums == Seq(20L -> 15L, 21L -> 11L, 22L -> 7L))
    val text = answers.queryExecution.optimizedPlan.toString
    assert(text.contains(">= 18") && text.contains("<= 22"))
    val events = ofClassic(spark.table("events"))
    assert(plan.within(events, found).count() == 3)
    def near(least: Long) = plan.near(events, found.copy(least = least)).count()
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
