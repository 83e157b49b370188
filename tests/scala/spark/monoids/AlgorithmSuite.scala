package io.sash.spark.monoids

import io.sash.spark.{SashSuite, TestCall, TestTable}
import io.sash.spark.base.SashConf

/** The cascade's choices, and `spark.sash.window.algorithm`, which forces one. */
class AlgorithmSuite extends SashSuite {
  import Algorithm._

  private val calls: Seq[(TestCall, Algorithm)] = Seq(
    TestCall("count(*)") -> SlickDequeInvAlgorithm,
    TestCall("count(i)") -> SlickDequeInvAlgorithm,
    TestCall("sum(i)") -> SlickDequeInvAlgorithm,
    TestCall("sum(l)") -> SlickDequeInvAlgorithm,
    TestCall("max(s)") -> SlickDequeNonInvAlgorithm,
    TestCall("min(x)") -> SlickDequeNonInvAlgorithm,
    TestCall("first(i)") -> SlickDequeNonInvAlgorithm,
    TestCall("last(i) IGNORE NULLS") -> SlickDequeNonInvAlgorithm,
    TestCall("max_by(s, i)") -> SlickDequeNonInvAlgorithm,
    TestCall("min_by(s, i)") -> SlickDequeNonInvAlgorithm,
    TestCall("bool_or(bo)") -> SlickDequeNonInvAlgorithm,
    TestCall("sum(x)", approximate = true) -> TwoStacksLiteAlgorithm,
    TestCall("avg(x)", approximate = true) -> TwoStacksLiteAlgorithm,
    TestCall("stddev(i)", approximate = true) -> TwoStacksLiteAlgorithm,
    TestCall("corr(x, l)", approximate = true) -> TwoStacksLiteAlgorithm,
    TestCall("bit_and(i)") -> TwoStacksLiteAlgorithm
  )

  private def query(calls: Seq[TestCall], frame: String): String = {
    val columns = calls.zipWithIndex.map { case (call, i) =>
      s"${call.sql} OVER w AS ${if (call.approximate) "approx_" else "c"}$i"
    }
    s"SELECT id, ${columns.mkString(", ")} FROM data " +
      s"WINDOW w AS (PARTITION BY g ORDER BY uq $frame)"
  }

  private val frames =
    Seq("ROWS BETWEEN 6 PRECEDING AND CURRENT ROW", "RANGE BETWEEN 9 PRECEDING AND 9 FOLLOWING")

  private def planned(sql: String): Seq[Algorithm] =
    sliding(spark.sql(sql).queryExecution.sparkPlan).flatMap(_.calls.map(_.algorithm))

  test("auto takes an inverse where it is exact, else a deque, else Two-Stacks Lite") {
    TestTable.create(spark)
    assert(planned(query(calls.map(_._1), frames.head)) == calls.map(_._2))
  }

  for (forced <- All) test(s"${forced.id}: forced where the aggregate has what it needs") {
    TestTable.create(spark)
    withSettings(SashConf.WindowAlgorithm.key -> forced.id) {
      for (frame <- frames) {
        val sql = query(calls.map(_._1), frame)
        val expected = calls.map { case (_, choice) =>
          forced match {
            case SlickDequeInvAlgorithm | SlickDequeNonInvAlgorithm if choice != forced => choice
            case _                                                                      => forced
          }
        }
        assert(planned(sql) == expected)
        val text = spark.sql(s"EXPLAIN $sql").head().getString(0)
        assert(text.contains(forced.title), text)
        checkSlides(sql)
      }
    }
  }
}
