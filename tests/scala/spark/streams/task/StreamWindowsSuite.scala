package io.sash.spark.streams.task

import org.apache.spark.sql.DataFrame

import io.sash.spark.{StreamSuite, Thorough}

/** OVER on streams, in append mode: the batch's rows, once each. */
class StreamWindowsSuite extends StreamSuite {

  /** Some aggregates over each of the frames. */
  private def over(order: String, frames: Seq[String], aggregates: Seq[String])(
      rows: DataFrame
  ): DataFrame = {
    val answers = for ((_, i) <- frames.zipWithIndex; (a, j) <- aggregates.zipWithIndex) yield {
      val name = if (a.startsWith("approx")) s"approx_${i}_$j" else s"a_${i}_$j"
      s"${a.stripPrefix("approx ")} OVER w$i AS $name"
    }
    val windows = frames.zipWithIndex.map { case (f, i) =>
      s"w$i AS (PARTITION BY k ORDER BY $order $f)"
    }
    sql(
      s"SELECT id, ts, k, s, ${answers.mkString(", ")} FROM events WINDOW ${windows.mkString(", ")}"
    )(rows)
  }

  private val rows = Seq(
    "ROWS BETWEEN 4 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 70 PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "ROWS BETWEEN 9 PRECEDING AND 2 PRECEDING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING"
  )

  private val ranges = Seq(
    "RANGE BETWEEN INTERVAL 10 SECONDS PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN INTERVAL '0:10' MINUTE TO SECOND PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN INTERVAL 60 SECONDS PRECEDING AND INTERVAL 5 SECONDS PRECEDING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 2 SECONDS PRECEDING",
    "RANGE BETWEEN CURRENT ROW AND CURRENT ROW"
  )

  private val aggregates = Seq("sum(x)", "count(*)", "max(d)", "approx avg(x)", "first(s)")

  private def batches(seed: Long) =
    StreamSuite.batches(seed, count = 8, size = 80, jitterSeconds = 25, keys = 3)

  for {
    (frames, order, name) <- Seq((rows, "ts, id", "ROWS"), (ranges, "ts", "RANGE"))
    codegen <- Seq("CODEGEN_ONLY", "NO_CODEGEN")
  } test(s"a stream's answers are the batch's: $name, $codegen", each(3): _*) {
    streaming("spark.sql.codegen.factoryMode" -> codegen) {
      checkStream(batches(seed = name.length), delaySeconds = 15, restartBefore = Set(2, 5))(
        over(order, frames, aggregates)
      )
    }
  }

  for (frame <- rows.slice(1, 3) ++ Seq(ranges.head, ranges(2)))
    test(s"one window alone: $frame", each(3): _*) {
      streaming() {
        val order = if (rows.contains(frame)) "ts, id" else "ts"
        checkStream(batches(seed = 3), delaySeconds = 15, restartBefore = Set(4))(
          over(order, Seq(frame), aggregates.take(1))
        )
      }
    }

  test("an aggregate with an order of its own") {
    val call = "listagg(s, ',') WITHIN GROUP (ORDER BY s DESC)"
    streaming() {
      checkStream(batches(seed = 5), delaySeconds = 15, restartBefore = Set(4))(
        over("ts, id", Seq("ROWS 5 PRECEDING"), Seq(call))
      )
    }
  }

  test("more frames than a byte tells apart", Thorough) {
    val calls = (0 until 258).map { i =>
      s"sum(x + $i) OVER (PARTITION BY k ORDER BY ts, id ROWS ${40 + i} PRECEDING) AS a$i"
    }
    streaming() {
      checkStream(batches(seed = 6), delaySeconds = 15, restartBefore = Set(4))(
        sql(s"SELECT id, ${calls.mkString(", ")} FROM events")
      )
    }
  }

  test("what no window of rows holds together is not combined") {
    def sketch(lg: Int) = spark
      .sql(s"SELECT hex(hll_sketch_agg(v, $lg)) FROM VALUES (1), (2) AS t(v)")
      .head()
      .getString(0)
    val sketches =
      s"(SELECT *, IF(x = 1, unhex('${sketch(10)}'), unhex('${sketch(12)}')) AS sk FROM events)"
    val events = (1 to 100).map(i => StreamSuite.at(i, i * 10.0, x = if (i <= 50) 1 else 2))
    streaming() {
      checkStream(events.grouped(20).toSeq, delaySeconds = 1, restartBefore = Set(2))(
        sql(s"""SELECT id, hll_sketch_estimate(hll_union_agg(sk) OVER
               |  (PARTITION BY k ORDER BY ts ROWS BETWEEN 40 PRECEDING AND 40 PRECEDING)) AS a
               |FROM $sketches""".stripMargin)
      )
    }
  }
}
