package io.sash.core

/**
 * Recalculate, the oracle: keeps the lifted values and combines all of them for each query.
 *
 * Cost: n - 1 combines a query, none otherwise. Space: n partials, and one for the answer.
 *
 * Paper: the ''Naive'' and ''Recalculate-All'' baselines of all five papers.
 */
final class Recalculate(initial: Partials) extends SlotRing(initial, reserved = 1) with Suffixes {
  private[this] val answer = 0
  private[this] var back = 0L

  override def size: Int = (back - front).toInt

  override protected[this] def firstOpen: Long = back

  override def insert(): Unit = {
    requireOpen(end - back)
    back += 1
  }

  override def evict(): Unit = {
    requireNonEmpty()
    front += 1
  }

  override def query(): Int = from(front)

  override def query(last: Int): Int = {
    requireSuffix(last)
    from(back - last)
  }

  private def from(first: Long): Int = {
    if (first == back) partials.identity(answer) else partials.copy(answer, slot(first))
    var p = first + 1
    while (p < back) {
      partials.combine(answer, answer, slot(p))
      combined += 1
      p += 1
    }
    answer
  }

  override def clear(): Unit = {
    front = 0L
    back = 0L
    end = 0L
  }
}

object Recalculate extends algebra.OfAggregation(new Recalculate(_))
