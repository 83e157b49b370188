package io.sash.spark.streams.task

import java.sql.Timestamp

import org.apache.spark.sql.streaming.OutputMode

import io.sash.spark.{Event, StreamSuite, Thorough}
import io.sash.spark.streams.state.SmallChunks

/** OVER on streams, in update mode: each row's answer as soon as it is there, and when it changes. */
class StreamUpdatesSuite extends StreamSuite {

  import StreamSuite.at

  private def batches(seed: Long) =
    StreamSuite.batches(seed, count = 8, size = 60, jitterSeconds = 25, keys = 3)

  for {
    (name, query) <- Seq(
      "rows" -> {
        val w = "PARTITION BY k ORDER BY ts, id"
        s"""SELECT id, k, ts, sum(x) OVER ($w ROWS 4 PRECEDING) AS a,
           |  max(d) OVER ($w ROWS 70 PRECEDING) AS b,
           |  count(*) OVER ($w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c,
           |  lag(s, 2) OVER ($w) AS l, row_number() OVER ($w) AS n FROM events""".stripMargin
      },
      "ranges" -> {
        val w = "PARTITION BY k ORDER BY ts"
        s"""SELECT id, ts, sum(x) OVER ($w RANGE INTERVAL 10 SECONDS PRECEDING) AS a,
           |  count(*) OVER ($w RANGE BETWEEN INTERVAL 60 SECONDS PRECEDING
           |    AND INTERVAL 5 SECONDS PRECEDING) AS b,
           |  max(d) OVER ($w RANGE BETWEEN CURRENT ROW AND CURRENT ROW) AS c,
           |  count(x) OVER ($w) AS g, dense_rank() OVER ($w) AS e FROM events""".stripMargin
      },
      "no partition, a filter above" ->
        """SELECT id, a FROM (SELECT *, sum(x) FILTER (WHERE d > 20) OVER (ORDER BY ts, id ROWS 5 PRECEDING)
          |  AS a FROM events)""".stripMargin,
      "sessions" ->
        """SELECT id, sum(x) OVER (PARTITION BY k, gap_window(INTERVAL 2 SECONDS) ORDER BY ts) AS s,
          |  count(*) OVER (PARTITION BY k, gap_window('3 seconds', '7 seconds') ORDER BY ts) AS n,
          |  max(x) OVER (PARTITION BY k, gap_window('3 seconds', '7 seconds') ORDER BY ts) AS m,
          |  count(*) OVER (PARTITION BY k, window_and(gap_window('3 seconds', '7 seconds'),
          |    time_window('5 seconds')) ORDER BY ts) AS j,
          |  rank_in_frame(d) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 20 SECONDS PRECEDING) AS r
          |  FROM events""".stripMargin,
      "kinds joined" ->
        """SELECT id, sum(x) OVER (PARTITION BY k, window_and(punctuation_window(x > 80), count_window(9))
          |    ORDER BY ts, id) AS a,
          |  max(d) OVER (PARTITION BY k, window_and(groups_window(9, 0), count_window(4)) ORDER BY ts, id) AS b
          |  FROM events""".stripMargin,
      "either of two kinds" ->
        """SELECT id, sum(x) OVER (PARTITION BY k, window_or(count_window(9), time_window('3 seconds'))
          |    ORDER BY ts) AS a,
          |  max(d) OVER (PARTITION BY k, window_or(gap_window('2 seconds', '4 seconds'), count_window(4))
          |    ORDER BY ts) AS b FROM events""".stripMargin,
      "slides" ->
        """SELECT id, count(*) OVER
          |  (PARTITION BY k, count_window(9), window_slide(4) ORDER BY ts, id) AS c
          |  FROM events""".stripMargin,
      "predicates" ->
        """SELECT id, count(*) OVER (PARTITION BY k, predicate_window(sum(x), t -> t BETWEEN 0 AND 200)
          |  ORDER BY ts, id) AS s FROM events""".stripMargin,
      "deltas and groups" ->
        """SELECT id, count(*) OVER (PARTITION BY k, delta_window(d, 30.0D) ORDER BY ts, id) AS d,
          |  sum(x) OVER (PARTITION BY k, groups_window(3, 0) ORDER BY ts, id) AS g FROM events""".stripMargin,
      "DISTINCT" ->
        """SELECT id, count(DISTINCT s) OVER (PARTITION BY k ORDER BY ts, id ROWS 9 PRECEDING) AS n,
          |  median(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 60 PRECEDING) AS m FROM events""".stripMargin,
      "ranks" ->
        """SELECT id, rank_in_frame(d) OVER (PARTITION BY k ORDER BY ts, id ROWS 9 PRECEDING) AS r,
          |  dense_rank_in_frame(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 20 PRECEDING) AS e,
          |  percent_rank_in_frame(x) OVER (PARTITION BY k, delta_window(d, 30.0D) ORDER BY ts, id)
          |    AS p, cume_dist_in_frame(d) OVER (PARTITION BY k, predicate_window(count(x), n -> n < 9)
          |    ORDER BY ts, id) AS c FROM events""".stripMargin
    )
  } test(s"answers are those of the batch so far: $name", each(3): _*) {
    SmallChunks {
      checkUpdates(batches(7), delaySeconds = 15, restartBefore = Set(3, 5))(sql(query))
    }
  }

  test("a delay beyond all rows, and none") {
    val query =
      "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 9 SECONDS PRECEDING) AS a FROM events"
    SmallChunks {
      checkUpdates(batches(8).init, delaySeconds = 7200, restartBefore = Set(2))(sql(query))
    }
  }

  test("a late row changes the answers after it, as far as a window reaches") {
    def event(id: Long, second: Int): Event =
      Event(id, Some(1), Some(new Timestamp(1600000000000L + second * 1000L)), Some(1), 0.0, "")
    inDirectory { checkpoint =>
      streaming() {
        val source = new Source("1 minute", checkpoint, OutputMode.Update())
        source.start(
          sql("SELECT id, count(*) OVER (ORDER BY ts ROWS 2 PRECEDING) AS c FROM events")
        )
        source.add((10 to 20).map(i => event(i.toLong, i)))
        source.add(Seq(event(99, 9)))
        source.stop()
        assert(
          source.answers.values.last.map(_.toSeq).toSet == Set(Seq(99, 1), Seq(10, 2), Seq(11, 3))
        )
      }
    }
  }

  test("what has passed is final, and keys without rows leave") {
    inDirectory { checkpoint =>
      streaming() {
        val source = new Source("0 seconds", checkpoint, OutputMode.Update())
        val query = source.start(
          sql(
            "SELECT id, sum(x) OVER (PARTITION BY id % 500 ORDER BY ts RANGE INTERVAL 10 SECONDS PRECEDING)" +
              " AS a FROM events"
          )
        )
        def at(second: Int, keys: Range): Seq[Event] = keys.map { id =>
          val time = new Timestamp(1600000000000L + second * 1000L)
          Event(id.toLong, None, Some(time), Some(1), 0.0, "")
        }
        source.add(at(0, 0 until 500))
        source.add(at(1, 0 until 1))
        val many = rowsInState(query)
        (1 to 8).foreach(i => source.add(at(8 * i, 0 until 1)))
        val few = rowsInState(query)
        source.stop()
        assert(many > 500 && few < 60, s"$many, then $few")
      }
    }
  }

  private def updating(delay: String)(body: Source => Unit): Unit =
    streaming()(inDirectory(c => body(new Source(delay, c, OutputMode.Update()))))

  test("a late row does not change answers whose windows do not hold it") {
    updating("1 hour") { source =>
      source.start(
        sql(
          """SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 20 SECONDS PRECEDING) AS a
            |FROM events""".stripMargin
        )
      )
      source.add((100 until 400).map(i => at(i.toLong, i, d = 0.1 * i)))
      source.add(Seq(at(1, 1)))
      source.stop()
      assert(source.answers.values.last.map(_.getLong(0)) == Seq(1L))
    }
  }

  test("a batch costs the waiting rows of those keys that it has rows of", Thorough) {
    inDirectory { c =>
      streaming() {
        val source = new Source("1 hour", c, OutputMode.Update())
        val query = source.start(
          sql(
            """SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 1 SECOND PRECEDING) AS a
              |FROM events""".stripMargin
          )
        )
        source.add((0 until 3000).map(i => at(i.toLong, 10000, k = i)))
        (1 to 6).foreach(i => source.add(Seq(at(5000L + i, 10000 + 10 * i, k = 1))))
        val gets = query.recentProgress.filter(_.batchId >= 3).map { p =>
          p.stateOperators.head.customMetrics.get("rocksdbGetCount").toLong
        }
        source.stop()
        assert(gets.max < 500, gets.mkString(", "))
      }
    }
  }

  test("keys that never leave are walked over as often as rows have paid for it", Thorough) {
    updating("1 second") { source =>
      val query = source.start(
        sql(
          "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 3 PRECEDING) AS a FROM events"
        )
      )
      source.add((0 until 4000).map(i => at(i.toLong, 10, k = i)))
      (1 to 20).foreach { b =>
        source.add((0 until 20).map(i => at(4000L + 20 * b + i, 10 * b + 10, k = i)))
      }
      val gets = query.recentProgress.drop(3).flatMap(_.stateOperators).map { o =>
        o.customMetrics.get("rocksdbGetCount").toLong
      }
      source.stop()
      // one walk, for which the first rows have paid
      val (walks, others) = gets.partition(_ > 1000)
      assert(walks.length == 1 && others.length >= 38, gets.mkString(", "))
      assert(source.rows.length == 4400)
    }
  }

  test("rows of a key that never comes again are settled or leave (ROWS)", Thorough) {
    inDirectory { c =>
      streaming() {
        val source = new Source("10 seconds", c, OutputMode.Update())
        val query = source.start(
          sql(
            "SELECT id, d, s, sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 1 PRECEDING) AS a FROM events"
          )
        )
        source.add(
          (0 until 200).flatMap(i =>
            (0 until 20).map(j => at(i * 100L + j, 1000 + j * 0.1, k = i))
          )
        )
        val before = rowsInState(query)
        (1 to 4).foreach(i => source.add(Seq(at(50000L + i, 5000 + 1000 * i, k = 0))))
        val after = rowsInState(query)
        source.stop()
        // a header for each key is what its windows need; 200 lists of 20 waiting rows are not
        assert(after < 300, s"$before, then $after")
      }
    }
  }

  for (seed <- Seq(21, 23))
    test(s"peers, sessions, ranges: $seed", each(2): _*) {
      checkUpdates(
        StreamSuite.batches(seed.toLong, count = 6, size = 60, jitterSeconds = 40, keys = 2),
        delaySeconds = 5 * (seed - 20),
        restartBefore = Set(2, 4)
      )(
        sql(
          """SELECT id, rank() OVER w AS r, sum(x) OVER (PARTITION BY k, gap_window(INTERVAL 1 SECOND) ORDER BY ts) AS g,
            | max(d) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL 30 SECONDS PRECEDING AND INTERVAL 1 SECOND PRECEDING) AS a,
            | count(*) OVER (PARTITION BY k, window_slide(INTERVAL 3 SECONDS) ORDER BY ts RANGE INTERVAL 1 SECOND PRECEDING) AS c,
            | min(x) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN UNBOUNDED PRECEDING AND INTERVAL 2 SECONDS PRECEDING) AS b,
            | count(*) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 1 MONTH PRECEDING) AS m
            | FROM events WINDOW w AS (PARTITION BY k ORDER BY ts)""".stripMargin
        )
      )
    }
}
