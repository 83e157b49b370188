package io.sash.spark.streams.program

import org.scalatest.tags.Slow

import io.sash.spark.StreamSuite
import io.sash.spark.streams.plan.OfStream
import io.sash.spark.streams.task.Marks

/** Windows that begin at a multiple of a hop, on streams as in batch. */
@Slow
class StreamSawtoothSuite extends StreamSuite {
  private def batches(seed: Long) =
    StreamSuite.batches(seed, count = 5, size = 40, jitterSeconds = 25, keys = 3)

  private def over(kind: String) = s"OVER (PARTITION BY k, $kind ORDER BY ts)"

  private val query =
    s"""SELECT id, sum(x) ${over("time_window('20 seconds', hop => '7 seconds')")} AS a,
       |  count(DISTINCT x) ${over("time_window('9 seconds', hop => '1 minute')")} AS b,
       |  max(d) ${over("time_window('5 seconds', 'left', hop => '5 seconds')")} AS c,
       |  collect_list(id) ${over("time_window('5 seconds', 'right', hop => '3 seconds')")} AS d,
       |  count(*) ${over(
        "window_and(time_window('9 seconds', hop => '4 seconds'), count_window(5))"
      )} AS e
       |FROM events""".stripMargin

  for (seed <- 1L to 3L) {
    test(s"a stream's answers are the batch's: $seed", each(3): _*) {
      streaming() {
        checkStream(batches(seed), delaySeconds = 15, restartBefore = Set(2, 4))(sql(query))
      }
    }
    test(s"in update mode: $seed", each(3): _*) {
      checkUpdates(batches(seed), delaySeconds = 15, restartBefore = Set(3))(sql(query))
    }
  }

  test("keys whose windows have run out are forgotten, but not before") {
    streaming()(inDirectory { at =>
      val source = new Source("1 second", at)
      val all = sql(
        s"SELECT id, sum(x) ${over("time_window('10 seconds', hop => '1 minute')")} AS a FROM events"
      )(source.frame)
      val Seq(p) = all.queryExecution.analyzed.collect { case OfStream(_, p) => p.program }
      val marks = new Marks(p)
      def isIdle(last: Long, now: Long) = marks.isIdle(last * 1000000L, now * 1000000L - 1L)
      // a row at 129 still holds the rows from 60 on, and one at 130 does not
      assert(!isIdle(60, 129))
      assert(isIdle(59, 129))
      assert(isIdle(119, 130))
    })
  }
}
