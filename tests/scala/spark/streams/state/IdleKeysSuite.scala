package io.sash.spark.streams.state

import org.scalatest.tags.Slow

import io.sash.spark.StreamSuite

/** A key without rows leaves the state when its windows are over. */
@Slow
class IdleKeysSuite extends StreamSuite {
  import StreamSuite._

  private val KeysOfBatch = 20

  /** The entries in the state after some batches, each of new keys and a minute later. */
  private def entries(window: String): Seq[Long] = streaming()(inDirectory { checkpoint =>
    val source = new Source("1 second", checkpoint)
    val call = s"sum(x) OVER (PARTITION BY k, $window ORDER BY ts)"
    val query = source.start(sql(s"SELECT id, $call AS a FROM events"))
    val sizes = (0 until 12).map { b =>
      source.add((0 until KeysOfBatch).map(i => at(b * 100L + i, b * 60.0, k = b * 100 + i)))
      rowsInState(query)
    }
    source.stop()
    sizes
  })

  test("a count joined with a time keeps no key for good; a count alone does") {
    val alone = entries("count_window(10)")
    for (count <- Seq("count_window(10)", "rows_window(x % 7)")) {
      val joined = entries(s"window_and($count, time_window(INTERVAL 2 MINUTES))")
      assert(joined.last < alone.last / 2, joined)
      assert(joined.last <= joined(joined.length / 2) * 2, joined)
    }
    assert(alone.last > 10 * KeysOfBatch, alone)
    assert(alone.last - alone(6) >= 5 * KeysOfBatch, alone)
  }

  test("a range whose begin is no timestamp a thousand years ago") {
    streaming()(inDirectory { checkpoint =>
      val source = new Source("1 second", checkpoint)
      val call = "sum(x) OVER (PARTITION BY k ORDER BY ts " +
        "RANGE INTERVAL '106751990' DAY PRECEDING)"
      val query = source.start(sql(s"SELECT id, $call AS a FROM events"))
      for (b <- 0 until 3) {
        source.add(Seq(at(b.toLong, b * 60.0, k = 1)))
        assert(rowsInState(query) > 0)
      }
      source.stop()
    })
  }
}
