package io.sash.spark.streams.task

import java.sql.Timestamp
import java.time.{LocalDateTime, ZoneId}

import org.scalatest.tags.Slow

import io.sash.spark.{Event, StreamSuite, Thorough}
import io.sash.spark.streams.plan.OfStream

/** Windows of streams that look ahead: a row is answered when all that they hold is there. */
@Slow
class StreamAheadSuite extends StreamSuite {
  import StreamSuite._

  /** Without the last batch, which is an hour later. */
  private def batches(seed: Long, size: Int = 40): Seq[Seq[Event]] =
    StreamSuite.batches(seed, count = 8, size = size, jitterSeconds = 25, keys = 3).init

  /** Times that are all different, some by microseconds. */
  private def apart(batches: Seq[Seq[Event]]): Seq[Seq[Event]] =
    batches.map(_.map { e =>
      e.ts.foreach(t => t.setNanos(t.getNanos + (e.id % 900).toInt * 1000))
      e
    })

  test("rows: centred frames, and lead") {
    val w = "PARTITION BY k ORDER BY ts, id"
    def answered(rows: Seq[Event], watermark: Long) = passed(rows, watermark).dropRight(4)
    streaming() {
      checkStream(batches(7), delaySeconds = 15, Set(3), answered)(
        sql(
          s"""SELECT id, s, sum(x) OVER ($w ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING) AS a,
             |  lead(x) OVER ($w) AS one, lead(id, 4, 0L) OVER ($w) AS four, lag(d, 2) OVER ($w) AS two,
             |  max(d) OVER ($w ROWS BETWEEN 1 FOLLOWING AND 4 FOLLOWING) AS m,
             |  count(*) OVER ($w ROWS BETWEEN 9 PRECEDING AND 5 PRECEDING) AS c,
             |  row_number() OVER ($w) AS n,
             |  rank_in_frame(d) OVER ($w ROWS BETWEEN 3 PRECEDING AND 3 FOLLOWING) AS r,
             |  min(x) OVER ($w ROWS BETWEEN UNBOUNDED PRECEDING AND 2 FOLLOWING) AS g FROM events""".stripMargin
        )
      )
    }
  }

  test("rows, beside a joined window that counts groups, and ties", Thorough) {
    def answered(rows: Seq[Event], watermark: Long) = passed(rows, watermark).dropRight(1)
    streaming() {
      checkStream(batches(3), delaySeconds = 15, Set(2, 4), answered, atOnce = false)(
        sql(
          """SELECT id, sum(x) OVER (PARTITION BY k, window_and(groups_window(1, 0), count_window(5))
            |    ORDER BY ts) AS a,
            |  count(*) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING) AS c
            |  FROM events""".stripMargin
        )
      )
    }
  }

  test("times") {
    val w = "PARTITION BY k ORDER BY ts RANGE BETWEEN"
    def answered(rows: Seq[Event], watermark: Long) = passed(rows, watermark - 20000)
    streaming() {
      checkStream(batches(5), delaySeconds = 15, Set(2, 3, 5), answered)(
        sql(
          s"""SELECT id, sum(x) OVER ($w INTERVAL 5 SECONDS PRECEDING AND INTERVAL 20 SECONDS FOLLOWING) AS a,
             |  count(*) OVER ($w INTERVAL 3 SECONDS FOLLOWING AND INTERVAL 9 SECONDS FOLLOWING) AS b,
             |  min(d) OVER ($w UNBOUNDED PRECEDING AND INTERVAL 1 SECOND FOLLOWING) AS c,
             |  max(x) OVER ($w INTERVAL 9 SECONDS PRECEDING AND INTERVAL 2 SECONDS PRECEDING) AS d,
             |  count(x) OVER ($w CURRENT ROW AND CURRENT ROW) AS e,
             |  avg(x) OVER ($w CURRENT ROW AND INTERVAL '0.5' SECOND FOLLOWING) AS f,
             |  rank() OVER (PARTITION BY k ORDER BY ts) AS r,
             |  dense_rank_in_frame(d) OVER ($w INTERVAL 5 SECONDS PRECEDING AND INTERVAL 9 SECONDS FOLLOWING)
             |    AS i,
             |  count(*) OVER (PARTITION BY k, time_window('1 microsecond', 'neither', true) ORDER BY ts)
             |    AS j,
             |  sum(x) OVER (PARTITION BY k, time_window('9.000001 seconds', 'right', true) ORDER BY ts)
             |    AS l,
             |  sum(x) OVER (PARTITION BY k ORDER BY ts) AS g FROM events""".stripMargin
        )
      )
    }
  }

  test("one window alone, without a partition; rows beyond memory", Thorough) {
    def answered(rows: Seq[Event], watermark: Long) = passed(rows, watermark - 7000)
    val most = ReadyRows.MostBytes
    ReadyRows.MostBytes = 2000
    try
      streaming() {
        val all = batches(3, size = 90).map(_.map(_.copy(k = None)))
        checkStream(all, delaySeconds = 15, Set(3), answered)(
          sql(
            """SELECT id, count(*) OVER (ORDER BY ts RANGE BETWEEN CURRENT ROW AND INTERVAL 7 SECONDS FOLLOWING)
              |  AS n FROM events""".stripMargin
          )
        )
      }
    finally ReadyRows.MostBytes = most
  }

  test("groups of peers") {
    def answered(rows: Seq[Event], watermark: Long) = {
      val final_ = passed(rows, watermark)
      val times = final_.map(_.ts).distinct.dropRight(2).toSet
      final_.filter(e => times(e.ts))
    }
    streaming() {
      checkStream(batches(8), delaySeconds = 15, Set(3), answered)(
        sql(
          """SELECT id, sum(x) OVER (PARTITION BY k, groups_window(1, 2) ORDER BY ts) AS a,
            |  count(*) OVER (PARTITION BY k, groups_window(3, 0) ORDER BY ts) AS b,
            |  count(*) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 9 SECONDS PRECEDING) AS c
            |  FROM events""".stripMargin
        )
      )
    }
  }

  test("times, rows and groups at once, beside windows that do not look ahead", Thorough) {
    val w = "PARTITION BY k ORDER BY ts"
    def answered(rows: Seq[Event], watermark: Long) =
      passed(passed(rows, watermark).dropRight(3), watermark - 8000)
    streaming() {
      checkStream(apart(batches(4)), delaySeconds = 15, Set(1, 4), answered)(
        sql(
          s"""SELECT id, sum(x) OVER ($w RANGE BETWEEN INTERVAL 5 SECONDS PRECEDING AND INTERVAL 8 SECONDS FOLLOWING)
             |    AS a, lead(x, 2) OVER ($w) AS b, lag(x) OVER ($w) AS c,
             |  count(*) OVER (PARTITION BY k, groups_window(1, 3) ORDER BY ts) AS d,
             |  sum(x) OVER (PARTITION BY k, predicate_window(sum(x), t -> t < 150) ORDER BY ts) AS e,
             |  max(d) OVER (PARTITION BY k, delta_window(d, 30) ORDER BY ts) AS f,
             |  median(x) OVER ($w ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS g,
             |  row_number() OVER ($w) AS n FROM events""".stripMargin
        )
      )
    }
  }

  test(
    "columns that nobody asks for are left out, the time that is waited for is not",
    Thorough
  ) {
    withSource("15 seconds") { source =>
      val query = sql(
        """SELECT id, n FROM (SELECT *, count(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN CURRENT ROW
          |  AND INTERVAL 7 SECONDS FOLLOWING) AS n FROM events)""".stripMargin
      ) _
      source.start(query)
      source.add(Seq(at(1, 0), at(2, 5), at(3, 7), at(4, 8)))
      source.add(Seq(at(5, 22)))
      val first = source.rows.map(_.toSeq)
      source.add(Seq(at(6, 100)))
      val operator =
        source.execution.optimizedPlan.collectFirst { case OfStream(_, p) => p.program }.get
      source.stop()
      assert(
        operator.input.map(_.name).toSet == Set("id", "k", "ts", "due", "position", "bucket")
      )
      assert(first == Seq(Seq(1L, 3L)))
      assert(
        source.rows.map(_.toSeq).toSet == Set(
          Seq(1, 3),
          Seq(2, 3),
          Seq(3, 2),
          Seq(4, 1),
          Seq(5, 1)
        )
      )
    }
  }

  test("a day ahead, when clocks are put forward: bounds of later rows are earlier") {
    def berlin(id: Long, day: Int, hour: Int, minute: Int): Event = {
      val time = LocalDateTime.of(2026, 3, day, hour, minute).atZone(ZoneId.of("Europe/Berlin"))
      Event(id, Some(1), Some(Timestamp.from(time.toInstant)), Some(1), 0.0, "")
    }
    val saturday = Seq((1, 30), (2, 15), (2, 45), (3, 0), (3, 10), (3, 20))
    val events = saturday.zipWithIndex.map { case ((h, m), i) => berlin(i + 1L, 28, h, m) } ++
      Seq((1, 45), (3, 5), (3, 12), (3, 50), (9, 0)).zipWithIndex.map { case ((h, m), i) =>
        berlin(i + 11L, 29, h, m)
      }
    val query =
      "SELECT id, count(*) OVER (ORDER BY ts RANGE BETWEEN CURRENT ROW AND INTERVAL 1 DAY FOLLOWING)" +
        " AS n FROM events"
    withSettings("spark.sql.session.timeZone" -> "Europe/Berlin") {
      withSource("1 second") { source =>
        source.start(sql(query))
        events.foreach(e => source.add(Seq(e)))
        source.add(Seq(berlin(99, 31, 12, 0)))
        source.stop()
        val batch = sql(query)(spark.createDataFrame(events :+ berlin(99, 31, 12, 0)))
        val expected = batch.collect().toSeq.filter(_.getLong(0) <= 15)
        assert(expected.length == 11)
        assert(
          source.rows.map(_.toSeq) == expected
            .sortBy(r => events.indexWhere(_.id == r.getLong(0)))
            .map(_.toSeq)
        )
      }
    }
  }

  test("keys whose rows are all answered leave", Thorough) {
    withSource("0 seconds") { source =>
      val query = source.start(
        sql(
          """SELECT id, count(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL 1 SECOND PRECEDING
            |  AND INTERVAL 100 SECONDS FOLLOWING) AS n FROM events""".stripMargin
        )
      )
      source.add((1 to 50).map(i => at(i.toLong, 0, k = i)))
      source.add(Seq(at(51, 90)))
      assert(source.rows.isEmpty && rowsInState(query) > 50)
      source.add(Seq(at(52, 1000)))
      assert(source.rows.length == 51)
      source.add(Seq(at(53, 2000)))
      source.add(Seq(at(54, 3000)))
      assert(rowsInState(query) < 20, "idle keys stay")
      source.stop()
    }
  }

  test("rows of one time keep their places while they wait") {
    withSource("0 seconds") { source =>
      source.start(
        sql(
          """SELECT id, count(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN CURRENT ROW AND INTERVAL 10 SECONDS
            |    FOLLOWING) AS n,
            |  max(id) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN CURRENT ROW AND CURRENT ROW) AS own,
            |  row_number() OVER (PARTITION BY k ORDER BY ts) AS number,
            |  last(id) OVER (PARTITION BY k, predicate_window(sum(x), t -> t < 5) ORDER BY ts) AS last
            |  FROM events""".stripMargin
        )
      )
      source.add((1 to 20).map(i => at(i.toLong, 1)) ++ (21 to 900).map(i => at(i.toLong, 5)))
      source.add(Seq(at(1001, 7)))
      source.add(Seq(at(1002, 13))) // opens the chunk that rows of 5 s share with those of 1 s
      source.add(Seq(at(1003, 60)))
      source.stop()
      assert(source.rows.length == 902)
      source.rows.foreach { r =>
        assert(r.getLong(0) == r.getLong(2) && r.getLong(0) == r.getLong(4), s"$r")
      }
      assert(source.rows.map(_.getInt(3)).toSet == (1 to 902).toSet)
    }
  }

  test("a bound that is ahead in summer, and not in January 1970") {
    val days = Seq(
      "2026-07-01 00:00:00",
      "2026-07-02 00:00:00",
      "2026-07-02 12:00:00",
      "2026-08-20 00:00:00"
    )
    val events = (days :+ "2027-01-01 00:00:00").zipWithIndex.map { case (day, i) =>
      Event(i + 1L, Some(1), Some(Timestamp.valueOf(day)), Some(1), 0.0, "")
    }
    withSettings("spark.sql.legacy.interval.enabled" -> "true") {
      val query = sql(
        "SELECT id, count(*) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN CURRENT ROW" +
          " AND INTERVAL 2 MONTHS -60 DAYS FOLLOWING) AS n FROM events"
      ) _
      withSource("1 second") { source =>
        source.start(query)
        events.foreach(e => source.add(Seq(e)))
        source.stop()
        val batch = query(spark.createDataFrame(events)).collect().toSeq.map(_.toSeq)
        assert(source.rows.map(_.toSeq).toSet == batch.filter(_.head != 5L).toSet)
      }
    }
  }
}
