package io.sash.spark.streams.program

import scala.util.Random

import org.apache.spark.sql.DataFrame

import org.scalatest.tags.Slow

import io.sash.spark.StreamSuite

/** Kinds of windows joined by window_and and window_or, on streams as in batch. */
@Slow
class StreamJoinedKindsSuite extends StreamSuite {
  import StreamJoinedKindsSuite._

  private def batches(seed: Long) =
    StreamSuite.batches(seed, count = 5, size = 40, jitterSeconds = 25, keys = 3)

  for (seed <- 1L to 12L) {
    val query = queryOf(new Random(seed))
    test(s"random kinds, joined: $seed", each(6): _*) {
      withClue(query) {
        streaming() {
          checkStream(batches(seed), delaySeconds = 15, restartBefore = Set(2, 4))(sql(query))
        }
      }
    }
    test(s"random kinds, joined, in update mode: $seed", each(12): _*) {
      withClue(query) {
        checkUpdates(batches(seed), delaySeconds = 15, restartBefore = Set(3))(sql(query))
      }
    }
  }

  test("a key whose session may end by its duration is not forgotten before") {
    // the session begins at 0, and ends before the last row
    val seconds = Seq(0.0, 40.0, 80.0, 99.0, 100.5)
    val rows = seconds.zipWithIndex.map { case (s, i) => Seq(StreamSuite.at(i.toLong, s)) }
    val query = sql(
      """SELECT id, count(*) OVER (PARTITION BY k, window_and(time_window('2 seconds'),
        |  gap_window('50 seconds', '100 seconds')) ORDER BY ts) AS n FROM events""".stripMargin
    )(_: DataFrame)
    streaming() {
      checkStream(rows :+ Seq(StreamSuite.at(9, 500)), delaySeconds = 1)(query)
    }
  }

  test("all peers are in a window of times and of one that is joined of rows or times") {
    val rows = Seq(0.0, 0.5, 10.0, 10.0, 10.0, 10.5).zipWithIndex.map { case (second, i) =>
      StreamSuite.at(i.toLong, second)
    }
    val query = sql(
      """SELECT id, count(*) OVER (PARTITION BY k, window_and(time_window('1 minute'),
        |  window_or(count_window(4), time_window('1 second'))) ORDER BY ts) AS n FROM events""".stripMargin
    )(_: DataFrame)
    val counts = query(spark.createDataFrame(rows)).collect().toSeq.sortBy(_.getLong(0))
    assert(counts.map(_.getLong(1)) == Seq(1, 2, 5, 5, 4, 4))
    streaming() {
      checkStream(Seq(rows.take(1), rows.drop(1), Seq(StreamSuite.at(9, 90))), delaySeconds = 1)(
        query
      )
    }
  }

  test("a punctuation among rows of one time is none of the rows before it") {
    val rows = Seq(0.0 -> 1, 0.5 -> 1, 10.0 -> 1, 10.0 -> 7, 10.0 -> 1).zipWithIndex.map {
      case ((second, x), i) => StreamSuite.at(i.toLong, second, x = x)
    }
    val query = sql(
      """SELECT id, count(*) OVER (PARTITION BY k, window_or(punctuation_window(x = 7),
        |  time_window('1 second')) ORDER BY ts) AS n FROM events""".stripMargin
    )(_: DataFrame)
    val counts = query(spark.createDataFrame(rows)).collect().toSeq.sortBy(_.getLong(0))
    assert(counts.map(_.getLong(1)) == Seq(1, 2, 5, 3, 3))
    streaming() {
      checkStream(Seq(rows.take(1), rows.drop(1), Seq(StreamSuite.at(9, 90))), delaySeconds = 1)(
        query
      )
    }
  }
}

private object StreamJoinedKindsSuite {

  private val Calls = Seq("sum(x)", "count(*)", "max(d)", "median(x)", "bool_or(x > 50)")

  /** A query of several joined windows over one order. */
  def queryOf(random: Random): String = {
    def oneOf[T](of: Seq[T]): T = of(random.nextInt(of.length))
    // times are measured in an order by one expression
    val (order, measures) =
      oneOf(Seq("ts" -> Seq(Groups, Times), "ts, id" -> Seq(Rows), "ts, x % 3" -> Seq(Rows)))
    val calls = Seq.tabulate(4) { i =>
      val window = joined(random, 2, oneOf(measures))
      s"${oneOf(Calls)} OVER (PARTITION BY k, $window ORDER BY $order) AS c$i"
    }
    s"SELECT id, ${calls.mkString(", ")} FROM events"
  }

  /** The kinds that a joined window may have as its parts. */
  private type Kinds = Seq[Int => String]

  private val Rows: Kinds = Seq(
    n => s"count_window($n)",
    n => s"punctuation_window(x % 7 = $n % 7)",
    n => s"groups_window($n, 0)"
  )
  private val Sessions: Kinds = Seq(
    n => s"gap_window('$n seconds')",
    n => s"gap_window('${1 + n / 3} seconds', '$n seconds')"
  )
  private val Groups: Kinds = Rows ++ Sessions
  private val Times: Kinds = Rows.init ++ Sessions :+ (n => s"time_window('$n seconds')")

  /**
   * Two kinds, joined.
   *
   * @param depth how deep the kinds may be joined themselves
   */
  private def joined(random: Random, depth: Int, of: Kinds): String = {
    def part() =
      if (depth > 0 && random.nextInt(3) == 0) joined(random, depth - 1, of)
      else of(random.nextInt(of.length))(1 + random.nextInt(9))
    val by = if (random.nextBoolean()) "window_and" else "window_or"
    s"$by(${part()}, ${part()})"
  }
}
