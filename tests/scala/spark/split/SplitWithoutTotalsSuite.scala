package io.sash.spark.split

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
    series(12000)
    def tasksOf(windows: String*): Long = {
      val columns = windows.zipWithIndex.map { case (w, i) => s"$w) AS c$i" }
      val frame = divided(s"SELECT id, ${columns.mkString(", ")} FROM series")
      val (own, read) = (metric(frame, "ownRows"), metric(frame, "neighbourRows"))
      assert(own == 12000 && read <= 4.2 * own, s"$windows: $read rows read")
      metric(frame, "tasks")
    }
    val over = "OVER (ORDER BY id RANGE"
    withSettings(inManyTasks :+ ("spark.sql.shuffle.partitions" -> "32"): _*) {
      val ahead = s"$over BETWEEN CURRENT ROW AND"
      for (call <- Seq("median(x)", "sum(x)")) {
        assert(tasksOf(s"$call $over 400 PRECEDING") == 32)
        // no total stands for the rows between a window and its row
        assert(tasksOf(s"$call $over BETWEEN 2800 PRECEDING AND 2790 PRECEDING") == 16, call)
      }
      assert(tasksOf(s"median(x) $ahead 2800 FOLLOWING") == 16)
      assert(tasksOf(s"median(x) $ahead 11600 FOLLOWING") == 1)
      assert(tasksOf(s"sum(x) $ahead 2800 FOLLOWING") == 32)
      assert(tasksOf(s"sum(x) $ahead 11600 FOLLOWING") == 32)
      assert(tasksOf(s"sum(x) $over BETWEEN 500 FOLLOWING AND 2800 FOLLOWING") == 32)
      assert(tasksOf(s"median(x) $over 2800 PRECEDING") == 16)
      assert(tasksOf(s"median(x) $over 11600 PRECEDING") == 1)
      assert(tasksOf(s"sum(x) $over 2800 PRECEDING") == 32)
      assert(tasksOf(s"sum(x) $over 11600 PRECEDING") == 32)
      // what all windows of a task read counts
      val several = Seq("2800 PRECEDING", "2800 PRECEDING AND 1 PRECEDING")
        .map(f => if (f.contains("AND")) s"BETWEEN $f" else f)
      assert(tasksOf(several.map(f => s"median(x) $over $f"): _*) == 8)
    }
    withSettings(inManyTasks :+ ("spark.sql.shuffle.partitions" -> "2"): _*) {
      assert(tasksOf(s"median(x) $over 200 PRECEDING") == 2)
      assert(tasksOf(s"median(x) $over 11600 PRECEDING") == 1)
    }
  }

  test("rows whose order is NULL, NaN or infinite leave the others in many tasks") {
    val orders = Seq(
      "IF(id % 500 = 7, NULL, id)",
      "IF(id % 500 = 7, DOUBLE('NaN'), id)",
      "IF(id = 9, DOUBLE('Infinity'), IF(id = 8, 1e17D, id))"
    )
    val calls = Seq("sum(x)", "median(x)", "count(*)")
    withSettings(inManyTasks: _*) {
      for (
        order <- orders; way <- Seq("", "DESC", "NULLS LAST");
        frame <- Seq("20 PRECEDING AND 5 PRECEDING", "3 FOLLOWING AND 20 FOLLOWING")
      ) {
        val columns = calls.zipWithIndex.map { case (c, i) => s"$c OVER w AS c$i" }
        val ran = divided(
          s"SELECT id, ${columns.mkString(", ")} FROM (SELECT id, id % 7 AS x, $order AS o " +
            s"FROM range(4000)) WINDOW w AS (ORDER BY o $way RANGE BETWEEN $frame)"
        )
        assert(metric(ran, "tasks") == 16, s"$order $way $frame")
      }
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
