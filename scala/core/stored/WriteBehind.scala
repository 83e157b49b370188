package io.sash.core.stored

import scala.collection.mutable

/**
 * A store that holds its writes back until `flush`. A value that is removed before is never
 * written. Reads see the held writes. `discard` drops them.
 *
 * @param changing whether the store may already have an earlier value of a held key
 */
final class WriteBehind(store: KeyValueStore, changing: Boolean = false) extends KeyValueStore {
  private[this] val waiting = mutable.HashMap.empty[(Int, Long), Array[Byte]] // null: removed

  override def put(level: Int, first: Long, values: Array[Array[Byte]]): Unit =
    values.indices.foreach(i => waiting((level, first + i)) = values(i))

  override def get(level: Int, first: Long, count: Int): Array[Array[Byte]] =
    Array.tabulate(count) { i =>
      waiting.getOrElse((level, first + i), store.get(level, first + i, 1)(0))
    }

  override def remove(level: Int, from: Long, until: Long): Unit = {
    var number = from
    while (number < until) {
      val waited = waiting.remove((level, number)).exists(_ != null)
      if (changing || !waited) waiting((level, number)) = null
      number += 1
    }
  }

  /** Writes the held writes to the store. */
  def flush(): Unit = {
    waiting.foreachEntry { case ((level, number), value) =>
      if (value == null) store.remove(level, number, number + 1)
      else store.put(level, number, Array(value))
    }
    waiting.clear()
  }

  /** Drops the held writes, so that the store is as it was at the last `flush`. */
  def discard(): Unit = waiting.clear()
}
