package io.sash.core.stored

import scala.collection.mutable

/**
 * A store that holds its writes back until `flush`. A value that is removed before the flush is
 * never written. Reads see the held writes. `discard` drops them. Removed keys may come again.
 *
 * `putHeld` writes the held values, but not the removals. The store then has the nodes of an
 * earlier header and of the present one, so either can be read again.
 *
 * @param changing whether the store may already have a value of a held key; asked at a removal
 */
final class WriteBehind(store: KeyValueStore, changing: => Boolean = false)
    extends KeyValueStore {
  private[this] val waiting = mutable.HashMap.empty[(Int, Long), Array[Byte]] // null: removed

  private[this] var again = false // whether a held value may hide a value of the store

  override def put(level: Int, first: Long, values: Array[Array[Byte]]): Unit =
    values.indices.foreach { i =>
      if (waiting.put((level, first + i), values(i)).contains(null)) again = true
    }

  override def get(level: Int, first: Long, count: Int): Array[Array[Byte]] =
    Array.tabulate(count) { i =>
      waiting.getOrElse((level, first + i), store.get(level, first + i, 1)(0))
    }

  override def remove(level: Int, from: Long, until: Long): Unit = {
    var number = from
    while (number < until) {
      val waited = waiting.remove((level, number)).exists(_ != null)
      if (changing || again || !waited) waiting((level, number)) = null
      number += 1
    }
  }

  /** Writes the held writes to the store. */
  def flush(): Unit = {
    waiting.foreachEntry { case ((level, number), value) =>
      if (value == null) store.remove(level, number, number + 1)
      else store.put(level, number, Array(value))
    }
    discard()
  }

  /** Writes the held values to the store, and goes on holding the removals. */
  def putHeld(): Unit = {
    waiting.foreachEntry { case ((level, number), value) =>
      if (value != null) store.put(level, number, Array(value))
    }
    waiting.filterInPlace((_, value) => value == null)
  }

  /** Drops the held writes, so that the store is as it was when the last ones were written. */
  def discard(): Unit = {
    waiting.clear()
    again = false
  }
}
