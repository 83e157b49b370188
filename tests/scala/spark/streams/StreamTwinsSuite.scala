package io.sash.spark.streams

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.functions.expr

/** Queries in which operators of ours are alike, or beside Spark's own of another kind. */
class StreamTwinsSuite extends StreamSuite {
  // the last row advances the watermark, and a join leaves out those without a key below it
  private val batches = StreamSuite
    .batches(11, count = 5, size = 60, jitterSeconds = 25, keys = 3)
    .zipWithIndex
    .map { case (batch, i) => if (i < 5) batch else batch.map(_.copy(k = Some(0))) }

  private val hops =
    "SELECT window, k, count(*) AS c, sum(x) AS a FROM events GROUP BY k, window(ts, '10 seconds', '5 seconds')"

  test("OVER joined with itself, whose rows Spark could take from one exchange") {
    streaming() {
      checkStream(batches, delaySeconds = 15, restartBefore = Set(2, 4)) { rows =>
        val over = sql(
          "SELECT id, ts, sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 4 PRECEDING) AS a FROM events"
        )(rows)
        over
          .as("u")
          .join(over.as("v"), expr("u.id = v.id AND u.ts = v.ts"))
          .selectExpr("u.id", "u.a AS b", "v.a AS c")
      }
    }
  }

  /** What a stream without late rows gives, from run to run. */
  private def answers(isOurs: Boolean)(query: DataFrame => DataFrame): Seq[String] =
    withSettings("spark.sash.hops.enabled" -> isOurs.toString)(inDirectory { checkpoint =>
      val source = new Source("60 seconds", checkpoint, isOurs = isOurs)
      run(source, batches, restartBefore = Set(2, 4))(query)
      source.rows.map(_.toString).sorted
    })

  test("hops joined with themselves are those of the batch") {
    streaming() { // where Spark's own lose rows
      val query = (rows: DataFrame) => {
        val all = sql(hops)(rows)
        all
          .as("u")
          .join(all.as("v"), expr("u.k = v.k AND u.window = v.window"))
          .selectExpr("u.window", "u.k", "u.c", "v.a")
      }
      val over = spark.createDataFrame(batches.init.flatten)
      assert(answers(isOurs = true)(query) == query(over).collect().map(_.toString).sorted.toSeq)
    }
  }

  test("hops below an aggregation of Spark's are Spark's, restarts included") {
    streaming() {
      val query = sql(
        s"""SELECT window(window_time(window), '1 minute') AS w, sum(c) AS c, max(a) AS a FROM ($hops)
           |  GROUP BY window(window_time(window), '1 minute')""".stripMargin
      ) _
      val ours = answers(isOurs = true)(query)
      assert(ours == answers(isOurs = false)(query) && ours.nonEmpty)
    }
  }
}
