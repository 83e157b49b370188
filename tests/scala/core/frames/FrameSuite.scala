package io.sash.core.frames

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

import io.sash.core.Element

/** Tests of ROWS and RANGE. */
class FrameSuite extends FrameLaws {
  private val Unbounded = Long.MaxValue

  /** Steps between keys, which never descend. */
  private val steps: Gen[Long] = Gen.choose(0L, 4L)

  private val bounds: Gen[(Long, Long)] = for {
    lower <- Gen.oneOf(Gen.choose(-6L, 6L), Gen.const(-Unbounded))
    upper <- Gen.oneOf(Gen.choose(-6L, 6L), Gen.const(Unbounded))
  } yield if (lower <= upper) (lower, upper) else (upper, lower)

  private def within(x: Long, lower: Long, upper: Long): Boolean =
    (lower == -Unbounded || x >= lower) && (upper == Unbounded || x <= upper)

  law("ROWS: a frame holds the rows by their distance from the current one") {
    forAll(partitions(steps), bounds) { case (partitions, (lower, upper)) =>
      val windows = new Windows
      val least = if (lower == -Unbounded) Long.MinValue else lower
      val frame = new RowsFrame(windows.all, least, upper)
      slides(partitions, windows, frame, noKeys) { (keys, current) =>
        keys.indices.filter(row => within((row - current).toLong, lower, upper))
      }
    }
  }

  /** The rows whose keys lie between two bounds. */
  private def inRange(lower: Long, upper: Long)(keys: Vector[Long], current: Int): Seq[Int] =
    keys.indices.filter(row => within(keys(row) - keys(current), lower, upper))

  law("RANGE: a frame holds the rows by the distance of their keys, peers included") {
    forAll(partitions(steps), bounds) { case (partitions, (lower, upper)) =>
      val windows = new Windows
      val column = new LongKeys(Array(lower, upper))
      def bound(offset: Long, shift: Int): KeyBound =
        if (math.abs(offset) == Unbounded) KeyBound.Unbounded
        else if (offset == 0) KeyBound.CurrentRow
        else KeyBound.Shifted(shift)
      val keys = new RangeKeys(column, bound(lower, 0), bound(upper, 1))
      val frame = new RangeFrame(windows.all, keys)
      slides(partitions, windows, frame, key => column.lift(keys.open(), key))(
        inRange(lower, upper)
      )
    }
  }

  test("a frame of the rows so far asks for no row ahead, and counts what it holds") {
    val windows = new Windows
    val frame = new RowsFrame(windows.all, -9L, 0L)
    (0 until 100).foreach { row =>
      windows.arrive(Element(row, row))
      assert(frame.moveTo(row.toLong, row + 1L, ended = false))
    }
    // a row enters before the oldest leaves
    assert(frame.peakRows == 11 && frame.evictions == 90)
  }

  test("a row that stands for many counts as many, until the next partition") {
    val windows = new Windows
    val frame = new RowsFrame(windows.all, -12L, 0L)
    (0 until 5).foreach(row => windows.arrive(Element(row, row)))
    frame.omit(10L) // the last row stands for the rows 4 to 14
    windows.arrive(Element(15, 15))
    assert(frame.moveTo(5L, 6L, ended = false))
    assert(frame.first == 3L)
    frame.clear()
    (0 to 20).foreach(row => windows.arrive(Element(row, row)))
    assert(frame.moveTo(20L, 21L, ended = false))
    assert(frame.first == 8L)
  }

  test("keys that no bound needs any more give their place to others") {
    val windows = new Windows
    val column = new LongKeys(Array(-2L, 2L))
    val keys = new RangeKeys(column, KeyBound.Shifted(0), KeyBound.Shifted(1))
    val frame = new RangeFrame(windows.all, keys)
    (0 until 10000).foreach { row =>
      windows.arrive(Element(row, row))
      column.lift(keys.open(), row.toLong)
      if (row >= 3) assert(frame.moveTo(row - 3L, row + 1L, ended = false))
    }
    assert(column.capacity == 18)
  }

  test("a ring of keys doubles wherever it begins, and keeps what lies behind the current row") {
    for (sparse <- 0 to 40) {
      // far apart, then so close that a frame holds more rows than the ring had places
      val at = (0 until sparse).map(_ * 100L) ++ (0 until 60).map(sparse * 100L + _ / 2)
      val partition = FrameLaws.Partition(at.toVector, Vector.fill(at.length)(0), at.indices)
      val windows = new Windows
      val column = new LongKeys(Array(-9L, 9L))
      val keys = new RangeKeys(column, KeyBound.Shifted(0), KeyBound.Shifted(1))
      val frame = new RangeFrame(windows.all, keys)
      check(
        slides(Seq(partition), windows, frame, key => column.lift(keys.open(), key))(
          inRange(-9L, 9L)
        )
      )
    }
  }

  test("a bound that is never compared with is never computed") {
    val windows = new Windows
    val column = new LongKeys(Array(Long.MinValue, 1L))
    val keys = new RangeKeys(column, KeyBound.Shifted(0), KeyBound.Shifted(1))
    val frame = new RangeFrame(windows.all, keys)
    windows.arrive(Element(0, 0))
    column.lift(keys.open(), -5L)
    // the upper bound, -4, already shows that a row is missing
    assert(!frame.moveTo(0L, 1L, ended = false))
    assertThrows[ArithmeticException](frame.moveTo(0L, 1L, ended = true))
  }
}
