package io.sash.spark.memory

import org.apache.spark.SparkException
import org.apache.spark.sql.{DataFrame, Row}

import io.sash.spark.{LittleMemory, SashSuite}
import io.sash.spark.base.SashConf
import io.sash.spark.ordering.OrderingExec

/**
 * Rows that leave a window in the thread that feeds a script (TRANSFORM), while the task's own
 * thread aggregates what the script gives back, and takes the memory of the rows and windows.
 *
 * Threads take turns as they like, so that each query is run some times, and on until something
 * was spilled; by `make test-threads` a thousand times.
 */
abstract class ThreadsSuite(offHeap: Boolean) extends SashSuite with LittleMemory {
  private val rounds = sys.env.getOrElse("SASH_TEST_ROUNDS", "10").toInt

  override protected def heapBytes: Long = if (offHeap) 8L << 20 else 3L << 20

  override protected def otherSettings: Map[String, String] = Map(
    "spark.memory.offHeap.enabled" -> offHeap.toString,
    "spark.memory.offHeap.size" -> "2400k",
    "spark.sql.shuffle.partitions" -> "1"
  )

  private val rows = 12000

  /** Rows of several sizes, shuffled, some keys in order and some not. */
  private def windowed(frame: String): String =
    s"SELECT id, sum(id) OVER (PARTITION BY k ORDER BY o, id $frame) AS c, s FROM " +
      "(SELECT id, IF(id % 4 = 0, id, hash(id)) AS o, " +
      "IF(id % 4 = 0, 7, pmod(hash(id, 1), 5)) AS k, repeat('x', pmod(hash(id, 2), 90)) AS s " +
      s"FROM range(0, $rows, 1, 1))"

  private def aggregated(from: String): String =
    s"SELECT max(id) AS id, sum(c) AS c, concat(s, id) AS g FROM ($from) GROUP BY concat(s, id)"

  private def byScript(from: String): String =
    s"SELECT TRANSFORM(id, c, s) USING 'cat' AS (id LONG, c LONG, s STRING) FROM ($from)"

  /** Whether rows left memory, and windows. */
  private def spilled(frame: DataFrame): (Boolean, Boolean) = {
    val plan = frame.queryExecution.executedPlan
    val ordering = collect(plan) { case o: OrderingExec => o.metrics("spillSize").value }
    (ordering.sum > 0, sliding(plan).map(_.metrics("spillSize").value).sum > 0)
  }

  private def sums(rows: Array[Row]): (Long, Long, Long) =
    (rows.length.toLong, rows.map(_.getLong(0)).sum, rows.map(_.getLong(1)).sum)

  /** What [[io.sash.spark.ordering.SortedRows]] keeps from our steps fails Spark's sort at times. */
  private def isSparksOwn(e: SparkException): Boolean =
    e.getMessage.contains("UnsafeExternalSorter$SpillableIterator.spill")

  private def check(name: String, frame: String, ordering: Boolean = true): Unit =
    test(s"$name, $frame, ${if (offHeap) "off" else "on"} the heap", each(3): _*) {
      withSettings(SashConf.OrderingEnabled.key -> ordering.toString) {
        val expected = withSash(enabled = false)(sums(spark.sql(windowed(frame)).collect()))
        var round, byRows, byWindows = 0
        def spills = if (ordering) byRows else byWindows
        while (round < rounds || (spills == 0 && round < 10 * rounds)) {
          round += 1
          val query = spark.sql(aggregated(byScript(windowed(frame))))
          try {
            withClue(s"round $round: ")(assert(sums(query.collect()) == expected))
            val (rows, windows) = spilled(query)
            if (rows) byRows += 1
            if (windows) byWindows += 1
          } catch {
            case e: SparkException if !ordering && isSparksOwn(e) =>
              info(s"round $round: Spark's own")
          }
        }
        info(s"of $round rounds, $byRows spilled rows, $byWindows windows")
        assert(spills > 0, "vacuous: nothing was spilled")
      }
    }

  check("a script reads a window", "ROWS 5 PRECEDING")
  check("a script reads a window", "ROWS BETWEEN 5 PRECEDING AND 3 FOLLOWING")
  check("a script reads a large window", "ROWS BETWEEN 4000 PRECEDING AND CURRENT ROW")
  check("a script reads a large window", "ROWS BETWEEN 2000 PRECEDING AND 2000 FOLLOWING")
  // off the heap no window lies, and Spark's sort is not ours
  if (!offHeap)
    check(
      "a script reads a window over Spark's sort",
      "ROWS BETWEEN 2000 PRECEDING AND 2000 FOLLOWING",
      ordering = false
    )
}

/** Rows that leave a window in another thread, with windows on the heap. */
class OnHeapThreadsSuite extends ThreadsSuite(offHeap = false)

/** Rows that leave a window in another thread, with windows off the heap. */
class OffHeapThreadsSuite extends ThreadsSuite(offHeap = true)
