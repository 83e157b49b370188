package io.sash.spark.streams.read

import java.sql.Timestamp

import scala.util.Random

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.streaming.OutputMode
import org.scalatest.tags.Slow

import io.sash.spark.{Event, StreamSuite}
import io.sash.spark.streams.state.SmallChunks

/** What is read from a checkpoint are the batch query's answers over the rows so far. */
@Slow
class ReadStateSuite extends StreamSuite {
  import StreamSuite._

  private val W = "OVER (PARTITION BY k ORDER BY ts, id"
  private val R = "OVER (PARTITION BY k ORDER BY ts RANGE"

  /** Windows that stand at a key's last row, whatever the time; of one order each. */
  private val byRows = Seq(
    Seq(
      s"sum(x) $W ROWS 4 PRECEDING)",
      s"collect_list(id) $W ROWS BETWEEN 5 PRECEDING AND 2 PRECEDING)",
      s"lag(x, 2) $W)",
      s"row_number() $W)",
      s"dense_rank() $W)",
      s"sum(x) $W ROWS UNBOUNDED PRECEDING)",
      s"median(x) $W ROWS 6 PRECEDING)"
    ),
    Seq(
      "count(x) OVER (PARTITION BY k, groups_window(3) ORDER BY ts)",
      "count(x) OVER (PARTITION BY k, delta_window(d, 60) ORDER BY ts)",
      "count(x) OVER (PARTITION BY k, predicate_window(sum(x), s -> s < 120) ORDER BY ts)",
      "count(x) OVER (PARTITION BY k, punctuation_window(x > 60) ORDER BY ts)"
    )
  )

  /** Windows over time, of aggregates that a row whose x is NULL does not change. */
  private val byTime = Seq(
    s"sum(x) $R INTERVAL 12 SECONDS PRECEDING)",
    s"count(x) $R BETWEEN INTERVAL 20 SECONDS PRECEDING AND INTERVAL 3 SECONDS PRECEDING)",
    s"count(DISTINCT x) $R INTERVAL 25 SECONDS PRECEDING)",
    s"percentile(x, 0.3) $R INTERVAL 15 SECONDS PRECEDING)",
    "sum(x) OVER (PARTITION BY k, gap_window(INTERVAL 4 SECONDS) ORDER BY ts)",
    s"sum(x) $R BETWEEN CURRENT ROW AND CURRENT ROW)",
    s"max(x) $R UNBOUNDED PRECEDING)"
  )

  /** @param atTime whether answers at a time are of a row of that time; if not, of the last */
  private def check(calls: Seq[String], seed: Int, atTime: Boolean, mode: OutputMode): Unit =
    streaming()(inDirectory { checkpoint =>
      val random = new Random(seed)
      val named = calls.zipWithIndex.map { case (call, i) => s"$call AS b$i" }.mkString(", ")
      val struct = calls.indices.map(i => s"b$i").mkString("struct(", ", ", ")")
      val query = sql(
        s"""SELECT id, k, t, x + 1 AS y, $struct AS b
           |FROM (SELECT id, k, x, unix_micros(ts) AS t, $named FROM events)""".stripMargin
      ) _
      val source = new Source("7 seconds", checkpoint, mode)
      val some = batches(seed, count = 4, size = 14, jitterSeconds = 9, keys = 3).init
      source.start(query)
      some.indices.foreach { i =>
        source.add(some(i))
        val (rows, watermark) = onTime(some.take(i + 1), 7)
        val now = query(source.frame)
        last(query, rows, now.where(s"read_state('$checkpoint')"))
        locally {
          val from = math.max(watermark, 1600000990000L)
          val at = new Timestamp(from + 1 + random.nextInt(30000))
          val time = s"timestamp_millis(${at.getTime})"
          val read = now.where(s"read_state('$checkpoint', array(0, 1, 2, NULL), $time)")
          val expected =
            if (atTime) asRow(query, rows, at)
            else
              lastRows(query, rows.filter(!_.ts.get.after(at))).map { case (k, a) => k -> a._2 }
          compare(expected, read, at)
        }
      }
      source.stop()
    })

  private def last(query: DataFrame => DataFrame, rows: Seq[Event], read: DataFrame): Unit = {
    val expected = lastRows(query, rows)
    val found = answersOf(read)
    found.foreach { case (k, (t, b)) => assert(expected(k) == ((t, b)), s"$k") }
    assert(found.size == read.count())
  }

  /** The answers of each key's last row, with its time. */
  private def lastRows(query: DataFrame => DataFrame, rows: Seq[Event]) =
    query(frame(rows)).collect().toSeq.groupBy(_.get(1)).map { case (k, of) =>
      val row = of.maxBy(r => (r.getLong(2), r.getLong(0)))
      k -> (row.getLong(2) -> row.get(4))
    }

  /** The answers of rows that come at a time, and in which all else is NULL. */
  private def asRow(query: DataFrame => DataFrame, rows: Seq[Event], at: Timestamp) = {
    val moments = Seq(Some(0), Some(1), Some(2), None).zipWithIndex.map { case (k, i) =>
      Event(1000000L + i, k, Some(at), None, 0.0, "moment")
    }
    query(frame(rows.filter(!_.ts.get.after(at)) ++ moments))
      .where("id >= 1000000")
      .collect()
      .map(r => r.get(1) -> r.get(4))
      .toMap
  }

  private def compare(
      expected: Map[Any, Any],
      read: DataFrame,
      at: Timestamp
  ): Unit = {
    val found = answersOf(read)
    assert(found.keySet == Set[Any](0, 1, 2, null))
    found.foreach { case (k, (t, b)) =>
      assert(t == at.getTime * 1000 && expected.get(k).forall(_ == b), s"$k: $b, not $expected")
    }
  }

  private def answersOf(read: DataFrame): Map[Any, (Long, Any)] = {
    val rows = read.collect().toSeq
    assert(rows.forall(r => r.isNullAt(0) && r.isNullAt(3)))
    rows.map(r => r.get(1) -> (r.getLong(2) -> r.get(4))).toMap
  }

  private def frame(rows: Seq[Event]): DataFrame = spark.createDataFrame(rows)

  for (mode <- Seq(OutputMode.Append(), OutputMode.Update())) {
    test(s"windows of rows, in $mode mode") {
      byRows.zipWithIndex.foreach { case (calls, i) =>
        SmallChunks(check(calls, i, atTime = false, mode))
      }
    }

    test(s"windows over time, in $mode mode") {
      SmallChunks(check(byTime, 7, atTime = true, mode))
    }
  }
}
