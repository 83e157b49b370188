package io.sash.spark.split

import scala.util.{Random, Try}

import org.apache.spark.sql.{DataFrame, Row}
import org.scalatest.Assertion

import io.sash.spark._
import io.sash.spark.base.SashConf

/**
 * Random windows without PARTITION BY, divided among up to 40 tasks, have the rows of Spark's
 * single task. Rows that tie under ROWS come in the order in which Spark has them, too.
 */
class SplitLawSuite extends SashSuite {
  import SplitLawSuite._

  private val seed = 20261127L
  private var divided = 0

  private def splits(frame: DataFrame): Boolean =
    collect(frame.queryExecution.executedPlan) { case s: SplitWindowExec => s }.nonEmpty

  private def rows(query: String): (Seq[Row], Boolean) = {
    val frame = spark.sql(query)
    val answer = frame.collect().toSeq
    (answer, splits(frame))
  }

  private def check(query: String, mustSplit: Boolean = false): Assertion =
    withClue(s"$query\n") {
      val expected = withSash(enabled = false)(rows(query)._1)
      val (actual, isSplit) = rows(query)
      if (isSplit) divided += 1
      assert(isSplit || !mustSplit, "no operator of stretches ran")
      val difference = RowEquality.difference(expected, actual)
      assert(difference.isEmpty, difference.getOrElse(""))
    }

  private def law(name: String, count: Int, least: Double)(query: Random => String): Unit =
    test(s"$count random windows: $name") {
      TestTable.create(spark)
      val random = new Random(seed + name.hashCode)
      val n = Thorough.times(count)
      divided = 0
      (1 to n).foreach { i =>
        // with small partitions there are as many tasks as shuffle partitions, else four at most
        val size = if (i % 4 == 0) "1KB" else "64MB"
        val modes = randomMode(random) :+
          ("spark.sql.adaptive.advisoryPartitionSizeInBytes" -> size)
        withClue(s"seed $seed, query $i, ${modes.mkString(", ")}\n") {
          withSettings(modes: _*)(check(query(random)))
        }
      }
      assert(divided >= least * n, s"only $divided of $n windows were divided")
    }

  law("ROWS", 60, least = 0.6) { random =>
    RandomQuery.select(random, calls(random, 1 + random.nextInt(3)), rowsOf(random))
  }

  law("RANGE over peers", 30, least = 0.4) { random =>
    val key = pick(random, orders)
    val frame = pick(random, Seq("CURRENT ROW", "UNBOUNDED PRECEDING"))
    val end = pick(random, Seq("CURRENT ROW", "UNBOUNDED FOLLOWING"))
    val by = s"$key ${WindowFrames.direction(random)}"
    RandomQuery.select(
      random,
      unordered(random, 1 + random.nextInt(3)),
      s"(ORDER BY $by RANGE BETWEEN $frame AND $end)"
    )
  }

  law("RANGE", 60, least = 0.4) { random =>
    val key = pick(random, WindowFrames.Keys)
    val steps = Seq(-40, -8, -3, -2, -1, 0, 1, 2, 5, 30)
    val Seq(lower, upper) = Seq(pick(random, steps), pick(random, steps)).sorted
    val from =
      if (random.nextInt(4) == 0) "UNBOUNDED PRECEDING" else WindowFrames.bound(lower, key.offset)
    val to =
      if (random.nextInt(4) == 0) "UNBOUNDED FOLLOWING" else WindowFrames.bound(upper, key.offset)
    RandomQuery.select(
      random,
      unordered(random, 1 + random.nextInt(3)),
      s"(ORDER BY ${key.tied} ${WindowFrames.direction(random)} RANGE BETWEEN $from AND $to)"
    )
  }

  law("positions", 40, least = 1.0) { random =>
    val by = s"${pick(random, orders)} ${WindowFrames.direction(random)}"
    val chosen = random.shuffle(positions).take(1 + random.nextInt(4))
    val columns = chosen.zipWithIndex.map { case (f, i) => s"$f OVER w AS c$i" }
    s"SELECT id, ${columns.mkString(", ")} FROM data WINDOW w AS (ORDER BY $by)"
  }

  test("bounds that overflow: as in one task, with an error or without") {
    withSettings(always ++ Seq("spark.sql.shuffle.partitions" -> "7"): _*) {
      for (
        ansi <- Seq("true", "false");
        (key, frame) <- Seq(
          "-9223372036854775807 + id * 2" -> "CURRENT ROW AND 50 FOLLOWING",
          "9223372036854775807 - id * 3" -> "50 PRECEDING AND 50 FOLLOWING"
        );
        order <- Seq("", "DESC")
      )
        withSettings("spark.sql.ansi.enabled" -> ansi) {
          val query =
            s"SELECT id, count(*) OVER (ORDER BY b $order RANGE BETWEEN $frame) AS n FROM " +
              s"(SELECT id, $key AS b FROM range(400))"
          withClue(s"$query, ANSI $ansi\n") {
            val expected = withSash(enabled = false)(Try(rows(query)._1).toOption)
            val actual = Try(rows(query)).toOption
            assert(actual.forall(_._2), "no operator of stretches ran")
            assert(actual.map(_._1.toSet) == expected.map(_.toSet))
          }
        }
    }
  }

  test("a filter above the window drops rows and no neighbour") {
    TestTable.create(spark)
    withSettings(always ++ Seq("spark.sql.shuffle.partitions" -> "7"): _*) {
      check(
        "SELECT * FROM (SELECT id, i, sum(i) OVER (ORDER BY id ROWS 40 PRECEDING) AS s, " +
          "row_number() OVER (ORDER BY id) AS n, " +
          "count(*) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 60 FOLLOWING) AS c " +
          "FROM data) WHERE i > 3",
        mustSplit = true
      )
    }
  }

  test("each row has its own window of all rows but the excluded ones") {
    withSettings(always :+ ("spark.sql.shuffle.partitions" -> "7"): _*) {
      for (
        excluded <- Seq("current row", "group", "ties");
        frame <- Seq("ROWS", "RANGE")
      ) {
        val query =
          s"SELECT id, sum(id) OVER (PARTITION BY window_exclude('$excluded') ORDER BY k $frame " +
            "BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) s " +
            "FROM (SELECT id, id * 7 % 50 AS k FROM range(400))"
        val expected = (0L until 400L).map { id =>
          val rows = excluded match {
            case "current row" => Seq(id)
            case "group"       => (id % 50 until 400L by 50L)
            case _             => (id % 50 until 400L by 50L).filter(_ != id)
          }
          Row(id, 399L * 200 - rows.sum)
        }
        val (actual, isSplit) = rows(query)
        assert(isSplit && actual.toSet == expected.toSet, s"$excluded, $frame")
      }
    }
  }

  test("bounds by the calendar that fall while the order rises") {
    val windows = Seq(
      ("INTERVAL 1 MONTH", "", "BETWEEN CURRENT ROW AND * FOLLOWING"),
      ("INTERVAL 1 MONTH", "DESC", "BETWEEN * PRECEDING AND CURRENT ROW"),
      ("INTERVAL 1 DAY", "", "BETWEEN * PRECEDING AND CURRENT ROW"),
      ("INTERVAL '1 2' DAY TO HOUR", "", "BETWEEN * FOLLOWING AND UNBOUNDED FOLLOWING")
    )
    withSettings(
      always ++ Seq(
        "spark.sql.session.timeZone" -> "America/New_York",
        "spark.sql.adaptive.advisoryPartitionSizeInBytes" -> "1KB",
        "spark.sql.shuffle.partitions" -> "17"
      ): _*
    ) {
      for ((bound, way, frame) <- windows) {
        val (from, days) = if (bound.endsWith("MONTH")) ("2023-01-28", 30) else ("2023-03-11", 0)
        check(
          s"SELECT id, count(*) OVER (ORDER BY ts $way RANGE ${frame.replace("*", bound)}) c " +
            s"FROM (SELECT id, timestamp'$from' + " +
            s"make_dt_interval(id % 2 * $days, id % 97, id % 59) AS ts FROM range(3000))"
        )
      }
    }
  }

  test("no rows, one row, all rows peers") {
    TestTable.create(spark)
    val columns = "sum(i) OVER w AS a, count(*) OVER w AS c, " +
      "rank() OVER (ORDER BY k) AS r, dense_rank() OVER (ORDER BY k) AS d, " +
      "ntile(3) OVER (ORDER BY k) AS t, percent_rank() OVER (ORDER BY k) AS p"
    withSettings(always ++ Seq("spark.sql.adaptive.enabled" -> "false"): _*) {
      for (
        where <- Seq("false", "id = 3", "true"); key <- Seq("1", "id", "CAST(NULL AS INT)");
        frame <- Seq("ROWS 2 PRECEDING", "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING")
      )
        check(
          s"SELECT id, $columns FROM (SELECT *, $key + 0 * id AS k FROM data WHERE $where) " +
            s"WINDOW w AS (ORDER BY k $frame)"
        )
    }
  }
}

object SplitLawSuite {
  private val always = Seq(SashConf.WindowSplitThreshold.key -> "0")

  private val orders =
    Seq("id", "uq", "tie", "d", "sc", "ts", "st", "tie, d", "bo, uq", "ym", "bin", "large")

  private val positions = Seq(
    "row_number()",
    "rank()",
    "dense_rank()",
    "percent_rank()",
    "cume_dist()",
    "ntile(1)",
    "ntile(7)",
    "ntile(1000)",
    "lag(i)",
    "lag(i, 90, -1)",
    "lag(s) IGNORE NULLS",
    "lead(s, 3)",
    "lead(i, 150, 7)",
    "first_value(i) IGNORE NULLS",
    "last_value(s) IGNORE NULLS",
    "last_value(i)",
    "first_value(s)",
    "nth_value(i, 1)"
  )

  private def pick[T](random: Random, values: Seq[T]): T = values(random.nextInt(values.length))

  private def rowsOf(random: Random): String = {
    val steps = Seq(-150, -70, -20, -5, -2, -1, 0, 1, 2, 7, 30, 120)
    val Seq(lower, upper) = Seq(pick(random, steps), pick(random, steps)).sorted
    val from =
      if (random.nextInt(4) == 0) "UNBOUNDED PRECEDING" else WindowFrames.bound(lower, _.toString)
    val to =
      if (random.nextInt(5) == 0) "UNBOUNDED FOLLOWING" else WindowFrames.bound(upper, _.toString)
    s"(ORDER BY ${pick(random, orders)} ${WindowFrames.direction(random)} ROWS BETWEEN $from AND $to)"
  }

  private def calls(random: Random, n: Int): Seq[TestCall] =
    random.shuffle(WindowCalls.All).take(n)

  private def unordered(random: Random, n: Int): Seq[TestCall] =
    random.shuffle(WindowCalls.All.filterNot(_.ordered)).take(n)

  private def randomMode(random: Random): Seq[(String, String)] = {
    always ++ RandomQuery.codeMode(random) ++ Seq(
      // Spark's radix sort changes the order of rows that tie if others are NULL
      "spark.sql.sort.enableRadixSort" -> "false",
      "spark.sql.shuffle.partitions" -> pick(random, Seq("2", "3", "7", "16", "40")),
      "spark.sql.adaptive.enabled" -> random.nextBoolean().toString,
      "spark.sql.adaptive.coalescePartitions.enabled" -> random.nextBoolean().toString,
      "spark.sql.ansi.enabled" -> random.nextBoolean().toString
    )
  }
}
