package io.sash.spark.split

import org.apache.spark.rdd.RDD
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.SortExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.types.LongType

import org.scalatest.tagobjects.Slow

import io.sash.spark.{CheckedExec, CheckedPromises, Thorough}
import io.sash.spark.base.SashConf
import io.sash.spark.ordering.{KeyOrder, RowOrder}

/** Which windows are divided, what the operator promises, and how many rows a task reads. */
class SplitPlanSuite extends SplitSuite {
  private val settings = Seq(
    SashConf.WindowSplitThreshold.key -> "0",
    "spark.sql.shuffle.partitions" -> "8"
  )

  private def run(query: String): DataFrame = {
    val frame = spark.sql(query)
    frame.collect()
    frame
  }

  private def explained(query: String): String =
    withSettings(settings: _*) {
      told(spark.sql(query))
    }

  test("ORDER BY above the window needs neither an exchange nor a sort of its own") {
    withSettings(settings: _*) {
      val frame =
        run("SELECT *, sum(id) OVER (ORDER BY id) s FROM range(1000) ORDER BY id")
      val plan = frame.queryExecution.executedPlan
      assert(operators(frame).size == 1)
      assert(collect(plan) { case e: ShuffleExchangeExec => e }.size == 1)
      assert(collect(plan) { case s: SortExec => s }.isEmpty)
      assert(frame.collect().map(_.getLong(0)).toSeq == (0L until 1000L))
    }
  }

  test("rows leave as the operator promises, in stretches that keep peers together") {
    for (adaptive <- Seq("true", "false"))
      withSettings(settings :+ ("spark.sql.adaptive.enabled" -> adaptive): _*) {
        CheckedPromises.whileOn {
          val frame = run(
            "SELECT *, sum(id) OVER (ORDER BY k ROWS 30 PRECEDING) s, rank() OVER (ORDER BY k) r " +
              "FROM (SELECT id, id * 7 % 50 AS k FROM range(1000))"
          )
          val checked = collect(frame.queryExecution.executedPlan) {
            case c @ CheckedExec(_: SplitWindowExec, _) => c
          }
          assert(checked.nonEmpty)
          checked.foreach { c =>
            assert(CheckedPromises.broken(c).isEmpty)
            assert(c.rowsSeen.value == 1000L)
          }
        }
      }
  }

  test("not divided: keys, no order, a small input, the setting, one shuffle partition") {
    val whole = "SELECT *, sum(id) OVER (ORDER BY id ROWS 3 PRECEDING) s FROM range(1000)"
    withSettings(settings: _*) {
      assert(operators(run(whole)).size == 1)
      assert(
        operators(run(whole.replace("ORDER BY", "PARTITION BY id % 3 ORDER BY"))).isEmpty
      )
      assert(operators(run("SELECT *, sum(id) OVER () s FROM range(1000)")).isEmpty)
      for (
        (key, value) <- Seq(
          SashConf.WindowSplit.key -> "off",
          SashConf.WindowSplitThreshold.key -> "1GB",
          "spark.sql.shuffle.partitions" -> "1",
          SashConf.Enabled.key -> "false"
        )
      )
        withSettings(key -> value)(assert(operators(run(whole)).isEmpty, key))
    }
  }

  test("EXPLAIN says how a window is divided, or why one task answers it") {
    def over(call: String, frame: String = "") =
      explained(s"SELECT $call OVER (ORDER BY id $frame) FROM range(1000)")
    assert(over("sum(id)").contains("Growing window, with totals"))
    assert(over("sum(id)", "ROWS 9 PRECEDING").contains("with the rows around each task's own"))
    assert(over("sum(id)", "ROWS 99999 PRECEDING").contains("with older rows and totals"))
    val near = over("median(id)", "ROWS 9 PRECEDING")
    assert(near.contains("slides in many tasks: percentile(id"), near)
    for (frame <- Seq("RANGE 9 PRECEDING", "ROWS 20000 PRECEDING")) {
      val text = over("median(id)", frame)
      assert(text.contains("in one task: percentile(id"), text)
      assert(text.contains("has no partial aggregate of fixed size"), text)
    }
    assert(over("nth_value(id, 2)").contains("in one task: nth_value is a ranking"))
    def range(time: String, from: String, until: String = "CURRENT ROW") = explained(
      s"SELECT count(*) OVER (ORDER BY $time RANGE BETWEEN $from PRECEDING AND $until) " +
        "FROM (SELECT timestamp_seconds(id) t, timestamp_seconds(id)::timestamp_ntz n, " +
        "date_from_unix_date(id::int) d FROM range(1000))"
    )
    withSettings("spark.sql.session.timeZone" -> "Europe/Paris") {
      def has(time: String, offset: String, way: String) = {
        val text = range(time, s"INTERVAL $offset")
        assert(text.contains(way), s"$time, $offset: $text")
      }
      val (divided, calendar) = ("older rows and totals", "days or months, which have no fixed")
      has("t", "23 HOUR", divided)
      for (t <- Seq("n", "d")) has(t, "1 DAY", divided)
      has("d", "1 MONTH", divided)
      has("t", "1 DAY", calendar)
      for (t <- Seq("t", "n")) has(t, "1 MONTH", calendar)
    }
    withSettings("spark.sql.session.timeZone" -> "UTC") {
      assert(range("t", "INTERVAL 1 DAY").contains("older rows and totals"))
    }
    withSettings(SashConf.WindowSplitThreshold.key -> "1GB") {
      val frame = spark.sql("SELECT sum(id) OVER (ORDER BY id ROWS 9 PRECEDING) FROM range(9)")
      val text = told(frame)
      assert(text.contains(s"in one task: its input has an estimated 72 bytes, less than"))
    }
  }

  test(
    "a task reads at most about two more of its own number of rows, however long the window",
    Slow
  ) {
    val rows = 64000L
    withSettings(inManyTasks: _*) {
      for (
        (frame, most) <- Thorough.some(
          Seq(
            "ROWS 17000 PRECEDING" -> 2.3,
            "ROWS 40000 PRECEDING" -> 2.3,
            "RANGE BETWEEN 20000 PRECEDING AND CURRENT ROW" -> 2.3,
            // the rows over which windows end are read one by one
            "RANGE BETWEEN 100 PRECEDING AND 9000 FOLLOWING" -> 3.0,
            "ROWS BETWEEN 50000 PRECEDING AND 20000 PRECEDING" -> 6.0
          )
        )
      ) {
        val query = s"SELECT id, min(id) OVER w m, sum(id) OVER w s FROM range($rows) " +
          s"WINDOW w AS (ORDER BY id $frame)"
        val frameOfRows = run(query)
        val operator = operators(frameOfRows).head
        assert(operator.tasks == 16)
        assert(operator.metrics("ownRows").value == rows)
        val read = operator.metrics("neighbourRows").value
        assert(read > 0, "no task needed its neighbours")
        assert(read <= most * rows, s"$frame: $read rows read")
        checkSplit(query)
      }
    }
  }

  test("rows have a number below the exchange if an answer depends on the order of ties") {
    withSettings(settings: _*) {
      def number(call: String) =
        operators(run(s"SELECT $call FROM range(100)")).head.tieBreaker.nonEmpty
      assert(number("sum(id) OVER (ORDER BY id % 7 ROWS 3 PRECEDING)"))
      assert(number("first(id) OVER (ORDER BY id % 7)"))
      assert(!number("sum(id) OVER (ORDER BY id % 7)"))
      assert(!number("rank() OVER (ORDER BY id % 7)"))
    }
  }

  test("frames of near rows read their neighbours together") {
    withSettings(settings: _*) {
      val query =
        "SELECT id, lag(id) OVER w a, lag(id, 90) OVER w b, lead(id, 7, -1) OVER w c, " +
          "sum(id) OVER (ORDER BY id ROWS BETWEEN 3 FOLLOWING AND 50 FOLLOWING) d, " +
          "count(*) OVER w e FROM range(1000) WINDOW w AS (ORDER BY id)"
      val operator = operators(run(query)).head
      val stages =
        SplitStage.of(operator.calls, operator.by, operator.child.output, "UTC")
      assert(stages.map(_.nearest) == Seq(Some((90, 50)), None))
      checkSplit(query)
    }
  }

  private def checkSplit(query: String): Unit = {
    val expected = withSettings(SashConf.WindowSplit.key -> "off")(run(query).collect().toSet)
    val actual = run(query).collect().toSet
    assert(actual.size == expected.size && actual.diff(expected).take(3).isEmpty, query)
  }

  test("a stretch that has other rows in the second pass fails, with the remedy") {
    for (
      (begin, comparesReadings) <- Seq(
        UnboundedPreceding -> false,
        Literal(-30) -> true,
        Literal(-30) -> false
      );
      change <- Seq(0L, 1L)
    ) {
      SplitPlanSuite.change.set(0L)
      val answers = counts(begin, comparesReadings)
      assert(answers.partitions.length == 2) // the first pass
      SplitPlanSuite.change.set(change)
      // nobody compares if Spark does, or if nothing can be lost
      val isNear = begin != UnboundedPreceding
      val isCompared = comparesReadings || !isNear
      if (change == 0L || !isCompared)
        assert(
          answers.map(r => (r.getLong(0), r.getLong(1))).collect().toSeq ==
            (0L until 100L).map(i => (i + change, math.min(i + 1, if (isNear) 31L else i + 1)))
        )
      else {
        val e = intercept[Exception](answers.count())
        assert(e.getMessage.contains(SashConf.WindowSplit.key))
      }
    }
  }

  private val id = AttributeReference("id", LongType, nullable = false)()

  /** Rows that change with each reading, and how many of them are in the window since `begin`. */
  private def counts(begin: Expression, comparesReadings: Boolean): StretchesRDD = {
    val base = spark.sparkContext.parallelize(0L until 100L, 4)
    val id = this.id
    val rows: RDD[InternalRow] = base.mapPartitions { in =>
      val project = UnsafeProjection.create(Seq(id), Seq(id))
      in.map(i => project(InternalRow(i + SplitPlanSuite.change.get)))
    }
    val zone = spark.sessionState.conf.sessionLocalTimeZone
    val program = SplitProgram(
      IndexedSeq(SplitPlanSuite.countOf(id, zone, begin)),
      Nil,
      RowOrder(Seq(SortOrder(id, Ascending)), Seq(id), radix = true),
      inOrder = false,
      comparesReadings
    )
    new StretchesRDD(
      rows,
      StretchTasks(4, 2),
      program,
      Seq(id),
      id +: program.stages.head.results,
      Literal.TrueLiteral,
      SplitMetrics.create(spark.sparkContext)
    )
  }

  test("a row that may come at another place has the same number there") {
    val (tie, number) =
      (AttributeReference("tie", LongType)(), AttributeReference("n", LongType)())
    def numbers(ids: Seq[Long], byPlace: Boolean): Seq[(Long, Long)] = {
      val rows: RDD[InternalRow] =
        spark.sparkContext.parallelize(ids, 3).map(i => InternalRow(i, 7L))
      TieBreakerExec
        .numbered(rows, Seq(id, tie), Seq(id, tie, number), byPlace)
        .map(r => r.getLong(0) -> r.getLong(2))
        .collect()
        .toSeq
    }
    val ids = 0L until 90L
    val places = numbers(ids.reverse, byPlace = true)
    assert(places.map(_._1) == ids.reverse && places.map(_._2) == places.map(_._2).sorted)
    val hashes = numbers(ids, byPlace = false)
    assert(hashes.map(_._2).distinct.length == ids.length)
    assert(hashes.toSet == numbers(ids.reverse, byPlace = false).toSet)
    def comesInOneOrder(rows: DataFrame) =
      SparkInternals.comesInOneOrder(rows.queryExecution.toRdd)
    val range = spark.range(90).selectExpr("id", "rand(1) AS x").where("x < 0.5")
    assert(comesInOneOrder(range))
    for (shuffled <- Seq(range.repartition(3, range("id")), range.groupBy("x").count()))
      assert(!comesInOneOrder(shuffled) && !comesInOneOrder(shuffled.cache()))
    spark.catalog.clearCache()
  }
}

object SplitPlanSuite {
  val change = new java.util.concurrent.atomic.AtomicLong

  def countOf(id: Attribute, timeZone: String, begin: Expression): SplitStage = {
    val order = Seq(SortOrder(id, Ascending))
    val call = io.sash.spark.windows.WindowCall
      .ofAnyFrame(
        WindowExpression(
          aggregate.Count(Seq(Literal(1))).toAggregateExpression(),
          WindowSpecDefinition(
            Nil,
            order,
            SpecifiedWindowFrame(RowFrame, begin, CurrentRow)
          )
        ),
        "auto"
      )
      .toOption
      .get
    SplitStage.of(Seq(call), KeyOrder(Nil, order), Seq(id), timeZone).head
  }
}
