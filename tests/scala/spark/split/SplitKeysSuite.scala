package io.sash.spark.split

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.{Count, Sum}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.types.LongType
import org.scalatest.Assertion

import io.sash.spark.base.SashConf
import io.sash.spark.ordering.{KeyOrder, RowOrder}
import io.sash.spark.windows.WindowCall

/** One key that many tasks answer: borders of keys, what the operator promises, EXPLAIN. */
class SplitKeysSuite extends SplitSuite {
  import SplitKeysSuite._

  private val settings = Seq(
    SashConf.WindowSplit.key -> "always",
    SashConf.WindowSplitThreshold.key -> "0",
    "spark.sql.shuffle.partitions" -> "8",
    "spark.sql.autoBroadcastJoinThreshold" -> "-1"
  )

  /** Key 1 has nine rows of ten. */
  private val skewed =
    "(SELECT id, if(id % 10 < 9, 1, id % 50) AS k, id * 7 % 1000 AS x FROM range(1000))"

  private def exchanges(frame: DataFrame): Int =
    collect(frame.queryExecution.executedPlan) { case e: ShuffleExchangeExec => e }.size

  test("rows of a key in many tasks are not clustered: what needs a key's rows has an exchange") {
    val running = s"SELECT id, k, x, sum(x) OVER (PARTITION BY k ORDER BY id) AS s FROM $skewed"
    val byKey = s"SELECT k, count(*), sum(s) FROM ($running) GROUP BY k"
    def needs(count: Int, query: String): Assertion =
      assert(exchanges(divided(query, SashConf.Enabled.key -> "false")) == count, query)
    withSettings(settings: _*)(needs(2, byKey))
    withSettings(settings :+ ("spark.sql.adaptive.enabled" -> "false"): _*) {
      needs(2, byKey)
      needs(
        3,
        s"SELECT a.id, a.s, b.id FROM ($running) a JOIN (SELECT * FROM $skewed WHERE " +
          "id % 97 = 0) b ON a.k = b.k AND a.id < b.id + 5 AND a.id > b.id - 5 " +
          "WHERE a.id % 13 = 0 AND b.id = 97"
      )
      // the window above is not divided
      needs(2, s"SELECT id, s, count(*) OVER (PARTITION BY k) AS n FROM ($running)")
      // equal keys and orders lie in one task
      needs(1, s"SELECT id, k, max(s) FROM ($running) GROUP BY k, id")
      needs(1, s"SELECT id, s FROM ($running) ORDER BY k, id")
    }
  }

  test("many tasks answer one key, and metrics count the rows that they read for others") {
    val count = 40000L
    withSettings(inManyTasks :+ (SashConf.WindowSplit.key -> "always"): _*) {
      for (
        (frame, most) <- Seq(
          "ROWS 17000 PRECEDING" -> 2.3,
          "ROWS BETWEEN 17000 PRECEDING AND UNBOUNDED FOLLOWING" -> 4.0,
          // without a first pass
          "ROWS BETWEEN 3 PRECEDING AND 5 FOLLOWING" -> 1.0
        )
      ) {
        val query = s"SELECT id, min(id) OVER w m, sum(id) OVER w s FROM (SELECT id, " +
          s"if(id % 10 = 0, id % 7000, 1) AS k FROM range($count)) " +
          s"WINDOW w AS (PARTITION BY k ORDER BY id $frame)"
        val operator = operators(divided(query)).head
        assert(operator.tasks == 16 && operator.simpleString(100).contains("16 tasks"))
        assert(operator.metrics("tasks").value == 16)
        assert(operator.metrics("ownRows").value == count)
        val read = operator.metrics("neighbourRows").value
        assert(read > 0 && read <= most * count, s"$frame: $read rows read")
      }
    }
  }

  test("EXPLAIN says that many tasks answer a key, or why one task does") {
    def explained(query: String): String = told(spark.sql(query))
    def over(call: String, by: String = "ORDER BY id") =
      explained(s"SELECT $call OVER (PARTITION BY k $by) FROM $skewed")
    withSettings(settings: _*) {
      assert(over("sum(x)").contains("slides in many tasks: sum("))
      assert(over("rank()").contains("with totals"))
      assert(over("sum(x)", "").contains("each key in one task: it has no ORDER BY"))
      assert(
        over("median(x)", "ORDER BY id RANGE BETWEEN UNBOUNDED PRECEDING AND 9 PRECEDING")
          .contains("each key in one task: percentile(")
      )
      assert(
        explained(
          s"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY id) AS n " +
            s"FROM $skewed) WHERE n < 3"
        ).contains("each key in one task: a limit leaves few rows of each key")
      )
      withSettings(SashConf.WindowSplitThreshold.key -> "1GB") {
        assert(over("sum(x)").contains("each key in one task: its input has an estimated"))
      }
      withSettings(SashConf.WindowSplit.key -> "on") {
        assert(!over("sum(x)").contains("task"))
      }
    }
  }

  test("a key begins and ends at borders, spans stretches, and lies within one") {
    val layouts = Seq(
      // key 1 ends at a border, key 2 spans five stretches of rows, one of them is empty
      Seq(Seq(1, 1), Seq(2, 2), Seq(2), Nil, Seq(2, 2, 2), Seq(2), Seq(2, 3, 4), Seq(4)),
      Seq(Nil, Seq(1), Nil, Nil, Seq(1, 1, 2, 2, 3), Seq(4), Nil, Seq(4, 5), Nil),
      Seq(Seq(1, 2, 3), Seq(3, 4, 5), Seq(5, 6, 6), Seq(6), Seq(6), Seq(7)),
      Seq(Nil, Nil, Nil),
      Seq(Seq(1, 1, 1, 1), Nil, Seq(1, 1, 1), Seq(1))
    )
    for (layout <- layouts; comparesReadings <- Seq(true, false))
      withClue(s"$layout, first pass $comparesReadings: ") {
        check(layout, math.min(3, layout.length), frames, comparesReadings)
      }
  }

  test("random keys in random stretches") {
    val random = new scala.util.Random(20261127L)
    (1 to 40).foreach { i =>
      val stretches = 1 + random.nextInt(12)
      val sorted = Seq.fill(random.nextInt(60))(1 + random.nextInt(5) * random.nextInt(4)).sorted
      val cuts = (Seq.fill(stretches - 1)(random.nextInt(sorted.length + 1)).sorted :+
        sorted.length).scanLeft((0, 0)) { case ((_, from), to) => (from, to) }.tail
      val layout = cuts.map { case (from, to) => sorted.slice(from, to) }
      val frame = frames(random.nextInt(frames.length))
      withClue(s"$i: ${frame.text} over $layout: ") {
        check(layout, 1 + random.nextInt(stretches), Seq(frame), random.nextBoolean())
      }
    }
  }

  /** Rows of the keys in each stretch, in another order, have the counts and sums of frames. */
  private def check(
      layout: Seq[Seq[Int]],
      tasks: Int,
      frames: Seq[TestFrame],
      comparesReadings: Boolean
  ): Assertion = {
    val starts = layout.scanLeft(0)(_ + _.length)
    val rows = layout.zip(starts).map { case (keys, from) =>
      keys.zipWithIndex.map { case (k, i) => (k.toLong, (from + i).toLong) }
    }
    val expected = for ((k, t) <- rows.flatten) yield {
      val ofKey = rows.flatten.collect { case (`k`, o) => o }
      val held = frames.map(f => ofKey.filter(o => f.holds((o - t).toInt)))
      Seq(k, t) ++ held.flatMap(h => Seq(h.length.toLong, h.sum))
    }
    val columns = 2 + 2 * frames.length
    val answers = stretches(rows, tasks, frames.map(_.frame), comparesReadings)
      .map(r => Seq.tabulate(columns)(i => if (r.isNullAt(i)) 0L else r.getLong(i)))
      .collect()
    assert(answers.toSeq == expected)
  }

  private def stretches(
      rows: Seq[Seq[(Long, Long)]],
      tasks: Int,
      frames: Seq[SpecifiedWindowFrame],
      comparesReadings: Boolean
  ): RDD[InternalRow] = {
    val by = KeyOrder(Seq(key), Seq(SortOrder(time, Ascending)))
    val zone = spark.sessionState.conf.sessionLocalTimeZone
    val calls = for (frame <- frames; f <- Seq(Count(Seq(Literal(1))), Sum(time))) yield {
      val spec = WindowSpecDefinition(by.keys, by.within, frame)
      WindowCall
        .ofAnyFrame(WindowExpression(f.toAggregateExpression(), spec), "auto")
        .toOption
        .get
    }
    val stages = SplitStage.of(calls, by, input, zone).toIndexedSeq
    val results = stages.flatMap(s => s.calls.zip(s.results)).toMap
    new StretchesRDD(
      partitioned(spark.sparkContext.parallelize(rows, rows.length)),
      StretchTasks(rows.length, tasks),
      SplitProgram(
        stages,
        by.sortedKeys,
        RowOrder(by.sorted, input, radix = true),
        inOrder = false,
        comparesReadings
      ),
      input,
      input ++ calls.map(results),
      Literal.TrueLiteral,
      SplitMetrics.create(spark.sparkContext)
    )
  }
}

object SplitKeysSuite {
  private val key = AttributeReference("k", LongType, nullable = false)()
  private val time = AttributeReference("t", LongType, nullable = false)()
  private val input = Seq(key, time)

  /** A stretch for each element, whose rows do not come in the window's order. */
  private def partitioned(rows: RDD[Seq[(Long, Long)]]): RDD[InternalRow] = {
    val input = this.input.toVector
    rows.mapPartitions { in =>
      val project = UnsafeProjection.create(input, input)
      in.flatMap(_.sortBy(-_._2 * 7 % 5)).map { case (k, t) => project(InternalRow(k, t)).copy() }
    }
  }

  /** @param holds whether a row of the same key lies in the frame, by its distance in time */
  private case class TestFrame(text: String, frame: SpecifiedWindowFrame, holds: Int => Boolean)

  private val frames: Seq[TestFrame] = {
    def both(text: String, holds: Int => Boolean)(
        bounds: (Int => Expression) => (Expression, Expression)
    ) = Seq(RowFrame, RangeFrame).map { kind =>
      def offset(n: Int) = if (kind == RowFrame) Literal(n) else Literal(n.toLong)
      val (lower, upper) = bounds(offset)
      TestFrame(s"${kind.sql} $text", SpecifiedWindowFrame(kind, lower, upper), holds)
    }
    both("growing", _ <= 0)(_ => (UnboundedPreceding, CurrentRow)) ++
      both("of all", _ => true)(_ => (UnboundedPreceding, UnboundedFollowing)) ++
      both("of the rest", _ >= 0)(_ => (CurrentRow, UnboundedFollowing)) ++
      both("of two back", d => d >= -2 && d <= 0)(n => (n(-2), CurrentRow)) ++
      both("around", d => d >= -3 && d <= 2)(n => (n(-3), n(2))) ++
      both("ahead", d => d >= 2 && d <= 4)(n => (n(2), n(4))) ++
      both("until three back", _ <= -3)(n => (UnboundedPreceding, n(-3)))
  }
}
