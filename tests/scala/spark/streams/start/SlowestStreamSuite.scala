package io.sash.spark.streams.start

import org.apache.spark.sql.{DataFrame, Encoders}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.streaming.{OutputMode, Trigger}

import io.sash.spark.{Event, SashLog, StreamSuite}

/** The log says that windows over several streams wait for the slowest of them. */
class SlowestStreamSuite extends StreamSuite {
  private val key = "spark.sql.streaming.multipleWatermarkPolicy"

  private def stream: DataFrame = MemoryStream[Event](Encoders.product[Event], spark).toDF()

  private def warnings(policy: String)(query: => DataFrame): Seq[String] =
    streaming(key -> policy) {
      val plan = query.queryExecution.analyzed
      val statement = statementOf(plan, OutputMode.Append(), Trigger.ProcessingTime(0))
      val logger = "io.sash.spark.streams.start.SlowestStream"
      SashLog.logged({ StreamingWrite(statement); StreamingWrite(statement) }, logger)
    }

  private def labels: DataFrame = {
    stream.withWatermark("ts", "1 second").createOrReplaceTempView("labels")
    stream.withWatermark("ts", "1 second").createOrReplaceTempView("events")
    spark.sql("""SELECT l.id, f.a FROM labels l, LATERAL (SELECT sum(e.x) AS a FROM events e
        |  WHERE e.k = l.k AND e.ts < l.ts AND e.ts >= l.ts - INTERVAL 1 MINUTE) f""".stripMargin)
  }

  private def over(rows: DataFrame): DataFrame =
    sql("SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts) AS a FROM events")(rows)

  test("labels and events: one warning, with a remedy") {
    val Seq(said) = warnings("min")(labels)
    Seq("2 streams with watermarks (ts, ts)", key, "set it to max", "before the first start")
      .foreach(words => assert(said.contains(words)))
  }

  test("a union of two streams, each with its watermark") {
    def each = stream.withWatermark("ts", "1 second")
    assert(warnings("min")(over(each.union(each))).length == 1)
  }

  test("no warning with the policy max, or with one watermark") {
    assert(warnings("max")(labels).isEmpty)
    assert(warnings("min")(over(stream.union(stream).withWatermark("ts", "1 second"))).isEmpty)
  }
}
