package io.sash.spark.memory

import org.apache.spark.sql.DataFrame

import io.sash.spark.{ErrorCondition, LittleMemory, SashSuite}
import io.sash.spark.base.SashConf

/** Memory goes back as soon as the last row has left, and before it to whoever needs it. */
class GivingBackSuite extends SashSuite with LittleMemory {
  private var bytes = 0L

  override protected def heapBytes: Long = bytes

  override protected def otherSettings: Map[String, String] =
    Map("spark.sql.adaptive.coalescePartitions.enabled" -> "false")

  private val frames =
    Seq("ROWS 90 PRECEDING", "ROWS BETWEEN 50 PRECEDING AND 50 FOLLOWING")

  private def windowed(rows: Int, keys: Int, text: Int, frame: String): String =
    s"SELECT id, s, sum(x) OVER (PARTITION BY k ORDER BY o, id $frame) AS c FROM " +
      s"(SELECT id, id % 7 AS x, hash(id) AS o, pmod(hash(id, 1), $keys) AS k, " +
      s"repeat('x', $text) AS s FROM range(0, $rows, 1, 4))"

  private def sum(frame: DataFrame): Long =
    frame.selectExpr("sum(c + id)").collect().head.getLong(0)

  for (frame <- frames; ordering <- Seq("true", "false"))
    test(
      s"a task reads more partitions than fit at once: $frame, ordering $ordering",
      each(2): _*
    ) {
      bytes = 2L << 20
      withSettings(
        "spark.sql.shuffle.partitions" -> "60",
        SashConf.OrderingEnabled.key -> ordering
      ) {
        def query = spark.sql(windowed(6000, 300, 400, frame)).coalesce(1)
        assert(sliding(query).nonEmpty, "vacuous: Spark's window")
        val expected = withSash(enabled = false)(sum(query))
        assert(sum(query) == expected)
      }
    }

  for (frame <- Seq("ROWS 3000 PRECEDING", "ROWS BETWEEN 3000 PRECEDING AND 1 FOLLOWING"))
    for (codegen <- Seq("true", "false"))
      test(
        s"a window that has ended leaves its memory to the next: $frame, codegen $codegen",
        each(2): _*
      ) {
        bytes = 4L << 20
        withSettings(
          "spark.sql.shuffle.partitions" -> "60",
          "spark.sql.codegen.wholeStage" -> codegen
        ) {
          val frames = s"stddev(id) OVER (PARTITION BY k ORDER BY id $frame) AS c"
          val query = spark
            .sql(s"SELECT id, $frames FROM (SELECT id, id % 60 AS k FROM range(0, 90000, 1, 4))")
            .coalesce(1)
          val run = query.agg(Map("c" -> "count"))
          assert(run.collect().head.getLong(0) > 80000)
          val Seq(window) = sliding(run)
          assert(window.metrics("spillSize").value == 0)
        }
      }

  for (frame <- frames)
    test(
      s"an aggregate above a window runs in 1.2 times the memory that Spark needs: $frame",
      each(2): _*
    ) {
      val sql = s"SELECT max(id) AS id, sum(c) AS c, concat(s, id) AS g " +
        s"FROM (${windowed(12000, 5, 40, frame)}) GROUP BY concat(s, id)"
      def answer(): Option[Long] = withSettings("spark.sql.shuffle.partitions" -> "1") {
        try Some(sum(spark.sql(sql)))
        catch {
          case e: Exception if ErrorCondition.of(e).contains("UNABLE_TO_ACQUIRE_MEMORY") => None
        }
      }
      bytes = 340L << 10
      var expected: Option[Long] = None
      while (expected.isEmpty) {
        bytes = bytes * 6 / 5
        expected = withSash(enabled = false)(answer())
      }
      info(s"Spark needs $bytes bytes")
      bytes = bytes * 6 / 5
      assert(answer() == expected)
    }
}
