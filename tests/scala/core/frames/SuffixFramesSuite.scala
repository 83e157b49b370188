package io.sash.core.frames

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Operation, TestColumn}
import io.sash.core.elements.InOrderWindow
import io.sash.core.inorder.TwoStacksLite

/** Frames that end at the current row. Keys or content decide where they begin. */
class SuffixFramesSuite extends FrameLaws {

  /** With ties, forwards and backwards. */
  private val anySteps: Gen[Long] =
    Gen.frequency(3 -> Gen.choose(-3L, 3L), 2 -> Gen.const(0L), 1 -> Gen.choose(-9L, 9L))

  private val onwards: Gen[Long] = Gen.frequency(2 -> Gen.const(0L), 3 -> Gen.choose(0L, 6L))

  /**
   * The rows of the current row's window. Each window loses its oldest rows until `stays` holds.
   */
  private def sliding(current: Int)(stays: Seq[Int] => Boolean): Seq[Int] =
    (0 to current).foldLeft(Seq.empty[Int]) { (rows, next) =>
      (rows :+ next).tails.find(rest => rest.isEmpty || stays(rest)).get
    }

  private def backBy(delta: Long, column: LongKeys): RangeKeys =
    new RangeKeys(
      column,
      if (delta == 0) KeyBound.CurrentRow else KeyBound.Shifted(0),
      KeyBound.CurrentRow
    )

  private def deltaFrame(windows: Windows, delta: Long): (Frame, Long => Unit) = {
    val column = new LongKeys(Array(-delta))
    val keys = backBy(delta, column)
    (new DeltaFrame(windows.all, keys), key => column.lift(keys.open(), key))
  }

  for (ofAll <- Seq(true, false))
    law(s"JOINED: the rows in all parts, or from the first of any on: $ofAll") {
      forAll(partitions(anySteps), Gen.choose(0L, 9L), Gen.choose(1L, 4L), Gen.choose(0L, 12L)) {
        (partitions, rows, gap, delta) =>
          val windows = new Windows
          val gaps = new LongKeys(Array(gap - 1))
          val gapKeys = sessions(gaps)
          val deltas = new LongKeys(Array(-delta))
          val deltaKeys = backBy(delta, deltas)
          val inner = new JoinedFrame(
            Array.empty,
            Array(
              new GapFrame(Array.empty, gapKeys),
              new DeltaFrame(Array.empty, deltaKeys)
            ),
            !ofAll
          )
          val lastRows = new RowsFrame(Array.empty, -rows, 0L)
          val frame = new JoinedFrame(windows.all, Array(lastRows, inner), ofAll)
          def arrive(key: Long): Unit = {
            gaps.lift(gapKeys.open(), key)
            deltas.lift(deltaKeys.open(), key)
          }
          slides(partitions, windows, frame, arrive) { (keys, current) =>
            val session = (1 to current).filter(row => keys(row) - keys(row - 1) >= gap)
            val near = sliding(current)(of => keys(of.head) >= keys(of.last) - delta)
            val begins = Seq(session.lastOption.getOrElse(0), near.head)
            val begin = Seq(
              math.max(0, current - rows.toInt),
              if (ofAll) begins.min else begins.max
            )
            (if (ofAll) begin.max else begin.min) to current
          }
      }
    }

  private sealed trait Part
  private case class LastRows(rows: Int) extends Part
  private case class Within(distance: Long) extends Part
  private case class Joined(parts: Seq[Part], ofAll: Boolean) extends Part

  private def parts(depth: Int): Gen[Part] = {
    val one = Gen.oneOf(Gen.choose(0, 9).map(LastRows), Gen.choose(0L, 20L).map(Within))
    if (depth == 0) one
    else {
      val several = Gen.choose(2, 3).flatMap(Gen.listOfN(_, parts(depth - 1)))
      Gen.frequency(
        1 -> one,
        2 -> Gen.zip(several, Gen.oneOf(true, false)).map { case (of, ofAll) =>
          Joined(of, ofAll)
        }
      )
    }
  }

  /** The first row of a row's frame, and the row after the last. */
  private def boundsOf(part: Part, keys: Vector[Long], current: Int): (Int, Int) = part match {
    case LastRows(rows) => (math.max(0, current - rows), current + 1)
    case Within(distance) =>
      val first = keys.indexWhere(_ >= keys(current) - distance)
      (first, keys.lastIndexOf(keys(current)) + 1)
    case Joined(parts, ofAll) =>
      val (firsts, ends) = parts.map(boundsOf(_, keys, current)).unzip
      if (ofAll) (firsts.max, ends.min) else (firsts.min, ends.max)
  }

  law("JOINED: whichever part decides, however deep") {
    forAll(partitions(onwards), parts(3)) { (partitions, part) =>
      var arrivals = Vector.empty[Long => Unit]
      def frameOf(part: Part, windows: Array[InOrderWindow]): Frame = part match {
        case LastRows(rows) => new RowsFrame(windows, -rows.toLong, 0L)
        case Within(distance) =>
          val column = new LongKeys(Array(-distance))
          val keys = backBy(distance, column)
          arrivals :+= ((key: Long) => column.lift(keys.open(), key))
          new RangeFrame(windows, keys)
        case Joined(parts, ofAll) =>
          new JoinedFrame(windows, parts.map(frameOf(_, Array.empty)).toArray, ofAll)
      }
      val rows = TestColumn(Operation.Collect)
      val window = new TwoStacksLite(rows)
      val frame = frameOf(part, Array(window))
      partitions.map(_.keys).forall { keys =>
        frame.clear()
        var arrived = 0
        def isWhole(row: Int) =
          row < arrived && frame.moveTo(row.toLong, arrived.toLong, arrived == keys.length)
        keys.indices.forall { row =>
          while (!isWhole(row)) {
            rows.lift(window.open(), Element(0, arrived))
            arrivals.foreach(_(keys(arrived)))
            arrived += 1
          }
          val (first, end) = boundsOf(part, keys, row)
          rows(frame.query(window)) == (first until end).map(Element(0, _)).toVector
        }
      }
    }
  }

  test("keys that lie before a joined frame give their place to others") {
    val column = new LongKeys(Array(-3L))
    val keys = backBy(3L, column)
    val parts =
      Array[Frame](new RowsFrame(Array.empty, -6L, 0L), new RangeFrame(Array.empty, keys))
    for (ofAll <- Seq(true, false)) {
      val frame = new JoinedFrame(Array.empty, parts, ofAll)
      frame.clear()
      (0 until 10000).foreach { row =>
        column.lift(keys.open(), row.toLong)
        if (row > 0) assert(frame.moveTo(row - 1L, row + 1L, ended = false))
      }
      assert(column.capacity == 18)
    }
  }

  law("DELTA: the oldest leave while they lie more than delta below the row that enters") {
    forAll(partitions(anySteps), Gen.choose(0L, 12L)) { (partitions, delta) =>
      val windows = new Windows
      val (frame, arrive) = deltaFrame(windows, delta)
      slides(partitions, windows, frame, arrive) { (keys, current) =>
        sliding(current)(rows => keys(rows.head) >= keys(rows.last) - delta)
      }
    }
  }

  law("DELTA: where attributes never go back, a frame holds those of at most delta below") {
    forAll(partitions(onwards), Gen.choose(0L, 40L)) { (partitions, delta) =>
      val windows = new Windows
      val (frame, arrive) = deltaFrame(windows, delta)
      slides(partitions, windows, frame, arrive) { (keys, current) =>
        (0 to current).filter(row => keys(current) - keys(row) <= delta)
      }
    }
  }

  private def sessions(column: LongKeys): RangeKeys =
    new RangeKeys(column, KeyBound.CurrentRow, KeyBound.Shifted(0))

  law("GAP: a frame begins behind the last gap, and peers stay together") {
    forAll(partitions(anySteps), Gen.choose(-2L, 4L)) { (partitions, gap) =>
      val windows = new Windows
      val column = new LongKeys(Array(gap - 1))
      val keys = sessions(column)
      val frame = new GapFrame(windows.all, keys)
      slides(partitions, windows, frame, key => column.lift(keys.open(), key)) {
        (keys, current) =>
          val steps = (1 to current).map(row => (row, keys(row) - keys(row - 1)))
          val starts = steps.collect { case (row, step) if step >= gap && step != 0 => row }
          starts.lastOption.getOrElse(0) to current
      }
    }
  }

  law("PUNCTUATION: a frame begins at the last punctuation") {
    forAll(partitions(anySteps), Gen.choose(-9L, 4L)) { (partitions, least) =>
      val windows = new Windows
      val column = new LongKeys(Array.empty, _ >= least)
      val keys = new RangeKeys(column, KeyBound.Unbounded, KeyBound.Unbounded)
      val frame = new PunctuationFrame(windows.all, keys)
      slides(partitions, windows, frame, key => column.lift(keys.open(), key)) {
        (keys, current) =>
          val starts = (1 to current).filter(row => keys(row) >= least)
          starts.lastOption.getOrElse(0) to current
      }
    }
  }

  law("GAP: a bounded frame begins anew where its first row is too far back, too") {
    forAll(partitions(onwards), Gen.choose(1L, 6L), Gen.choose(1L, 15L)) {
      (partitions, gap, longest) =>
        val windows = new Windows
        val column = new LongKeys(Array(gap - 1, 1 - longest))
        val keys = new RangeKeys(column, KeyBound.Shifted(1), KeyBound.Shifted(0))
        val frame = new GapFrame(windows.all, keys, isBounded = true)
        slides(partitions, windows, frame, key => column.lift(keys.open(), key)) {
          (keys, current) =>
            val start = (1 to current).foldLeft(0) { (start, row) =>
              val begins = keys(row) - keys(row - 1) >= gap || keys(row) - keys(start) >= longest
              if (begins) row else start
            }
            start to current
        }
    }
  }

  private def predicateFrame(windows: Windows)(condition: Long => Boolean): Frame =
    new PredicateFrame(
      windows.all,
      (first, end) => {
        require(first < end && windows.sum.size == end - first, "nothing is asked of no rows")
        condition(windows.sumAt(windows.sum.query()))
      }
    )

  law("PREDICATE: the oldest leave until the condition holds, or none is left") {
    forAll(partitions(anySteps), Gen.choose(-12L, 30L)) { (partitions, most) =>
      val windows = new Windows
      val frame = predicateFrame(windows)(_ <= most)
      slides(partitions, windows, frame, noKeys) { (keys, current) =>
        sliding(current)(rows => rows.map(keys).sum <= most)
      }
    }
  }

  law("PREDICATE: a condition that holds for younger parts gives the longest that meets it") {
    // over magnitudes no younger part has a greater sum
    forAll(partitions(Gen.choose(-3L, 3L)), Gen.choose(0L, 60L)) { (partitions, most) =>
      val windows = new Windows
      val positive = partitions.map(p => p.copy(keys = p.keys.map(math.abs)))
      var asked = 0
      val frame = predicateFrame(windows) { sum =>
        asked += 1
        sum <= most
      }
      val holds = slides(positive, windows, frame, noKeys) { (keys, current) =>
        (0 to current + 1)
          .map(_ to current)
          .find(rows => rows.isEmpty || rows.map(keys).sum <= most)
          .get
      }
      val rows = positive.flatMap(_.asked.lastOption).map(_ + 1).sum
      holds && (asked <= 2 * rows) :| s"the condition was asked $asked times for $rows rows"
    }
  }

  test("frames that look only back move past rows that have come, and not past others") {
    val windows = new Windows
    val (frame, arrive) = deltaFrame(windows, 5L)
    (0 until 100).foreach { row =>
      windows.arrive(Element(row, row))
      arrive(row.toLong)
    }
    assert(frame.moveTo(59L, 100L, ended = false))
    assert(windows.sum.size == 6 && frame.evictions == 54)
    // a row enters before the oldest leaves
    assert(frame.peakRows == 7)
  }

  test("attributes that lie before the window give their place to others") {
    val windows = new Windows
    val column = new LongKeys(Array(-9L))
    val keys = backBy(9L, column)
    val frame = new DeltaFrame(windows.all, keys)
    (0 until 10000).foreach { row =>
      windows.arrive(Element(row, row))
      column.lift(keys.open(), row.toLong)
      assert(frame.moveTo(row.toLong, row + 1L, ended = false))
    }
    assert(column.capacity == 18)
  }

  test("of a window without a gap just the youngest key is kept") {
    val column = new LongKeys(Array(2L))
    val keys = sessions(column)
    val frame = new GapFrame(Array.empty, keys)
    (0 until 10000).foreach { row =>
      column.lift(keys.open(), row.toLong)
      assert(frame.moveTo(row.toLong, row + 1L, ended = false))
    }
    assert(column.capacity == 18 && frame.peakRows == 10000)
  }
}
