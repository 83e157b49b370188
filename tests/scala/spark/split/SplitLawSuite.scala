package io.sash.spark.split

import scala.util.Try

import org.apache.spark.sql.Row

import io.sash.spark._

/**
 * Random windows without PARTITION BY, divided among up to 40 tasks, have the rows of Spark's
 * single task. Rows that tie under ROWS come in the order in which Spark has them, too.
 */
class SplitLawSuite extends SplitLaw {
  import SplitLaw._

  law("ROWS", Thorough.times(60), least = 0.6) { random =>
    RandomQuery.select(random, calls(random, 1 + random.nextInt(3)), rowsOf(random))
  }

  law("RANGE over peers", Thorough.times(30), least = 0.4) { random =>
    RandomQuery.select(random, unordered(random, 1 + random.nextInt(3)), peersOf(random))
  }

  law("RANGE", Thorough.times(60), least = 0.4) { random =>
    RandomQuery.select(random, unordered(random, 1 + random.nextInt(3)), rangeOf(random))
  }

  law("positions", Thorough.times(40), least = 1.0)(positionsIn(_))

  test("bounds that overflow: as in one task, with an error or without") {
    withSettings(dividing ++ Seq("spark.sql.shuffle.partitions" -> "7"): _*) {
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
    withSettings(dividing ++ Seq("spark.sql.shuffle.partitions" -> "7"): _*) {
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
    withSettings(dividing :+ ("spark.sql.shuffle.partitions" -> "7"): _*) {
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

  test("no rows, one row, all rows peers") {
    TestTable.create(spark)
    val columns = "sum(i) OVER w AS a, count(*) OVER w AS c, " +
      "rank() OVER (ORDER BY k) AS r, dense_rank() OVER (ORDER BY k) AS d, " +
      "ntile(3) OVER (ORDER BY k) AS t, percent_rank() OVER (ORDER BY k) AS p"
    withSettings(dividing ++ Seq("spark.sql.adaptive.enabled" -> "false"): _*) {
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
