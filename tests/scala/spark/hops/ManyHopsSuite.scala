package io.sash.spark.hops

import scala.util.Try

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Expand, Generate}
import org.apache.spark.sql.functions.{col, count, expr, sum, window}
import org.apache.spark.sql.types.{LongType, StructType, TimestampType}
import org.scalacheck.Gen
import org.scalacheck.Prop.forAllNoShrink
import org.scalatest.Assertion
import org.scalatest.tags.Slow
import org.scalatestplus.scalacheck.Checkers

import io.sash.spark.{ErrorCondition, Thorough}
import io.sash.spark.base.SashConf

/** Where windows are many, one Generate has them in the analyzed plan, and rows are Spark's. */
@Slow
class ManyHopsSuite extends HopChecks {

  private val many = "window(ts, '100 seconds', '1 second')"

  private def isGenerated(frame: DataFrame): Boolean =
    frame.queryExecution.analyzed.collectWithSubqueries {
      case Generate(_: WindowsOf, _, _, _, _, _) => true
    }.nonEmpty

  private def copies(frame: DataFrame): Int =
    frame.queryExecution.analyzed.collectWithSubqueries { case e: Expand =>
      e.projections.size
    }.sum

  /** Sash's operator answers them. */
  private def checkMany(query: String): Assertion = checkManyFrame(query)(spark.sql(query))

  private def checkManyFrame(clue: String)(query: => DataFrame): Assertion = {
    // Java of that many copies does not compile, which Spark forgives outside its tests
    withSettings("spark.sql.codegen.wholeStage" -> "false")(checkFrame(clue)(query))
    assert(isGenerated(query) && copies(query) == 0, clue)
    withHops(on = false)(assert(!isGenerated(query) && copies(query) >= 100, clue))
  }

  /** Spark's operators answer them, of rows that were not copied by an Expand. */
  private def checkGenerated(query: String): Assertion = withClue(query) {
    events.createOrReplaceTempView("events")
    val frame = spark.sql(query)
    assert(hopsOf(frame).isEmpty && isGenerated(frame))
    withSettings(SashConf.HopsEnabled.key -> "false", "spark.sql.codegen.wholeStage" -> "false") {
      assert(rowsOf(frame) == rowsOf(spark.sql(query)))
      assert(frame.schema == spark.sql(query).schema)
    }
  }

  for (
    window <- Seq(
      many,
      "window(ts, '101500 milliseconds', '1 second')",
      "window(ts, '100 seconds', '1 second', '300 milliseconds')",
      "window(ts, '100 seconds', '1 second', '-300 milliseconds')",
      "window(CAST(ts AS TIMESTAMP_NTZ), '2 minutes', '1 second')",
      "window(CAST(ts AS STRING), '2 minutes', '1 second')",
      "window(CAST(ts AS DATE), '200 days', '1 day 3 hours')",
      "window(ts - INTERVAL 60 YEARS, '100500 milliseconds', '1 second')",
      "WINDOW(ts + INTERVAL 1 SECOND, '110 seconds', '1 second')"
    )
  ) test(s"many hops are Spark's: $window", each(5): _*) {
    checkMany(s"SELECT window, k, count(*), sum(x), max(d) FROM events GROUP BY k, $window")
  }

  test("many hops wherever an aggregation is", Thorough) {
    checkMany(s"SELECT $many AS w, count(*) FROM events GROUP BY 1")
    checkMany(s"SELECT $many AS w, k, count(*) FROM events GROUP BY w, k")
    checkMany(s"SELECT $many, k, count(*) FROM events GROUP BY ALL")
    checkMany(s"SELECT k, sum(x) AS s FROM events GROUP BY $many, k HAVING s > 100 AND k > 1")
    checkMany(s"SELECT window.end, sum(x) FROM events GROUP BY $many ORDER BY window.end LIMIT 9")
    checkMany(s"WITH h AS (SELECT k, sum(x) AS s FROM events GROUP BY k, $many) SELECT * FROM h")
    checkMany(
      s"SELECT k, (SELECT max(s) FROM (SELECT sum(x) AS s FROM events GROUP BY $many)) FROM events"
    )
    checkMany(
      s"SELECT struct(*) FROM (SELECT struct(k, window) AS kw, count(*) FROM events GROUP BY k, $many)"
    )
  }

  test("many hops of DataFrames, views and what is cached") {
    checkManyFrame("DataFrame")(
      spark
        .table("events")
        .groupBy(col("k"), window(col("ts"), "100 seconds", "1 second"))
        .agg(sum("x"), count("*"))
    )
    checkManyFrame("an alias")(
      spark
        .table("events")
        .groupBy(expr(many).as("w"))
        .agg(sum("x"))
        .select("w.start", "sum(x)")
    )
    spark.sql(
      s"CREATE OR REPLACE TEMP VIEW hops AS SELECT k, window, sum(x) AS s FROM events GROUP BY k, $many"
    )
    assert(isGenerated(spark.table("hops")))
    val cached = spark.table("hops").cache()
    try {
      val rows = cached.count()
      val again = spark.sql(s"SELECT k, window, sum(x) AS s FROM events GROUP BY k, $many")
      assert(again.queryExecution.optimizedPlan.toString.contains("InMemoryRelation"))
      assert(rows > 0 && again.count() == rows)
    } finally cached.unpersist()
  }

  test("windows of windows") {
    val hops = "SELECT window, k, sum(x) AS s FROM events GROUP BY k, window(ts, '5 seconds')"
    for (time <- Seq("window", "window_time(window)"))
      withClue(time) {
        events.createOrReplaceTempView("events")
        val query =
          s"SELECT count(*), sum(s) FROM ($hops) GROUP BY window($time, '100 seconds', '1 second')"
        val rows = rowsOf(spark.sql(query))
        assert(rows.nonEmpty && rows == withHops(on = false)(rowsOf(spark.sql(query))))
      }
  }

  test("what Sash does not answer, Spark answers, of the windows of each row") {
    checkGenerated(s"SELECT k, window, first(x), last(id) FROM events GROUP BY k, $many")
    checkGenerated(
      s"SELECT k, window.end, percentile_approx(x, 0.5) FROM events GROUP BY k, $many"
    )
    checkGenerated(s"SELECT k, window, collect_list(id) FROM events GROUP BY k, $many")
    checkGenerated(s"SELECT k, window, g, sum(x) FROM events GROUP BY CUBE(k, g), $many")
    checkGenerated(s"SELECT k, max(window.end - ts) FROM events GROUP BY k, $many")
  }

  test(
    "few windows are copied by Spark; many are one Generate where nothing is grouped by them, too"
  ) {
    events.createOrReplaceTempView("events")
    val few = spark.sql("SELECT sum(x) FROM events GROUP BY window(ts, '99 seconds', '1 second')")
    assert(hopsOf(few).nonEmpty)
    // an aggregate that is put above it later may be Sash's
    val select = s"SELECT k, $many FROM events"
    assert(isGenerated(spark.sql(select)))
    val rows = spark.sql(select).collect().toSeq
    withSettings("spark.sash.enabled" -> "false") {
      assert(!isGenerated(spark.sql(s"SELECT sum(x) FROM events GROUP BY $many")))
      val copied = spark.sql(select)
      assert(!isGenerated(copied) && copies(copied) == 100)
      assert(rows.map(_.toString).sorted == copied.collect().toSeq.map(_.toString).sorted)
    }
  }

  for (
    grouping <- Seq(
      s"$many, window(ts, '5 seconds')",
      s"$many, session_window(ts, '5 seconds')",
      s"$many, system.builtin.window(ts, '5 seconds')",
      "window(ts, '100 seconds', '1 second', '2 seconds')",
      "window(nothing, '100 seconds', '1 second')",
      "window(x > 3, '100 seconds', '1 second')",
      "window(ts, '100 months', '1 second')",
      "window(ts, '100 seconds', '0 seconds')",
      "window(ts, '100 seconds', 'a second')",
      "window(ts, '100 seconds', ts)",
      "window(DISTINCT ts, '100 seconds', '1 second')",
      "window(ts, '100 seconds', '1 second') FILTER (WHERE x > 1)"
    )
  ) test(s"errors are Spark's: $grouping") {
    events.createOrReplaceTempView("events")
    val said = Seq(true, false).map { on =>
      withHops(on) {
        val error = intercept[Throwable] {
          spark.sql(s"SELECT count(*) FROM events GROUP BY $grouping").collect()
        }
        (ErrorCondition.of(error), error.getMessage.linesIterator.next()) // without the plan
      }
    }
    assert(said.head == said.last)
  }

  test("a function of the user's by that name is what it is to Spark") {
    events.createOrReplaceTempView("events")
    val query =
      "SELECT window(g, '100 seconds', '1 second') AS w, count(*) FROM events GROUP BY w"
    spark.udf.register("window", (a: Long, b: String, c: String) => s"$a $b $c")
    def found(on: Boolean) =
      withHops(on)(Try(rowsOf(spark.sql(query))).toEither.left.map(ErrorCondition.of))
    try assert(found(on = true) == found(on = false))
    finally spark.sql("DROP TEMPORARY FUNCTION window")
    assert(isGenerated(spark.sql(s"SELECT window FROM events GROUP BY $many")))
  }

  test("a day by seconds: 86,400 windows of each row, and one expression") {
    val rows = spark.range(10).select(expr("timestamp_seconds(1600000000 + id * 3600)").as("ts"))
    val frame = rows.groupBy(window(col("ts"), "1 day", "1 second")).count()
    assert(isGenerated(frame) && copies(frame) == 0 && hopsOf(frame).nonEmpty)
    val found =
      frame.groupBy("count").agg(count("*")).collect().map(r => r.getLong(0) -> r.getLong(1))
    // an hour before the next event, and as many after the first has left; the rest has all ten
    val expected = (1 to 9).map(n => n.toLong -> 7200L) :+ (10L -> (86400L - 9 * 3600))
    assert(found.toMap == expected.toMap)
  }

  test("the windows of a time are those that begin by then and end after it, the last first") {
    val windows = new StructType().add("start", TimestampType).add("end", TimestampType)
    val cases = for {
      slide <- Gen.choose(1L, 50L)
      size <- Gen.choose(slide, 2000L)
      start <- Gen.choose(1 - slide, slide - 1)
      time <- Gen.choose(-5000L, 5000L)
    } yield (HopPanes(size, slide, start), time)
    Checkers.check(forAllNoShrink(cases) { case (hops, time) =>
      val expected = for {
        n <- 10000L to -10000L by -1
        from = hops.start + n * hops.slide
        if from <= time && time < from + hops.size
      } yield (from, from + hops.size)
      def said(time: Expression) = WindowsOf(time, hops, windows)
        .eval(null)
        .iterator
        .map(_.getStruct(0, 2))
        .map(w => (w.getLong(0), w.getLong(1)))
        .toSeq
      said(Literal(time)) == expected && said(Literal(null, LongType)).isEmpty
    })
  }
}
