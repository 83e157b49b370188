package io.sash.core.frames

import org.scalacheck.Gen
import org.scalacheck.Prop.{forAll, propBoolean}

import io.sash.core.{Element, Laws, Operation, TestColumn}
import io.sash.core.inorder.{InOrderWindow, SlickDequeNonInv, TwoStacksLite}

/** Frames over arrivals, against a plain recomputation of each row's frame. */
class FrameSuite extends Laws {
  private val Unbounded = Long.MaxValue

  /** Rows of one partition, by their order keys, which ascend and have ties. */
  private val partition: Gen[List[Long]] =
    Gen.listOf(Gen.choose(0L, 4L)).map(_.scanLeft(-7L)(_ + _).tail)

  private val bounds: Gen[(Long, Long)] = for {
    lower <- Gen.oneOf(Gen.choose(-6L, 6L), Gen.const(-Unbounded))
    upper <- Gen.oneOf(Gen.choose(-6L, 6L), Gen.const(Unbounded))
  } yield if (lower <= upper) (lower, upper) else (upper, lower)

  /** Two windows over the same rows: what they hold, in order, and its maximum. */
  private final class Windows {
    private val texts = TestColumn(Operation.Concat)
    private val maxima = TestColumn.selective(Operation.Max)
    val text = new TwoStacksLite(texts)
    val max = new SlickDequeNonInv(maxima)

    def all: Array[InOrderWindow] = Array(text, max)

    def arrive(row: Int): Unit = {
      val element = Element(row % 26, row)
      texts.lift(text.open(), element)
      maxima.lift(max.open(), element)
    }

    def answers: (String, Any) = (texts(text.query()), maxima(max.query()))
  }

  private def expected(rows: Seq[Int]): (String, Any) = {
    val elements = rows.map(row => Element(row % 26, row))
    (Operation.Concat.aggregate(elements), Operation.Max.aggregate(elements))
  }

  /** Slides over all rows, each of which waits until its frame is complete, and no longer. */
  private def slide(
      rows: Int,
      windows: Windows,
      frame: Frame,
      arrive: Int => Unit
  )(inFrame: (Int, Int) => Boolean): Option[String] = {
    var arrived = 0
    frame.clear()
    (0 until rows).flatMap { current =>
      def moved: Boolean =
        arrived > current && frame.moveTo(current.toLong, arrived.toLong, ended = false)
      while (!moved && arrived < rows) {
        windows.arrive(arrived)
        arrive(arrived)
        arrived += 1
      }
      frame.moveTo(current.toLong, arrived.toLong, ended = arrived == rows)
      val wanted = expected((0 until rows).filter(inFrame(current, _)))
      if (windows.answers == wanted) None
      else Some(s"row $current: ${windows.answers}, not $wanted")
    }.headOption
  }

  private def within(x: Long, lower: Long, upper: Long): Boolean =
    (lower == -Unbounded || x >= lower) && (upper == Unbounded || x <= upper)

  law("ROWS: a frame holds the rows by their distance from the current one") {
    forAll(Gen.listOf(Gen.choose(0, 60)), bounds) { case (partitions, (lower, upper)) =>
      val windows = new Windows
      val least = if (lower == -Unbounded) Long.MinValue else lower
      val frame = new RowsFrame(windows.all, least, upper)
      val wrong = partitions.flatMap { rows =>
        slide(rows, windows, frame, _ => ())((current, row) =>
          within((row - current).toLong, lower, upper)
        )
      }
      wrong.isEmpty :| wrong.mkString("; ")
    }
  }

  law("RANGE: a frame holds the rows by the distance of their keys, peers included") {
    forAll(Gen.listOf(partition), bounds) { case (partitions, (lower, upper)) =>
      val windows = new Windows
      val column = new LongKeys(Array(lower, upper))
      def bound(offset: Long, shift: Int): Int =
        if (math.abs(offset) == Unbounded) RangeKeys.Unbounded
        else if (offset == 0) RangeKeys.CurrentRow
        else shift
      val keys = new RangeKeys(column, bound(lower, 0), bound(upper, 1))
      val frame = new RangeFrame(windows.all, keys)
      val wrong = partitions.flatMap { rows =>
        val at = rows.toArray
        slide(at.length, windows, frame, row => column.lift(keys.open(), at(row)))(
          (current, row) => within(at(row) - at(current), lower, upper)
        )
      }
      wrong.isEmpty :| wrong.mkString("; ")
    }
  }

  test("a frame of the rows so far asks for no row ahead, and counts what it holds") {
    val windows = new Windows
    val frame = new RowsFrame(windows.all, -9L, 0L)
    (0 until 100).foreach { row =>
      windows.arrive(row)
      assert(frame.moveTo(row.toLong, row + 1L, ended = false))
    }
    // a row enters before the oldest leaves
    assert(frame.peakRows == 11 && frame.evictions == 90)
  }

  test("keys that no bound needs any more give their place to others") {
    val windows = new Windows
    val column = new LongKeys(Array(-2L, 2L))
    val keys = new RangeKeys(column, 0, 1)
    val frame = new RangeFrame(windows.all, keys)
    (0 until 10000).foreach { row =>
      windows.arrive(row)
      column.lift(keys.open(), row.toLong)
      if (row >= 3) assert(frame.moveTo(row - 3L, row + 1L, ended = false))
    }
    assert(column.capacity == 18)
  }

  test("a ring of keys doubles wherever it begins, and keeps what lies behind the current row") {
    for (sparse <- 0 to 40) {
      // far apart, then so close that more rows are in a frame than the ring had places
      val at = (0 until sparse).map(_ * 100L) ++ (0 until 60).map(sparse * 100L + _ / 2)
      val windows = new Windows
      val column = new LongKeys(Array(-9L, 9L))
      val keys = new RangeKeys(column, 0, 1)
      val frame = new RangeFrame(windows.all, keys)
      val wrong = slide(at.length, windows, frame, row => column.lift(keys.open(), at(row)))(
        (current, row) => within(at(row) - at(current), -9L, 9L)
      )
      assert(wrong.isEmpty, s"after $sparse rows")
    }
  }

  test("a bound that is never compared with is never computed") {
    val windows = new Windows
    val column = new LongKeys(Array(Long.MinValue, 1L))
    val keys = new RangeKeys(column, 0, 1)
    val frame = new RangeFrame(windows.all, keys)
    windows.arrive(0)
    column.lift(keys.open(), -5L)
    // the upper bound, -4, is enough to say that a row is missing
    assert(!frame.moveTo(0L, 1L, ended = false))
    assertThrows[ArithmeticException](frame.moveTo(0L, 1L, ended = true))
  }
}
