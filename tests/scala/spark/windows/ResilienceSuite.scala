package io.sash.spark.windows

import java.util.concurrent.atomic.AtomicInteger

import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.duration._

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.Row
import org.apache.spark.sql.functions.udf

import io.sash.spark.{SashSuite, TestTable}

/** Tasks that fail, are killed or stop early, and queries that run side by side. */
class ResilienceSuite extends SashSuite {
  import ResilienceSuite._

  private val frames = Seq("ROWS 9 PRECEDING", "ROWS BETWEEN 9 PRECEDING AND 5 FOLLOWING")

  /** The rows pass through `hurdle` above the sort, so that the window is full when it acts. */
  private def query(hurdle: String, frame: String): String =
    s"""SELECT id, $hurdle(s) AS s, m FROM (
       |  SELECT id, sum(x) OVER w AS s, max(x) OVER w AS m
       |  FROM (SELECT id, id % 2 AS k, id * 7 % 31 AS x FROM range(0, 400, 1, 2))
       |  WINDOW w AS (PARTITION BY k ORDER BY id $frame))""".stripMargin

  private def rows(sql: String): Seq[Row] =
    spark.sql(sql).collect().toSeq.sortBy(_.getLong(0))

  for (frame <- frames) test(s"a task that fails is retried and answers right: $frame") {
    spark.udf.register("pass", udf((s: Long) => s))
    spark.udf.register("stumble", udf(stumble))
    failures.set(0)
    assert(rows(query("stumble", frame)) == rows(query("pass", frame)))
    assert(failures.get > 0, "vacuous: no task failed")
    checkSlides(query("pass", frame))
  }

  for (frame <- frames) test(s"a task that is killed is run again and answers right: $frame") {
    spark.udf.register("pass", udf((s: Long) => s))
    spark.udf.register("linger", udf(linger))
    killed.set(0)
    assert(rows(query("linger", frame)) == rows(query("pass", frame)))
    assert(killed.get > 0, "vacuous: no task was killed")
  }

  test("two queries at once do not meet") {
    TestTable.create(spark)
    val calls = Seq("sum(i)", "max(s)", "first(l)", "count(*)", "max_by(s, i)")
    def over(call: String): String =
      s"SELECT id, $call OVER (PARTITION BY g ORDER BY uq ROWS BETWEEN 20 PRECEDING AND 3 " +
        "FOLLOWING) AS c FROM data"
    def sorted(call: String): Seq[Row] =
      spark.sql(over(call)).collect().toSeq.sortBy(_.getInt(0))
    val alone = calls.map(sorted)
    implicit val pool: ExecutionContext = ExecutionContext.global
    val together = Seq.fill(4)(calls).flatten.map(call => Future(sorted(call)))
    val results = Await.result(Future.sequence(together), 2.minutes)
    results.grouped(calls.length).foreach(group => assert(group == alone))
  }

  test("a limit that stops the window early") {
    for (frame <- frames) {
      checkSlides(
        s"SELECT id, sum(x) OVER (ORDER BY id $frame) AS s FROM " +
          "(SELECT id, id * 7 % 31 AS x FROM range(0, 400, 1, 2)) LIMIT 7"
      )
    }
    val taken = spark.sql(query("abs", frames.last)).take(3)
    assert(taken.length == 3)
  }

  test("a window whose rows nobody reads to the end leaves no memory behind") {
    for (frame <- frames) {
      val counted = spark.sql(
        s"SELECT sum(x) OVER (ORDER BY id $frame) AS s FROM " +
          "(SELECT id, id * 7 % 31 AS x FROM range(0, 400, 1, 2))"
      )
      // spark.unsafe.exceptionOnMemoryLeak fails a task that has not given all back
      assert(counted.rdd.mapPartitions(_.take(5)).count() == 5)
    }
  }

  test("one query planned once and run many times") {
    for (frame <- frames) {
      val planned = spark.sql(query("abs", frame))
      val results = Seq.fill(3)(planned.collect().toSeq.sortBy(_.getLong(0)))
      assert(results.distinct.size == 1 && sliding(planned).nonEmpty)
    }
  }
}

/** What the tasks, which run in this JVM, share with the tests. */
object ResilienceSuite {
  val failures = new AtomicInteger
  val killed = new AtomicInteger

  private val seen = ThreadLocal.withInitial(() => Array(-1L, 0L))

  /** How many rows the present task has shown us. */
  private def count(): Long = {
    val state = seen.get
    val task = TaskContext.get().taskAttemptId()
    if (state(0) != task) {
      state(0) = task
      state(1) = 0L
    }
    state(1) += 1
    state(1)
  }

  val stumble: Long => Long = { s =>
    if (count() == 150 && TaskContext.get().attemptNumber() == 0) {
      failures.incrementAndGet()
      throw new IllegalStateException("the first attempt fails amid its rows")
    }
    s
  }

  val linger: Long => Long = { s =>
    val context = TaskContext.get()
    if (count() == 150 && context.attemptNumber() == 0) {
      killed.incrementAndGet()
      SparkContext.getOrCreate().killTaskAttempt(context.taskAttemptId())
      while (!context.isInterrupted()) Thread.sleep(5)
    }
    s
  }
}
