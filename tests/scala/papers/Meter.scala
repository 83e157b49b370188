package io.sash.papers

import io.sash.core.TestColumn
import io.sash.core.stored.MapStore

/** What some calls have cost: operations on a column, slots written, and calls of a store. */
final case class Cost(
    combines: Long,
    subtracts: Long,
    writes: Long,
    gets: Long,
    puts: Long,
    removes: Long
) {

  /** The slots written by a copy or with the identity. */
  def moves: Long = writes - combines - subtracts

  def -(before: Cost): Cost = Cost(
    combines - before.combines,
    subtracts - before.subtracts,
    writes - before.writes,
    gets - before.gets,
    puts - before.puts,
    removes - before.removes
  )
}

/**
 * Counts what calls cost, for the laws of the costs that scaladoc states. What only FiBA's nodes
 * cost, its `CountingStore` counts.
 *
 * @param column the column under a window, which may replace it
 */
final class Meter(column: => TestColumn[_], store: MapStore = new MapStore) {
  private def now: Cost = {
    val c = column
    Cost(c.combines, c.subtracts, c.writes, store.gets, store.puts, store.removes)
  }

  def apply(calls: => Unit): Cost = {
    val before = now
    calls
    now - before
  }
}
