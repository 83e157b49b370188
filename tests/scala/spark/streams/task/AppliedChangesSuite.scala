package io.sash.spark.streams.task

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.{AnalysisException, DataFrame, Row}
import org.apache.spark.sql.streaming.{OutputMode, StreamingQuery, StreamingQueryException}

import io.sash.spark.{Event, StreamSuite, Thorough}

/** Rows of a stream that change its earlier rows, by the columns of Delta's change feed. */
class AppliedChangesSuite extends StreamSuite {
  import StreamSuite._

  private val Setting = "spark.sash.stream.changesBy"

  /** The kind of an event's change is in `s`, and its version in `d`. */
  private def over(calls: String)(rows: DataFrame): DataFrame = sql(
    s"""SELECT id, k, _change_type, _commit_version, ts, $calls FROM
       |  (SELECT *, s AS _change_type, CAST(d AS BIGINT) AS _commit_version FROM events)
       |""".stripMargin
  )(rows)

  private val windows = Seq(
    """sum(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 3 PRECEDING) AS a,
      |  max(x) OVER (PARTITION BY k ORDER BY ts, id ROWS 70 PRECEDING) AS b,
      |  row_number() OVER (PARTITION BY k ORDER BY ts, id) AS n""".stripMargin,
    """sum(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 20 SECONDS PRECEDING) AS a,
      |  max(x) OVER (PARTITION BY k ORDER BY ts RANGE INTERVAL 60 SECONDS PRECEDING) AS b,
      |  count(*) OVER (PARTITION BY k ORDER BY ts) AS c""".stripMargin
  )

  private val removals = Set("delete", "update_preimage")

  /** The last answer of each row that is not taken away. */
  private def merged(rows: Seq[Row]): Map[Long, Seq[Any]] = {
    val table = mutable.Map.empty[Long, Seq[Any]]
    rows.foreach { r =>
      if (removals(r.getString(2))) table.remove(r.getLong(0)) else table(r.getLong(0)) = r.toSeq
    }
    table.toMap
  }

  /** The rows of a table that random changes are made to, and that are made as a stream sees them. */
  private final class Table(random: Random, delaySeconds: Int) {
    private val rows = mutable.LinkedHashMap.empty[Long, Event] // as the stream should hold them
    private val own = mutable.LinkedHashMap.empty[Long, Event] // as the table holds them
    private var watermark = 0L
    private var (nextId, version) = (0L, 0)
    var tooLate = 0
    var changed = 0

    def held: Seq[Event] = rows.values.toSeq

    private def isLate(e: Event) = micros(e) <= watermark * 1000

    /** A batch of some commits in random order of their rows. */
    def batch(second: Int): Seq[Event] = {
      val made = (0 to random.nextInt(3)).flatMap { _ =>
        version += 1
        val changes = own.keys.toSeq.filter(_ => random.nextInt(6) == 0).flatMap(change)
        changes ++ (0 until random.nextInt(8)).map(_ => insert(second))
      }
      val latest = made.map(_.ts.get.getTime - delaySeconds * 1000L)
      watermark = (watermark +: latest).max
      random.shuffle(made)
    }

    private def insert(second: Int): Event = {
      nextId += 1
      val e = at(nextId, second + random.nextInt(30).toDouble, k = random.nextInt(2))
      val row = e.copy(x = Some(random.nextInt(50)), s = "insert", d = version.toDouble)
      own(row.id) = row
      if (!isLate(row)) rows(row.id) = row
      row
    }

    private def change(id: Long): Seq[Event] = {
      val old = own(id)
      def of(e: Event, kind: String) = e.copy(s = kind, d = version.toDouble)
      val isPending = rows.get(id).exists(!isLate(_))
      if (!isPending) tooLate += 1 else changed += 1
      if (random.nextBoolean()) {
        own.remove(id)
        if (isPending) rows.remove(id)
        Seq(of(old, "delete"))
      } else {
        val shift = if (random.nextInt(3) == 0) random.nextInt(20000) - 10000L else 0L
        val time = new java.sql.Timestamp(old.ts.get.getTime + shift)
        val now = of(old, "update_postimage").copy(
          ts = Some(time),
          x = Some(random.nextInt(50))
        )
        own(id) = now
        if (isPending && !isLate(now)) rows(id) = now
        else if (isPending) rows.remove(id) // its preimage has taken it away
        Seq(of(old, "update_preimage"), now)
      }
    }
  }

  private def check(seed: Long): Unit = windows.foreach(check(seed, _))

  private def check(seed: Long, windows: String): Unit = inDirectory { folder =>
    val random = new Random(seed)
    streaming(Setting -> "id") {
      val source = new Source("25 seconds", folder, OutputMode.Update())
      val table = new Table(random, 25)
      source.start(over(windows))
      (0 until 7).foreach { i =>
        if (random.nextInt(3) == 0) {
          source.stop()
          source.start(over(windows))
        }
        source.add(table.batch(1000 + 8 * i))
        val expected = over(windows)(spark.createDataFrame(table.held)).collect().toSeq
        val (now, right) = (merged(source.rows), merged(expected))
        val wrong = (now.toSet -- right).map(_._2.mkString(" "))
        val lacking = (right.toSet -- now).map(_._2.mkString(" "))
        assert(wrong.isEmpty && lacking.isEmpty, s"seed $seed, batch $i")
      }
      source.stop()
      assert(table.changed > 5, "vacuous: no pending row changed")
    }
  }

  test("the last answers are those of the changed table") {
    check(1)
  }

  test("the last answers are those of the changed table: random changes", Thorough) {
    (100L until 130L).foreach(check)
  }

  private val query = over("sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 9 PRECEDING) AS a") _

  private var running: StreamingQuery = _

  private def changing(delay: String)(body: Source => Unit): Unit =
    streaming(Setting -> "id")(inDirectory { folder =>
      val source = new Source(delay, folder, OutputMode.Update())
      running = source.start(query)
      body(source)
      source.stop()
    })

  private def event(id: Long, second: Int, kind: String, version: Int, x: Int = 1): Event =
    at(id, second.toDouble, x = x, d = version.toDouble).copy(s = kind)

  private def last(source: Source): Set[String] = source.answers.values
    .filter(_.nonEmpty)
    .last
    .map(r => s"${r.getLong(0)} ${r.getString(2)} ${r.get(5)}")
    .toSet

  test("an update answers its row and the rows after it again, and a delete takes a row away") {
    changing("1 hour") { source =>
      source.add((1 to 4).map(i => event(i.toLong, 10 * i, "insert", 1)))
      source.add(Seq(event(2, 20, "update_preimage", 2), event(2, 20, "update_postimage", 2, 7)))
      assert(
        last(source) ==
          Set("2 update_postimage 8", "3 insert 9", "4 insert 10")
      )
      source.add(Seq(event(3, 30, "delete", 3)))
      assert(last(source) == Set("3 delete null", "4 insert 9"))
    }
  }

  test("changes of one row in one batch apply in the order of their versions") {
    changing("1 hour") { source =>
      source.add(
        Seq(
          event(1, 10, "delete", 5),
          event(1, 10, "update_postimage", 3, 7),
          event(2, 20, "insert", 2, 3),
          event(1, 10, "insert", 6, 9),
          event(1, 10, "update_preimage", 3),
          event(1, 10, "insert", 1),
          event(3, 30, "insert", 2),
          event(3, 30, "delete", 3)
        )
      )
      assert(last(source) == Set("1 insert 9", "2 insert 12"))
    }
  }

  test("all rows of a key may go, and the key leaves the state") {
    changing("1 minute") { source =>
      source.add(Seq(event(1, 10, "insert", 1)))
      source.add(Seq(event(1, 10, "delete", 2)))
      assert(last(source) == Set("1 delete null"))
      source.add(Seq(event(2, 20, "insert", 3, 5)))
      assert(last(source) == Set("2 insert 5"))
    }
  }

  test("a query need not select the columns of changes above its windows") {
    streaming(Setting -> "id")(inDirectory { folder =>
      val source = new Source("1 hour", folder, OutputMode.Update())
      source.start(rows => query(rows).select("id", "a"))
      source.add(Seq(event(1, 10, "insert", 1), event(2, 20, "insert", 1)))
      source.add(Seq(event(1, 10, "update_postimage", 2, 5)))
      source.stop()
      val now = source.answers.values.filter(_.nonEmpty).last.map(_.toSeq).toSet
      assert(now == Set(Seq[Any](1, 5), Seq[Any](2, 6)))
    })
  }

  test("a row that comes twice counts once") {
    changing("1 hour") { source =>
      source.add(Seq(event(1, 10, "insert", 1), event(2, 20, "insert", 1)))
      source.add(Seq(event(1, 10, "insert", 1), event(3, 30, "insert", 2)))
      assert(last(source) == Set("3 insert 3"))
    }
  }

  test("a change of a final row is counted, and changes nothing") {
    changing("5 seconds") { source =>
      source.add(Seq(event(1, 10, "insert", 1), event(2, 100, "insert", 1)))
      source.add(Seq(event(1, 101, "update_postimage", 2, 9), event(3, 110, "insert", 2)))
      assert(last(source) == Set("3 insert 3"))
      val counted = running.recentProgress.flatMap(p => Option(p.observedMetrics.get("sash.0")))
      assert(counted.map(_.getAs[Long]("changesTooLate")).sum == 1)
    }
  }

  private val above10 = sql(
    """SELECT id, k, _change_type, _commit_version, ts,
      |  sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 9 PRECEDING) AS a
      |FROM (SELECT *, s AS _change_type, CAST(d AS BIGINT) AS _commit_version FROM events)
      |WHERE x > 10""".stripMargin
  ) _

  test("an update lets a row come or leave by a condition below the windows") {
    streaming(Setting -> "id")(inDirectory { folder =>
      val source = new Source("1 hour", folder, OutputMode.Update())
      source.start(above10)
      source.add(Seq(event(1, 10, "insert", 1, 1), event(2, 20, "insert", 1, 30)))
      source.add(
        Seq(event(1, 10, "update_preimage", 2, 1), event(1, 10, "update_postimage", 2, 20))
      )
      assert(last(source) == Set("1 update_postimage 20", "2 insert 50"))
      source.add(
        Seq(event(1, 10, "update_preimage", 3, 20), event(1, 10, "update_postimage", 3, 2))
      )
      source.stop()
      assert(last(source) == Set("1 update_preimage null", "2 insert 30"))
    })
  }

  test("an update gives a row its time") {
    changing("1 hour") { source =>
      val timeless = event(1, 10, "insert", 1, 5).copy(ts = None)
      source.add(Seq(timeless, event(2, 20, "insert", 1)))
      source.add(
        Seq(
          timeless.copy(s = "update_preimage", d = 2.0),
          event(1, 10, "update_postimage", 2, 5)
        )
      )
      assert(last(source) == Set("1 update_postimage 5", "2 insert 6"))
    }
  }

  test("a row goes whose answers are never NULL") {
    streaming(Setting -> "id")(inDirectory { folder =>
      val source = new Source("1 hour", folder, OutputMode.Update())
      source.start(
        over(
          "collect_list(x) OVER (PARTITION BY k ORDER BY ts ROWS 9 PRECEDING) AS a, " +
            "named_struct('n', count(*) OVER (PARTITION BY k ORDER BY ts ROWS 9 PRECEDING)) AS b"
        )
      )
      source.add(Seq(event(1, 10, "insert", 1)))
      source.add(Seq(event(1, 10, "delete", 2)))
      source.stop()
      val gone = source.answers.values.filter(_.nonEmpty).last.head
      assert(gone.getString(2) == "delete" && gone.getSeq(5).isEmpty)
      assert(gone.getStruct(6).getLong(0) == 0)
    })
  }

  test("a change of another kind is an error") {
    changing("1 hour") { source =>
      val fault = intercept[StreamingQueryException](source.add(Seq(event(1, 1, "upsert", 1))))
      assert(
        fault.getMessage.contains(
          "The _change_type of a row is upsert; write one of insert, update_preimage, " +
            "update_postimage, delete"
        )
      )
    }
  }

  for (
    (name, by, of, mode, words) <- Seq(
      ("append mode", "id", query, OutputMode.Append(), "write in update mode"),
      (
        "no columns",
        "id",
        sql("SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 9 PRECEDING) FROM events") _,
        OutputMode.Update(),
        "without one column _change_type and _commit_version; name it beside"
      ),
      ("another id", "no", query, OutputMode.Update(), "without one column no; name it beside"),
      (
        "a version of another type",
        "id",
        sql(
          """SELECT id, sum(x) OVER (PARTITION BY k ORDER BY ts ROWS 9 PRECEDING), _change_type,
            |  _commit_version FROM (SELECT *, s AS _change_type, d AS _commit_version FROM events)
            |""".stripMargin
        ) _,
        OutputMode.Update(),
        "_commit_version is not a BIGINT"
      ),
      (
        "hop windows",
        "id",
        sql("SELECT k, count(*) FROM events GROUP BY k, window(ts, '9 seconds', '3 seconds')") _,
        OutputMode.Update(),
        "hop windows, whose partials keep no single row"
      )
    )
  ) test(s"refused: $name") {
    val fault = streaming(Setting -> by)(inDirectory { folder =>
      intercept[AnalysisException](new Source("1 hour", folder, mode).start(of))
    })
    assert(fault.getMessage.contains(words))
  }
}
