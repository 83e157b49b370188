package io.sash.core.stored

import java.nio.ByteBuffer

import scala.collection.mutable
import scala.util.Try

import io.sash.core.{Operation, TestColumn}
import io.sash.core.slots.{Bytes, SlotCodec, Slots}

/** A test column whose values may leave it and come back. */
class StorableColumn[A](operation: Operation[A]) extends TestColumn[A](operation) {
  private[this] var gone = false

  def set(slot: Int, value: A): Unit = put(slot, value)

  override def apply(slot: Int): A = {
    require(!gone, "the window has moved to another column")
    super.apply(slot)
  }

  override def moved(): StorableColumn[A] = {
    val other = new StorableColumn(operation)
    other.grow(capacity)
    (0 until capacity).foreach(slot => Try(this(slot)).foreach(other.set(slot, _)))
    other.combines = combines
    gone = true
    other
  }
}

/**
 * A store that refuses calls that a window must not make, and counts the calls.
 *
 * @param changing whether nodes may change, and be missing
 */
final class MapStore(changing: Boolean = false) extends KeyValueStore {
  private[this] val values = mutable.HashMap.empty[(Int, Long), Array[Byte]]

  var puts = 0L
  var gets = 0L
  var removes = 0L

  def size: Int = values.size

  override def put(level: Int, first: Long, batch: Array[Array[Byte]]): Unit = {
    puts += 1
    batch.zipWithIndex.foreach { case (value, i) =>
      val was = values.put((level, first + i), value)
      require(changing || was.isEmpty, s"${(level, first + i)} was there")
    }
  }

  override def get(level: Int, first: Long, count: Int): Array[Array[Byte]] = {
    gets += 1
    Array.tabulate(count) { i =>
      if (changing) values.getOrElse((level, first + i), null) else values((level, first + i))
    }
  }

  override def remove(level: Int, from: Long, until: Long): Unit = {
    removes += 1
    (from until until).foreach(number => values.remove((level, number)))
  }
}

/** Turns any value into eight bytes, by keeping it and giving out its number. */
final class HandleCodec extends SlotCodec {
  private[this] val values = mutable.ArrayBuffer.empty[Any]

  override def write(column: Slots, slot: Int, out: Bytes): Unit = {
    values += column.asInstanceOf[StorableColumn[Any]](slot)
    out.putLong(values.size - 1L)
  }

  override def read(column: Slots, slot: Int, in: ByteBuffer): Unit =
    column
      .asInstanceOf[StorableColumn[Any]]
      .set(slot, values(in.getLong().toInt))
}
