package io.sash.papers.mta

import io.sash.core.stored.LongSums

object InsertedSums {

  /** Inserts the numbers first, first + 1, …. */
  def insert(window: MonoidTreeAggregator, column: LongSums, first: Long, count: Int): Unit = {
    var i = 0
    while (i < count) {
      column(window.open()) = first + i
      window.insert()
      i += 1
    }
  }
}
