package io.sash.spark.hops

import org.apache.spark.sql.DataFrame

import org.scalatest.tags.Slow

import io.sash.spark.LittleMemory

/** Panes that do not fit the task's memory. */
@Slow
class HopMemorySuite extends HopChecks with LittleMemory {
  override protected def heapBytes: Long = 1250L << 10

  override protected def otherSettings: Map[String, String] =
    Map("spark.sql.shuffle.partitions" -> "1")

  private def text(frame: DataFrame): Seq[String] = frame.collect().map(_.toString).sorted.toSeq

  for ((size, panes) <- Seq("6 seconds" -> 6, "200 seconds" -> 200, "199500 milliseconds" -> 399))
    test(s"windows of $panes panes with long texts are Spark's, and go to disk", each(2): _*) {
      val query = "SELECT k, window, hash(max_text), n FROM (SELECT k, window, " +
        "max(s) AS max_text, max_by(concat(s, 'y'), id) AS t, count(*) AS n FROM " +
        "(SELECT id, id % 1 AS k, timestamp_seconds(id) AS ts, " +
        "concat(hash(id), repeat('x', 3000)) AS s FROM range(0, 300, 1, 1)) " +
        s"GROUP BY k, window(ts, '$size', '1 second')) WHERE hash(t) % 2 = 0"
      val expected = withHops(on = false)(text(spark.sql(query)))
      val frame = spark.sql(query)
      val rows = text(frame)
      val Seq(hops) = hopsOf(frame)
      assert(rows.nonEmpty && rows == expected)
      assert((hops.metrics("spillSize").value > 0) == panes > 10)
    }

  test("windows of multisets beside partials are Spark's, and go to disk") {
    val query = "SELECT k, window, hash(m), hash(n), d, hash(c) FROM (SELECT k, window, " +
      "max(s) AS m, mode(s, true) AS n, count(DISTINCT s) AS d, " +
      "sort_array(collect_set(s)) AS c FROM " +
      "(SELECT id % 1 AS k, timestamp_seconds(id) AS ts, " +
      "concat(hash(id % 20), repeat('x', 3000)) AS s FROM range(0, 300, 1, 1)) " +
      "GROUP BY k, window(ts, '200 seconds', '1 second'))"
    val expected = withHops(on = false)(text(spark.sql(query)))
    val frame = spark.sql(query)
    val rows = text(frame)
    val Seq(hops) = hopsOf(frame)
    assert(rows.nonEmpty && rows == expected)
    assert(hops.metrics("spillSize").value > 0)
  }
}
