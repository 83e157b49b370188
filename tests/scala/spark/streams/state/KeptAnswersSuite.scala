package io.sash.spark.streams.state

import java.util.concurrent.atomic.AtomicBoolean

import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.functions.{col, udf}
import org.apache.spark.sql.streaming.StreamingQuery

import org.scalatest.tags.Slow

import io.sash.spark.{Event, StreamSuite}

/** Answers beside the slots that stay in the process from batch to batch. */
@Slow
class KeptAnswersSuite extends StreamSuite {
  import StreamSuite._

  private val query = sql(
    """SELECT id, count(DISTINCT x) OVER w AS n, median(x) OVER w AS m FROM events
      |  WINDOW w AS (PARTITION BY k ORDER BY ts, id ROWS 1999 PRECEDING)""".stripMargin
  ) _

  /** Rows of one key, as many a batch. */
  private def batches(sizes: Int*): Seq[Seq[Event]] =
    sizes.scanLeft(0)(_ + _).zip(sizes).map { case (first, size) =>
      (first until first + size).map(i => at(i.toLong, i.toDouble, x = i * 7919 % 1000))
    }

  /** Of the last rows, which wait for the batch after theirs. */
  private def gets(query: StreamingQuery): Long = {
    val progress = query.recentProgress
    progress
      .drop(progress.lastIndexWhere(_.numInputRows > 0))
      .flatMap(_.stateOperators)
      .map(_.customMetrics.get("rocksdbGetCount").longValue)
      .sum
  }

  /** What a batch of few rows behind a window of many reads of the state. */
  private def getsOfSmallBatch(restart: Boolean): Long = {
    var found = 0L
    withSource("0 seconds") { source =>
      val all = batches(3000, 10, 10)
      var running = source.start(query)
      all.init.foreach(source.add)
      if (restart) {
        source.stop()
        running = source.start(query)
      }
      source.add(all.last)
      found = gets(running)
      source.stop()
      val batch = query(spark.createDataFrame(all.flatten)).collect().toSeq
      assert(
        source.rows.map(_.toSeq).toSet == batch.map(_.toSeq).toSet
      )
    }
    found
  }

  private def keeping[T](bytes: Long)(body: => T): T = {
    val most = KeptAnswers.MostBytes
    KeptAnswers.MostBytes = bytes
    try body
    finally KeptAnswers.MostBytes = most
  }

  test("a window is read once, not in each batch") {
    val nodes = 2000 / 32
    assert(getsOfSmallBatch(restart = false) < nodes / 2)
    assert(getsOfSmallBatch(restart = true) > nodes)
    assert(keeping(0L)(getsOfSmallBatch(restart = false)) > nodes)
  }

  /** Until something has come true, for half a minute at most. */
  private def await(is: => Boolean): Boolean = {
    val end = System.nanoTime() + 30000000000L
    while (!is && System.nanoTime() < end) Thread.sleep(50)
    is
  }

  test("what a stopped query has left goes when Spark unloads its state stores") {
    val wait = KeptAnswers.SweepMillis
    KeptAnswers.SweepMillis = 100L
    // the next store begins a maintenance of this interval
    StateStore.getClass.getMethod("stop").invoke(StateStore)
    try
      withSettings("spark.sql.streaming.stateStore.maintenanceInterval" -> "200ms") {
        withSource("0 seconds") { source =>
          assert(await(KeptAnswers.size == ((0, 0))), "of other suites")
          val all = batches(100, 40, 40, 20).map(_.map(e => e.copy(k = Some((e.id % 3).toInt))))
          source.start(query)
          all.take(2).foreach(source.add)
          Thread.sleep(500)
          val (keys, places) = KeptAnswers.size
          assert(keys >= 3 && places >= 1, "they stay while the query runs")
          source.stop()
          assert(await(KeptAnswers.size == ((0, 0))))
          source.start(query)
          all.drop(2).foreach(source.add)
          assert(KeptAnswers.size._1 >= 3)
          source.stop()
          val batch = query(spark.createDataFrame(all.flatten)).collect().toSeq
          assert(source.rows.map(_.toSeq).toSet == batch.map(_.toSeq).toSet)
        }
        assert(await(KeptAnswers.size == ((0, 0))))
      }
    finally {
      KeptAnswers.SweepMillis = wait
      StateStore.getClass.getMethod("stop").invoke(StateStore)
    }
  }

  test("a task that fails and is run again finds what the state has, and not what it has left") {
    KeptAnswersSuite.fails.set(false)
    val failing = udf { (id: Long) =>
      if (id == 150L && KeptAnswersSuite.fails.compareAndSet(true, false))
        throw new IllegalStateException("once")
      id
    }
    val all = batches(100, 40, 40, 20).map(_.map(e => e.copy(k = Some((e.id % 3).toInt))))
    withSource("0 seconds") { source =>
      source.start(rows => query(rows).withColumn("id", failing(col("id"))))
      source.add(all.head)
      KeptAnswersSuite.fails.set(true)
      all.tail.foreach(source.add)
      source.stop()
      assert(!KeptAnswersSuite.fails.get, "vacuous: nothing failed")
      val batch = query(spark.createDataFrame(all.flatten)).collect().toSeq
      assert(source.rows.map(_.toSeq).toSet == batch.map(_.toSeq).toSet)
    }
  }
}

private object KeptAnswersSuite {
  val fails = new AtomicBoolean
}
