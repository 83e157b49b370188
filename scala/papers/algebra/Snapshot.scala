package io.sash.papers.algebra

import java.nio.ByteBuffer

import io.sash.core.elements.{Elements, InOrderWindow, SlotWindow}
import io.sash.core.slots.{Bytes, SlotCodec}

/**
 * A window's values as bytes, from which a window of the same aggregation continues: in another
 * process, or with another algorithm. In-order windows have a snapshot if they keep their
 * `Elements`; windows by time always have one. A `PersistentWindow` or a `KvsAmta` is for windows
 * that are saved again and again.
 * {{{
 * val window = SlickDequeInv(Sum[Long])
 * Seq(3L, 1L, 4L).foreach(window.insert)
 * val again = TwoStacksLite(Sum[Long])
 * Snapshot.restore(again, Snapshot.of(window))
 * again.query() == 8L
 * }}}
 * Cost: `of` writes each of n partials and combines none; `restore` makes n insertions, or one
 * bulk insertion by time. Partials that are objects have to be serializable. Restore only bytes
 * that `of` has made, since Java's serialization reads them.
 *
 * Paper: none. The invariants of an algorithm say whether it keeps each element.
 */
object Snapshot {
  def of(window: ValueWindow[_, _, _ <: Elements]): Array[Byte] = {
    val out = new Bytes
    out.putInt(window.size)
    for (i <- 0 until window.size) write(window.algorithm, window.algorithm.element(i), out)
    out.toArray
  }

  def of(window: TimedWindow[_, _]): Array[Byte] = {
    val out = new Bytes
    out.putInt(window.size)
    window.algorithm.foreach { (time, slot) =>
      out.putLong(time)
      write(window.algorithm, slot, out)
    }
    out.toArray
  }

  /** Makes the window hold the values of a snapshot, and no others. If it fails, none. */
  def restore(window: ValueWindow[_, _, _ <: InOrderWindow], snapshot: Array[Byte]): Unit = {
    val in = ByteBuffer.wrap(snapshot)
    window.clear()
    try
      for (_ <- 0 until in.getInt()) {
        read(window.algorithm, window.algorithm.open(), in)
        window.algorithm.insert()
      }
    catch {
      case e: Throwable =>
        window.clear() // the slot that was opened last, too
        throw e
    }
  }

  /** Makes the window hold the values of a snapshot, and no others. If it fails, none. */
  def restore(window: TimedWindow[_, _], snapshot: Array[Byte]): Unit = {
    val in = ByteBuffer.wrap(snapshot)
    window.clear()
    val times = new Array[Long](in.getInt())
    val first = window.algorithm.openBulk(times.length)
    for (i <- times.indices) {
      times(i) = in.getLong()
      read(window.algorithm, first + i, in)
    }
    window.algorithm.bulkInsert(times, times.length)
  }

  /** The column of a window of values never moves. */
  private def codec(window: SlotWindow): SlotCodec = window.column.asInstanceOf[Column[_, _]]

  private def write(window: SlotWindow, slot: Int, out: Bytes): Unit =
    codec(window).write(window.column, slot, out)

  private def read(window: SlotWindow, slot: Int, in: ByteBuffer): Unit =
    codec(window).read(window.column, slot, in)
}
