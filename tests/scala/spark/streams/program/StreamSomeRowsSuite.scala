package io.sash.spark.streams.program

import org.scalatest.tags.Slow

import io.sash.spark.StreamSuite

/**
 * Windows of each row's own width within a bound, on streams as in batch.
 */
@Slow
class StreamSomeRowsSuite extends StreamSuite {
  import StreamSomeRowsSuite._

  private def batches(seed: Long) =
    StreamSuite.batches(seed, count = 5, size = 30, jitterSeconds = 25, keys = 2)

  private val calls =
    Seq(
      "sum(x)",
      "collect_list(id)",
      "max(d)",
      "median(x)",
      "count(DISTINCT x)",
      "rank_in_frame(d)"
    )

  private def query(windows: Seq[String], all: Seq[String]) = {
    val columns = windows.zipWithIndex.map { case (w, i) =>
      s"${all(i % all.length)} OVER (PARTITION BY k, $w) AS a$i"
    }
    s"SELECT id, ${columns.mkString(", ")} FROM events"
  }

  for (((name, windows), i) <- widths.zipWithIndex) {
    val text = query(windows, calls.drop(2 * i % 6) ++ calls)
    test(s"a stream's answers are the batch's: $name", each(3): _*) {
      streaming() {
        checkStream(batches(i + 7L), delaySeconds = 15, restartBefore = Set(2, 4))(sql(text))
      }
    }
    test(s"in update mode: $name", each(3): _*) {
      checkUpdates(batches(i + 7L), delaySeconds = 15, restartBefore = Set(3))(sql(text))
    }
  }

  test("members are in the order of the window's rows, though its begin moves back") {
    val rows = (0 until 60).map(i => StreamSuite.at(i.toLong, i.toDouble, x = i * 7 % 23))
    val window = "window_and(rows_window(x % 5), count_window(10)) ORDER BY ts"
    val calls = Seq("first(DISTINCT x)", "collect_list(DISTINCT x)", "listagg(DISTINCT x)")
    val text = query(Seq.fill(3)(window), calls)
    streaming() {
      checkStream(rows.grouped(20).toSeq :+ Seq(StreamSuite.at(99, 500)), delaySeconds = 1)(
        sql(text)
      )
    }
  }

  test("a median goes on from batch to batch without the rows that were left out") {
    val rows = (0 until 40).map(i => StreamSuite.at(i.toLong, (i / 2).toDouble, x = i * 7 % 11))
    val text = query(
      Seq("window_and(rows_window(x % 7), time_window('6 seconds')) ORDER BY ts"),
      Seq("median(x)")
    )
    streaming() {
      checkStream(rows.grouped(3).toSeq :+ Seq(StreamSuite.at(99, 500)), delaySeconds = 1)(
        sql(text)
      )
    }
  }
}

private object StreamSomeRowsSuite {
  val widths: Seq[(String, Seq[String])] = Seq(
    "own rows" -> Seq(
      "window_and(rows_window(x % 7), count_window(5)) ORDER BY ts, id",
      "window_and(rows_window(x % 20 - 3), window_and(count_window(9), groups_window(4))) ORDER BY ts, id",
      "window_and(punctuation_window(x % 5 = 0), rows_window(x % 7)) ORDER BY ts, id"
    ),
    "own ranges" -> Seq(
      "window_and(range_window(make_dt_interval(0, 0, 0, x % 9)), time_window('6 seconds')) ORDER BY ts",
      "window_and(range_window(make_dt_interval(0, 0, 0, x % 9 - 1)), count_window(8)) ORDER BY ts",
      "window_and(range_window(make_interval(0, 0, 0, 0, 0, 0, x % 9)), gap_window('5 seconds')) ORDER BY ts",
      "window_and(rows_window(x % 7), time_window('6 seconds')) ORDER BY ts",
      "window_and(range_window(ts - date_trunc('minute', ts)), time_window('1 minute')) ORDER BY ts"
    )
  )
}
