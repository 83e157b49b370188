package io.sash.spark.streams.task

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.util.DateTimeConstants.MICROS_PER_DAY

import io.sash.core.stored.PeerMarks
import io.sash.spark.streams.program.{StreamProgram, StreamReach}
import io.sash.spark.times.RisingTime

/** The marks of rows: the values that frames and slides read. */
private[streams] final class Marks(program: StreamProgram) {
  private[this] val count = program.marks.length
  private[this] val ofRow = UnsafeProjection.create(program.marks, program.input)
  private[this] val ofTime = {
    val time = AttributeSet(program.input(program.time))
    val marks =
      program.marks.map(m => if (m.references.subsetOf(time)) m else Literal(0L))
    UnsafeProjection.create(marks, program.input)
  }

  def read(row: InternalRow, values: Array[Long]): Unit = read(ofRow, row, values)

  private def read(of: UnsafeProjection, row: InternalRow, values: Array[Long]): Unit = {
    val marks = if (count > 0) of(row) else null
    var i = 0
    while (i < count) {
      values(i) = marks.getLong(i)
      i += 1
    }
  }

  /** Reads the marks that depend on nothing but the time; all others are 0. */
  def read(time: Long, values: Array[Long]): Unit = {
    val row = new GenericInternalRow(program.input.length)
    row.update(program.time, time)
    read(ofTime, row, values)
  }

  /**
   * Whether a key can be forgotten: no row that the watermark still lets through could, by its
   * windows, tell the key from a new one.
   *
   * @param last the time of the key's last row
   * @param passed the time that the watermark has passed
   */
  def isIdle(last: Long, passed: Long): Boolean =
    program.timeToLive.exists(passed - last >= _) || isOver(last, passed + 1 - slack)

  // a key's last row, which is row 0, and the first row to come
  private[this] val both = new PeerMarks(count)
  private[this] val frames =
    program.windows.map(_.createFrame(_.rows(both, null), Some((_, _) => true)))
  private[this] val slides =
    program.windows.map(_.createSlide(_.rows(both, null))).filter(_ != null)

  private def isOver(last: Long, now: Long): Boolean = {
    both.open(last, end = 1L)
    read(last, both.of(0L))
    both.begin(now, firstPeer = 1L, count = 1, group = 0L)
    read(now, both.of(1L))
    frames.forall(_.isOver(0L, 1L)) && slides.forall(_.isOver(0L, 1L))
  }

  /**
   * The time at which a key is idle whose last row has this time. The wait is doubled from a
   * second on until it suffices, so it is at most twice the shortest wait. None if the wait
   * exceeds a thousand years, or if a bound that long ago is no timestamp.
   */
  def nextSweep(time: Long): Option[Long] =
    try
      Iterator
        .iterate(Marks.Second)(_ * 2)
        .takeWhile(_ < Marks.Longest)
        .find(after => isIdle(time - after, time))
        .map(time + _)
    catch { case _: ArithmeticException => None }

  /** The rows up to a time that windows after it may hold; None if they may hold any. */
  def reach(until: Long): Option[StreamReach] = if (program.later.nonEmpty) None
  else {
    val marks = new Array[Long](count)
    read(until + 1 - slack, marks)
    program.windows.map(_.reach(marks)).reduce { (some, others) =>
      for (one <- some; other <- others) yield one.or(other)
    }
  }

  /** Marks of the calendar may fall while the time rises; this is the longest fall. */
  private[this] val slack = program.marks.map(RisingTime.longestFall).maxOption.getOrElse(0L)
}

private object Marks {
  private val Second: Long = 1000000L

  /** A thousand years. The state is not searched for keys that are idle after a longer wait. */
  private val Longest: Long = 1000 * 366 * MICROS_PER_DAY
}
