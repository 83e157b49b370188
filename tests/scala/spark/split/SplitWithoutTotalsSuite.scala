package io.sash.spark.split

import org.apache.spark.sql.DataFrame

import io.sash.spark.{CheckedExec, CheckedPromises, RowEquality}
import io.sash.spark.base.SashConf

/**
 * Windows whose partial aggregates grow with their rows: tasks read all rows of their windows,
 * if these are not too many.
 */
class SplitWithoutTotalsSuite extends SplitSuite {
  private val calls =
    Seq(
      "median(x)",
      "count(DISTINCT x)",
      "collect_list(s)",
      "percentile_disc(0.3)" +
        " WITHIN GROUP (ORDER BY x)",
      "max_by(s, id)"
    )

  private def series(rows: Int): Unit = spark
    .sql(s"SELECT id, id * 7919 % 10 AS x, hex(id) AS s, id - id % 3 AS t FROM range($rows)")
    .createOrReplaceTempView("series")

  /** The frame that ran, with the rows of one task. */
  private def divided(query: String): DataFrame = withClue(s"$query\n") {
    val expected =
      withSettings(SashConf.WindowSplit.key -> "off")(spark.sql(query).collect().toSeq)
    val frame = spark.sql(query)
    val actual = CheckedPromises.whileOn(frame.collect().toSeq)
    assert(operators(frame).size == 1)
    collect(frame.queryExecution.executedPlan) { case c: CheckedExec => c }
      .foreach(c => assert(CheckedPromises.broken(c).isEmpty))
    val difference = RowEquality.difference(expected, actual)
    assert(difference.isEmpty, difference.getOrElse(""))
    frame
  }

  private def metric(frame: DataFrame, name: String): Long =
    operators(frame).head.metrics(name).value

  test("RANGE: many tasks read the rows of their windows") {
    series(4000)
    val frames =
      Seq("t" -> "200 PRECEDING AND 5 PRECEDING", "t DESC" -> "CURRENT ROW AND 90 FOLLOWING")
    withSettings(inManyTasks: _*) {
      for ((order, frame) <- frames) {
        val columns = calls.zipWithIndex.map { case (call, i) => s"$call OVER w AS c$i" }
        val query = s"SELECT id, ${columns.mkString(", ")} FROM series " +
          s"WINDOW w AS (ORDER BY $order RANGE BETWEEN $frame)"
        val ran = divided(query)
        assert(metric(ran, "tasks") == 16)
        assert(metric(ran, "neighbourRows") >= 15 * 90)
      }
    }
  }

  test("DISTINCT over RANGE is divided") {
    series(4000)
    withSettings(inManyTasks: _*) {
      val frame = spark.sql(
        "SELECT id, count(DISTINCT x) OVER (ORDER BY id RANGE 4 PRECEDING) AS n FROM series"
      )
      val expected = (0L until 4000L).map { id =>
        (id, (math.max(0L, id - 4) to id).map(_ * 7919 % 10).distinct.size.toLong)
      }
      assert(frame.collect().map(r => (r.getLong(0), r.getLong(1))).toSeq == expected)
      assert(metric(frame, "tasks") == 16)
    }
  }

  test("ROWS that reach far: tasks know by the first pass which rows they read") {
    series(120000)
    val columns = "sum(m), max(m), sum(id * m)"
    withSettings(inManyTasks: _*) {
      val query = s"SELECT $columns FROM (SELECT id, median(x) OVER (ORDER BY id ROWS BETWEEN " +
        "16500 PRECEDING AND 16400 PRECEDING) AS m FROM series)"
      assert(metric(divided(query), "tasks") == 16)
    }
  }

  test("fewer tasks answer windows that are too wide for all, and one the widest") {
    series(3000)
    withSettings(inManyTasks: _*) {
      def tasksOf(width: Int): Long = {
        val frame = divided(
          s"SELECT id, median(x) OVER (ORDER BY id RANGE $width PRECEDING) AS m FROM series"
        )
        val (own, read) = (metric(frame, "ownRows"), metric(frame, "neighbourRows"))
        assert(own == 3000 && read <= StretchLayout.MostReadings * own, s"$read rows read")
        metric(frame, "tasks")
      }
      assert(tasksOf(300) == 16)
      assert(tasksOf(1400) == 8)
      assert(tasksOf(2900) == 1)
    }
  }

  test("labels read the events of their ranges") {
    series(4000)
    withSettings(inManyTasks :+ (SashConf.LateralFilterThreshold.key -> "1GB"): _*) {
      val query = "SELECT l.id, f.m, f.n FROM series l, LATERAL (SELECT median(e.x) AS m, " +
        "count(DISTINCT e.s) AS n FROM series e WHERE e.id >= l.id - 80 AND e.id < l.id - 3) f " +
        "WHERE l.id % 5 = 0"
      assert(metric(divided(query), "tasks") == 16)
    }
  }
}
