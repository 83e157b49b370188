package io.sash.spark.windows

import scala.util.Random

import org.scalatest.tags.Slow

import io.sash.spark.{SashSuite, TestTable, WindowCalls, WindowFrames}

/** Several frames that end together over one store of elements. */
@Slow
class SharedElementsSuite extends SashSuite {
  private val seed = 20261123L

  private def query(frames: Seq[String], calls: Seq[String], over: String): String = {
    val columns =
      for ((frame, i) <- frames.zipWithIndex; (call, j) <- calls.zipWithIndex)
        yield s"$call OVER ($over $frame) AS approx_c${i}_$j"
    s"SELECT id, ${columns.mkString(", ")} FROM data"
  }

  private def texts(sql: String): Seq[String] =
    sliding(spark.sql(sql).queryExecution.sparkPlan).flatMap(_.texts)

  for {
    codegen <- Seq(true, false)
    (name, over, frames) <- Seq(
      ("rows", "PARTITION BY g ORDER BY uq", Seq(7, 2, 30, 5).map(n => s"ROWS $n PRECEDING")),
      (
        "rows ahead",
        "PARTITION BY g ORDER BY uq",
        Seq(1, 20, 3).map(n => s"ROWS BETWEEN $n PRECEDING AND 2 FOLLOWING")
      ),
      (
        "rows behind",
        "PARTITION BY g ORDER BY uq",
        Seq(3, 9, 4).map(n => s"ROWS BETWEEN $n PRECEDING AND 3 PRECEDING")
      ),
      (
        "ranges",
        "PARTITION BY g ORDER BY ts DESC NULLS LAST",
        Seq(7, 1, 30).map(n => s"RANGE INTERVAL $n DAYS PRECEDING")
      ),
      (
        "ranges to the end",
        "PARTITION BY g ORDER BY dt",
        Seq(1, 9).map(n => s"RANGE BETWEEN $n PRECEDING AND UNBOUNDED FOLLOWING")
      )
    )
  } test(s"$name of several lengths, ${if (codegen) "compiled" else "interpreted"}") {
    TestTable.create(spark)
    val mode = Seq(
      "spark.sql.codegen.wholeStage" -> codegen.toString,
      "spark.sql.codegen.factoryMode" -> (if (codegen) "FALLBACK" else "NO_CODEGEN")
    )
    withSettings(mode: _*) {
      val calls = Seq(
        "sum(i)",
        "count(*)",
        "max(s)",
        "min(d) FILTER (WHERE i > 0)",
        "max_by(id, uq)",
        "stddev(x)",
        "count(DISTINCT i)"
      ).filter(c => !c.contains("DISTINCT") || name == "rows")
      val checked = calls.filterNot(_.contains("DISTINCT"))
      checkSlides(query(frames, checked, over))
      val said = texts(query(frames, calls, over))
      val shared = said.filter(_.endsWith(s"${frames.length} ranges of one store"))
      def areShared(call: String) =
        shared.count(_.startsWith(call.takeWhile(_ != '('))) >= frames.length
      assert(Seq("sum(", "count(", "max(", "min(").forall(areShared), said)
      assert(!shared.exists(t => t.startsWith("stddev") || t.contains("DISTINCT")), said)
    }
  }

  test("what differs is not shared") {
    TestTable.create(spark)
    def shares(first: String, second: String): Boolean = {
      val sql = s"SELECT id, $first AS approx_a, $second AS approx_b FROM data"
      checkSlides(sql)
      texts(sql).exists(_.contains("of one store"))
    }
    val over = "OVER (PARTITION BY g ORDER BY uq ROWS"
    assert(shares(s"sum(i) $over 3 PRECEDING)", s"sum(i) $over 9 PRECEDING)"))
    assert(!shares(s"sum(i) $over 3 PRECEDING)", s"sum(x) $over 9 PRECEDING)"))
    assert(!shares(s"sum(i) $over 3 PRECEDING)", s"count(i) $over 9 PRECEDING)"))
    assert(
      !shares(s"max(i) $over 3 PRECEDING)", s"max(i) FILTER (WHERE i > 2) $over 9 PRECEDING)")
    )
    assert(
      !shares(
        s"sum(i) $over BETWEEN 3 PRECEDING AND 1 FOLLOWING)",
        s"sum(i) $over BETWEEN 9 PRECEDING AND 2 FOLLOWING)"
      )
    )
  }

  test("random sets of frames and aggregates") {
    TestTable.create(spark)
    val random = new Random(seed)
    var shared = 0
    (1 to 25).foreach { n =>
      val key = WindowFrames.Keys(random.nextInt(WindowFrames.Keys.length))
      val calls = random.shuffle(WindowCalls.All).take(3)
      val upper = if (random.nextBoolean()) "CURRENT ROW" else s"${key.offset(2)} FOLLOWING"
      val columns =
        for (i <- 1 to 3; (call, j) <- calls.zipWithIndex if random.nextInt(5) > 0)
          yield s"${call.sql} OVER (PARTITION BY g ORDER BY ${key.tied} RANGE BETWEEN " +
            s"${key.offset(i)} PRECEDING AND $upper) AS ${call.alias(10 * i + j)}"
      if (
        columns.nonEmpty && calls
          .forall(c => !c.sql.startsWith("first") && !c.sql.startsWith("last"))
      ) {
        val sql = s"SELECT id, ${columns.mkString(", ")} FROM data"
        withClue(s"seed $seed, query $n: $sql\n")(checkSlides(sql))
        shared += texts(sql).count(_.contains("of one store"))
      }
    }
    assert(shared > 5, "vacuous")
  }
}
