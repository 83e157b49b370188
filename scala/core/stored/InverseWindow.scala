package io.sash.core.stored

import java.nio.ByteBuffer

import scala.collection.mutable.ArrayBuffer

import io.sash.core.slots.{Bytes, Invertible}

/**
 * SlickDeque (Inv) over stored elements. The window keeps one answer. At a query it combines each
 * new element into the answer and subtracts each element that has left. The answer itself is not
 * stored, since it may lie outside the slots. After `read` the first query computes it anew from
 * the window's elements, unless the caller has kept it (`resume`).
 *
 * Elements are combined in their order, and the oldest is subtracted, so the combine need not
 * commute. An answer for some of the elements (`begin`, `append`, `answer`) is computed anew, if
 * it does not begin and end at or behind the last one.
 *
 * Invariants:
 *  - (I1) front <= back <= the tree's end
 *  - (I2) if `valid`, the answer is the aggregate of [from, until). Its slot was once set to the
 *    identity. until <= back, and the tree holds the elements from the smaller of `from` and
 *    `front` on
 *
 * Cost of a query: a combine for each element that has entered since the last query, and a
 * subtraction for each that has left. The first query after `read` combines each element of the
 * window. So does any query after elements have left, if elements cannot be subtracted. Every F
 * elements load one node at the back and one at the front, and one more at an end whose times are
 * compared.
 *
 * Paper: ''SlickDeque: High Throughput and Low Latency Incremental Sliding-Window Aggregation'',
 * section 3.2 (Inv). The paper's elements are in a queue; these are in a [[RadixTree]] of one
 * level.
 *
 * @param subtracting whether elements can be subtracted
 * @param select called before the answer is used, since the answer may lie outside the slots
 */
private[sash] final class InverseWindow(
    tree: RadixTree,
    subtracting: Boolean,
    select: () => Unit
) extends TreeWindow {
  private[this] val sum = tree.slot()
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
    tree.column.identity(sum)
    from = fronts
    until = backs
    valid = true
  }

  override def front: Long = fronts

  override def back: Long = backs

  override private[sash] def needed: Long = if (valid) math.min(from, fronts) else fronts

  override def insert(slot: Int): Unit = backs += 1

  override def insertTo(position: Long): Unit = backs = math.max(backs, position)

  override def timeOf(position: Long): Long = next.time(position)

  override def query(): Int = {
    select()
    moveTo(fronts, backs)
    sum
  }

  // the bounds of the stretches that are asked for, one after the other
  private[this] val asked = ArrayBuffer.empty[Long]

  override def begin(): Unit = asked.clear()

  override def append(from: Long, until: Long): Unit =
    if (from < until) {
      if (asked.nonEmpty && asked.last == from) asked(asked.length - 1) = until
      else asked ++= Seq(from, until)
    }

  override def answer(): Int = {
    select()
    if (asked.isEmpty) clearAt(fronts)
    else if (asked.length == 2) moveTo(asked.head, asked.last)
    else combineAsked()
    sum
  }

  /** Combines the stretches anew. The answer is then not the aggregate of one stretch. */
  private def combineAsked(): Unit = {
    clearAt(fronts)
    asked.grouped(2).foreach { stretch =>
      var at = stretch.head
      while (at < stretch.last) {
        tree.column.combine(sum, sum, entering.slot(at))
        at += 1
      }
    }
    spoil()
  }

  /** Makes the answer the aggregate of no elements. */
  private def clearAt(position: Long): Unit = {
    tree.column.identity(sum)
    from = position
    until = position
    valid = true
  }

  /** Makes the answer the aggregate of [first, end). */
  private def moveTo(first: Long, end: Long): Unit = {
    if (!valid || !canMoveTo(first, end)) clearAt(first)
    while (until < end) {
      tree.column.combine(sum, sum, entering.slot(until))
      until += 1
    }
    while (from < first) {
      val oldest = leaving.slot(from)
      tree.column.asInstanceOf[Invertible].subtract(sum, sum, oldest)
      from += 1
    }
  }

  private def canMoveTo(first: Long, end: Long): Boolean =
    end >= until && (first == from || subtracting && first >= from && first < until)

  /** Looks at the oldest elements one by one, in the node that the last call has loaded. */
  override def firstAt(time: Long, until: Long): Long = {
    val end = math.min(until, fronts + InverseWindow.Near)
    var at = fronts
    while (at < end && first.time(at) < time) at += 1
    if (at < end) at else tree.firstAt(time, at, until)
  }

  override def evictTo(position: Long): Unit = fronts = math.max(fronts, position)

  override def restart(from: Long, until: Long): Unit = {
    fronts = from
    backs = until
    forget()
  }

  override def evictAll(): Unit = fronts = backs

  override private[sash] def clear(): Unit = restart(tree.end, tree.end)

  override private[sash] def write(out: Bytes): Unit = {
    out.putNumber(fronts)
    out.putNumber(backs - fronts)
  }

  override private[sash] def read(in: ByteBuffer): Unit = {
    fronts = Bytes.number(in)
    backs = fronts + Bytes.number(in)
    forget()
  }

  /** Says that the answer is to be made anew. */
  private def spoil(): Unit =
    valid = false

  /** Forgets the answer and all loaded nodes, since the tree now holds another stream. */
  private def forget(): Unit = {
    spoil()
    entering.clear()
    leaving.clear()
    first.clear()
    next.clear()
  }
}

private object InverseWindow {
  private val Near: Long = 32L
}
