package io.sash.spark.split

import scala.util.{Random, Try}

import io.sash.spark._
import io.sash.spark.base.SashConf

/**
 * Random windows with PARTITION BY, whose keys lie in up to 40 tasks, have Spark's rows. A key
 * has most rows, half of them, a few, or one; it is NULL, NaN, or equal to other bytes.
 */
class SplitKeysLawSuite extends SplitLaw {
  import SplitLaw._

  override protected def dividing: Seq[(String, String)] =
    super.dividing :+ (SashConf.WindowSplit.key -> "always")

  private val keys = Seq(
    "IF(id % 10 < 9, 1, g)",
    "id % 20 = 3",
    "g",
    "g, g2",
    "g2, tie",
    "tie",
    "d",
    "sc",
    "st, bo",
    "large",
    "ts",
    "uq",
    "CAST(NULL AS INT) + id"
  )

  private def by(random: Random): String = s"PARTITION BY ${pick(random, keys)}"

  law("ROWS of a key", Thorough.times(30), least = 0.6) { random =>
    RandomQuery.select(random, calls(random, 1 + random.nextInt(3)), rowsOf(random, by(random)))
  }

  law("RANGE over peers of a key", Thorough.times(20), least = 0.4) { random =>
    RandomQuery
      .select(random, unordered(random, 1 + random.nextInt(3)), peersOf(random, by(random)))
  }

  law("RANGE of a key", Thorough.times(30), least = 0.4) { random =>
    RandomQuery
      .select(random, unordered(random, 1 + random.nextInt(3)), rangeOf(random, by(random)))
  }

  law("positions in a key", Thorough.times(25), least = 1.0)(random =>
    positionsIn(random, by(random))
  )

  test("a filter above the window drops rows and no neighbour of the same key") {
    TestTable.create(spark)
    withSettings(dividing :+ ("spark.sql.shuffle.partitions" -> "7"): _*) {
      check(
        "SELECT * FROM (SELECT id, i, sum(i) OVER (PARTITION BY g ORDER BY id ROWS 40 PRECEDING) " +
          "AS s, row_number() OVER (PARTITION BY g ORDER BY id) AS n, " +
          "count(*) OVER (PARTITION BY g ORDER BY id ROWS BETWEEN 3 PRECEDING AND 60 FOLLOWING) " +
          "AS c FROM data) WHERE i > 3",
        mustSplit = true
      )
    }
  }

  test("no rows, one row, all rows peers of one key") {
    TestTable.create(spark)
    val columns = "sum(i) OVER w AS a, count(*) OVER w AS c, rank() OVER o AS r, " +
      "dense_rank() OVER o AS d, ntile(3) OVER o AS t, percent_rank() OVER o AS p"
    withSettings(dividing :+ ("spark.sql.adaptive.enabled" -> "false"): _*) {
      for (
        where <- Seq("false", "id = 3", "true"); key <- Seq("g", "1 + 0 * id");
        order <- Seq("1 + 0 * id", "id");
        frame <- Seq("ROWS 2 PRECEDING", "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING")
      )
        check(
          s"SELECT id, $columns FROM (SELECT *, $key AS k, $order AS t FROM data WHERE $where) " +
            s"WINDOW o AS (PARTITION BY k ORDER BY t), w AS (PARTITION BY k ORDER BY t $frame)"
        )
    }
  }

  test("each row of a key has its own window of all its rows but the excluded ones") {
    withSettings(dividing :+ ("spark.sql.shuffle.partitions" -> "7"): _*) {
      for (excluded <- Seq("current row", "group", "ties"); frame <- Seq("ROWS", "RANGE")) {
        val query = s"SELECT id, sum(id) OVER (PARTITION BY g, window_exclude('$excluded') " +
          s"ORDER BY k $frame BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) s " +
          "FROM (SELECT id, id * 7 % 50 AS k, if(id < 300, 0, id % 5) AS g FROM range(400))"
        def key(id: Long) = if (id < 300) 0L else id % 5
        val expected = (0L until 400L).map { id =>
          val ofKey = (0L until 400L).filter(key(_) == key(id))
          val peers = ofKey.filter(o => (o - id) % 50 == 0)
          val left = excluded match {
            case "current row" => Seq(id)
            case "group"       => peers
            case _             => peers.filter(_ != id)
          }
          val others = ofKey.diff(left)
          (id, if (others.isEmpty) None else Some(others.sum))
        }
        val (actual, isSplit) = rows(query)
        assert(isSplit)
        assert(actual.map(r => (r.getLong(0), Option(r.get(1)))).toSet == expected.toSet, query)
      }
    }
  }

  test("bounds of a key that overflow: as in one task, with an error or without") {
    withSettings(dividing :+ ("spark.sql.shuffle.partitions" -> "7"): _*) {
      for (ansi <- Seq("true", "false"); order <- Seq("", "DESC"))
        withSettings("spark.sql.ansi.enabled" -> ansi) {
          val query =
            s"SELECT id, count(*) OVER (PARTITION BY k ORDER BY b $order RANGE BETWEEN " +
              "50 PRECEDING AND 50 FOLLOWING) AS n FROM (SELECT id, id % 10 = 3 AS k, " +
              "9223372036854775807 - id * 3 AS b FROM range(400))"
          withClue(s"$query, ANSI $ansi\n") {
            val expected = withSash(enabled = false)(Try(rows(query)._1).toOption)
            val actual = Try(rows(query)).toOption
            assert(actual.forall(_._2), "no operator of stretches ran")
            assert(actual.map(_._1.toSet) == expected.map(_.toSet))
          }
        }
    }
  }
}
