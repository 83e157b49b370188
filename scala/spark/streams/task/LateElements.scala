package io.sash.spark.streams.task

import java.nio.ByteBuffer

import scala.collection.mutable.ArrayBuffer

import io.sash.core.slots.{Bytes, SlotCodec}
import io.sash.core.stored.StoredWindows

/**
 * The elements of a key's late rows. A late row lies among rows that the key's tree has taken in,
 * and a tree takes in elements at its end alone. So they lie beside it, and each answer combines
 * those in its window, in any order. They are few, and lie in the key's header.
 */
private[task] final class LateElements(stored: StoredWindows, codec: SlotCodec) {
  private[this] val times = ArrayBuffer.empty[Long]
  private[this] val slots = ArrayBuffer.empty[Int] // those after the last element are free
  private[this] val sum = stored.slot()

  /** The slot for the next element. */
  def open(): Int = {
    if (slots.length == times.length) slots += stored.slot()
    slots(times.length)
  }

  /** Adds the element in the open slot. */
  def add(time: Long): Unit = times += time

  /** The slot of a window's aggregate with the elements from a time on; valid until the next. */
  def combined(window: Int, first: Long): Int = {
    var all = window
    var i = 0
    while (i < times.length) {
      if (times(i) >= first) {
        stored.column.combine(sum, all, slots(i))
        all = sum
      }
      i += 1
    }
    all
  }

  /** Drops the elements before a time. */
  def dropBefore(first: Long): Unit = {
    var i = 0
    while (i < times.length) {
      if (times(i) < first) drop(i) else i += 1
    }
  }

  /** Puts the last element in the place of one. */
  private def drop(i: Int): Unit = {
    val last = times.length - 1
    times(i) = times(last)
    val freed = slots(i)
    slots(i) = slots(last)
    slots(last) = freed
    times.remove(last)
  }

  def clear(): Unit = times.clear()

  def write(out: Bytes): Unit = {
    out.putNumber(times.length.toLong)
    times.indices.foreach { i =>
      out.putLong(times(i))
      codec.write(stored.column, slots(i), out)
    }
  }

  def read(in: ByteBuffer): Unit = {
    clear()
    (0L until Bytes.number(in)).foreach { _ =>
      val time = in.getLong()
      val slot = open()
      codec.read(stored.column, slot, in)
      add(time)
    }
  }
}
