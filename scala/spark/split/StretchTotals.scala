package io.sash.spark.split

import org.apache.spark.sql.catalyst.InternalRow

import io.sash.core.slots.Bytes
import io.sash.spark.memory.WindowMemory
import io.sash.spark.windows.{ElementStore, StoreProgram}

/**
 * The partial aggregates of all rows added so far, one for each store of a stage. Rows and totals
 * have to be added in the window's order, unless the aggregates commute.
 */
private[split] final class StretchTotals(programs: Seq[StoreProgram]) {
  private[this] val stores = programs.map(_.create(WindowMemory.Unlimited)).toArray

  def clear(): Unit = stores.foreach(_.windows(0).clear())

  def add(row: InternalRow): Unit = {
    var i = 0
    while (i < stores.length) {
      stores(i).lift(row)
      stores(i).windows(0).insert()
      i += 1
    }
  }

  def add(cells: IndexedSeq[Array[Byte]]): Unit = stores.indices.foreach { i =>
    stores(i).load(cells(i))
    stores(i).windows(0).insert()
  }

  def cells: IndexedSeq[Array[Byte]] = stores.toIndexedSeq.map(encoded)

  /** Writes the answers over all rows added so far. */
  def lower(out: InternalRow): Unit =
    stores.foreach(s => s.columns.lower(0, s.windows(0).query(), out))

  private def encoded(store: ElementStore): Array[Byte] = {
    val bytes = new Bytes
    val slot = store.windows(0).query()
    store.columns.codec.write(store.columns, slot, bytes)
    bytes.toArray
  }
}
