package io.sash.spark.lateral

import scala.util.Random

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.expr
import org.apache.spark.sash.TestInternals

import org.scalatest.tagobjects.Slow

import io.sash.spark.Thorough
import io.sash.spark.base.SashConf

/**
 * Correlated aggregates over a range, with Sash and by Spark's join of all pairs: the same rows.
 * Each query that Sash runs has its operator in the plan, and no join.
 */
final class LateralWindowsSuite extends LateralSuite {
  private val seed = 20261125L

  import LateralWindowsSuite.TimeType

  private val hour = "TIMESTAMP'2026-03-28 22:00:00' + INTERVAL '1' HOUR * "

  private def timestamps(cast: String) =
    (0 to 40 by 2).map(h => s"CAST($hour$h AS $cast)") ++ Seq("NULL")

  private val intervals =
    Seq("INTERVAL 3 HOURS", "INTERVAL 1 DAY", "INTERVAL '1' MONTH", "INTERVAL 1 SECOND")

  private val times: Map[String, TimeType] = Map(
    "TIMESTAMP" -> TimeType(timestamps("TIMESTAMP"), intervals, "make_dt_interval(0, w)"),
    "TIMESTAMP_NTZ" -> TimeType(timestamps("TIMESTAMP_NTZ"), intervals, "make_dt_interval(0, w)"),
    "DATE" -> TimeType(
      (1 to 12).map(d => s"DATE'2026-02-${d + 15}'") :+ "NULL",
      Seq("INTERVAL 2 DAYS", "3", "INTERVAL '1' MONTH"),
      "w"
    ),
    "BIGINT" -> TimeType((0 to 12).map(_.toString) :+ "NULL", Seq("3", "0", "5"), "w"),
    "INT" -> TimeType((0 to 12).map(_.toString) :+ "NULL", Seq("3", "1"), "w"),
    "DECIMAL(10,2)" -> TimeType((0 to 12).map(n => s"$n.25") :+ "NULL", Seq("2.5", "0.01"), "w"),
    "DOUBLE" -> TimeType(
      (0 to 8).map(_.toString) ++
        Seq("NULL", "'NaN'", "'Infinity'", "'-Infinity'", "-0.0D", "0.0", "0.1"),
      Seq("3", "0.1D", "DOUBLE('Infinity')"),
      "w"
    ),
    "STRING" -> TimeType(Seq("'a'", "'A'", "'b'", "''", "'bb'", "NULL", "'c'"), Nil, ""),
    "STRING COLLATE UTF8_LCASE" ->
      TimeType(Seq("'a'", "'A'", "'b'", "''", "'bB'", "NULL", "'c'"), Nil, "")
  )

  private val keyTypes: Map[String, Seq[String]] = Map(
    "INT" -> Seq("1", "2", "3", "NULL"),
    "STRING" -> Seq("'x'", "'y'", "NULL"),
    "DOUBLE" -> Seq("0.0", "-0.0D", "'NaN'", "1.5", "NULL"),
    "STRING COLLATE UTF8_LCASE" -> Seq("'x'", "'X'", "'y'", "NULL")
  )

  private val aggregates = Seq(
    "count(*)",
    "count(e.x)",
    "sum(e.x)",
    "avg(e.x)",
    "max(e.x)",
    "min(e.s)",
    "stddev(e.x)",
    "count(DISTINCT e.x)",
    "sum(DISTINCT e.x) FILTER (WHERE e.b)",
    "sum(e.x) FILTER (WHERE e.b)",
    "median(e.x)",
    "percentile(e.x, 0.3)",
    "coalesce(sum(e.x), 0) + count(*)",
    "sort_array(collect_list(e.x))",
    "bool_or(e.b)",
    "max(struct(e.x, e.s))",
    "count_if(e.b)",
    "try_sum(e.x)"
  )

  private final class Draw(random: Random) {
    def one[T](of: Seq[T]): T = of(random.nextInt(of.length))
    def in(n: Int): Boolean = random.nextInt(n) == 0

    private val (timeType, time) = one(times.toSeq.sortBy(_._1))
    private val keys = Seq.fill(random.nextInt(3))(one(keyTypes.toSeq.sortBy(_._1)))

    private def table(name: String, rows: Int, more: Seq[(String, Seq[String])]): Unit = {
      val columns = keys.zipWithIndex.map { case ((t, values), i) =>
        (s"k$i", t, values)
      } :+ (("t", timeType, time.values))
      val all = columns.map { case (n, t, values) =>
        n -> values.map(v => s"CAST($v AS $t)")
      } ++ more
      val text =
        Seq.fill(rows)(all.map { case (_, values) => one(values) }.mkString("(", ", ", ")"))
      val names = all.map(_._1).mkString(", ")
      spark
        .sql(s"SELECT * FROM VALUES ${text.mkString(", ")} AS r($names)")
        .repartition(1 + random.nextInt(3))
        .createOrReplaceTempView(name)
    }

    def tables(): Unit = {
      val small = Seq("CAST(1 AS INT)", "CAST(2 AS INT)", "CAST(NULL AS INT)", "CAST(-1 AS INT)")
      table("labels", one(Seq(2, 12)), Seq("id" -> (1 to 9).map(_.toString), "w" -> small))
      val events = Seq(
        "x" -> Seq("1", "2", "3", "-4", "NULL").map(v => s"CAST($v AS INT)"),
        "s" -> Seq("'p'", "'q'", "NULL").map(v => s"CAST($v AS STRING)"),
        "b" -> Seq("true", "false", "NULL").map(v => s"CAST($v AS BOOLEAN)")
      )
      table("events", 25, events)
      table("others", 10, events)
    }

    private def value: String = random.nextInt(6) match {
      case _ if time.plus.isEmpty => "l.t"
      case 0 | 1                  => "l.t"
      case 2 | 3 | 4              => s"l.t ${one(Seq("-", "-", "+"))} ${one(time.plus)}"
      case _                      => s"l.t - ${time.own}"
    }

    private val opposites = Map("<" -> ">=", "<=" -> ">", ">" -> "<=", ">=" -> "<")

    private def range: Seq[String] = random.nextInt(6) match {
      case 5 =>
        val (lower, upper) = (one(Seq("<", "<=")), one(Seq(">", ">=")))
        one(
          Seq(
            Seq(s"NOT (e.t $lower $value OR $value ${opposites(upper)} e.t)"),
            Seq(s"NOT (NOT NOT e.t $lower $value)", s"e.t ${opposites(upper)} $value")
          )
        )
      case 0 => Seq(s"e.t ${one(Seq("<", "<=", ">", ">="))} $value")
      case 4 =>
        val sign = one(Seq(">", "<="))
        Seq(s"e.t $sign $value", s"e.t $sign $value", s"e.t ${opposites(sign)} $value")
      case 1 => Seq(s"e.t BETWEEN $value AND $value")
      case 2 => Seq(s"$value ${one(Seq("<", "<="))} e.t", s"$value ${one(Seq(">", ">="))} e.t")
      case _ => Seq(s"e.t ${one(Seq(">", ">="))} $value", s"e.t ${one(Seq("<", "<="))} $value")
    }

    def subquery(aggregates: Seq[String]): String = {
      val compared = keys.indices.filterNot(_ => in(5))
      val equal = compared.map { i =>
        if (in(3)) s"e.k$i <=> l.k$i" else s"l.k$i = e.k$i"
      }
      val more = Seq("e.x > 0", "e.b", "l.id < 7", "e.s IS NOT NULL").filter(_ => in(6))
      val groups = if (in(8)) Seq(one(compared.map(i => s"e.k$i") :+ "'a'")) else Nil
      val group = groups.map(g => s" GROUP BY $g").mkString
      val having = group + (if (in(8)) " HAVING count(*) > 1" else "")
      val table = one(Seq("events", "events", "others", "(SELECT * FROM events WHERE x < 3)"))
      s"SELECT ${aggregates.mkString(", ")} FROM $table e " +
        s"WHERE ${(equal ++ range ++ more).mkString(" AND ")}$having"
    }

    /** The time of an event, alike for all events that tie. */
    private val shown =
      if (timeType == "DOUBLE") "e.t + 0D"
      else if (timeType.contains("LCASE")) "upper(e.t)"
      else "e.t"

    /** As-of: the last rows, or the first ones. Rows that tie differ in nothing that is asked. */
    private def asOf(n: Int): String = {
      val limit = one(Seq(1, 1, 0, 2, 3, 5))
      val direction = one(Seq("DESC", "ASC"))
      val query =
        subquery(Seq(s"$shown AS t$n", s"upper(string($shown)) AS s$n"))
          .replaceAll("( GROUP BY| HAVING).*", "")
      s"(SELECT * FROM ($query ORDER BY e.t $direction LIMIT $limit))"
    }

    private def some = Seq.fill(1 + random.nextInt(3))(one(aggregates))

    private def lateral(n: Int): String = {
      val joined = one(Seq("JOIN LATERAL %s f%d", "LEFT JOIN LATERAL %s f%d ON true"))
      if (in(3)) joined.format(asOf(n), n)
      else {
        val named = some.zipWithIndex.map { case (a, i) => s"$a AS a${n}_$i" }
        joined.format(s"(${subquery(named)})", n)
      }
    }

    /** A condition that may fail without the one before it, which is on a key. */
    private def above: String =
      if (keys.isEmpty || in(2)) ""
      else " WHERE l.k0 IS NOT NULL AND 10 / IF(l.k0 IS NULL, 0, l.id) > 2"

    def query: String = random.nextInt(4) match {
      case 0 =>
        val columns = Seq.fill(1 + random.nextInt(2))(s"(${subquery(Seq(one(aggregates)))})")
        s"SELECT l.*, ${columns.zipWithIndex.map { case (c, i) => s"$c AS q$i" }.mkString(", ")} " +
          "FROM labels l"
      case 1 =>
        val asked = subquery(Seq("count(*)"))
        def rows = asked.replaceAll("SELECT count\\(\\*\\)|( GROUP BY| HAVING).*", "")
        val condition =
          one(Seq(s"($asked) > 1", s"EXISTS (SELECT 1$rows)", s"NOT EXISTS (SELECT 1$rows)"))
        s"SELECT * FROM labels l WHERE id > 1 AND $condition"
      case _ =>
        val joins = (0 to random.nextInt(3)).map(lateral)
        s"SELECT * FROM labels l ${joins.mkString(" ")}$above"
    }
  }

  for (part <- 1 to 6) test(s"random queries, part $part", Slow +: each(6): _*) {
    var (ran, checked, filtered, sliced) = (0, 0, 0, 0)
    for (n <- 1 to Thorough.times(60)) {
      val draw = new Draw(new Random(seed + 1000 * part + n))
      val zone = draw.one(Seq("UTC", "Europe/Berlin"))
      val ansi = draw.one(Seq("true", "false"))
      withSettings(
        "spark.sql.session.timeZone" -> zone,
        "spark.sql.ansi.enabled" -> ansi,
        "spark.sql.codegen.wholeStage" -> "false",
        "spark.sql.adaptive.enabled" -> "false",
        "spark.sql.shuffle.partitions" -> "2",
        "spark.sql.codegen.factoryMode" -> draw.one(Seq("FALLBACK", "NO_CODEGEN"))
      ) {
        draw.tables()
        val query = draw.query
        withClue(s"part $part, query $n, zone $zone: $query\n") {
          val spark0 = withSash(enabled = false)(scala.util.Try(spark.sql(query).collect().toSeq))
          spark0.foreach { expected =>
            checked += 1
            for (slices <- Seq("-1", "0"))
              withSettings(SashConf.LateralSliceThreshold.key -> slices) {
                val frame = spark.sql(query)
                val actual =
                  try frame.collect().toSeq
                  catch { case e: Exception => fail(s"$slices: $query: $e", e) }
                assert(sorted(actual) == sorted(expected), s"slices $slices")
                if (sliding(frame).nonEmpty) {
                  val text = told(frame)
                  if (slices == "-1") ran += 1
                  if (text.contains("are not exchanged")) filtered += 1
                  if (text.contains("events are combined by")) sliced += 1
                  assert(!joinsPairs(frame), text)
                }
              }
          }
        }
      }
    }
    info(
      s"$ran of $checked queries ran as windows, $filtered of them with filtered events, " +
        s"$sliced with slices"
    )
    assert(checked > 8 && ran > checked * 8 / 10 && filtered > checked / 10 && sliced > 0)
  }

  /** Times 0, 1, 2, … of a type, and a distance of 2. */
  private val plainTimes: Seq[(String, String => String, String)] = Seq(
    ("DATE", n => s"date_add(DATE'2026-02-27', CAST($n AS INT))", "INTERVAL 2 DAYS"),
    (
      "TIMESTAMP",
      n => s"timestampadd(HOUR, CAST($n AS INT), TIMESTAMP'2026-03-28 23:00:00')",
      "INTERVAL 2 HOURS"
    ),
    ("BIGINT", n => s"CAST($n AS BIGINT)", "2")
  )

  // a sum of powers of two names its rows
  for ((name, time, two) <- plainTimes)
    test(s"each comparison at equal times, $name", each(2): _*) {
      def made(keys: String, more: String, rows: Int) =
        spark.sql(s"SELECT $keys AS k, ${time("id % 8")} AS t, $more FROM range($rows)")
      val key = "nullif(id % 3, 2)"
      made(key, s"${time("id % 5 + 2")} AS a, id", 24).createOrReplaceTempView("labels")
      made(key, "1L << id AS x, id % 5 < 3 AS b", 48).createOrReplaceTempView("events")
      made(key, "1L << id AS x, id % 5 < 3 AS b", 30).createOrReplaceTempView("others")
      def sum(range: String, table: String = "events", key: String = "=") =
        s"(SELECT sum(e.x) FROM $table e WHERE e.k $key l.k AND $range)"
      val compared = for (lower <- Seq(">", ">="); upper <- Seq("<", "<=")) yield {
        sum(s"e.t $lower l.t - $two AND e.t $upper l.t")
      }
      val between = s"e.t > l.t - $two AND e.t < l.t"
      // the first has a condition that the others lack
      val asked = Seq(sum(s"$between AND e.b")) ++ compared ++ Seq(
        sum(between, key = "<=>"),
        sum(between, table = "others"),
        sum(s"e.t >= l.a - $two AND e.t < l.t"),
        sum(s"e.t > l.a - $two AND e.t <= l.t"),
        sum("e.t <= l.t"),
        sum("e.t > l.a")
      )
      val columns = asked.zipWithIndex.map { case (q, i) => s"$q AS q$i" }.mkString(", ")
      withSettings(
        "spark.sql.codegen.wholeStage" -> "false",
        "spark.sql.shuffle.partitions" -> "2"
      ) {
        val frame = check(spark.sql(s"SELECT l.*, $columns FROM labels l"))
        assert(sliding(frame).nonEmpty && !joinsPairs(frame), told(frame))
      }
    }

  test("columns of the last row, computed above and below LIMIT") {
    spark.sql("SELECT id AS k, id AS t FROM range(4)").createOrReplaceTempView("labels")
    spark
      .sql("SELECT id % 3 AS k, id AS t, string(id) AS s FROM range(9)")
      .createOrReplaceTempView("events")
    for {
      asked <- Seq("t, concat(s, s) AS u", "t + 1 AS t, s")
      last = "SELECT * FROM events e WHERE e.k = l.k AND e.t <= l.t ORDER BY e.t DESC LIMIT 1"
      query = s"SELECT * FROM labels l, LATERAL (SELECT $asked FROM ($last))"
    } {
      assert(sliding(check(spark.sql(query))).nonEmpty)
    }
  }

  /** The query's rows are Spark's, and it is a window. */
  private def checkWindow(query: String, settings: (String, String)*): Unit =
    test(s"${settings.map(_._2 + " ").mkString}${query.linesIterator.mkString(" ")}") {
      withSettings(settings: _*) {
        val frame = check(spark.sql(query))
        assert(sliding(frame).nonEmpty, told(frame))
        assert(!frame.isEmpty)
      }
    }

  private val dates = "VALUES (1, DATE'2026-03-01', TIMESTAMP'2026-03-01 11:00:00')"

  for (
    range <- Seq(
      "e.d >= l.d - INTERVAL 36 HOURS AND e.d < l.d",
      "e.d >= l.d - INTERVAL 1 DAY AND e.d < l.ts",
      "e.d >= l.ts - INTERVAL 2 DAYS AND e.d <= l.d"
    );
    zone <- Seq("UTC", "Europe/Berlin")
  )
    checkWindow(
      s"""SELECT l.*, (SELECT count(*) FROM $dates AS e(k, d, ts) WHERE e.k = l.k AND $range) n
         |FROM VALUES (1, DATE'2026-03-02', TIMESTAMP'2026-03-02 00:00:00') AS l(k, d, ts)
         |""".stripMargin,
      "spark.sql.session.timeZone" -> zone
    )

  test("dates of a zone that left out a day are not its midnights") {
    withSettings("spark.sql.session.timeZone" -> "Pacific/Apia") {
      val days = "VALUES (1, DATE'2011-12-29'), (1, DATE'2011-12-30'), (1, DATE'2011-12-31')"
      val frame = check(
        spark.sql(
          s"""SELECT l.*, (SELECT count(*) FROM $days AS e(k, d)
           |  WHERE e.k = l.k AND e.d >= l.d - INTERVAL 36 HOURS AND e.d < l.d) n
           |FROM $days AS l(k, d)""".stripMargin
        )
      )
      assert(told(frame).contains("values of two types"))
    }
  }

  checkWindow(
    """SELECT l.*, (SELECT count(*) FROM VALUES (1, TIMESTAMP'2026-03-01 09:00:00') AS e(k, ts)
      |  WHERE e.k = l.k AND e.ts >= l.ts - INTERVAL 1 HOUR - INTERVAL 23 HOURS
      |    AND e.ts < l.ts - INTERVAL 1 HOUR) n
      |FROM VALUES (1, TIMESTAMP'2026-03-02 08:00:00') AS l(k, ts)""".stripMargin,
    "spark.sql.session.timeZone" -> "Europe/Berlin"
  )

  checkWindow("""SELECT * FROM (SELECT l.*, (SELECT count(*)
    |    FROM VALUES (CAST(NULL AS STRING), 1), ('a', 1) AS e(k, t)
    |    WHERE e.k <=> l.k AND e.t < l.t) n
    |  FROM VALUES ('a', 5), ('b', 5) AS l(k, t)) WHERE length(k) = 1""".stripMargin)

  // times and inputs of events that no query asks for would be errors
  checkWindow(
    """WITH e AS (SELECT * FROM VALUES (1, 'a', '2026-03-01'), (1, 'b', '2026-03-02'),
      |  (1, 'c', 'n/a') AS e(k, kind, ts))
      |SELECT l.*,
      |  (SELECT count(*) FROM e WHERE e.k = l.k AND kind = 'a' AND CAST(e.ts AS DATE) < l.d) a,
      |  (SELECT count(*) FROM e WHERE e.k = l.k AND kind = 'b' AND CAST(e.ts AS DATE) < l.d) b
      |FROM VALUES (1, DATE'2026-03-05') AS l(k, d)""".stripMargin,
    "spark.sql.ansi.enabled" -> "true"
  )

  for (
    call <- Seq(
      "median(100 / x)",
      "count(DISTINCT 100 div x)",
      "collect_list(100 div x)",
      "mode(100 div x)",
      "sum(100 div x)"
    )
  )
    checkWindow(
      s"""WITH e AS (SELECT * FROM VALUES (1, 1, 0), (1, 2, 5) AS e(k, t, x))
         |SELECT l.*, (SELECT $call FROM e WHERE e.k = l.k AND e.t < l.t AND x <> 0) m,
         |  (SELECT count(*) FROM e WHERE e.k = l.k AND e.t < l.t) n
         |FROM VALUES (1, 9) AS l(k, t)""".stripMargin,
      "spark.sql.ansi.enabled" -> "true"
    )

  for (
    (query, why) <- Seq(
      "SELECT * FROM labels l LEFT JOIN LATERAL (SELECT sum(x) AS s FROM events e " +
        "WHERE e.k = l.k AND e.t < l.t) f ON f.s > (SELECT min(x) FROM events)" ->
        "which has a subquery",
      "SELECT sum((SELECT count(*) FROM events e WHERE e.k = l.k AND e.t < l.t)) FROM labels l" ->
        "stands in a query with GROUP BY",
      "SELECT * FROM labels l, LATERAL (SELECT e.x, count(*) FROM events e " +
        "WHERE e.k = l.k AND e.t < l.t GROUP BY e.x)" -> "GROUP BY e.x makes several rows",
      "SELECT (SELECT count(*) FROM events e WHERE e.k = l.k AND l.t > 0) FROM labels l" ->
        "no range of the rows is compared with the outer row"
    )
  ) test(s"left to Spark: $why") {
    spark.sql("SELECT id % 3 AS k, id + 5 AS t FROM range(4)").createOrReplaceTempView("labels")
    spark
      .sql("SELECT id % 3 AS k, id AS t, id AS x FROM range(9)")
      .createOrReplaceTempView("events")
    val text = told(check(spark.sql(query)))
    assert(text.contains("left to Spark: ") && text.contains(why), text)
  }

  test("a subquery whose labels depend on a further row around them") {
    spark.sql("SELECT id AS k, id + 5 AS t FROM range(4)").createOrReplaceTempView("labels")
    spark.sql("SELECT id % 3 AS k, id AS t FROM range(9)").createOrReplaceTempView("events")
    val query =
      """SELECT * FROM labels o WHERE EXISTS (
        |  SELECT 1 FROM labels l WHERE l.k = o.k AND
        |    (SELECT count(*) FROM events e WHERE e.k = l.k AND e.t < l.t) >= 1)""".stripMargin
    assert(!check(spark.sql(query)).isEmpty)
  }

  for {
    direction <- Seq("backward", "forward", "nearest")
    tolerance <- Seq(None, Some("3"))
    exact <- Seq(true, false)
    kind <- Seq("inner", "left")
  } test(s"as-of join: $direction, tolerance $tolerance, exact $exact, $kind", each(3): _*) {
    val values = "VALUES (1, 1), (1, 4), (1, 9), (2, 4), (2, NULL), (NULL, 3), (3, 3)"
    val left = spark.sql(s"SELECT k, t AS a, k + t AS v FROM $values AS r(k, t)")
    val right = spark.sql(s"SELECT k AS j, t + 1 AS b, t AS w FROM $values AS r(k, t)")
    def joined: DataFrame = TestInternals.joinAsOf(
      left,
      right,
      (left("a"), right("b")),
      left("k") === right("j"),
      kind,
      tolerance.map(expr),
      exact,
      direction
    )
    assert(sliding(check(joined)).nonEmpty)
  }
}

private object LateralWindowsSuite {

  /** A type of time: values as SQL, distances that can be added, and a distance of the label's. */
  final case class TimeType(values: Seq[String], plus: Seq[String], own: String)
}
