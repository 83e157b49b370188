package io.sash.core.stored

import java.nio.ByteBuffer

import scala.util.Random

import org.scalacheck.{Gen, Prop}
import org.scalacheck.Prop.{forAllNoShrink, propBoolean}

import io.sash.core.{Element, Laws, Operation, TestColumn}
import io.sash.core.elements.InOrderWindow
import io.sash.core.frames._
import io.sash.core.inorder.Recalculate
import io.sash.core.slots.{Bytes, Keys}

/**
 * Frames over a store. They are the frames that `FrameLaws` test over a ring, so the law is that
 * both give the same windows.
 */
class StoredFramesSuite extends Laws {
  import StoredFramesSuite._

  private val rows: Gen[Vector[Row]] = {
    val row = for {
      step <- Gen.frequency(3 -> Gen.const(0L), 4 -> Gen.choose(1L, 4L), 1 -> Gen.choose(5L, 40L))
      holds <- Gen.frequency(1 -> Gen.const(true), 4 -> Gen.const(false))
      width <- Gen.choose(-1L, 9L)
    } yield Row(step, holds, width)
    Gen.choose(0, 120).flatMap(Gen.listOfN(_, row)).map { steps =>
      val times = steps.map(_.time).scanLeft(1L)(_ + _).tail
      steps.zip(times).map { case (row, time) => row.copy(time = time) }.toVector
    }
  }

  law("a window over a store holds the rows of the same window in batch, across restarts") {
    forAllNoShrink(rows, windows, Gen.choose(1, 3), Gen.choose(0.0, 0.5), Gen.long) {
      (rows, window, logFanOut, restarts, seed) =>
        val random = new Random(seed)
        val found =
          new Stream(rows, window, logFanOut)(random.nextDouble() < restarts).answers
        same(window, found, inBatch(rows, window))
    }
  }

  law("so does a window whose rows come before they are asked for", runs = 400) {
    forAllNoShrink(
      rows,
      Gen.oneOf(beside, ahead),
      Gen.choose(1, 3),
      Gen.choose(0.0, 0.5),
      Gen.long
    ) { (rows, window, logFanOut, restarts, seed) =>
      val random = new Random(seed)
      val expected = inBatch(rows, window)
      val stream =
        new Stream(rows, window, logFanOut, isLater = true)(random.nextDouble() < restarts)
      same(window, stream.answersLater(expected, random), expected)
    }
  }

  test("parts of a joined frame look for their first rows where the window's first row is") {
    def loads(window: Window): Long = {
      val rows = Vector.tabulate(6000)(i => Row(i.toLong, holds = false, width = 0L))
      val stream = new Stream(rows, window, logFanOut = 5)(false)
      stream.answers
      stream.store.gets
    }
    val far = Window("far")((w, _, _) => new RowsFrame(w, -700L, 0L))
    val near =
      Window("near", ofPeers = true)((w, rows, _) =>
        new RangeFrame(w, rows(Shift(-300), Current))
      )
    val alone = loads(far)
    assert(alone > 150L)
    for (parts <- Seq(Seq(far, near), Seq(near, far)))
      assert(loads(joined(parts, ofAll = false)) <= alone + 5)
  }

  law("rows that a frame is over with are missed by no later row") {
    forAllNoShrink(rows, windows, Gen.choose(0.0, 1.0)) { (rows, window, part) =>
      val (before, after) = rows.splitAt((rows.length * part).toInt)
      val isOver = before.nonEmpty && after.nonEmpty &&
        isOverWith(window, before.last.time, after.head.time)
      !isOver || {
        val all = inBatch(rows, window).drop(before.length)
        val alone =
          inBatch(after, window).map(_.map(e => e.copy(arrival = e.arrival + before.length)))
        same(window, alone, all)
      }
    }
  }

  test("frames of times, peers and sessions are over at last") {
    val over = Seq(
      Window("range", ofPeers = true)((w, rows, _) =>
        new RangeFrame(w, rows(Shift(-9), Current))
      ),
      Window("peers", ofPeers = true)((w, rows, _) => new RangeFrame(w, rows(Current, Current))),
      Window("session")((w, rows, _) => new GapFrame(w, rows(Current, Shift(8))))
    )
    over.foreach { w =>
      assert(!isOverWith(w, 5L, 5L), w)
      assert(isOverWith(w, 5L, 15L), w)
      assert(isOverWith(w, 5L, 14L) == (w.name != "range"), w)
    }
  }

  test("a joined frame is not over with rows that decide where a session of it ends") {
    val range =
      Window("range", ofPeers = true)((w, rows, _) => new RangeFrame(w, rows(Shift(-3), Current)))
    val session = Window("session")((w, rows, _) =>
      new GapFrame(w, rows(Shift(-12), Shift(8)), isBounded = true)
    )
    val both = joined(Seq(range, session), ofAll = true)
    // the session from 1 on ends before 14, and one from 13 on would not
    assert(!isOverWith(both, 7L, 13L))
    assert(isOverWith(both, 7L, 16L))
    assert(!isOverWith(joined(Seq(range, session), ofAll = false), 7L, 13L))
  }

  private def same(
      window: Window,
      found: Seq[Vector[Element]],
      expected: Seq[Vector[Element]]
  ): Prop = {
    val wrong = found.zip(expected).indexWhere { case (f, e) => f != e }
    (wrong < 0 && found.length == expected.length) :|
      s"${window.name}, row $wrong: ${found.lift(wrong)}, not ${expected.lift(wrong)}"
  }
}

private object StoredFramesSuite {

  /** @param holds whether the row is a punctuation */
  final case class Row(time: Long, holds: Boolean, width: Long)

  sealed trait Bound
  case object Unbounded extends Bound
  case object Current extends Bound
  final case class Shift(by: Long) extends Bound

  type Make = (Array[InOrderWindow], (Bound, Bound) => Rows, BoundingCondition) => Frame

  /**
   * @param ofPeers whether peers have the same window, which ends with the last of them
   * @param byGroups whether the window counts groups of peers
   * @param joins whether rows may leave from one peer to the next
   * @param most the greatest sum of rows' numbers, modulo 10, for a frame of a condition
   */
  final case class Window(
      name: String,
      ofPeers: Boolean = false,
      byGroups: Boolean = false,
      joins: Boolean = false,
      most: Long = 0L
  )(val make: Make)

  private val spans = Gen.choose(0L, 12L)

  /** Windows that end at the current row, or with its last peer, and may be joined. */
  private val distances: Gen[Window] = Gen.oneOf(
    spans.map(n => Window(s"$n rows")((w, _, _) => new RowsFrame(w, -n, 0L))),
    spans.map { n =>
      Window(s"range of $n", ofPeers = true)((w, rows, _) =>
        new RangeFrame(w, rows(Shift(-n), Current))
      )
    }
  )

  /** The same that begin at some row. */
  private val beginnings: Gen[Window] = Gen.oneOf(
    spans.map(n =>
      Window(s"gap of $n")((w, rows, _) => new GapFrame(w, rows(Current, Shift(n))))
    ),
    Gen.zip(spans, spans).map { case (n, longest) =>
      Window(s"gap of $n, at most $longest")((w, rows, _) =>
        new GapFrame(w, rows(Shift(-longest), Shift(n)), isBounded = true)
      )
    },
    Gen.const(
      Window("punctuation")((w, rows, _) => new PunctuationFrame(w, rows(Unbounded, Unbounded)))
    )
  )

  private val own: Gen[Window] = Gen.oneOf(
    Window("own rows")((w, rows, _) => new OwnRowsFrame(w, rows(Unbounded, Current))),
    Window("own range", ofPeers = true)((w, rows, _) =>
      new OwnRangeFrame(w, rows(Shift(-5), Current))
    )
  )

  private def joined(parts: Seq[Window], ofAll: Boolean): Window =
    Window(
      parts.map(_.name).mkString("(", if (ofAll) " and " else " or ", ")"),
      ofPeers = if (ofAll) parts.forall(_.ofPeers) else parts.exists(_.ofPeers),
      joins = true
    ) { (w, rows, condition) =>
      new JoinedFrame(w, parts.map(_.make(Array.empty, rows, condition)).toArray, ofAll)
    }

  private def joinedOf(parts: Gen[Window]): Gen[Window] = Gen.frequency(
    3 -> Gen.zip(parts, parts, Gen.oneOf(true, false)).map { case (a, b, ofAll) =>
      joined(Seq(a, b), ofAll)
    },
    2 -> Gen.zip(parts, parts, parts, Gen.oneOf(true, false)).map { case (a, b, c, ofAll) =>
      joined(Seq(a, joined(Seq(b, c), !ofAll)), ofAll)
    },
    2 -> Gen.zip(own, parts).map { case (own, part) => joined(Seq(own, part), ofAll = true) }
  )

  /** Windows that may stand beside one that looks ahead. */
  val beside: Gen[Window] = Gen.frequency(
    3 -> distances,
    1 -> spans.map(n => Window(s"all but $n")((w, _, _) => new RowsFrame(w, Long.MinValue, -n))),
    1 -> Gen.zip(spans, spans).map { case (n, more) =>
      Window(s"rows that lag by $n")((w, _, _) => new RowsFrame(w, -n - more, -n))
    },
    1 -> Gen.zip(spans, spans).map { case (n, more) =>
      Window(s"range that lags by $n", ofPeers = true)((w, rows, _) =>
        new RangeFrame(w, rows(Shift(-n - more), Shift(-n)))
      )
    },
    1 -> Gen.const(
      Window("so far", ofPeers = true)((w, rows, _) =>
        new RangeFrame(w, rows(Unbounded, Current))
      )
    ),
    1 -> Gen.const(
      Window("peers", ofPeers = true)((w, rows, _) => new RangeFrame(w, rows(Current, Current)))
    ),
    1 -> spans.map { n =>
      Window(s"$n groups", ofPeers = true, byGroups = true)((w, rows, _) =>
        new RangeFrame(w, rows(Unbounded, Unbounded).groups(-n, 0L))
      )
    },
    1 -> Gen.choose(0L, 60L).map { n =>
      Window(s"sum up to $n", most = n)((w, _, condition) => new PredicateFrame(w, condition))
    },
    3 -> joinedOf(distances)
  )

  /** Windows that end after the current row. */
  val ahead: Gen[Window] = Gen.oneOf(
    Gen.zip(spans, spans).map { case (n, more) =>
      Window(s"rows from $n before to $more after")((w, _, _) => new RowsFrame(w, -n, more))
    },
    Gen.zip(spans, spans).map { case (n, more) =>
      Window(s"rows from $n after to $more later")((w, _, _) => new RowsFrame(w, n, n + more))
    },
    Gen.zip(spans, spans).map { case (n, more) =>
      Window(s"range from $n before to $more after", ofPeers = true)((w, rows, _) =>
        new RangeFrame(w, rows(Shift(-n), Shift(more)))
      )
    },
    spans.map { n =>
      Window(s"range from the row to $n after", ofPeers = true)((w, rows, _) =>
        new RangeFrame(w, rows(Current, Shift(n)))
      )
    },
    spans.map { n =>
      Window(s"range up to $n after", ofPeers = true)((w, rows, _) =>
        new RangeFrame(w, rows(Unbounded, Shift(n)))
      )
    },
    Gen.zip(spans, spans).map { case (n, more) =>
      Window(s"groups from $n before to $more after", ofPeers = true, byGroups = true)(
        (w, rows, _) => new RangeFrame(w, rows(Unbounded, Unbounded).groups(-n, more))
      )
    }
  )

  val windows: Gen[Window] = Gen.frequency(
    3 -> beginnings,
    4 -> beside,
    4 -> joinedOf(Gen.oneOf(distances, beginnings))
  )

  private def isUpTo(most: Long): BoundingCondition = (first, end) =>
    (first until end).map(_ % 10).sum <= most

  private def elementOf(row: Int) = Element(0, row)

  /** Keys that are rows. A shift moves the time. */
  private final class RowKeys(shifts: Array[Long]) extends Keys {
    private var rows = new Array[Row](0)

    def lift(slot: Int, row: Row): Unit = rows(slot) = row

    override def compare(left: Int, right: Int): Int =
      java.lang.Long.compare(rows(left).time, rows(right).time)
    override def shift(which: Int, dst: Int, src: Int): Unit =
      rows(dst) = rows(src).copy(time = rows(src).time + shifts(which))
    override def holds(slot: Int): Boolean = rows(slot).holds
    override def width(slot: Int): Long = rows(slot).width
    override def copy(dst: Int, src: Int): Unit = rows(dst) = rows(src)
    override def grow(slots: Int): RowKeys = {
      if (slots > rows.length) rows = java.util.Arrays.copyOf(rows, slots)
      this
    }
  }

  /** The rows in each row's window, from a frame over a ring. */
  def inBatch(rows: Vector[Row], window: Window): Vector[Vector[Element]] = {
    var rings = Vector.empty[(RowKeys, RangeKeys)]
    val column = TestColumn(Operation.Collect)
    val elements = new Recalculate(column)
    def keys(lower: Bound, upper: Bound): Rows = {
      def bound(of: Bound, shift: Int) = of match {
        case Unbounded => KeyBound.Unbounded
        case Current   => KeyBound.CurrentRow
        case Shift(_)  => KeyBound.Shifted(shift)
      }
      val column = new RowKeys(Seq(lower, upper).map {
        case Shift(by) => by
        case _         => 0L
      }.toArray)
      rings :+= ((column, new RangeKeys(column, bound(lower, 0), bound(upper, 1))))
      rings.last._2
    }
    val frame = window.make(Array(elements), keys, isUpTo(window.most))
    rows.indices.foreach { row =>
      column.lift(elements.open(), elementOf(row))
      rings.foreach { case (column, keys) => column.lift(keys.open(), rows(row)) }
    }
    rows.indices.map { row =>
      frame.moveTo(row.toLong, rows.length.toLong, ended = true)
      column(frame.query(elements))
    }.toVector
  }

  /** The marks that the windows of a frame ask for: whether a row holds, its width, its bounds. */
  private final class StreamBounds {
    private var shifts = Vector.empty[Long]

    def rows(peers: PeerMarks, window: => TreeWindow)(lower: Bound, upper: Bound): Rows = {
      def bound(of: Bound) = of match {
        case Unbounded => KeyBound.Unbounded
        case Current   => KeyBound.CurrentRow
        case Shift(by) =>
          if (!shifts.contains(by)) shifts :+= by
          KeyBound.Shifted(2 + shifts.indexOf(by))
      }
      new TreeRows(peers, window, bound(lower), bound(upper), holds = Some(0), width = Some(1))
    }

    /** A row that an earlier batch has left is known by its time alone. */
    def write(time: Long, row: Option[Row], marks: Array[Long]): Unit = {
      marks(0) = if (row.exists(_.holds)) 1L else 0L
      marks(1) = row.fold(0L)(_.width)
      shifts.indices.foreach(i => marks(2 + i) = time + shifts(i))
    }
  }

  private val MostMarks = 16

  /**
   * The same by a frame over a store.
   *
   * @param isLater whether rows may come before they are asked for
   * @param restarts whether the process restarts before the next rows
   */
  final class Stream(rows: Vector[Row], window: Window, logFanOut: Int, isLater: Boolean = false)(
      restarts: => Boolean
  ) {
    val store = new MapStore
    private val codec = new HandleCodec
    private val groups: Vector[Range] = {
      val firsts = rows.indices.filter(i => i == 0 || rows(i - 1).time != rows(i).time)
      firsts
        .zip(firsts.drop(1) :+ rows.length)
        .map { case (from, end) => from until end }
        .toVector
    }
    private val found = Array.fill(rows.length)(Vector.empty[Element])
    private var current = new Process

    private final class Process {
      val peers = new PeerMarks(MostMarks)
      val bounds = new StreamBounds
      val behind = new WriteBehind(store)
      val frame: TreeFrame = new TreeFrame(
        condition => window.make(Array.empty, bounds.rows(peers, moved), condition),
        isLater,
        moved,
        isUpTo(window.most).holds(moved.front, moved.back)
      )
      val stored: StoredWindows = new StoredWindows(
        new StorableColumn(Operation.Collect),
        codec,
        behind,
        logFanOut,
        Seq(frame.stored)
      )
      def moved: TreeWindow = stored.window(0)
      def column = stored.column.asInstanceOf[StorableColumn[Vector[Element]]]
    }

    private def mayRestart(): Unit = if (restarts) {
      val out = new Bytes
      current.stored.write(out)
      current.frame.write(out)
      val process = new Process
      import process._
      current = process
      val in = ByteBuffer.wrap(out.toArray)
      stored.read(in)
      frame.read(in)
      if (stored.end > 0) {
        val before = rows(stored.end.toInt - 1).time
        peers.open(before, stored.end)
        bounds.write(before, None, peers.of(stored.end - 1L))
      }
    }

    private def begin(group: Int, of: Range): Unit = {
      current.behind.flush()
      mayRestart()
      current.peers.begin(rows(of.head).time, of.head.toLong, of.length, group + 1L)
    }

    private def come(row: Int): Unit =
      current.bounds.write(rows(row).time, Some(rows(row)), current.peers.of(row.toLong))

    private def takeIn(group: Int, row: Int): Unit = {
      val process = current
      import process._
      val slot = stored.open()
      column.lift(slot, elementOf(row))
      frame.come(row.toLong, slot)
      stored.append(if (window.byGroups) group + 1L else rows(row).time)
    }

    private def answer(row: Int, isFirst: Boolean): Unit = {
      val process = current
      import process._
      if (isFirst || !window.ofPeers || window.joins) frame.moveTo(row.toLong, stored.end)
      found(row) = column(frame.query())
    }

    /** The rows in each row's window, where each row is asked for when it and its peers come. */
    def answers: Vector[Vector[Element]] = {
      groups.zipWithIndex.foreach { case (of, group) =>
        begin(group, of)
        of.foreach { row =>
          come(row)
          takeIn(group, row)
          if (!window.ofPeers) answer(row, isFirst = true)
        }
        if (window.ofPeers) of.foreach(row => answer(row, row == of.head))
        current.stored.release()
      }
      found.toVector
    }

    /** The same, where rows are asked for at random after their windows are complete. */
    def answersLater(
        expected: Vector[Vector[Element]],
        random: Random
    ): Vector[Vector[Element]] = {
      var (taken, answered) = (0, 0)
      def isWhole =
        taken == groups.length || groups(answered)
          .flatMap(expected)
          .forall(e => e.arrival < current.stored.end)
      while (answered < groups.length)
        if (taken < groups.length && (taken == answered || !isWhole || random.nextBoolean())) {
          begin(taken, groups(taken))
          groups(taken).foreach(takeIn(taken, _))
          taken += 1
        } else {
          answerLater(answered, apart = !window.ofPeers && random.nextBoolean())
          answered += 1
        }
      found.toVector
    }

    /** @param apart whether peers are answered one after the other, as where none is of peers */
    private def answerLater(group: Int, apart: Boolean): Unit = {
      val of = groups(group)
      val turns = if (apart) of.map(row => row to row) else Seq(of)
      turns.foreach { turn =>
        begin(group, turn)
        turn.foreach { row =>
          come(row)
          if (!window.ofPeers) answer(row, isFirst = true)
        }
        if (window.ofPeers) turn.foreach(row => answer(row, row == turn.head))
        current.stored.release()
      }
    }
  }

  /** Whether a frame is over with a row of time `last` when one of time `now` comes. */
  def isOverWith(window: Window, last: Long, now: Long): Boolean = {
    val (peers, bounds) = (new PeerMarks(MostMarks), new StreamBounds)
    val frame = window.make(Array.empty, bounds.rows(peers, null), (_, _) => true)
    peers.open(last, 1L)
    bounds.write(last, None, peers.of(0L))
    peers.begin(now, 1L, 1, 0L)
    bounds.write(now, None, peers.of(1L))
    frame.isOver(0L, 1L)
  }
}
