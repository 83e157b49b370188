package io.sash.spark.lateral

import java.sql.Timestamp
import java.time.{LocalDateTime, ZoneId}

import scala.util.Random

import org.apache.spark.sql.streaming.{OutputMode, StreamingQuery}

import org.scalatest.tagobjects.Slow

import io.sash.spark.{Event, StreamSuite, Thorough}

/** Labels on a stream, with ends of their range that are cut to a unit of time. */
class StreamLateralEndsSuite extends StreamSuite {
  import StreamSuite._

  private def asked(aggregate: String, ends: String): String =
    s"(SELECT $aggregate FROM events e WHERE e.k = l.k AND $ends)"

  private def select(columns: String*): String = selectOf("events", columns)

  private def selectOf(labels: String, columns: Seq[String]): String = {
    val all = columns.zipWithIndex.map { case (c, i) => s"IF(id > 0, $c, NULL) AS c$i" }
    s"SELECT id, ${all.mkString(", ")} FROM $labels l"
  }

  /** A row at a time of the session's zone. */
  private def row(id: Long, local: String, k: Int = 1): Event = {
    val zone = ZoneId.of(spark.conf.get("spark.sql.session.timeZone"))
    at(id, 0, k).copy(ts =
      Some(Timestamp.from(LocalDateTime.parse(local).atZone(zone).toInstant))
    )
  }

  private def inZone[T](zone: String)(body: => T): T =
    streaming(
      "spark.sql.session.timeZone" -> zone,
      "spark.sql.shuffle.partitions" -> "1",
      "spark.sash.stream.buckets" -> "2"
    )(body)

  /** Answers batches, with a restart before the third, and then does more with the stream. */
  private def answering(column: String, batches: => Seq[Seq[Event]], labels: String = "events")(
      more: (Source, StreamingQuery) => Unit = (_, _) => ()
  )(answers: (Long, Long)*): Unit = inZone("UTC")(inDirectory { checkpoint =>
    val source = new Source("1 hour", checkpoint)
    val rows = batches
    val query = sql(selectOf(labels, Seq(column))) _
    source.start(query)
    rows.take(2).foreach(source.add)
    source.stop()
    val running = source.start(query)
    rows.drop(2).foreach(source.add)
    val counts = source.rows.map(r => r.getLong(0) -> r.getLong(1)).toMap
    for ((id, count) <- answers) assert(counts.get(id).contains(count), s"$id of $counts")
    more(source, running)
    source.stop()
  })

  test("an event stays for the labels of its month, and leaves after them", Slow) {
    def others = (10L until 40L).map(k => row(k, "2026-03-01T00:10", k.toInt))
    answering(
      asked("count(*)", "e.ts >= date_trunc('month', l.ts) AND e.ts < l.ts"),
      Seq(
        row(1, "2026-03-01T00:10") +: others,
        Seq(row(2, "2026-03-08T00:00", k = 2)),
        Seq(row(3, "2026-03-16T00:00", k = 2)),
        Seq(row(4, "2026-03-24T00:00", k = 2)),
        Seq(row(5, "2026-03-31T23:59"), row(6, "2026-04-01T00:00")),
        Seq(row(7, "2026-04-01T05:00", k = 2))
      )
    ) { (source, running) =>
      val before = rowsInState(running)
      for (month <- 6 to 8) source.add(Seq(row(90L + month, s"2026-0$month-05T12:00", k = 3)))
      assert(before > 30 && rowsInState(running) < 20, "30 keys had a row of the first day")
    }(1L -> 0L, 3L -> 1L, 5L -> 1L, 6L -> 0L)
  }

  test("a label waits for its upper end, if that may lie later", Slow) {
    answering(
      asked("count(*)", "e.ts >= l.ts AND e.ts < date_trunc('hour', l.ts + INTERVAL 2 HOURS)"),
      Seq(
        Seq(row(1, "2026-03-01T10:30")),
        Seq(row(2, "2026-03-01T12:00", k = 2)),
        Seq(row(3, "2026-03-01T11:30")),
        Seq(row(4, "2026-03-01T14:00", k = 2)),
        Seq(row(5, "2026-03-01T15:00", k = 2))
      )
    )()(1L -> 2L, 2L -> 1L)
  }

  test("of two lower ends the later one counts, and of two upper ends the earlier one", Slow) {
    val last =
      "e.ts >= l.ts - INTERVAL 6 HOURS AND e.ts >= date_trunc('day', l.ts) AND e.ts < l.ts"
    val first = "e.ts >= l.ts - INTERVAL 10 HOURS AND " +
      "e.ts < least(l.ts, date_trunc('day', l.ts) + INTERVAL 2 HOURS)"
    answering(
      s"(${asked("count(*)", last)} * 10 + ${asked("count(*)", first)})",
      Seq(
        Seq(row(1, "2026-03-01T16:00")),
        Seq(row(2, "2026-03-01T23:00")),
        Seq(row(3, "2026-03-02T03:00")),
        Seq(row(4, "2026-03-02T08:00")),
        Seq(row(5, "2026-03-02T18:00", k = 2))
      )
    )()(2L -> 0L, 3L -> 1L, 4L -> 11L)
  }

  test("an end of window(ts, …) is one of a unit, as a column of the labels", Slow) {
    def column(of: String) =
      s"(SELECT count(*) FROM events e WHERE e.k = l.k AND e.ts >= $of AND e.ts < l.ts)"
    answering(
      Seq("l.h", "l.w.start - INTERVAL 1 HOUR", "window(l.ts, '20 minutes').start")
        .map(column)
        .reduce((a, b) => s"($a * 10 + $b)"),
      Seq(
        Seq(row(1, "2026-03-01T10:30")),
        Seq(row(2, "2026-03-01T10:50")),
        Seq(row(3, "2026-03-01T11:20")),
        Seq(row(4, "2026-03-01T11:40"), row(5, "2026-03-01T11:59")),
        Seq(row(6, "2026-03-02T10:00", k = 2))
      ),
      "(SELECT *, w.start AS h FROM (SELECT *, window(ts, '1 hour') AS w FROM events))"
    )()(2L -> 110L, 3L -> 20L, 4L -> 130L, 5L -> 241L)
  }

  test("an end is open, or closed, where the unit begins") {
    def rows = Seq("09:59:59.999999", "10:00:00", "10:30:00", "11:00:00", "12:59:59").zipWithIndex
      .map { case (t, i) => Seq(row(1L + i, s"2026-03-01T$t")) }
    val counts = Seq(">= <", ">= <=", "> <", "> <=").map { ends =>
      val Array(lower, upper) = ends.split(" ")
      asked(
        "count(*)",
        s"e.ts $lower date_trunc('hour', l.ts - INTERVAL 2 HOURS) AND " +
          s"e.ts $upper date_trunc('hour', l.ts - INTERVAL 1 HOUR)"
      )
    }
    answering(
      counts.reduce((a, b) => s"($a * 10 + $b)"),
      Seq(rows.flatten, Seq(row(9, "2026-03-02T00:00", k = 2)))
    )()(5L -> 2312L)
  }

  private class Scale(val factor: Int, val units: Seq[String], val shifts: Seq[String])

  private def hours(n: Int*): Seq[String] = n.map(h => s"make_interval(0, 0, 0, 0, $h)")

  private val scales = Seq(
    new Scale(60, Seq("minute", "hour"), Seq("INTERVAL 7 MINUTES", "INTERVAL 30 SECONDS")),
    new Scale(3600, Seq("hour", "day", "millisecond"), hours(1, 5, 24)),
    new Scale(43200, Seq("day", "week", "month", "quarter"), hours(30, 168))
  )

  private final class Draw(seed: Long, scale: Scale) {
    private val random = new Random(seed)

    private def one[A](of: Seq[A]): A = of(random.nextInt(of.length))

    private def cut(e: String): String = one(
      Seq(
        s"date_trunc('${one(scale.units)}', $e)",
        s"date_trunc('${one(scale.units)}', $e)",
        e
      ) ++
        Option.when(scale.factor > 60)(s"CAST(to_date($e) AS TIMESTAMP)")
    )

    private def moved(e: String, signs: Seq[String]): String =
      if (random.nextBoolean()) e else s"($e ${one(signs)} ${one(scale.shifts)})"

    private def single(signs: Seq[String]): String = moved(cut(moved("l.ts", signs)), signs)

    private def end(signs: Seq[String]): String =
      if (random.nextInt(4) > 0) single(signs)
      else s"${one(Seq("greatest", "least"))}(${single(signs)}, ${single(signs)})"

    private val aggregates = Seq(
      "count(*)",
      "sum(e.x)",
      "max(e.d)",
      "count(DISTINCT e.x)",
      "sort_array(collect_list(e.id))",
      "sum(e.x) FILTER (WHERE e.id % 3 > 0)"
    )

    def column(isAhead: Boolean): String = {
      val ends = Seq(
        s"e.ts ${one(Seq(">", ">="))} date_trunc('${one(scale.units)}', ${end(Seq("-"))})",
        s"e.ts ${one(Seq("<", "<="))} ${end(if (isAhead) Seq("-", "+") else Seq("-"))}"
      )
      asked(one(aggregates), (if (random.nextInt(5) == 0) ends.tail else ends).mkString(" AND "))
    }
  }

  private def scaled(start: String, zone: String, factor: Int, events: Seq[Seq[Event]]) = {
    val first = LocalDateTime.parse(start).atZone(ZoneId.of(zone)).toInstant.toEpochMilli
    def ofTime(t: Timestamp) =
      new Timestamp(first + (t.getTime - 1600001000000L) * factor)
    events.map(_.map(e => e.copy(ts = e.ts.map(ofTime))))
  }

  /** A local time before clocks change, and a zone. */
  private val starts = Seq(
    "2026-02-26T00:00" -> "UTC",
    "2020-10-30T20:00" -> "America/New_York",
    "2026-03-28T21:00" -> "Europe/Berlin",
    "2018-11-02T22:30" -> "America/Sao_Paulo",
    "2026-04-04T22:00" -> "Australia/Lord_Howe",
    "2026-01-30T10:00" -> "Asia/Kathmandu"
  )

  private def law(i: Int, scale: Scale, isAhead: Boolean): Unit = {
    val (start, zone) = starts(i % starts.length)
    val draw = new Draw(i, scale)
    val query = select(Seq.fill(3)(draw.column(isAhead)): _*)
    val some = batches(i, count = 7, size = 30, jitterSeconds = 25, keys = 3)
    val rows = scaled(start, zone, scale.factor, some)
    withClue(s"$zone $i: $query\n")(inZone(zone) {
      checkStream(rows, 15 * scale.factor, Set(2, 5), atOnce = !isAhead)(sql(query))
    })
  }

  for ((scale, number) <- scales.zipWithIndex)
    test(
      s"random ends at a scale of ${scale.factor} seconds, and restarts",
      Slow +: each(3): _*
    ) {
      for (i <- 0 until Thorough.times(4)) law(number + 5 * i, scale, (number + i) % 2 == 1)
    }

  test("another unit is another window in the checkpoint") {
    def text(lower: String) = inZone("UTC") {
      textOf(
        sql(select(asked("count(*)", s"e.ts >= $lower AND e.ts < l.ts"))),
        OutputMode.Append()
      )
    }
    val texts = Seq("hour", "day").map(u => text(s"date_trunc('$u', l.ts)")) ++
      Seq(text("l.ts - INTERVAL 1 HOUR"), text("date_trunc('hour', l.ts - INTERVAL 1 HOUR)"))
    assert(texts.distinct.length == 4, texts.mkString("\n\n"))
    assert(texts.head.contains("date_trunc('hour', ts), (ts + -1 us)"), texts.head)
    assert(text("date_trunc('hour', l.ts)") == texts.head)
  }
}
