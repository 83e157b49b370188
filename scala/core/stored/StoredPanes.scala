package io.sash.core.stored

import java.nio.ByteBuffer

import io.sash.core.slots.{Bytes, Partials, SlotCodec}

/**
 * Panes of a stream that is out of order, numbered by time, and a window over them. They outlive
 * the process, as `StoredWindows` do: most panes are in a key-value store, the rest in a header.
 *
 * `add` combines a partial into any pane from `kept` on, and into the window if it holds the
 * pane. A partial that is added later is combined later. So a combine that does not commute sees
 * the elements of a pane in the order of their arrival.
 *
 * Cost at height h: adding to the last pane, or after it, takes amortised 3 combines and puts 1 /
 * F nodes, if all panes get as many additions. Adding to one of the last F panes takes h
 * combines. Adding to an older pane, or to a last pane that completes a node, takes F * h
 * combines and reads and puts at most h nodes. Panes without elements cost nothing in the store.
 *
 * An exception passes through. The panes are then undefined until `read` or `startAt`.
 *
 * Paper: ''Cutty: Aggregate Sharing for User-Defined Windows'' has the panes; ''Constant-Time
 * Sliding Window Framework with Reduced Memory Footprint and Efficient Bulk Evictions'', section
 * 4.2, the forest in a key-value store.
 *
 * @param initial the column of the partials, which then belongs to this instance
 * @param store the store of the nodes; it may delay `put` and `remove` until after `write`
 * @param logFanOut log2 of the partials in a node, from 1 to 6
 */
final class StoredPanes(
    initial: Partials,
    codec: SlotCodec,
    store: KeyValueStore,
    logFanOut: Int
) {
  require(
    logFanOut >= 1 && logFanOut <= 6,
    s"logFanOut has to be from 1 to 6, which is 2 to 64 partials in a node, not $logFanOut"
  )

  private[this] val tree = new RadixTree(
    initial.claimed(Partials.Slots),
    codec,
    store,
    logFanOut,
    holding = true,
    sparse = true
  )
  private[this] val opened = tree.slot()

  /** The window over the panes. The caller says which panes it holds. */
  val window = new RadixWindow(tree, evicting = true)

  def column: Partials = tree.column

  /** The pane after the last one. */
  def end: Long = tree.end

  /** The first pane that is held. Earlier panes have been dropped. */
  def kept: Long = tree.kept

  /** The slot for the next partial to add. */
  def open(): Int = opened

  /** Allocates a slot, which belongs to the caller. */
  def slot(): Int = tree.slot()

  /** Adds the partial in the open slot to this pane. */
  def add(pane: Long): Unit =
    if (pane >= tree.end) {
      tree.skipTo(pane)
      val slot = tree.open() // this may replace the column
      tree.column.copy(slot, opened)
      tree.append(pane)
    } else {
      tree.amend(pane, opened)
      window.amend(pane, opened)
    }

  /** The first pane at or after this one that has an element, or `end` if none has. */
  def next(pane: Long): Long = tree.next(pane)

  /** Drops the panes before this one. The window holds none of them. */
  def keepFrom(pane: Long): Unit = tree.keepFrom(pane)

  /** Removes all that the store has of the stream, which ends here. */
  def drop(): Unit = tree.keepFrom(tree.end)

  /** Begins a stream without earlier panes. The store must have nothing of it. */
  def startAt(pane: Long): Unit = {
    require(pane >= 0, s"pane has to be 0 or more, not $pane")
    tree.startAt(pane)
    window.clear()
  }

  /** Writes the header, which is to be kept beside the store. */
  def write(out: Bytes): Unit = {
    tree.write(out)
    window.write(out)
  }

  def read(in: ByteBuffer): Unit = {
    tree.read(in)
    window.read(in)
  }
}
