package io.sash.spark.windows

import org.apache.spark.sql.{DataFrame, Row}

import org.scalatest.tags.Slow

import io.sash.spark.{LittleMemory, RowEquality, SashSession, SashSuite, Thorough}
import io.sash.spark.base.SashConf
import io.sash.spark.memory.TaskWindowMemory
import io.sash.spark.ordering.OrderingExec

/** Under a small memory limit windows go to disk, page by page, and answer as before. */
@Slow
class SpillSuite extends SashSuite with LittleMemory {
  // too little for the windows below, enough for the pages of a sort
  override protected def heapBytes: Long = 2L << 20

  private val rows = 60000

  private def table: String =
    s"(SELECT id, id * 7919 % 10007 AS x, concat('value ', id * 31 % 4001) AS s, " +
      s"IF(id % 3 = 0, NULL, id / 8.0D) AS d FROM range(0, $rows, 1, 1))"

  private def query(calls: String, frame: String): String =
    s"SELECT id, $calls FROM $table WINDOW w AS (ORDER BY id $frame)"

  private def spilled(frame: DataFrame): Long =
    sliding(frame).map(_.metrics("spillSize").value).sum

  /** The rows, and the bytes that went to disk for them. */
  private def run(sql: String): (Seq[Row], Long) = {
    val frame = spark.sql(sql)
    (frame.collect().toSeq, spilled(frame))
  }

  /** A plain computation of the windows, since Spark's own takes as long as they are. */
  private def sums(below: Int, ahead: Int): Array[Long] = {
    val prefix = (0 until rows).scanLeft(0L)((s, i) => s + i.toLong * 7919 % 10007).toArray
    Array.tabulate(rows) { i =>
      prefix(math.min(rows, i + ahead + 1)) - prefix(math.max(0, i - below))
    }
  }

  private def assertSums(answer: Seq[Row], expected: Array[Long]): Unit = {
    assert(answer.length == rows)
    val wrong = answer.find(r => r.getLong(1) != expected(r.getLong(0).toInt))
    assert(wrong.isEmpty, wrong.map(r => s"instead of ${expected(r.getLong(0).toInt)}"))
  }

  for {
    (name, below, ahead) <- Seq(
      ("ROWS BETWEEN 40000 PRECEDING AND CURRENT ROW", 40000, 0),
      ("ROWS BETWEEN 20000 PRECEDING AND 20000 FOLLOWING", 20000, 20000),
      ("ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING", 0, rows),
      ("RANGE BETWEEN 20000 PRECEDING AND 20000 FOLLOWING", 20000, 20000)
    )
    algorithm <- Seq("slickdeque-inv", "two-stacks-lite")
  } test(s"sums over $name, $algorithm") {
    withSettings(SashConf.WindowAlgorithm.key -> algorithm) {
      val (answer, bytes) = run(query("sum(x) OVER w AS c, count(s) OVER w AS n, id", name))
      assert(bytes > 0, "vacuous: nothing went to disk")
      assertSums(answer, sums(below, ahead))
    }
  }

  test("several lengths over one store, and one ring of keys") {
    val frames = Seq(40000, 100, 20000)
    def range(n: Int) = s"OVER (ORDER BY id RANGE BETWEEN $n PRECEDING AND 10 FOLLOWING)"
    val columns = frames.map(n => s"sum(x) ${range(n)}, max(s) ${range(n)}")
    val sql = s"SELECT id, ${columns.mkString(", ")} FROM $table"
    val (paged, bytes) = run(sql)
    assert(bytes > 0, "vacuous: nothing went to disk")
    for ((n, i) <- frames.zipWithIndex)
      assertSums(paged.map(r => Row(r.getLong(0), r.getLong(1 + 2 * i))), sums(n, 10))
    assert(RowEquality.difference(SashSession.shared.sql(sql).collect().toSeq, paged).isEmpty)
  }

  test("strings, nulls and moments, against the same windows in memory") {
    val frame = "ROWS BETWEEN 30000 PRECEDING AND 2000 FOLLOWING"
    val sql = query(
      "last(s) OVER w AS a, avg(d) OVER w AS b, stddev(d) OVER w AS c, " +
        "max_by(s, x) OVER w AS e, bit_xor(x) OVER w AS f",
      frame
    )
    val (paged, bytes) = run(sql)
    assert(bytes > 0, "vacuous: nothing went to disk")
    val ample = SashSession.shared.sql(sql)
    val unpaged = ample.collect().toSeq
    assert(spilled(ample) == 0)
    assert(RowEquality.difference(unpaged, paged).isEmpty)
  }

  for (
    calls <- Seq(
      "count(DISTINCT s) OVER w AS a, sum(DISTINCT d) OVER w AS approx_b",
      "median(x) OVER w AS a, percentile(d, array(0.1, 0.9)) OVER w AS b",
      "mode(s, true) OVER w AS a, count(DISTINCT x, s) OVER w AS b",
      "rank_in_frame(x) OVER w AS a, dense_rank_in_frame(d) OVER w AS b"
    )
  ) test(s"answers beside the slots: $calls") {
    val sql = query(calls, "ROWS BETWEEN 20000 PRECEDING AND 2000 FOLLOWING")
    val (paged, bytes) = run(sql)
    assert(bytes > 0, "vacuous: nothing went to disk")
    val ample = SashSession.shared.sql(sql)
    assert(RowEquality.difference(ample.collect().toSeq, paged).isEmpty)
    assert(spilled(ample) == 0)
    val peak = sliding(ample).map(_.metrics("peakMemory").value).sum
    assert(peak > 4001 * 192L, "what is beside the slots is accounted, too")
  }

  for (
    (call, named) <- Seq(
      "count(DISTINCT id)" -> "count(DISTINCT",
      "median(id)" -> "percentile(",
      "mode(id)" -> "mode("
    )
  ) test(s"values that outgrow the task's memory end the query with a remedy: $call") {
    val before = TaskWindowMemory.MostBeyond
    TaskWindowMemory.MostBeyond = 1L << 20
    try {
      val frame = "ROWS BETWEEN 200000 PRECEDING AND CURRENT ROW"
      val sql = s"SELECT max(c) FROM (SELECT $call OVER (ORDER BY id $frame) AS c " +
        "FROM range(0, 400000, 1, 1))"
      val thrown = intercept[Throwable](spark.sql(sql).collect())
      val error =
        Iterator.iterate(thrown)(_.getCause).takeWhile(_ != null).map(_.getMessage).mkString("\n")
      assert(error.contains("UNABLE_TO_ACQUIRE_MEMORY") && error.contains(named))
      assert(error.contains(frame) && error.contains("spark.executor.memory"))
    } finally TaskWindowMemory.MostBeyond = before
    // and the session goes on
    assert(run(query(s"$call OVER w AS c", "ROWS 100 PRECEDING"))._1.length == rows)
  }

  test("merged buffers, and lists that are as long as their window", Thorough) {
    for (
      (call, rows) <- Seq("approx_count_distinct(x)" -> 9000, "collect_list(s)" -> 500);
      ahead <- Seq(0, 100)
    ) {
      val sql = "SELECT id, " +
        s"$call OVER (ORDER BY id ROWS BETWEEN $rows PRECEDING AND $ahead FOLLOWING) AS a FROM " +
        "(SELECT id, id * 7919 % 10007 AS x, concat(id, repeat('x', 9000)) AS s " +
        "FROM range(0, 12000, 1, 1)) WHERE id % 4 = 0 OR id > 6000"
      val few = s"SELECT id, hash(a) FROM ($sql)"
      val (paged, bytes) = run(few)
      assert(bytes > 0, s"vacuous: nothing went to disk for $call")
      assert(RowEquality.difference(SashSession.shared.sql(few).collect().toSeq, paged).isEmpty)
    }
  }

  test("a deque that never drops an element") {
    val (answer, bytes) = run(
      "SELECT id, min(lpad(id, 12, '0')) OVER (ORDER BY id ROWS 50000 PRECEDING) AS m " +
        s"FROM $table"
    )
    assert(bytes > 0, "vacuous: nothing went to disk")
    assert(answer.forall(r => r.getString(1).toLong == math.max(0L, r.getLong(0) - 50000)))
  }

  for (algorithm <- Seq("slickdeque-non-inv", "two-stacks-lite"))
    test(s"a few large values count as what they take: $algorithm") {
      // descending, so that a deque keeps all of them
      val sql = "SELECT id, min(concat(id, repeat('x', 20000))) OVER " +
        "(ORDER BY id ROWS 200 PRECEDING) AS m FROM range(100000, 100600, 1, 1)"
      withSettings(SashConf.WindowAlgorithm.key -> algorithm) {
        val (answer, bytes) = run(s"SELECT id, substring(m, 1, 6) FROM ($sql)")
        assert(bytes > 200 * 20000L, "vacuous: the values were left in memory")
        assert(answer.forall { r =>
          r.getString(1).toLong == math.max(100000L, r.getLong(0) - 200)
        })
        val ample = SashSession.shared.sql(sql)
        ample.collect()
        val peak = sliding(ample).map(_.metrics("peakMemory").value).sum
        assert(peak > 200 * 20000L, "accounted")
      }
    }

  test("values that grow when the window is on disk already") {
    val sql = "SELECT id, min(concat(id, repeat('x', int(id % 100000) * 10))) OVER " +
      "(ORDER BY id ROWS 1500 PRECEDING) AS m FROM range(100000, 103000, 1, 1)"
    val (answer, bytes) = run(s"SELECT id, substring(m, 1, 6) FROM ($sql)")
    assert(bytes > 0, "vacuous: the values were left in memory")
    assert(answer.forall { r =>
      r.getString(1).toLong == math.max(100000L, r.getLong(0) - 1500)
    })
  }

  test("a sort above takes the window's memory while it slides") {
    val sql = "SELECT id, c FROM (" +
      query(
        "sum(x) OVER w AS c, concat(s, s) AS t",
        "ROWS BETWEEN 9000 PRECEDING AND CURRENT ROW"
      ) +
      ") SORT BY t, id"
    val (answer, bytes) = run(sql)
    assert(bytes > 0, "vacuous: the window was left in memory")
    val expected = sums(9000, 0)
    assertSums(answer, expected)
  }

  test("several partitions, of which the large ones go to disk") {
    val sql =
      s"SELECT id, sum(x) OVER w AS c, sum(id) OVER w AS d FROM $table " +
        "WINDOW w AS (PARTITION BY id % 16 = 0 ORDER BY id ROWS 45000 PRECEDING)"
    // else it is the rows below that make room for the window
    withSettings(SashConf.OrderingEnabled.key -> "false") {
      val (answer, bytes) = run(sql)
      assert(bytes > 0, "vacuous: nothing went to disk")
      val ample = SashSession.shared.sql(sql).collect().toSeq
      assert(RowEquality.difference(ample, answer).isEmpty)
    }
  }

  private def orderings(frame: DataFrame): Seq[OrderingExec] =
    collect(frame.queryExecution.executedPlan) { case o: OrderingExec => o }

  /** Rows of several sizes, shuffled, some keys in order and some not. */
  private val shuffled =
    s"(SELECT id, IF(id % 4 = 0, id, hash(id)) AS o, IF(id % 4 = 0, 7, pmod(hash(id, 1), 5)) AS k, " +
      s"repeat('x', pmod(hash(id, 2), 90)) AS s FROM range(0, $rows, 1, 1))"

  private val ordered =
    "SELECT id, sum(id) OVER (PARTITION BY k ORDER BY o, id ROWS 5 PRECEDING) AS c, s " +
      s"FROM $shuffled"

  private def ample(sql: String): Seq[Row] = {
    val frame = SashSession.shared.sql(sql)
    val answer = frame.collect().toSeq
    assert(orderings(frame).map(_.metrics("spillSize").value).sum == 0)
    answer
  }

  test("rows that outgrow the memory while they come go to Spark's sorter") {
    val frame = spark.sql(ordered)
    val answer = frame.collect().toSeq
    val Seq(ordering) = orderings(frame)
    assert(ordering.metrics("spillSize").value > 0, "vacuous: all rows fitted")
    assert(RowEquality.difference(ample(ordered), answer).isEmpty)
  }

  test("many keys, and more rows than fit") {
    // a few keys fill the memory before the many come
    val sql = "SELECT id, sum(id) OVER (PARTITION BY k ORDER BY o, id ROWS 5 PRECEDING) AS c " +
      "FROM (SELECT id, hash(id) AS o, IF(id < 9000, id % 3, id) AS k, repeat('x', 60) AS s " +
      s"FROM range(0, $rows, 1, 1))"
    withSettings("spark.sql.shuffle.partitions" -> "1") {
      val frame = spark.sql(sql)
      val answer = frame.collect().toSeq
      val Seq(ordering) = orderings(frame)
      assert(ordering.metrics("tasksSortedBySpark").value == 1)
      assert(RowEquality.difference(ample(sql), answer).isEmpty)
    }
  }

  /** A few keys; and so many that a bucket has several, in order and not. */
  private val leaving = Seq(
    ordered,
    ordered.replace("PARTITION BY k", "PARTITION BY k, id % 5000"),
    ordered.replace("PARTITION BY k", "PARTITION BY pmod(hash(id, 4), 3000)"),
    ordered.replace("PARTITION BY k ORDER BY o, id", "PARTITION BY id * 7919 % 3000 ORDER BY id")
  )

  for ((query, i) <- leaving.zipWithIndex)
    test(
      s"rows that go out while another operator needs memory go by way of the disk: $i"
    ) {
      // rows that fit, below an aggregate by rows that does not
      val few = query.replace(s"range(0, $rows,", "range(0, 9000,")
      val sql = s"SELECT max(id) AS id, sum(c) AS c, s || id AS g FROM ($few) GROUP BY s || id"
      withSettings("spark.sql.shuffle.partitions" -> "1") {
        val frame = spark.sql(sql)
        val answer = frame.collect().toSeq
        val Seq(ordering) = orderings(frame)
        assert(ordering.metrics("spillSize").value > 0, "vacuous: the rows stayed in memory")
        assert(ordering.metrics("tasksSortedBySpark").value == 0, "vacuous: Spark sorted")
        assert(RowEquality.difference(ample(sql), answer).isEmpty)
      }
    }
}
