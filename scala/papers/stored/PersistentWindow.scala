package io.sash.papers.stored

import java.nio.ByteBuffer

import io.sash.core.algebra.Aggregation
import io.sash.core.slots.Bytes
import io.sash.core.stored.{KeyValueStore, StoredWindows}
import io.sash.papers.algebra.Column

/**
 * A sliding window of values in time order, which outlives its process. Most of the window is in
 * a key-value store; `save` returns the rest, and `restore` continues from it, in this process or
 * in another. Times may be in any unit.
 * {{{
 *   val hour = new PersistentWindow(Sum[Long], store)
 *   hour.insert(time = 0L, 3L)
 *   hour.insert(time = 1800L, 4L)
 *   hour.evictBefore(3600L - 1800L)
 *   hour.query() == 4L
 *   val rest = hour.save()
 * }}}
 *
 * The saved part fits only the store as it was at `save`. A program that may be killed writes
 * both in one transaction, with a `WriteBehind` in front of the store.
 *
 * Cost in combines: insert amortised 2, query at most 1, evicting amortised 1 + 1 / (F - 1) for
 * each value, and at most O(F logF n) for any number at once. Calls of the store: amortised
 * O(1 / F) for each value that enters or leaves. Insert and query box primitives. Partials that
 * are objects have to be serializable.
 *
 * If a function of the aggregation or the store throws, the exception passes through. The window
 * is then undefined until `restore` or `clear`. Only if `lift` throws, the window is as it was.
 *
 * Paper: see `StoredWindows`.
 *
 * @param logFanOut log2 of F, the number of partials in a value of the store
 */
final class PersistentWindow[In, Out](
    aggregation: Aggregation[In, _, Out],
    store: KeyValueStore,
    logFanOut: Int = KvsAmta.LogFanOut
) {
  private[this] val column = Column.of(aggregation)
  private[this] val stream =
    new StoredWindows(column, column, store, logFanOut, Seq(StoredWindows.Shape()))
  private[this] val window = stream.window(0)
  private[this] var latest = Long.MinValue

  /** The number of values in the window. */
  def size: Long = window.size

  /**
   * Adds the newest value. Its time must not be before the time of the value before it, and must
   * be below `Long.MaxValue`.
   */
  def insert(time: Long, in: In): Unit = {
    if (time == Long.MaxValue) {
      throw new IllegalArgumentException("insert() at Long.MaxValue: a time must be below it")
    }
    if (time < latest) {
      throw new IllegalArgumentException(
        s"insert() at $time after a value at $latest: times must not decrease"
      )
    }
    val slot = stream.open()
    column.lift(slot, in)
    window.insert(slot)
    stream.append(time)
    latest = time
  }

  /** Drops the oldest `count` values. If there are fewer, it throws and drops none. */
  def evict(count: Long = 1L): Unit = {
    if (count < 0) throw new IllegalArgumentException(s"evict($count): a count is not negative")
    if (count > size) {
      throw new NoSuchElementException(s"evict($count) on a window of $size values")
    }
    window.evictTo(window.front + count)
    stream.release()
  }

  /** Drops the values whose times are before `time`. */
  def evictBefore(time: Long): Unit = {
    window.evictBefore(time)
    stream.release()
  }

  /** The answer over the window's values, oldest first. */
  def query(): Out = column.lower(window.query())

  /** Empties the window and removes it from the store. */
  def clear(): Unit = {
    stream.drop()
    stream.clear()
    latest = Long.MinValue
  }

  /** The part of the window that is not in the store. */
  def save(): Array[Byte] = {
    val out = new Bytes
    out.putLong(latest)
    stream.write(out)
    out.toArray
  }

  /** Continues with the window that was saved, over the store as it was at `save`. */
  def restore(saved: Array[Byte]): Unit = {
    val in = ByteBuffer.wrap(saved)
    latest = in.getLong()
    stream.read(in)
  }
}
