package io.sash.spark.split

import org.scalatest.tags.Slow

import io.sash.spark.Thorough

/** Windows whose tasks read many rows for others: fewer tasks answer them. */
@Slow
class SplitWideSuite extends SplitSuite {

  test("fewer tasks answer windows that are too wide for all, and one the widest") {
    spark
      .sql("SELECT id, id * 7919 % 10 AS x FROM range(12000)")
      .createOrReplaceTempView("series")
    def tasksOf(frames: String*): Long = {
      val columns = frames.zipWithIndex.map { case (f, i) =>
        s"sum(x) OVER (ORDER BY id RANGE $f) AS c$i"
      }
      val frame = divided(s"SELECT id, ${columns.mkString(", ")} FROM series")
      val (own, read) = (metric(frame, "ownRows"), metric(frame, "neighbourRows"))
      assert(own == 12000 && read <= 4.2 * own, s"$frames: $read rows read")
      metric(frame, "tasks")
    }
    withSettings(inManyTasks :+ ("spark.sql.shuffle.partitions" -> "32"): _*) {
      for (
        frame <- Thorough.some(
          Seq(
            "400 PRECEDING",
            "2800 PRECEDING",
            "11600 PRECEDING",
            "BETWEEN CURRENT ROW AND 2800 FOLLOWING",
            "BETWEEN CURRENT ROW AND 11600 FOLLOWING",
            "BETWEEN 500 FOLLOWING AND 2800 FOLLOWING"
          )
        )
      ) assert(tasksOf(frame) == 32, frame)
      // no total stands for the rows between a window and its row
      val apart = "BETWEEN 2800 PRECEDING AND 2790 PRECEDING"
      assert(tasksOf(apart) == 16)
      assert(tasksOf("BETWEEN 11600 PRECEDING AND 11590 PRECEDING") == 1)
      // the rows that a task reads for all its windows count
      assert(tasksOf(apart, "BETWEEN 2900 PRECEDING AND 2890 PRECEDING") == 8)
    }
  }

  test("rows whose order is NULL, NaN or infinite leave the others in many tasks") {
    val orders = Seq(
      "IF(id % 500 = 7, NULL, id)",
      "IF(id % 500 = 7, DOUBLE('NaN'), id)",
      "IF(id = 9, DOUBLE('Infinity'), IF(id = 8, 1e17D, id))"
    )
    val calls = Seq("sum(x)", "max(x)", "count(*)")
    val cases = for {
      order <- orders
      way <- Seq("", "DESC", "NULLS LAST")
      frame <- Seq("20 PRECEDING AND 5 PRECEDING", "3 FOLLOWING AND 20 FOLLOWING")
    } yield (order, way, frame)
    withSettings(inManyTasks: _*) {
      for ((order, way, frame) <- Thorough.some(cases)) {
        val columns = calls.zipWithIndex.map { case (c, i) => s"$c OVER w AS c$i" }
        val ran = divided(
          s"SELECT id, ${columns.mkString(", ")} FROM (SELECT id, id % 7 AS x, $order AS o " +
            s"FROM range(4000)) WINDOW w AS (ORDER BY o $way RANGE BETWEEN $frame)"
        )
        assert(metric(ran, "tasks") == 16, s"$order $way $frame")
      }
    }
  }
}
