package io.sash.core.stored

import java.nio.ByteBuffer

import io.sash.core.slots.{Bytes, Invertible}

/**
 * SlickDeque (Inv) over stored elements. The window keeps one answer. At a query it combines each
 * new element into the answer and subtracts each element that has left. The answer itself is not
 * stored, since it may lie outside the slots. After `read` the first query computes it anew from
 * the window's elements, unless the caller has kept it (`resume`).
 *
 * Invariants:
 *  - (I1) front <= back <= the tree's end
 *  - (I2) if `valid`, the answer is the aggregate of [from, until), with from <= front and
 *    until <= back, and its slot was set to the identity at some time
 *
 * Cost of a query: a combine for each element that has entered since the last query, and a
 * subtraction for each that has left. The first query after `read` combines each element of the
 * window. So does any query after elements have left, if elements cannot be subtracted. For F
 * elements one node is loaded at the back and one at the front, and one more at either end whose
 * times are compared.
 *
 * Paper: ''SlickDeque: High Throughput and Low Latency Incremental Sliding-Window Aggregation'',
 * section 3.2 (Inv). The paper's elements are in a queue; these are in a [[RadixTree]] of one
 * level.
 *
 * @param subtracting whether elements can be subtracted
 * @param select called before the answer is used, since the answer may lie outside the slots
 */
private[stored] final class InverseWindow(
    tree: RadixTree,
    subtracting: Boolean,
    select: () => Unit
) extends TreeWindow {
  private[this] val answer = tree.slot()
  private[this] val entering, leaving, first, next = new NodeCursor(tree, tree.entries())

  private[this] var fronts = 0L
  private[this] var backs = 0L

  private[this] var valid = false
  private[this] var from = 0L
  private[this] var until = 0L

  /** Whether the answer is the window's present aggregate. */
  def isCurrent: Boolean = valid && from == fronts && until == backs

  /** Declares the kept answer to be the window's aggregate, and sets its slot to the identity. */
  def resume(): Unit = {
    select()
    tree.column.identity(answer)
    from = fronts
    until = backs
    valid = true
  }

  override def front: Long = fronts

  override def back: Long = backs

  override private[stored] def needed: Long = if (valid) math.min(from, fronts) else fronts

  override def insert(slot: Int): Unit = backs += 1

  override def insertTo(position: Long): Unit = backs = math.max(backs, position)

  override def insertUntil(time: Long): Unit =
    while (backs < tree.end && next.time(backs) <= time) backs += 1

  override def query(): Int = {
    select()
    if (!valid || from != fronts && (!subtracting || fronts >= until)) {
      tree.column.identity(answer)
      from = fronts
      until = fronts
      valid = true
    }
    while (until < backs) {
      tree.column.combine(answer, answer, entering.slot(until))
      until += 1
    }
    while (from < fronts) {
      val oldest = leaving.slot(from)
      tree.column.asInstanceOf[Invertible].subtract(answer, answer, oldest)
      from += 1
    }
    answer
  }

  override def evictTo(position: Long): Unit = fronts = math.max(fronts, position)

  override def evictBefore(time: Long, position: Long): Unit = {
    val end = math.min(backs, position)
    while (fronts < end && first.time(fronts) < time) fronts += 1
  }

  override def restart(from: Long, until: Long): Unit = {
    fronts = from
    backs = until
    forget()
  }

  override def evictAll(): Unit = fronts = backs

  override private[stored] def clear(): Unit = restart(tree.end, tree.end)

  override private[stored] def write(out: Bytes): Unit = {
    out.putNumber(fronts)
    out.putNumber(backs - fronts)
  }

  override private[stored] def read(in: ByteBuffer): Unit = {
    fronts = Bytes.number(in)
    backs = fronts + Bytes.number(in)
    forget()
  }

  /** Forgets the answer and all loaded nodes, since the tree now holds another stream. */
  private def forget(): Unit = {
    valid = false
    entering.clear()
    leaving.clear()
    first.clear()
    next.clear()
  }
}
