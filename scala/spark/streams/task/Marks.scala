package io.sash.spark.streams.task

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{CalendarIntervalType, YearMonthIntervalType}

import io.sash.spark.streams.program.{StreamMoment, StreamProgram}

/** What frames and slides look at in a row. */
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

  /** Those that depend on nothing but the time; others are 0. */
  def read(time: Long, values: Array[Long]): Unit = {
    val row = new GenericInternalRow(program.input.length)
    row.update(program.time, time)
    read(ofTime, row, values)
  }

  /**
   * Whether a row that the watermark, which has passed this time, lets come could not tell a key
   * from a new one, by its windows.
   *
   * @param last the time of the key's last row
   */
  def isIdle(last: Long, passed: Long): Boolean = {
    val now = moment(passed + 1 - slack)
    val before = moment(last)
    program.windows.forall(_.isIdle(before, now))
  }

  /** When keys whose last row is of this time are idle, to within its double; none if never. */
  def nextSweep(time: Long): Option[Long] = Iterator
    .iterate(Marks.Second)(_ * 2)
    .takeWhile(_ < Marks.Longest)
    .find(after => isIdle(time - after, time))
    .map(time + _)

  /** Marks of the calendar may fall while the time rises, by this much at most. */
  private[this] val slack = program.marks.map(Marks.longestFall).maxOption.getOrElse(0L)

  private def moment(time: Long): StreamMoment = {
    val values = new Array[Long](count)
    read(time, values)
    StreamMoment(time, values)
  }
}

private object Marks {
  private val Second: Long = 1000000L
  private val Day: Long = 24 * 3600 * Second

  /** A thousand years: no calendar's interval that a query asks for is longer. */
  private val Longest: Long = 1000 * 366 * Day

  /** The last days of a month, less one each, are one day of a shorter month; zones shift by a day. */
  private def longestFall(mark: Expression): Long = {
    val asksMonths = mark.exists(_.dataType match {
      case _: YearMonthIntervalType | CalendarIntervalType => true
      case _                                               => false
    })
    val asksZone = mark.exists(_.isInstanceOf[TimeZoneAwareExpression])
    if (asksMonths) 5 * Day else if (asksZone) Day else 0L
  }
}
