package io.sash.spark.kinds

import java.time.{Instant, LocalDate, ZoneId}

import scala.util.Random

import org.apache.spark.sql.Row

import org.scalatest.tagobjects.Slow

import io.sash.spark.{Event, StreamSuite, Thorough}

/**
 * Windows of business days, as the page of window kinds writes them: each row's own width within
 * a bound, from the beginning of the n-th last business day on.
 */
class BusinessDaysSuite extends StreamSuite {
  import BusinessDaysSuite._
  import StreamSuite._

  /** Rows of some days after the first, at full hours and a bit. */
  private def drawn(random: Random, count: Int, days: Range): Seq[Event] =
    Seq.fill(count) {
      val day = days(random.nextInt(days.length))
      at(random.nextLong(), day * Day + random.nextInt(24) * 3600, k = random.nextInt(2))
        .copy(x = if (random.nextInt(9) == 0) None else Some(random.nextInt(100)))
    }

  private def calendar(seed: Long): (Random, Calendar) = {
    val random = new Random(seed)
    val holidays = Seq.fill(8)(First.plusDays(random.nextInt(70).toLong))
    (random, Calendar(1 + random.nextInt(8), holidays.distinct))
  }

  test("the window begins with the n-th last business day") {
    for (seed <- 1 to Thorough.times(4)) inZone {
      val (random, of) = calendar(seed.toLong)
      val rows = drawn(random, 120, 0 until 70) :+ at(-1, 0).copy(ts = None)
      for (width <- Seq("ts - since", Seconds)) {
        val frame = sql(of.query(width))(spark.createDataFrame(rows))
        val answers = frame.collect().map(r => r.getLong(0) -> Option(r.get(1))).toMap
        assert(answers == of.sums(rows), s"seed $seed, $width")
        assert(sliding(frame).nonEmpty)
      }
    }
  }

  private def batches(seed: Long): (Calendar, Seq[Seq[Event]]) = {
    val (random, of) = calendar(seed)
    (of, (0 until 5).map(b => drawn(random, 25, math.max(0, 10 * b - 8) to 10 * b + 10)))
  }

  test("a stream gives what the batch gives over the rows in time: append mode", Slow) {
    val (of, rows) = batches(4)
    inZone(streaming() {
      checkStream(rows, delaySeconds = 3 * Day, restartBefore = Set(2))(
        sql(of.query("ts - since"))
      )
    })
  }

  test("a stream gives what the batch gives over the rows in time: update mode", Thorough) {
    val (of, rows) = batches(5)
    inZone(checkUpdates(rows, delaySeconds = 3 * Day, Set(3))(sql(of.query(Seconds))))
  }

  test("a stream that starts again has the holidays of its new query", Slow) {
    val friday = First.plusDays(40)
    def query(holidays: LocalDate*) = sql(Calendar(2, holidays).query("ts - since")) _
    inZone(withSource("1 hour") { source =>
      source.start(query(First))
      source.add(Seq(38, 39, 40).map(day => at(day.toLong, day * Day, x = day)))
      source.stop()
      source.start(query(friday))
      source.add(Seq(at(43, 43 * Day, x = 43)))
      source.add(Seq(at(99, 99 * Day)))
      source.stop()
      // if Friday was no holiday, the window of Monday would begin on Friday
      val expected = Seq(Row(38L, 38L), Row(39L, 77L), Row(40L, 79L), Row(43L, 122L))
      assert(source.rows.sortBy(_.getLong(0)) == expected)
    })
  }

  test("no days, and fewer business days than asked for, are errors") {
    val rows = spark.createDataFrame(Seq(at(1, 0)))
    for ((n, within, index) <- Seq((5, 6, 4), (0, 14, -1), (-3, 14, -4))) inZone {
      val query = Calendar(n, Seq(First)).query("ts - since", within)
      val error = intercept[ArrayIndexOutOfBoundsException](sql(query)(rows).collect())
      assert(error.getMessage.contains(s"The index $index is out of bounds"))
    }
  }

  private def inZone[T](body: => T): T =
    withSettings("spark.sql.session.timeZone" -> Zone.getId)(body)
}

private object BusinessDaysSuite {
  val Day: Int = 24 * 3600
  val Zone: ZoneId = ZoneId.of("America/New_York")

  /** The day of `at(_, 0)`, a Sunday; clocks change 49 days later. */
  val First: LocalDate = LocalDate.of(2020, 9, 13)

  val Seconds: String = "make_interval(0, 0, 0, 0, 0, 0, CAST(ts AS DECIMAL(18, 6)) - " +
    "CAST(CAST(since AS TIMESTAMP) AS DECIMAL(18, 6)))"

  final case class Calendar(n: Int, holidays: Seq[LocalDate]) {
    private def isBusiness(day: LocalDate) =
      day.getDayOfWeek.getValue <= 5 && !holidays.contains(day)

    def query(width: String, within: Int = 40): String = {
      val dates = holidays.map(day => s"DATE '$day'").mkString(", ")
      s"""SELECT id, sum(x) OVER (
            PARTITION BY k, window_and(range_window($width), time_window('$within days'))
            ORDER BY ts) AS a
          FROM (
            SELECT *, filter(
              sequence(to_date(ts), to_date(ts) - ${within - 1}, INTERVAL -1 DAY),
              day -> weekday(day) < 5 AND day NOT IN ($dates))[${n - 1}] AS since
            FROM events)"""
    }

    private def begin(at: Instant): Instant = Iterator
      .iterate(at.atZone(Zone).toLocalDate)(_.minusDays(1))
      .filter(isBusiness)
      .drop(n - 1)
      .next()
      .atStartOfDay(Zone)
      .toInstant

    /** Each row's sum, by its id. */
    def sums(rows: Seq[Event]): Map[Long, Option[Any]] = rows.map { row =>
      val window = row.ts.toSeq.flatMap { ts =>
        val from = begin(ts.toInstant)
        rows.filter { r =>
          r.k == row.k && r.ts.exists(t => !t.toInstant.isBefore(from) && !t.after(ts))
        }
      }
      row.id -> window.flatMap(_.x).map(_.toLong).reduceOption(_ + _)
    }.toMap
  }
}
