package io.sash.core.frames

import java.lang.management.ManagementFactory

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll

/** GROUPS, by the numbers of groups. */
class GroupsFrameSuite extends FrameLaws {

  private val bounds: Gen[(Long, Long)] = {
    val both = Gen.listOfN(2, Gen.choose(0L, 3L)).map(_.sorted)
    Gen.frequency(
      3 -> Gen.zip(Gen.choose(-3L, 0L), Gen.choose(0L, 3L)),
      2 -> both.map(b => (b.head, b.last)), // both FOLLOWING
      2 -> both.map(b => (-b.last, -b.head)), // both PRECEDING
      1 -> Gen.zip(Gen.const(Long.MinValue), Gen.choose(-3L, 3L)),
      1 -> Gen.zip(Gen.choose(-3L, 3L), Gen.const(Long.MaxValue)),
      1 -> Gen.const((Long.MinValue, Long.MaxValue))
    )
  }

  private def peers(column: LongKeys): RangeKeys =
    new RangeKeys(column, KeyBound.CurrentRow, KeyBound.CurrentRow)

  /** The rows whose group number differs from the current row's by `lower` to `upper`. */
  private def within(lower: Long, upper: Long)(keys: Vector[Long], current: Int): Seq[Int] = {
    val starts = keys.indices.filter(row => row == 0 || keys(row) != keys(row - 1))
    val groups =
      starts.zip(starts.drop(1) :+ keys.length).map { case (from, to) => from until to }
    val own = groups.indexWhere(_.contains(current))
    groups.zipWithIndex.collect {
      case (rows, i) if i - own >= lower && i - own <= upper => rows
    }.flatten
  }

  // SQL's orders move keys in different ways, but the frame only compares them for equality
  for ((name, steps) <- Seq("up" -> Gen.choose(0L, 2L), "up and down" -> Gen.choose(-1L, 1L)))
    law(s"a frame holds whole groups, whose keys go $name") {
      forAll(partitions(steps), bounds) { case (partitions, (lower, upper)) =>
        val windows = new Windows
        val column = new LongKeys(Array.empty)
        val keys = peers(column)
        val frame = new RangeFrame(windows.all, keys.groups(lower, upper))
        slides(partitions, windows, frame, key => column.lift(keys.open(), key))(
          within(lower, upper)
        )
      }
    }

  test("keys and numbers of groups that no bound needs any more give their place to others") {
    val threads =
      ManagementFactory.getThreadMXBean.asInstanceOf[com.sun.management.ThreadMXBean]
    for ((lower, upper) <- Seq((-3L, 3L), (-3L, -1L), (1L, 3L))) {
      val column = new LongKeys(Array.empty)
      val keys = peers(column)
      val frame = new RangeFrame(Array.empty, keys.groups(lower, upper))
      var row = 0L
      def slide(rows: Int): Unit = {
        val end = row + rows
        while (row < end) {
          column.lift(keys.open(), row / 4)
          // an assertion would allocate
          if (row >= 16 && !frame.moveTo(row - 16, row + 1, ended = false)) fail(s"row $row")
          row += 1
        }
      }
      slide(100000)
      val before = threads.getThreadAllocatedBytes(Thread.currentThread.getId)
      slide(100000)
      val allocated = threads.getThreadAllocatedBytes(Thread.currentThread.getId) - before
      assert(column.capacity == 34, (lower, upper)) // 17 rows have arrived at the start
      assert(allocated < 10000, (lower, upper))
    }
  }
}
