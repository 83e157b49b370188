package io.sash.spark.streams.start

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, Encoders, Row}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream
import org.apache.spark.sql.streaming.{OutputMode, StreamingQueryException}

import org.scalatest.tagobjects.Slow

import io.sash.spark.{Event, StreamSuite}

/** A function of foreachBatch has to read all answers of its batch. */
class StreamBatchBodiesSuite extends StreamSuite {
  private val over = sql(
    "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 4 PRECEDING) AS a FROM events"
  ) _
  private val hops = sql(
    "SELECT k, count(*) AS c FROM events GROUP BY k, window(ts, '20 seconds', '10 seconds')"
  ) _

  private val batches =
    StreamSuite.batches(7, count = 3, size = 40, jitterSeconds = 5, keys = 5)

  /**
   * All answers in update mode. Each function runs over one more batch of events, as a query of
   * its own that goes on from the checkpoint; so a batch that failed is run again.
   *
   * @param failed gets the error of a query that fails
   */
  private def answers(query: DataFrame => DataFrame, bodies: (DataFrame => Seq[Row])*)(
      failed: String => Unit
  ): Seq[String] = streaming()(inDirectory { checkpoint =>
    val events = MemoryStream[Event](Encoders.product[Event], spark)
    val rows = mutable.ArrayBuffer.empty[Row]
    bodies.zip(batches).foreach { case (body, batch) =>
      events.addData(batch)
      val write: (DataFrame, Long) => Unit = (of, _) => rows ++= body(of)
      val running = query(events.toDF().withWatermark("ts", "20 seconds")).writeStream
        .option("checkpointLocation", checkpoint)
        .outputMode(OutputMode.Update())
        .foreachBatch(write)
        .start()
      try running.processAllAvailable()
      catch { case e: StreamingQueryException => failed(e.getMessage) }
      running.stop()
    }
    rows.map(_.toString).sorted.toSeq
  })

  private val whole: DataFrame => Seq[Row] = _.collect().toSeq
  private val unexpected: String => Unit = fail(_)

  private val partial = Seq[(String, DataFrame => Seq[Row])](
    "take" -> { rows => rows.take(1); Nil },
    "isEmpty" -> { rows => assert(!rows.isEmpty); Nil },
    "nothing" -> (_ => Nil)
  )

  for ((kind, query) <- Seq("OVER" -> over, "hops" -> hops)) {
    lazy val expected = answers(query, whole, whole, whole)(unexpected)

    for ((name, body) <- if (kind == "OVER") partial else partial.take(1))
      test(
        s"$kind: a function that leaves rows unread fails, its checkpoint goes on: $name",
        Slow
      ) {
        val errors = mutable.ArrayBuffer.empty[String]
        assert(answers(query, whole, body, whole)(errors += _) == expected)
        val Seq(error) = errors.toSeq
        Seq(
          "FOREACH_BATCH_USER_FUNCTION_ERROR",
          "has not read all rows of batch",
          "batch.persist() and batch.count()"
        ).foreach(words => assert(error.contains(words)))
      }

    test(s"$kind: a function that reads rows in part and then all of them", Slow) {
      val twice: DataFrame => Seq[Row] = rows => if (rows.isEmpty) Nil else whole(rows)
      val kept: DataFrame => Seq[Row] = { rows =>
        rows.persist()
        rows.count()
        try twice(rows)
        finally rows.unpersist()
      }
      assert(answers(query, twice, kept, twice)(unexpected) == expected)
    }
  }
}
