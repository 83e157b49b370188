package io.sash.papers.policy

import io.sash.core.inorder.InOrderWindow
import io.sash.core.slots.Partials

/** A window that counts the calls of a policy. */
final class Asked(window: InOrderWindow) extends InOrderWindow {
  var queries, evictions = 0L

  override def query(): Int = {
    queries += 1
    window.query()
  }

  override def evict(): Unit = {
    evictions += 1
    window.evict()
  }

  override def open(): Int = window.open()
  override def insert(): Unit = window.insert()
  override def size: Int = window.size
  override def clear(): Unit = window.clear()
  override def column: Partials = window.column
  override def relocate(move: Partials => Partials): Unit = window.relocate(move)

  // policies never coalesce
  override protected def openCount: Long = 0L
  override protected def openSlot(i: Long): Int = throw new UnsupportedOperationException
  override protected def dropYoungestOpen(): Unit = throw new UnsupportedOperationException
}
