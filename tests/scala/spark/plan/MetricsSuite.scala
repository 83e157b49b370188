package io.sash.spark.plan

import io.sash.spark.SashSuite
import io.sash.spark.base.SashConf

/** The operator's SQL metrics say what its algorithms did. */
class MetricsSuite extends SashSuite {
  private val rows = 1000L

  /** The metrics of one window call over `rows` rows in one partition. */
  private def metrics(call: String, frame: String): Map[String, Long] = {
    val query = spark.sql(
      s"SELECT id, $call OVER (ORDER BY id $frame) AS c " +
        s"FROM (SELECT id, id * 7919 % 1009 AS x FROM range(0, $rows, 1, 1))"
    )
    query.collect()
    val Seq(operator) = sliding(query)
    operator.metrics.map { case (name, metric) => (name, metric.value) }
  }

  // an average metric keeps one decimal as an integer
  private def peakRows(metrics: Map[String, Long]): Double = metrics("peakWindowRows") / 10.0

  test("rows, evictions and the peak of the window") {
    for (width <- Seq(1, 10, 100)) {
      val m = metrics("sum(x)", s"ROWS ${width - 1} PRECEDING")
      assert(m("numOutputRows") == rows)
      assert(m("evictions") == rows - width)
      // a row enters before the oldest leaves
      assert(peakRows(m) >= width && peakRows(m) <= width + 1)
    }
  }

  test("SlickDeque (Inv) combines once an insert and subtracts once an evict") {
    val m = metrics("sum(x)", "ROWS 9 PRECEDING")
    assert(m("combines") == rows + (rows - 10))
  }

  test("SlickDeque (Non-Inv) compares less than twice a row") {
    val m = metrics("max(x)", "ROWS 99 PRECEDING")
    assert(m("combines") >= rows - 1 && m("combines") < 2 * rows)
  }

  test("Two-Stacks Lite combines at most three times a row, whatever the window") {
    for (width <- Seq(10, 100, 500)) {
      val m = metrics("stddev(x)", s"ROWS ${width - 1} PRECEDING")
      assert(m("combines") > rows && m("combines") <= 3 * rows)
    }
  }

  test("Recalculate combines as often as the window is long") {
    withSettings(SashConf.WindowAlgorithm.key -> "recalculate") {
      assert(metrics("stddev(x)", "ROWS 99 PRECEDING")("combines") > 80 * rows)
    }
  }

  test("frames that look ahead, shrink, or range") {
    val ahead = metrics("sum(x)", "ROWS BETWEEN 5 FOLLOWING AND 14 FOLLOWING")
    assert(ahead("numOutputRows") == rows && peakRows(ahead) >= 10 && peakRows(ahead) <= 20)
    val shrinking = metrics("sum(x)", "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING")
    assert(peakRows(shrinking) == rows && shrinking("evictions") == rows - 1)
    val range = metrics("sum(x)", "RANGE BETWEEN 9 PRECEDING AND CURRENT ROW")
    assert(range("evictions") == rows - 10 && peakRows(range) >= 10 && peakRows(range) <= 11)
  }

  test("memory is that of the window, not of the partition") {
    val small = metrics("avg(x)", "ROWS 9 PRECEDING")("peakMemory")
    val large = metrics("avg(x)", "ROWS 499 PRECEDING")("peakMemory")
    assert(small > 0 && small < 4096)
    assert(large > 500 * 16 && large < 100 * 1024)
    assert(metrics("avg(x)", "ROWS 9 PRECEDING")("spillSize") == 0)
  }
}
