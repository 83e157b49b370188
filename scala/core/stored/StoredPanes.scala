package io.sash.core.stored

import java.nio.ByteBuffer

import io.sash.core.mta.KeyValueStore
import io.sash.core.slots.{Bytes, Partials, SlotCodec}

/**
 * Panes of a stream in disorder, numbered by time, and a window over them, which outlive the process
 * as `StoredWindows` do: most of the panes are in a key-value store, the rest is a header.
 *
 * A partial is added to a pane of any number from `kept` on (`add`), that the window holds, too. What
 * is added last is combined last, so a combine that does not commute sees the elements of a pane
 * in the order in which they came, and those that come late behind the others.
 *
 * Cost at height h: to add to the last pane, or after it, amortised 3 combines and 1 / F nodes
 * put; to one among the last F, h combines; to an older one, F * h combines and at
 * most h nodes read and put. Panes without an element cost nothing in the store.
 *
 * An exception passes through; the panes are then undefined until `read` or `startAt`.
 *
 * Paper: ''Cutty: Aggregate Sharing for User-Defined Windows'' has the panes; ''Constant-Time Sliding
 * Window Framework with Reduced Memory Footprint and Efficient Bulk Evictions'', section 4.2, the
 * forest in a key-value store.
 *
 * @param initial the column of the partials, which becomes this instance's
 * @param store of the nodes; `put` and `remove` may wait there until after `write`
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

  /** Which panes it holds, the caller says. */
  val window = new RadixWindow(tree, evicting = true)

  def column: Partials = tree.column

  /** The pane after the last one. */
  def end: Long = tree.end

  /** Panes before this one are given up. */
  def kept: Long = tree.kept

  /** The slot for what is to be added. */
  def open(): Int = opened

  /** A slot that is the caller's. */
  def slot(): Int = tree.slot()

  /** The partial in the open slot belongs to this pane. */
  def add(pane: Long): Unit =
    if (pane >= tree.end) {
      tree.skipTo(pane)
      val slot = tree.open() // which may move the column
      tree.column.copy(slot, opened)
      tree.append(pane)
    } else {
      tree.amend(pane, opened)
      window.amend(pane, opened)
    }

  /** The first pane from this one on that has an element; `end` if none has. */
  def next(pane: Long): Long = tree.next(pane)

  /** Gives up the panes before this one, which the window does not hold. */
  def keepFrom(pane: Long): Unit = tree.keepFrom(pane)

  /** Removes from the store what there is of the stream, which ends here. */
  def drop(): Unit = tree.keepFrom(tree.end)

  /** Begins a stream, of which there is nothing in the store, and which has no earlier pane. */
  def startAt(pane: Long): Unit = {
    require(pane >= 0, s"pane has to be 0 or more, not $pane")
    tree.startAt(pane)
    window.clear()
  }

  /** What is to be kept beside the store. */
  def write(out: Bytes): Unit = {
    tree.write(out)
    window.write(out)
  }

  def read(in: ByteBuffer): Unit = {
    tree.read(in)
    window.read(in)
  }
}
