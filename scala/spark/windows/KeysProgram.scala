package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._

import io.sash.core.frames.{KeyBound, KeyRing, RangeKeys}
import io.sash.spark.slots.SlotProgram

/** The keys by which a frame compares rows, and its bounds. */
private[spark] sealed abstract class KeysSpec

/**
 * The window's order as keys, with the bounds of a frame of SQL. All such frames of an operator
 * share one ring.
 */
private[spark] final case class SqlFrameKeys(frame: SpecifiedWindowFrame) extends KeysSpec

private[spark] object SqlFrameKeys {

  /** Keys for telling peers apart. */
  val Peers: SqlFrameKeys = SqlFrameKeys(SpecifiedWindowFrame(RangeFrame, CurrentRow, CurrentRow))
}

/** Keys of one frame alone, in a ring of their own. */
private[spark] final case class OwnKeys(
    slots: SlotProgram,
    lower: KeyBound,
    upper: KeyBound
) extends KeysSpec

/**
 * The keys of each part of a frame, of the peers that it excludes, and of the panes by which it
 * slides.
 */
private[spark] final case class FrameKeys[A](
    parts: Seq[Option[A]],
    peers: Option[A],
    panes: Option[A]
) {
  def toSeq: Seq[A] = (parts.flatten ++ peers ++ panes).toSeq

  def map[B](to: A => B): FrameKeys[B] =
    FrameKeys(parts.map(_.map(to)), peers.map(to), panes.map(to))
}

/**
 * The recipe of a ring of keys, serializable for tasks.
 *
 * @param users the number of frames that use the ring
 */
private[spark] final case class RingProgram(slots: SlotProgram, users: Int)

/** How a frame uses a ring: see [[RangeKeys]]. */
private[spark] final case class KeysView(
    ring: Int,
    user: Int,
    lower: KeyBound,
    upper: KeyBound
) {
  def of(rings: IndexedSeq[KeyRing]): RangeKeys =
    new RangeKeys(rings(ring), user, lower, upper)
}

/** The rings of all frames of an operator, and the view of each frame. */
private[spark] final case class KeysProgram(
    rings: Seq[RingProgram],
    views: Seq[FrameKeys[KeysView]]
)

private[spark] object KeysProgram {
  def apply(rows: RowsOfFrame, specs: Seq[FrameKeys[KeysSpec]]): KeysProgram = {
    val all = specs.flatMap(_.toSeq)
    val shared = all.collect { case SqlFrameKeys(frame) => frame }
    val (ordered, bounds) = RangeBounds.program(rows, rows.order, shared)
    val ofOrder = if (shared.isEmpty) Nil else Seq(RingProgram(ordered, shared.length))
    val own = all.collect { case own: OwnKeys => RingProgram(own.slots, users = 1) }
    var (users, others) = (0, ofOrder.length)
    val views = specs.map(_.map {
      case SqlFrameKeys(_) =>
        users += 1
        val (lower, upper) = bounds(users - 1)
        KeysView(ring = 0, users - 1, lower, upper)
      case OwnKeys(_, lower, upper) =>
        others += 1
        KeysView(others - 1, user = 0, lower, upper)
    })
    KeysProgram(ofOrder ++ own, views)
  }
}
