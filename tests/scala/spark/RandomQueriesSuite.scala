package io.sash.spark

import scala.util.Random

import org.apache.spark.sql.functions.{col, product}
import org.apache.spark.sql.expressions.Window

import io.sash.spark.base.SashConf
import io.sash.spark.monoids.Algorithm

/** Random queries over types × aggregates × frames × data, in every mode of execution. */
class RandomQueriesSuite extends SashSuite {
  import RandomQueriesSuite._

  private val seed = 20260101L

  private def checkAll(name: String, count: Int, settings: (String, String)*)(
      window: (Random, Boolean) => String
  ): Unit =
    test(s"$count random queries: $name") {
      TestTable.create(spark)
      val random = new Random(seed + name.hashCode)
      val calls = Iterator.continually(random.shuffle(WindowCalls.All)).flatten
      (1 to Thorough.times(count)).foreach { n =>
        val query = randomQuery(random, calls, window)
        val modes = settings ++ randomMode(random)
        withClue(s"seed $seed, query $n, ${modes.mkString(", ")}\n") {
          withSettings(modes: _*)(checkSlides(query))
        }
      }
    }

  checkAll("ROWS", 80)((random, _) => WindowFrames.rows(random))

  checkAll("RANGE over peers", 30)(WindowFrames.peers)

  for (keys <- WindowFrames.Keys.groupBy(_.tied).values.toSeq.sortBy(_.head.tied)) {
    checkAll(s"RANGE over ${keys.head.tied}", 5 * keys.length) { (random, once) =>
      WindowFrames.range(random, keys(random.nextInt(keys.length)), once)
    }
  }

  checkAll("RANGE over calendar intervals", 12, "spark.sql.legacy.interval.enabled" -> "true") {
    (random, once) =>
      val keys = WindowFrames.CalendarKeys
      WindowFrames.range(random, keys(random.nextInt(keys.length)), once)
  }

  test("several frames of both kinds in one query") {
    TestTable.create(spark)
    val random = new Random(seed)
    val calls = Iterator.continually(random.shuffle(WindowCalls.All)).flatten
    (1 to Thorough.times(20)).foreach { n =>
      withClue(s"seed $seed, query $n\n") {
        val columns = (1 to 5).map { i =>
          val call = calls.next()
          val frame = random.nextInt(3) match {
            case 0 => "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW"
            case 1 => s"ROWS BETWEEN 2 PRECEDING AND ${random.nextInt(9)} FOLLOWING"
            case _ => s"RANGE BETWEEN ${random.nextInt(9)} PRECEDING AND 4 FOLLOWING"
          }
          s"${call.sql} OVER (PARTITION BY g ORDER BY uq $frame) AS ${call.alias(i)}"
        }
        checkSlides(s"SELECT id, ${columns.mkString(", ")} FROM data")
      }
    }
  }

  test("product, which SQL does not know") {
    val frame = Window.partitionBy("g").orderBy("uq").rowsBetween(-4, 2)
    checkSlides(
      TestTable.create(spark).select(col("id"), product(col("x")).over(frame).as("approx_p"))
    )
  }

  test("empty input and input of few rows") {
    TestTable.create(spark)
    val columns = "sum(i) OVER w AS a, max(s) OVER w AS b, count(*) OVER w AS c"
    // adaptive execution would see that nothing came and drop the window
    withSettings("spark.sql.adaptive.enabled" -> "false") {
      for (
        rows <- Seq(0, 1, 2); partition <- Seq("", "PARTITION BY g");
        frame <- Seq(
          "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
          "ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
          "RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING",
          "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"
        )
      )
        checkSlides(
          s"SELECT id, $columns FROM data WHERE id < $rows " +
            s"WINDOW w AS ($partition ORDER BY uq $frame)"
        )
    }
  }
}

object RandomQueriesSuite {
  private def randomQuery(
      random: Random,
      calls: Iterator[TestCall],
      window: (Random, Boolean) => String
  ): String = {
    val chosen = calls.take(RandomQuery.pick(random, 1, 3, 4)).toSeq
    val over = window(random, chosen.exists(_.ordered))
    RandomQuery.select(random, chosen, over)
  }

  private def randomMode(random: Random): Seq[(String, String)] = {
    val code = RandomQuery.codeMode(random)
    val algorithms = Algorithm.Auto +: Algorithm.All.map(_.id)
    code ++ Seq(
      "spark.sql.adaptive.enabled" -> random.nextBoolean().toString,
      "spark.sql.ansi.enabled" -> random.nextBoolean().toString,
      SashConf.WindowAlgorithm.key ->
        (if (random.nextBoolean()) Algorithm.Auto else RandomQuery.pick(random, algorithms: _*))
    )
  }
}
