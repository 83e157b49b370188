package io.sash.spark.streams.program

import org.scalatest.tags.Slow

import io.sash.spark.{Event, StreamSuite}

/**
 * Windows whose answers leave some of their rows out, on streams as in batch: exclusions, and each
 * row's own width within a bound.
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

  /**
   * The rows whose frames are complete, if frames look two rows or three seconds ahead. Peers are
   * answered together.
   */
  private def answered(name: String)(rows: Seq[Event], watermark: Long): Seq[Event] =
    if (name.startsWith("rows ahead")) {
      val passed = StreamSuite.passed(rows, watermark)
      val times = passed.map(StreamSuite.micros)
      passed.filter(row => times.count(_ > StreamSuite.micros(row)) >= 2)
    } else StreamSuite.passed(rows, watermark - (if (name.contains("ahead")) 3000 else 0))

  for (((name, windows), i) <- (exclusions ++ widths).zipWithIndex) {
    val text = query(windows, calls.drop(2 * i % 6) ++ calls)
    test(s"a stream's answers are the batch's: $name", each(6): _*) {
      streaming() {
        checkStream(
          batches(i + 7L),
          delaySeconds = 15,
          restartBefore = Set(2, 4),
          answered(name),
          atOnce = !name.contains("ahead")
        )(sql(text))
      }
    }
    if (!name.contains("ahead")) test(s"in update mode: $name", each(6): _*) {
      checkUpdates(batches(i + 7L), delaySeconds = 15, restartBefore = Set(3))(sql(text))
    }
  }

  test("a median goes on from batch to batch without the rows that were left out") {
    val rows = (0 until 40).map(i => StreamSuite.at(i.toLong, (i / 2).toDouble, x = i * 7 % 11))
    val text = query(
      Seq("window_exclude('group') ORDER BY ts RANGE INTERVAL 5 SECONDS PRECEDING"),
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
  private val Excluded = Seq("current row", "group", "ties")

  private def excluding(name: String, order: String, kinds: String*) = name ->
    kinds.flatMap { kind =>
      val modifier = if (kind.isEmpty) "" else s", $kind"
      Excluded.map(what => s"window_exclude('$what')$modifier $order")
    }

  val exclusions: Seq[(String, Seq[String])] = Seq(
    excluding("rows", "ORDER BY ts ROWS 5 PRECEDING", ""),
    excluding("rows behind", "ORDER BY ts ROWS BETWEEN 4 PRECEDING AND 1 PRECEDING", ""),
    excluding("a range", "ORDER BY ts RANGE INTERVAL 9 SECONDS PRECEDING", ""),
    excluding("peers", "ORDER BY ts RANGE BETWEEN CURRENT ROW AND CURRENT ROW", ""),
    excluding("kinds", "ORDER BY ts", "gap_window('3 seconds')", "groups_window(2)"),
    excluding(
      "kinds that hold values",
      "ORDER BY ts",
      "delta_window(d, 30)",
      "predicate_window(count(x), n -> n < 5)"
    ),
    excluding(
      "joined kinds",
      "ORDER BY ts",
      "window_and(count_window(6), time_window('5 seconds'))",
      "window_or(count_window(3), gap_window('2 seconds', '4 seconds'))"
    ),
    excluding("rows ahead", "ORDER BY ts ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING", ""),
    excluding(
      "a range ahead",
      "ORDER BY ts RANGE BETWEEN INTERVAL 4 SECONDS PRECEDING " +
        "AND INTERVAL 3 SECONDS FOLLOWING",
      ""
    )
  )

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
    ),
    "own widths, and exclusions" -> Seq(
      "window_and(range_window(make_dt_interval(0, 0, 0, x % 9)), time_window('6 seconds')), window_exclude('ties') ORDER BY ts",
      "window_and(rows_window(x % 7), window_and(range_window(INTERVAL 4 SECONDS), count_window(6))), window_exclude('current row') ORDER BY ts",
      "window_and(range_window(make_dt_interval(0, 0, 0, x % 9)), time_window('6 seconds')), window_exclude('group') ORDER BY ts"
    )
  )
}
