package io.sash.spark.streams

import java.sql.Timestamp

import scala.collection.mutable

import org.apache.spark.sql.{DataFrame, Row}
import org.apache.spark.sql.streaming.OutputMode

/** OVER on streams, in update mode: each row's answer as soon as it is there, and when it changes. */
class StreamUpdatesSuite extends StreamSuite {

  private def sql(query: String)(rows: DataFrame): DataFrame = {
    rows.createOrReplaceTempView("events")
    spark.sql(query)
  }

  /**
   * Each batch answers those rows whose answer in a batch over all rows so far, but for late ones,
   * is not their last one.
   */
  private def checkUpdates(
      batches: Seq[Seq[Event]],
      delaySeconds: Int,
      restartBefore: Set[Int]
  )(query: DataFrame => DataFrame): Unit = streaming()(inDirectory { checkpoint =>
    val source = new Source(s"$delaySeconds seconds", checkpoint, OutputMode.Update())
    source.start(query)
    val last = mutable.HashMap.empty[Long, Seq[Any]]
    var seen = 0
    var again = 0
    batches.indices.foreach { i =>
      if (restartBefore(i)) {
        source.stop()
        source.start(query)
      }
      source.add(batches(i))
      val (inTime, _) = StreamSuite.onTime(batches.take(i + 1), delaySeconds)
      val all = answers(query(spark.createDataFrame(inTime)).collect().toSeq)
      val expected = all.filterNot { case (id, answer) => last.get(id).contains(answer) }
      val now = source.rows.drop(seen)
      seen += now.length
      assert(now.map(_.getLong(0)).distinct.length == now.length, s"twice in batch $i")
      assert(answers(now) == expected, s"batch $i")
      again += expected.keys.count(last.contains)
      last ++= expected
    }
    source.stop()
    assert(again > 0, "vacuous: no answer changed")
  })

  private def answers(rows: Seq[Row]): Map[Long, Seq[Any]] =
    rows.map(r => r.getLong(0) -> r.toSeq).toMap

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
           |  count(x) OVER ($w) AS g FROM events""".stripMargin
      },
      "no partition, a filter above" ->
        """SELECT id, a FROM (SELECT *, sum(x) FILTER (WHERE d > 20) OVER (ORDER BY ts, id ROWS 5 PRECEDING)
          |  AS a FROM events)""".stripMargin,
      "sessions" ->
        """SELECT id, sum(x) OVER (PARTITION BY k, gap_window(INTERVAL 2 SECONDS) ORDER BY ts) AS s
          |  FROM events""".stripMargin,
      "slides" ->
        """SELECT id, count(*) OVER
          |  (PARTITION BY k, count_window(9), window_slide(4) ORDER BY ts, id) AS c
          |  FROM events""".stripMargin,
      "predicates" ->
        """SELECT id, count(*) OVER (PARTITION BY k, predicate_window(sum(x), t -> t BETWEEN 0 AND 200)
          |  ORDER BY ts, id) AS s FROM events""".stripMargin,
      "DISTINCT" ->
        """SELECT id, count(DISTINCT s) OVER (PARTITION BY k ORDER BY ts, id ROWS 9 PRECEDING) AS n
          |  FROM events""".stripMargin
    )
  } test(s"answers are those of the batch so far: $name") {
    checkUpdates(batches(7), delaySeconds = 15, restartBefore = Set(3, 5))(sql(query))
  }

  test("a delay beyond all rows, and none") {
    val query =
      "SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 9 SECONDS PRECEDING) AS a FROM events"
    checkUpdates(batches(8).init, delaySeconds = 7200, restartBefore = Set(2))(sql(query))
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
        def rowsInState: Long = query.lastProgress.stateOperators.head.numRowsTotal
        source.add(at(0, 0 until 500))
        source.add(at(1, 0 until 1))
        val many = rowsInState
        (1 to 8).foreach(i => source.add(at(8 * i, 0 until 1)))
        val few = rowsInState
        source.stop()
        assert(many > 500 && few < 60, s"$many, then $few")
      }
    }
  }
}
