package io.sash.core.stored

import java.nio.ByteBuffer

import io.sash.core.mta.KeyValueStore
import io.sash.core.slots.{Bytes, Partials, SlotCodec}

/**
 * Windows over one stream of elements in time order that outlive the process: most of the elements
 * are in a key-value store, and what is not is a header of some bytes, from `write`, with which
 * another instance goes on (`read`). One instance may serve many streams, one after the other.
 *
 * An element is lifted into the slot of `open()` and comes with `append`; it enters those windows
 * that the caller inserts it into, at once (`window.insert`, before `append`) or later
 * (`window.insertTo`).
 *
 * Cost for m elements that come and as many that leave, of n: combines amortised 3 m for each
 * window, in calls of the store O(m / F + log n). A header holds F partials for each window and
 * for each level of nodes that a window reaches.
 *
 * By SlickDeque (Inv) it is a combine for each element that comes and a subtraction for each that
 * leaves, and, after `read`, a combine for each element of the window; in calls of the store then
 * O((m + n) / F). A header holds F partials.
 *
 * An exception passes through; the windows are then undefined until `read` or `clear`.
 *
 * Paper: ''Constant-Time Sliding Window Framework with Reduced Memory Footprint and Efficient
 * Bulk Evictions'', sections 4.1.5 and 4.2 (KVS-AMTA).
 *
 * @param initial the column of the partials, which becomes this instance's
 * @param store of the nodes; `put` and `remove` may wait there until after `write`
 * @param logFanOut log2 of the partials in a node, from 1 on
 * @param shapes what each window does with elements
 * @param inverse if windows are answered by SlickDeque (Inv), of a column that is `Invertible` if it
 *   is subtracted from
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

  /** How many elements have come. */
  def end: Long = tree.end

  /** Elements before this one are given up. */
  def kept: Long = tree.kept

  def window(i: Int): TreeWindow = windows(i)

  /** The slot for the next element. */
  def open(): Int = tree.open()

  /** The element in the open slot has come; times never decrease. */
  def append(time: Long): Unit = tree.append(time)

  /** Gives up what no window holds, and none has yet to insert. */
  def release(): Unit = {
    var least = tree.end
    var i = 0
    while (i < windows.length) {
      least = math.min(least, windows(i).needed)
      i += 1
    }
    if (least > tree.kept) tree.keepFrom(least)
  }

  /** Removes from the store what there is of the stream, which ends here. */
  def drop(): Unit = tree.keepFrom(tree.end)

  /** Begins a stream, of which there is nothing in the store. */
  def clear(): Unit = {
    tree.clear()
    windows.foreach(_.clear())
  }

  /** Whether the answers beside the slots are those of the windows as they are. */
  def isCurrent: Boolean = inverses.forall(_.isCurrent)

  /**
   * After `read`: the answers beside the slots are there already, as they were before `write`. Their
   * slots get an identity, for which `select` has to lead to others that may be cleared.
   */
  def resume(): Unit = inverses.foreach(_.resume())

  /** What is to be kept beside the store. */
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
   * @param evicts whether elements leave the window before others; if not, all leave at once, or
   *   none, and it needs no element again that it holds
   * @param lags whether elements enter later than they come
   * @param longest the elements that the window holds at most, as far as that is known
   */
  final case class Shape(
      evicts: Boolean = true,
      lags: Boolean = false,
      longest: Long = Long.MaxValue
  )

  /**
   * Answers made by an inverse, in the place of trees of partials.
   *
   * @param subtracting whether elements can be subtracted; if not, an answer is made anew when
   *   some have left
   * @param select called with the number of the window whose answer is worked on next, which may be
   *   beside the slots
   */
  final case class Inverse(subtracting: Boolean = true, select: Int => Unit = _ => ())
}
