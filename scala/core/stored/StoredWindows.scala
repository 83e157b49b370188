package io.sash.core.stored

import java.nio.ByteBuffer

import io.sash.core.slots.{Bytes, Partials, SlotCodec}

/**
 * Windows over one stream of elements in time order, which outlive the process. Most elements are
 * in a key-value store. The rest is a header of some bytes, which `write` makes and with which
 * another instance goes on (`read`). One instance may serve many streams, one after the other.
 *
 * An element is lifted into the slot of `open()` and comes with `append`. It enters the windows
 * into which the caller inserts it, at once (`window.insert`, before `append`) or later
 * (`window.insertTo`).
 *
 * Cost for m elements that come, and as many that leave, of n: amortised (3 + 1 / (F - 1)) m
 * combines for each window, and O(m / F + log n) calls of the store. A header holds F partials
 * for each window and for each level of nodes that a window reaches.
 *
 * SlickDeque (Inv) instead makes a combine for each element that comes and a subtraction for each
 * that leaves. After `read` it combines each element of the window. It then makes O((m + n) / F)
 * calls of the store. A header holds F partials.
 *
 * An exception passes through. The windows are then undefined until `read` or `clear`.
 *
 * Paper: ''Constant-Time Sliding Window Framework with Reduced Memory Footprint and Efficient
 * Bulk Evictions'', sections 4.1.5 and 4.2 (KVS-AMTA).
 *
 * @param initial the column of the partials, which then belongs to this instance
 * @param store the store of the nodes; it may delay `put` and `remove` until after `write`
 * @param logFanOut log2 of the partials in a node, from 1 on
 * @param shapes the way in which each window uses elements
 * @param inverse present if SlickDeque (Inv) answers for the windows; if it subtracts, the column
 *   is `Invertible`
 */
final class StoredWindows(
    initial: Partials,
    codec: SlotCodec,
    store: KeyValueStore,
    logFanOut: Int,
    shapes: Seq[StoredWindows.Shape],
    inverse: Option[StoredWindows.Inverse] = None
) {
  private[this] val tree = new RadixTree(
    initial.claimed(Partials.Slots),
    codec,
    store,
    logFanOut,
    holding = inverse.nonEmpty || shapes.exists(s => s.evicts || s.lags),
    longest = if (inverse.nonEmpty) 1L else shapes.map(_.longest).max
  )
  private[this] val windows: Array[TreeWindow] = shapes.indices.map { i =>
    inverse.fold[TreeWindow](new RadixWindow(tree, shapes(i).evicts)) { how =>
      new InverseWindow(tree, how.subtracting, () => how.select(i))
    }
  }.toArray

  private[this] val inverses = windows.collect { case w: InverseWindow => w }

  def column: Partials = tree.column

  /** The number of elements that have come. */
  def end: Long = tree.end

  /** The first element that is held. Earlier elements have been dropped. */
  def kept: Long = tree.kept

  def window(i: Int): TreeWindow = windows(i)

  /** Returns the slot for the next element. */
  def open(): Int = tree.open()

  /** Appends the element in the open slot. Times never decrease. */
  def append(time: Long): Unit = tree.append(time)

  /** Drops the elements that no window holds or has yet to insert. */
  def release(): Unit = {
    var least = tree.end
    var i = 0
    while (i < windows.length) {
      least = math.min(least, windows(i).needed)
      i += 1
    }
    if (least > tree.kept) tree.keepFrom(least)
  }

  /** Removes all that the store has of the stream, which ends here. */
  def drop(): Unit = tree.keepFrom(tree.end)

  /** Begins a stream. The store must have nothing of it. */
  def clear(): Unit = {
    tree.startAt(0L)
    windows.foreach(_.clear())
  }

  /** Whether all answers outside the slots are up to date with their windows. */
  def isCurrent: Boolean = inverses.forall(_.isCurrent)

  /**
   * Called after `read` if the answers outside the slots are still as they were at `write`. It
   * sets the answers' slots to the identity. `select` must then lead to other answers, which the
   * identity may clear.
   */
  def resume(): Unit = inverses.foreach(_.resume())

  /** Writes the header, which is to be kept beside the store. */
  def write(out: Bytes): Unit = {
    tree.write(out)
    windows.foreach(_.write(out))
  }

  def read(in: ByteBuffer): Unit = {
    tree.read(in)
    windows.foreach(_.read(in))
  }
}

object StoredWindows {

  /**
   * The way in which a window uses elements.
   *
   * @param evicts whether some elements leave the window before others. If not, all leave at
   *   once, or none leaves, and the window never needs a held element again
   * @param lags whether elements enter the window later than they come
   * @param longest the most elements that the window holds, if that is known
   */
  final case class Shape(
      evicts: Boolean = true,
      lags: Boolean = false,
      longest: Long = Long.MaxValue
  )

  /**
   * Answers by SlickDeque (Inv), in place of trees of partials.
   *
   * @param subtracting whether elements can be subtracted. If not, an answer is computed anew
   *   after elements have left
   * @param select called with a window's number before its answer is used, which may lie outside
   *   the slots
   */
  final case class Inverse(subtracting: Boolean = true, select: Int => Unit = _ => ())
}
