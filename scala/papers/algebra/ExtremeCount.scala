package io.sash.papers.algebra

import io.sash.core.algebra.Aggregation

/** How often the value occurs that is greatest by `ordering`. */
private[algebra] abstract class ExtremeCount[T](ordering: Ordering[T])
    extends Aggregation[T, Option[(T, Long)], Long]
    with Commutative {
  override def identity: Option[(T, Long)] = None

  override def lift(in: T): Option[(T, Long)] = Some((in, 1L))

  override def combine(
      older: Option[(T, Long)],
      younger: Option[(T, Long)]
  ): Option[(T, Long)] = (older, younger) match {
    case (Some((o, n)), Some((y, m))) =>
      val order = ordering.compare(o, y)
      if (order > 0) older else if (order < 0) younger else Some((o, n + m))
    case _ => older.orElse(younger)
  }

  override def lower(agg: Option[(T, Long)]): Long = agg.fold(0L)(_._2)
}

/**
 * Pairs of a long and how often it occurs. The identity is the least long, 0 times. For the
 * lowest value, it keeps the highest complement, since x < y means ~x > ~y and complements never
 * overflow.
 */
private final class LongExtremeCount(lowest: Boolean) extends LongPairs with Column[Long, Long] {
  private[this] val flip = if (lowest) -1L else 0L

  override def identity(dst: Int): Unit = put(dst, Long.MinValue, 0L)

  override def lift(slot: Int, in: Long): Unit = put(slot, in ^ flip, 1L)

  override def combine(dst: Int, left: Int, right: Int): Unit = {
    val older = cells(2 * left)
    val younger = cells(2 * right)
    if (older > younger) copy(dst, left)
    else if (older < younger) copy(dst, right)
    else put(dst, older, cells(2 * left + 1) + cells(2 * right + 1))
  }

  override def lower(slot: Int): Long = cells(2 * slot + 1)
}

/**
 * Pairs of a double and how often it occurs. The identity is -∞, 0 times. For the lowest value,
 * it keeps the highest negated value, so that a NaN wins either way.
 */
private final class DoubleExtremeCount(lowest: Boolean)
    extends DoublePairs
    with Column[Double, Long] {
  private[this] val sign = if (lowest) -1.0 else 1.0

  override def identity(dst: Int): Unit = put(dst, Double.NegativeInfinity, 0.0)

  override def lift(slot: Int, in: Double): Unit = put(slot, sign * in, 1.0)

  override def combine(dst: Int, left: Int, right: Int): Unit = {
    val older = cells(2 * left)
    val order = java.lang.Double.compare(older, cells(2 * right))
    if (order > 0) copy(dst, left)
    else if (order < 0) copy(dst, right)
    else put(dst, older, cells(2 * left + 1) + cells(2 * right + 1))
  }

  override def lower(slot: Int): Long = cells(2 * slot + 1).toLong
}
