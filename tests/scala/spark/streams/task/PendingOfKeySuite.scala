package io.sash.spark.streams.task

import java.nio.ByteBuffer

import scala.util.Random

import org.apache.spark.sash.FakeTask
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.unsafe.types.UTF8String

import io.sash.spark.{Event, StreamSuite, Thorough}
import io.sash.spark.streams.program.StreamProgram
import io.sash.spark.streams.state.{BucketHeader, SmallChunks, StateInMemory, StreamState}

/**
 * Pending rows of keys in chunks, row by row. The task of update mode works on a state in memory:
 * no query runs, and thousands of batches take a second.
 */
class PendingOfKeySuite extends StreamSuite {
  import StreamSuite._

  /** The update mode of a query over one bucket. */
  private final class Updates(program: StreamProgram) {
    val memory = new StateInMemory
    private val state = new StreamState(memory.handle)
    private val task = new UpdateTask(program, state, new KeyWindows(program, state))
    private val toRow = UnsafeProjection.create(program.input.map(_.dataType).toArray)
    private var header = BucketHeader.Empty

    /** The answers of a batch, in order. */
    def batch(events: Seq[Event], passed: Long): Seq[UnsafeRow] = {
      val turn = task.turn(header, events.map(rowOf).iterator, passed)
      val answers = turn.answers.map(_.asInstanceOf[UnsafeRow].copy()).toVector
      header = turn.after()
      answers
    }

    private def rowOf(e: Event): UnsafeRow = toRow(InternalRow.fromSeq(program.input.map { c =>
      c.name match {
        case "id"                           => e.id
        case "k"                            => e.k.orNull
        case "ts"                           => micros(e)
        case "x"                            => e.x.orNull
        case "d"                            => e.d
        case "s"                            => UTF8String.fromString(e.s)
        case _ if c.dataType == BooleanType => e.x.exists(_ > 90) // a condition of a window
        case _                              => 0 // the bucket
      }
    })).copy()
  }

  private def programOf(calls: String): StreamProgram = streaming() {
    val query = sql(s"SELECT id, $calls FROM events") _
    processorOf(query, OutputMode.Update()).asInstanceOf[StreamProcessor].program
  }

  private val W = "OVER (PARTITION BY k ORDER BY ts, id"
  private val T = "OVER (PARTITION BY k ORDER BY ts"

  private val queries = Seq(
    "rows" -> s"""sum(x) $W ROWS 4 PRECEDING) AS a, max(d) $W ROWS 70 PRECEDING) AS b,
                 |count(*) $W ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS c,
                 |lag(s, 2) $W) AS l, row_number() $W) AS n""".stripMargin,
    "ranges" -> s"""sum(x) $T RANGE INTERVAL 10 SECONDS PRECEDING) AS a,
                   |max(d) $T RANGE INTERVAL 90 SECONDS PRECEDING) AS b,
                   |count(*) $T RANGE BETWEEN INTERVAL 60 SECONDS PRECEDING
                   |  AND INTERVAL 5 SECONDS PRECEDING) AS c,
                   |rank() $T) AS r, count(x) $T) AS g, sum(x) OVER
                   |  (PARTITION BY k, gap_window(INTERVAL 2 SECONDS) ORDER BY ts) AS s""".stripMargin,
    "kinds" -> """max(d) OVER (PARTITION BY k, groups_window(9) ORDER BY ts, id) AS g,
                 |count(*) OVER (PARTITION BY k, delta_window(d, 90) ORDER BY ts, id) AS d,
                 |count(x) OVER (PARTITION BY k, punctuation_window(x > 90) ORDER BY ts, id) AS p,
                 |count(*) OVER (PARTITION BY k, count_window(9), window_slide(4) ORDER BY ts, id)
                 |  AS w""".stripMargin,
    "medians" -> s"""median(x) $W ROWS 40 PRECEDING) AS m,
                    |count(DISTINCT s) $W ROWS 9 PRECEDING) AS n""".stripMargin,
    "a time to live" -> s"sum(x) $W ROWS 20 PRECEDING) AS a, row_number() $W) AS n"
  )

  /** Batches of few rows, some out of order, with the watermark that has passed. */
  private def arrivals(seed: Long, count: Int): Seq[(Seq[Event], Long)] = {
    val random = new Random(seed)
    var late = 0L
    var passed = 0L
    var id = 0L
    (0 until count).map { b =>
      late = passed
      // a walk now and then, as at the end of a trigger of real-time mode
      if (random.nextInt(40) == 0) passed = micros(at(0, b * 0.4 - 20))
      val size = if (random.nextInt(30) == 0) 20 else 1 + random.nextInt(2)
      val come = Seq.fill(size) {
        id += 1
        val jitter = if (random.nextInt(3) == 0) random.nextInt(30) else 0
        val second = b * 0.4 - jitter
        at(id, (second * 2).round / 2.0, k = random.nextInt(8) / 7).copy(
          x = Option.when(random.nextInt(9) > 0)(random.nextInt(100)),
          d = random.nextInt(1000) / 8.0,
          s = ('a' + random.nextInt(26)).toChar.toString
        )
      }
      (come.filter(micros(_) > late), passed)
    }
  }

  private def headers(of: Map[(String, ByteBuffer), ByteBuffer]) =
    of.filter { case ((variable, _), _) => variable == "head" }

  private def checkAlike(calls: String, seed: Long, count: Int): Unit = {
    val program = programOf(calls)
    FakeTask.run(spark.sparkContext, refused = Int.MaxValue) {
      val whole, divided = new Updates(program)
      var seen = Set.empty[Char]
      val last = Seq(0, 1).map(k => at(-1L - k, count.toDouble, k))
      val all = arrivals(seed, count) :+ (last -> micros(last.head))
      all.zipWithIndex.foreach { case ((rows, passed), i) =>
        val expected = SmallChunks.none(whole.batch(rows, passed))
        val found = SmallChunks(divided.batch(rows, passed))
        assert(found == expected, s"seed $seed, batch $i")
        seen ++= divided.memory.kinds
      }
      assert(Set('C', 'S').subsetOf(seen), "vacuous: no chunk")
      assert(whole.memory.kinds.subsetOf(Set('N')), "some row is pending")
      val Seq(are, were) = Seq(divided, whole).map(_.memory.entries)
      if (calls.contains("median")) {
        // the first node of a multiset's window may still have elements that have left it
        assert(are.keySet == were.keySet, s"seed $seed")
        assert(headers(are) == headers(were) && headers(are).nonEmpty, s"seed $seed")
      } else assert(are == were, s"seed $seed")
    }
    ()
  }

  for (((name, calls), i) <- queries.zipWithIndex) {
    val settings =
      if (name.contains("time")) Seq("spark.sash.stream.keyTimeToLive" -> "3s") else Nil
    test(s"answers and the state at last are as without chunks: $name") {
      withSettings(settings: _*)(checkAlike(calls, seed = 10L + i, count = 600))
    }
    test(s"answers and the state at last are as without chunks, more rows: $name", Thorough) {
      withSettings(settings: _*) {
        (0 until 6).foreach(seed => checkAlike(calls, 100L * i + seed, count = 1200))
      }
    }
  }

  test("final rows keep their nodes while a key has begun anew") {
    val program = withSettings("spark.sash.stream.keyTimeToLive" -> "30s") {
      programOf(s"sum(x) $W ROWS 70 PRECEDING) AS a")
    }
    val whole, divided = new Updates(program)
    val seconds = (0 until 120).map(_ * 0.1) ++ (0 until 100).map(100 + _ * 0.1) :+ 9.05
    seconds.zipWithIndex.foreach { case (second, i) =>
      val row = Seq(at(i.toLong, second, x = i))
      val passed = if (i < 119) 0L else micros(at(0, 9))
      val expected = SmallChunks.none(whole.batch(row, passed))
      assert(SmallChunks(divided.batch(row, passed)) == expected, s"row $i")
    }
  }

  /** The calls and the bytes of the last 100 rows, each a batch, while all rows are pending. */
  private def costs(second: Int => Double, counts: Seq[Int]): Seq[(Long, Long)] = {
    val updates = new Updates(programOf(s"sum(x) $W ROWS 99 PRECEDING) AS a"))
    var before = 0
    counts.map { count =>
      def add(from: Int, until: Int): Unit =
        (from until until).foreach(i => updates.batch(Seq(at(i.toLong, second(i))), 0L))
      add(before, count - 100)
      val (calls, bytes) = (updates.memory.calls, updates.memory.bytes)
      add(count - 100, count)
      before = count
      (updates.memory.calls - calls, updates.memory.bytes - bytes)
    }
  }

  for (
    (name, second, most) <- Seq[(String, Int => Double, Int)](
      ("in order", _.toDouble, 8000),
      ("out of order", i => i.toDouble - 20 * (i % 2), 9000)
    )
  ) test(s"a row costs the same however many rows are pending: $name") {
    val Seq((fewCalls, fewBytes), (manyCalls, manyBytes)) = costs(second, Seq(600, 4000))
    assert(manyCalls <= fewCalls * 1.3 && manyBytes <= fewBytes * 1.3, (fewBytes, manyBytes))
    assert(manyCalls <= 100 * 10 && manyBytes <= 100 * most, (manyCalls, manyBytes))
  }

  test("a row of a late time costs no more once the rows are chunks again") {
    val updates = new Updates(programOf(s"sum(x) $W ROWS 99 PRECEDING) AS a"))
    def cost(e: Event): Long = {
      val before = updates.memory.bytes
      updates.batch(Seq(e), 0L)
      updates.memory.bytes - before
    }
    updates.batch((1 to 1000).map(i => at(i.toLong, i.toDouble)), 0L)
    val atOnce = cost(at(1001, 1001))
    val first = cost(at(1002, 0.5))
    val next = cost(at(1003, 1003))
    assert(atOnce > 33000 && first > 33000 && next < 10000, (atOnce, first, next))
  }

  test("rows of large batches become final one by one at a small cost") {
    val updates = new Updates(programOf(s"sum(x) $W ROWS 99 PRECEDING) AS a"))
    Seq(1 to 4000, 4001 to 8000).foreach { rows =>
      updates.batch(rows.map(i => at(i.toLong, i.toDouble)), 0L)
    }
    assert(updates.memory.kinds.contains('C'), "vacuous: no chunk")
    val costs = (1 to 40).map { i =>
      val before = updates.memory.bytes
      updates.batch(Seq(at(8000L + i, 8000.0 + i)), micros(at(0, i.toDouble)))
      updates.memory.bytes - before
    }
    // the first makes chunks of the last rows, some hundred
    assert(costs.head < 100000 && costs.tail.max < 10000, costs)
  }
}
