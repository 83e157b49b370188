package io.sash.spark.slices

import org.apache.spark.sql.DataFrame

import org.scalatest.tags.Slow

import io.sash.spark.LittleMemory
import io.sash.spark.base.SashConf

/** Slices whose partials do not fit the task's memory. */
@Slow
class SliceMemorySuite extends LittleMemory {
  override protected def heapBytes: Long = 3L << 20

  override protected def otherSettings: Map[String, String] =
    Map("spark.sql.shuffle.partitions" -> "2")

  private def text(frame: DataFrame): Seq[String] = frame.collect().map(_.toString).sorted.toSeq

  /** The same rows with slices and without; the metrics of the slices. */
  private def counts(asked: String, keys: Int = 3000, order: String = ""): Map[String, Long] = {
    spark
      .sql(s"SELECT id AS k, 50 AS t FROM range(0, $keys, 1, 2)")
      .createOrReplaceTempView("labels")
    spark
      .sql(
        s"SELECT id % $keys AS k, id DIV $keys AS t, id AS x, " +
          "concat(hash(id), repeat('x', 900)) AS s FROM range(0, 12000, 1, 2)"
      )
      .createOrReplaceTempView("events")
    val query = s"SELECT l.*, f.* FROM labels l, LATERAL (SELECT $asked FROM events e " +
      s"WHERE e.k = l.k AND e.t <= l.t $order) f"
    def rows(threshold: String) = withSettings(SashConf.LateralSliceThreshold.key -> threshold) {
      val frame = spark.sql(query)
      (text(frame), frame)
    }
    val (expected, _) = rows("-1")
    val (found, frame) = rows("0")
    assert(found.length >= keys && found == expected)
    val slices = collect(frame.queryExecution.executedPlan) { case s: EventSlicesExec => s }
    slices.head.metrics.map { case (name, metric) => name -> metric.value }
  }

  for (whole <- Seq("true", "false"))
    test(s"buffers of a fixed size have memory, too, whole stages: $whole") {
      withSettings("spark.sql.codegen.wholeStage" -> whole) {
        // 4 KB in each slot, of 3000 in each of two tasks with some 2 MB
        val bits = counts("bitmap_count(bitmap_construct_agg(bitmap_bit_position(x))) AS b")
        assert(bits("single") > 100 && bits("slices") < 2000, bits)
        assert(bits("peakMemory") > bits("slices") / 2 * 4096, bits)
        // they stay where they are
        assert(bits("numOutputRows") == bits("single") + bits("slices"), bits)
      }
    }

  for (whole <- Seq("true", "false"))
    test(s"partials that outgrow the memory leave early, whole stages: $whole") {
      withSettings("spark.sql.codegen.wholeStage" -> whole) {
        // 300 lists of twenty texts of 900 bytes in each of two tasks
        val lists = counts("e.s", keys = 300, "ORDER BY e.x LIMIT 40")
        assert(lists("slices") > 300, lists)
        assert(lists("numOutputRows") > lists("single") + lists("slices") + 100, lists)
      }
    }

  for (whole <- Seq("true", "false"))
    test(s"long texts pass alone once memory is short, whole stages: $whole") {
      withSettings("spark.sql.codegen.wholeStage" -> whole) {
        val texts = counts("hash(max(s)) AS h, count(*) AS n")
        assert(texts("single") > 100 && texts("slices") > 100, texts)
        assert(texts("numOutputRows") >= texts("single") + texts("slices"), texts)
        val numbers = counts("sum(x) AS s, count(*) AS n")
        assert(numbers("slices") > 1000, numbers)
      }
    }
}
