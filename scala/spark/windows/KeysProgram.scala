package io.sash.spark.windows

import org.apache.spark.sql.catalyst.expressions._

import io.sash.core.frames.{KeyRing, RangeKeys}
import io.sash.spark.slots.SlotProgram

/** What a frame compares rows by. */
private[spark] sealed abstract class KeysSpec

/** The order of the window, with the bounds of a frame of SQL's: frames share one ring of these. */
private[spark] final case class OrderKeys(frame: SpecifiedWindowFrame) extends KeysSpec

private[spark] object OrderKeys {

  /** Of which just equality is asked. */
  val Peers: OrderKeys = OrderKeys(SpecifiedWindowFrame(RangeFrame, CurrentRow, CurrentRow))
}

/** What nobody else compares by. */
private[spark] final case class OwnKeys(slots: SlotProgram, lower: Int, upper: Int)
    extends KeysSpec

/** @param users how many frames look at the ring */
private[spark] final case class RingProgram(slots: SlotProgram, users: Int)

/** What a frame makes of a ring: see [[RangeKeys]]. */
private[spark] final case class KeysView(ring: Int, user: Int, lower: Int, upper: Int) {
  def of(rings: IndexedSeq[KeyRing]): RangeKeys = new RangeKeys(rings(ring), user, lower, upper)
}

/** The rings of all frames of an operator, and the view of each. */
private[spark] final case class KeysProgram(rings: Seq[RingProgram], views: Seq[Option[KeysView]])

private[spark] object KeysProgram {
  def apply(rows: RowsOfFrame, specs: Seq[Option[KeysSpec]]): KeysProgram = {
    val shared = specs.flatten.collect { case OrderKeys(frame) => frame }
    val (ordered, bounds) = RangeBounds.program(rows, rows.order, shared)
    val ofOrder = if (shared.isEmpty) Nil else Seq(RingProgram(ordered, shared.length))
    val own = specs.flatten.collect { case OwnKeys(slots, _, _) => RingProgram(slots, users = 1) }
    var (users, others) = (0, ofOrder.length)
    val views = specs.map(_.map {
      case OrderKeys(_) =>
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
