package io.sash.spark.hops

import scala.util.Try

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.functions.col
import org.scalacheck.Gen
import org.scalacheck.Prop.forAllNoShrink
import org.scalatest.tags.Slow
import org.scalatestplus.scalacheck.Checkers

import io.sash.spark.{ErrorCondition, Explain, Thorough}

/** Conditions above hops: the windows that meet them are made, and no others. */
@Slow
class HopConditionsSuite extends HopChecks with Checkers {
  private val w = "window(ts, '25 seconds', '10 seconds')"
  private val hops = s"SELECT k, window, sum(x) AS sx, count(*) AS n FROM events GROUP BY k, $w"

  private val bounds = for {
    bound <- Gen.oneOf("window.start", "window.end")
    comparison <- Gen.oneOf("<", "<=", ">", ">=", "=")
    second <- Gen.choose(1600000000, 1600000320)
    time <- Gen.oneOf(
      s"timestamp_seconds($second)",
      s"timestamp_seconds($second + k * 20)",
      s"timestamp_seconds(${second / 10 * 10})"
    )
    said <- Gen.oneOf(s"$bound $comparison $time", s"$time $comparison $bound")
  } yield said

  private val others = Gen.oneOf(
    "k = 1",
    "n > 2",
    "sx > n * 3",
    "window.start IN (TIMESTAMP'2020-09-13 12:26:40', TIMESTAMP'2020-09-13 12:28:20')",
    "second(window.start) % 20 = 0",
    "second(window.end) = k",
    "window.start IS NOT NULL",
    "window.start <=> window.end - INTERVAL 25 SECONDS",
    "window.start <=> timestamp_seconds(1600000100 + 10 * k)",
    "window.end IN (timestamp_seconds(1600000105 + 10 * k), NULL, timestamp_seconds(1600000145))",
    (0 to 11)
      .map(i => s"timestamp_seconds(${1600000080 + 30 * i})")
      .mkString("window.start IN (", ", ", ")"),
    "(window.start = timestamp_seconds(1600000100) AND k = 1 OR window.end > timestamp_seconds(1600000250))",
    "window.end - window.start = INTERVAL 25 SECONDS",
    "window = named_struct('start', timestamp_seconds(1600000100), 'end', timestamp_seconds(1600000125))",
    "window.start > (SELECT min(ts) FROM events)",
    "window.start IN (SELECT timestamp_seconds(1600000000 + 10 * id) FROM range(9))",
    "EXISTS (SELECT 1 FROM range(3) r WHERE r.id = k AND window.end > timestamp_seconds(1600000099))"
  )

  private val conditions = for {
    some <- Gen.listOfN(2, Gen.frequency(3 -> bounds, 2 -> others))
    joined <- Gen.oneOf(" AND ", " AND ", " OR ")
  } yield some.mkString(joined)

  test("rows are Spark's under random conditions on windows, keys and answers") {
    withSettings("spark.sql.session.timeZone" -> "UTC") {
      events.createOrReplaceTempView("events")
      var rows = 0
      def holds(condition: String): Boolean = {
        // the first rows fail; subqueries that read the window do not leave them out
        val part = s"100 div IF(ts < timestamp_seconds(1600000050), 0, 1)"
        val call = if (condition.contains("SELECT")) "sum(x)" else s"sum(x + $part - 100)"
        val query = s"SELECT * FROM (${hops.replace("sum(x)", call)}) WHERE $condition"
        def frame = spark.sql(query)
        // Java of some of these does not compile, which Spark forgives outside its tests
        val expected = withSettings("spark.sql.codegen.wholeStage" -> "false") {
          outcome(on = false)(frame)
        }
        rows += expected.fold(_ => 0, _.length)
        val isOurs = expected.forall(_.isEmpty) || hopsOf(frame).nonEmpty
        isOurs && outcome(on = true)(frame) == expected
      }
      // these always keep rows
      assert(holds("window.start > TIMESTAMP'2020-09-13 12:28:00'"))
      assert(holds("window.end >= TIMESTAMP'2020-09-13 12:29:00'"))
      check(
        forAllNoShrink(conditions)(holds),
        minSuccessful(if (Thorough.isOn) 60 else 8)
      )
      assert(rows > 15, "vacuous")
    }
  }

  for (
    condition <- Seq(
      "window.start >= TIMESTAMP'2020-09-13 12:28:00'",
      "window.end <= TIMESTAMP'2020-09-13 12:28:00'",
      "TIMESTAMP'2020-09-13 12:28:00' = window.start",
      "window.start BETWEEN TIMESTAMP'2020-09-13 12:27:00' AND TIMESTAMP'2020-09-13 12:28:00'",
      "window.start <=> TIMESTAMP'2020-09-13 12:28:00'",
      "window.start IN (TIMESTAMP'2020-09-13 12:28:00', TIMESTAMP'2020-09-13 12:28:10')",
      (0 to 11)
        .map(i => s"TIMESTAMP'2020-09-13 12:28:0$i'".replace(":01", ":1"))
        .mkString("window.start IN (", ", ", ")"),
      "(window.start = TIMESTAMP'2020-09-13 12:28:00' OR window.start = TIMESTAMP'2020-09-13 12:28:20' AND k > 0)"
    )
  ) test(s"rows of no wanted window are not read: $condition", each(2): _*) {
    withSettings("spark.sql.session.timeZone" -> "UTC") {
      val query = s"SELECT * FROM ($hops) WHERE $condition AND n > 1"
      check(query)
      val plan = spark.sql(query).queryExecution.optimizedPlan
      val windows = plan.collect { case h: HopWindows => h }
      assert(windows.flatMap(_.condition).nonEmpty)
      val below = windows.flatMap(_.collect { case f: Filter => f.condition })
      assert(below.exists(_.exists(_.isInstanceOf[BoundOf])), plan)
      val above = plan.collect { case Filter(c, _: HopWindows) => c }
      assert(above.length == 1 && !above.exists(readsWindow(_, windows.head)), plan)
    }
  }

  private def readsWindow(condition: Expression, windows: HopWindows): Boolean =
    condition.references.contains(windows.results.head)

  test("EXPLAIN says which windows are wanted") {
    events.createOrReplaceTempView("events")
    val frame = spark.sql(s"SELECT * FROM ($hops) WHERE second(window.start) = 0")
    val said = new Explain().generateExtendedInfo(frame.queryExecution.executedPlan)
    assert(said.contains("Two-Stacks Lite, where ") && said.contains("window.`start`"))
  }

  private def outcome(on: Boolean)(frame: => DataFrame): Either[String, Seq[String]] =
    withHops(on)(Try(rowsOf(frame)).toEither.left.map(ErrorCondition.of))

  test("windows that nobody wants do not fail") {
    events.createOrReplaceTempView("events")
    // rows of the first minute overflow together, and not one by one
    val large = "IF(ts < timestamp_seconds(1600000060), 9223372036854775000, 1)"
    def query(condition: String) = spark.sql(
      s"SELECT k, window, sum($large) AS s FROM events WHERE ts IS NOT NULL GROUP BY k, $w HAVING $condition"
    )
    withSettings("spark.sql.ansi.enabled" -> "true") {
      for (on <- Seq(true, false)) {
        assert(outcome(on)(query("k >= 0")) == Left("ARITHMETIC_OVERFLOW"))
        for (
          wanted <- Seq(
            "window.start >= timestamp_seconds(1600000060)",
            "unix_seconds(window.start) > 1600000060"
          )
        )
          assert(outcome(on)(query(wanted)).exists(_.nonEmpty), wanted)
      }
      assert(hopsOf(query("window.start >= timestamp_seconds(1600000060)")).nonEmpty)
    }
  }

  for {
    (argument, condition) <- Seq(
      "sum(100 div y)" -> "unix_seconds(w.start) > 1600000060",
      "max(100 div y)" -> "hour(w.start) = 99 OR w.start > timestamp_seconds(1600000060)",
      "count(DISTINCT 100 div y)" -> "second(w.start) = 30 AND w.end > timestamp_seconds(1600000085)",
      "count(*) FILTER (WHERE 100 div y > 3)" -> "w.start >= timestamp_seconds(1600000060)",
      "median(100 div y)" -> "w.start BETWEEN timestamp_seconds(1600000052) AND timestamp_seconds(1600000058)",
      "sum(CAST(IF(y = 0, 'none', '7') AS INT))" -> "unix_seconds(w.start) > 1600000060 + k"
    )
    key <- Seq("k", "100 div y")
    place <- Seq("HAVING", "WHERE")
  } test(
    s"rows of no wanted window do not fail: $argument by $key, $place $condition",
    each(5): _*
  ) {
    events.createOrReplaceTempView("events")
    // y of the first minute is an error
    val rows =
      s"(SELECT *, IF(ts < timestamp_seconds(1600000060), 0, 1) AS y, $w AS w FROM events)"
    val asked = if (place == "WHERE") s"WHERE $condition" else ""
    val having = if (place == "HAVING") s"HAVING $condition" else ""
    def query =
      spark.sql(s"SELECT k, w.start, $argument FROM $rows $asked GROUP BY k, $key, w $having")
    withSettings("spark.sql.ansi.enabled" -> "true") {
      val sparks = outcome(on = false)(query)
      assert(sparks.isRight, "vacuous")
      assert(outcome(on = true)(query) == sparks)
      assert(sparks.forall(_.isEmpty) || hopsOf(query).nonEmpty)
    }
  }

  private val around = {
    val window = "window(ts, '25 seconds', '10 seconds')"
    Seq(
      s"SELECT k, (SELECT max(c) FROM (SELECT count(*) c FROM events e WHERE e.g < o.g GROUP BY k, $window)) FROM events o",
      s"SELECT k, (SELECT max(c) FROM (SELECT count(*) c FROM events e WHERE e.g = o.g GROUP BY k, $window)) FROM events o",
      s"SELECT * FROM events o WHERE EXISTS (SELECT count(*) FROM events e WHERE e.g < o.g GROUP BY k, $window)",
      s"SELECT * FROM events o WHERE x IN (SELECT count(*) FROM events e WHERE e.g = o.g GROUP BY k, $window)",
      s"SELECT * FROM events o, LATERAL (SELECT count(*) c FROM events e WHERE e.g < o.g GROUP BY $window)",
      s"SELECT k, (SELECT max(c) FROM (SELECT sum(e.x + o.x) c FROM events e GROUP BY $window)) FROM events o"
    )
  }

  for (query <- around)
    test(s"a query around hops is read as Spark reads it: $query", each(3): _*) {
      events.where("id < 12").createOrReplaceTempView("events")
      assert(outcome(on = true)(spark.sql(query)) == outcome(on = false)(spark.sql(query)))
    }

  test("a query around many hops, which Spark reads through a Generate, not through an Expand") {
    events.where("id < 60").createOrReplaceTempView("events")
    val many = "window(ts, '200 seconds', '1 second')"
    val exists = spark.sql(
      s"SELECT id FROM events o WHERE EXISTS (SELECT max(x) FROM events e WHERE e.x < o.x GROUP BY k, $many)"
    )
    val rows =
      "SELECT id FROM events o WHERE x > (SELECT min(x) FROM events WHERE ts IS NOT NULL)"
    assert(rowsOf(exists) == rowsOf(spark.sql(rows)) && rowsOf(exists).nonEmpty)
    val ofMany = around.map(_.replace("'25 seconds', '10 seconds'", "'200 seconds', '1 second'"))
    for (query <- ofMany)
      outcome(on = true)(spark.sql(query)).left.foreach { condition =>
        assert(condition.startsWith("UNSUPPORTED_SUBQUERY"), query)
      }
  }

  for {
    micros <- Seq(Long.MaxValue, Long.MinValue)
    (size, slide) <- Seq(
      "10 days" -> "3 days",
      "7 microseconds" -> "3 microseconds",
      "6 microseconds" -> "3 microseconds",
      "40000000 days" -> "30000000 days",
      "20000000 days" -> "6000000 days"
    )
    start <- Seq("0 seconds", "1 microsecond")
  } test(s"the ends of time are Spark's: $micros, $size, $slide, $start", each(7): _*) {
    def query(times: Seq[Long]) = spark.sql(
      "SELECT id, unix_micros(window.start) AS s, unix_micros(window.end) AS e, count(*) FROM VALUES " +
        times.zipWithIndex
          .map { case (t, i) => s"($i, timestamp_micros(${t}L))" }
          .mkString(", ") +
        s" AS t(id, ts) GROUP BY id, window(ts, '$size', '$slide', '$start')"
    )
    val day = 86400000000L
    val sign = if (micros > 0) -1 else 1
    val near = Seq(0L, 1, 2, 3, 4, 5, 6, 8, 12, 100) ++
      Seq(3L, 4, 6, 7, 9, 10, 11, 13, 14, 20000001, 26000001, 40000001, 70000001).map(_ * day)
    val times = near.map(micros + sign * _)
    withSettings("spark.sql.ansi.enabled" -> "true") {
      // by themselves, since one that fails fails them all
      val found = times.map { time =>
        val Seq(ours, sparks) = Seq(true, false).map(outcome(_)(query(Seq(time))))
        assert(ours == sparks, time)
        sparks
      }
      assert(found.exists(_.isLeft) && found.exists(_.isRight), "vacuous")
    }
    withSettings("spark.sql.ansi.enabled" -> "false") {
      assert(hopsOf(query(times)).nonEmpty || size == "40000000 days")
      val Seq(ours, sparks) = Seq(true, false).map(withHops(_)(query(times).collect().toSeq))
      assert(ours.forall(_.getLong(3) == 1))
      def windows(rows: Seq[Row], id: Int) =
        rows.filter(_.getInt(0) == id).map(r => (r.getLong(1), r.getLong(2)))
      val counts = times.zip(near).zipWithIndex.map { case ((time, distance), id) =>
        val made = windows(ours, id)
        assert(made.distinct.length == made.length)
        assert(made.forall { case (s, e) => s <= time && time < e }, distance)
        // Spark gives windows that go around the end, too, and where a step on the way does, none
        val real = windows(sparks, id).filter { case (s, e) => s <= time && time < e }
        assert(real.toSet.subsetOf(made.toSet), distance)
        if (slide != "3 microseconds" || distance > 1) assert(real.toSet == made.toSet, distance)
        real.length
      }
      assert(counts.distinct.length > 1, "vacuous")
    }
  }

  test("what guards an operand guards it of panes, too") {
    val over =
      "SELECT k, window, sum(x) sx, count(*) n FROM events GROUP BY k, window(ts, '25 seconds', '10 seconds')"
    val late = "window.start > timestamp_seconds(1600000100 + 100 div (k - 1))"
    withSettings("spark.sql.ansi.enabled" -> "true") {
      for (
        condition <- Seq(
          s"(k <> 1 AND $late) OR window.end > timestamp_seconds(1600000250)",
          s"k = 1 OR $late",
          s"k <> 1 AND $late"
        )
      ) {
        val query = s"SELECT * FROM ($over) WHERE $condition"
        val Seq(ours, sparks) = Seq(true, false).map(outcome(_)(spark.sql(query)))
        assert(ours == sparks && sparks.exists(_.nonEmpty), condition)
        assert(hopsOf(spark.sql(query)).nonEmpty)
      }
    }
  }

  test("of no windows: an empty list that the optimizer has left") {
    withSettings(
      "spark.sql.optimizer.excludedRules" -> "org.apache.spark.sql.catalyst.optimizer.OptimizeIn"
    ) {
      val hops = spark.sql(
        s"SELECT k, window, count(*) FROM events GROUP BY k, window(ts, '25 seconds', '10 seconds')"
      )
      assert(hops.where(col("window.start").isin()).collect().isEmpty)
    }
  }

  test("many windows at the ends of time, without ANSI mode") {
    withSettings("spark.sql.ansi.enabled" -> "false") {
      for (aggregate <- Seq("count(*)", "size(collect_list(ts))"))
        for (time <- Seq(Long.MaxValue - 100000000L, Long.MinValue + 100000000L)) {
          val rows = spark
            .sql(
              s"SELECT unix_micros(window.start) AS s, unix_micros(window.end) AS e, $aggregate AS n FROM " +
                s"VALUES (timestamp_micros(${time}L)), (timestamp_seconds(0)) AS t(ts) " +
                "GROUP BY window(ts, '200 seconds', '1 second')"
            )
            .collect()
            .map(r => (r.getLong(0), r.getLong(1)))
          val (of1970, others) = rows.partition(_._1.abs < 1000000000L)
          assert(of1970.length == 200)
          assert(others.length > 90 && others.length < 110)
          assert(others.forall { case (s, e) => s <= time && time < e })
        }
    }
  }
}
