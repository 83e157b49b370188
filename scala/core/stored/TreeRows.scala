package io.sash.core.stored

import java.nio.ByteBuffer

import io.sash.core.frames.{KeyBound, Rows}
import io.sash.core.slots.Bytes

/**
 * The rows of a stream whose elements are in a store. Peers, and the row before them, are
 * compared with one another by their marks. The window finds other rows by the time of their
 * element, or by their group of peers.
 *
 * @param window the window of the frame that asks; never evaluated if only peers are compared
 * @param lower the lower bound; its shift is the number of a mark
 * @param upper the upper bound, likewise
 * @param key the mark by which rows are compared, if it is not their time
 * @param holds the mark that is 1 if the condition holds for the row
 * @param width the mark that says how many rows before the row are in its frame
 * @param byGroups the bounds, as numbers of groups, if elements are stored by their group
 */
private[sash] final class TreeRows(
    peers: PeerMarks,
    window: => TreeWindow,
    lower: KeyBound,
    upper: KeyBound,
    key: Option[Int] = None,
    holds: Option[Int] = None,
    width: Option[Int] = None,
    byGroups: Option[(Long, Long)] = None
) extends Rows {
  private[this] lazy val of = window
  private[this] val isByGroup = byGroups.nonEmpty
  private[this] val (groupsBack, groupsOn) = byGroups.getOrElse((0L, 0L))
  private[this] val (lowerMark, upperMark) = (markOf(lower), markOf(upper))
  private[this] val keyMark = key.getOrElse(-1)
  private[this] val holdsMark = holds.getOrElse(-1)
  private[this] val widthMark = width.getOrElse(-1)
  private[this] val isFromPeers = lower == KeyBound.CurrentRow

  // a row before the peers that is still compared, and its time
  private[this] var held = -1L
  private[this] var heldTime = 0L

  private def markOf(bound: KeyBound): Int = bound match {
    case KeyBound.Shifted(mark, _) => mark
    case _                         => -1
  }

  override val isUnboundedBelow: Boolean = lower == KeyBound.Unbounded && !isByGroup

  override val isUpToPeers: Boolean =
    upper == KeyBound.CurrentRow || isByGroup && groupsOn == 0L

  override def firstNotBelow(current: Long, from: Long, until: Long): Long =
    if (isFromPeers) math.max(from, math.min(peers.firstPeer, until))
    else if (isUnboundedBelow) from
    else {
      of.insertTo(until)
      val bound = if (isByGroup) peers.group + groupsBack else peers.of(current)(lowerMark)
      math.max(from, of.firstAt(bound, until))
    }

  override def isAbove(row: Long, current: Long): Boolean =
    if (isByGroup) of.timeOf(row) > peers.group + groupsOn
    else if (upperMark >= 0) keyOf(row) > peers.of(current)(upperMark)
    else
      isUpToPeers && (if (peers.has(row)) keyOf(row) > keyOf(current) else row >= peers.lastPeer)

  override def isBelow(row: Long, current: Long): Boolean =
    if (lowerMark >= 0) keyOf(row) < peers.of(current)(lowerMark)
    else isFromPeers && keyOf(row) < keyOf(current)

  override def arePeers(row: Long, other: Long): Boolean = keyOf(row) == keyOf(other)

  private def keyOf(row: Long): Long = if (keyMark >= 0) peers.of(row)(keyMark) else timeOf(row)

  private def timeOf(row: Long): Long =
    if (peers.has(row)) peers.timeOf(row) else if (row == held) heldTime else of.timeOf(row)

  override def holds(row: Long): Boolean = holdsMark < 0 || peers.of(row)(holdsMark) == 1L

  override def width(row: Long): Long = peers.of(row)(widthMark)

  override def groups(lower: Long, upper: Long): Rows =
    new TreeRows(peers, window, this.lower, this.upper, byGroups = Some((lower, upper)))

  override def forgetBefore(row: Long): Unit = if (peers.has(row)) {
    heldTime = peers.timeOf(row)
    held = row
  }

  override def clear(): Unit = held = -1L

  override def write(row: Long, out: Bytes): Unit = out.putLong(timeOf(row))

  override def read(row: Long, in: ByteBuffer): Unit = {
    heldTime = in.getLong()
    held = row
  }
}
