package io.sash.papers.algebra

import io.sash.core.algebra.Aggregation

/** How often the highest or the lowest value occurs; longs and doubles in a primitive column. */
private[algebra] final class ExtremeCount[T](ranking: Ranking[T], lowest: Boolean)
    extends Aggregation[T, Option[(T, Long)], Long]
    with MakesColumn[T, Long]
    with Commutative {
  private[this] val ordering = if (lowest) ranking.lowest else ranking.highest

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

  override def newColumn(): Column[T, Long] = {
    val column: Column[_, Long] =
      if (ranking eq Ranking.ofLong) new LongExtremeCount(lowest)
      else if (ranking eq Ranking.ofDouble) new DoubleExtremeCount(lowest)
      else new ObjectColumn(this)
    column.asInstanceOf[Column[T, Long]] // the ranking says what T is
  }
}

/**
 * Pairs of a value and how often it occurs. A value is mapped to a long, so that the extreme
 * value has the greatest long. The identity is the least long, 0 times.
 */
private abstract class ExtremeCounts extends LongPairs {
  override final def identity(dst: Int): Unit = put(dst, Long.MinValue, 0L)

  override final def combine(dst: Int, left: Int, right: Int): Unit = {
    val older = cells(2 * left)
    val younger = cells(2 * right)
    if (older > younger) copy(dst, left)
    else if (older < younger) copy(dst, right)
    else put(dst, older, cells(2 * left + 1) + cells(2 * right + 1))
  }

  protected[this] final def count(slot: Int): Long = cells(2 * slot + 1)
}

/**
 * For the lowest value, it keeps the highest complement, since x < y means ~x > ~y and
 * complements never overflow.
 */
private final class LongExtremeCount(lowest: Boolean)
    extends ExtremeCounts
    with Column[Long, Long] {
  private[this] val flip = if (lowest) -1L else 0L

  override def lift(slot: Int, in: Long): Unit = put(slot, in ^ flip, 1L)
  override def lower(slot: Int): Long = count(slot)
}

/**
 * Doubles by the bits that order them as Double.compare does. For the lowest value, it keeps the
 * highest negated value, so that a NaN wins either way.
 */
private final class DoubleExtremeCount(lowest: Boolean)
    extends ExtremeCounts
    with Column[Double, Long] {
  private[this] val sign = if (lowest) -1.0 else 1.0

  override def lift(slot: Int, in: Double): Unit = {
    val bits = java.lang.Double.doubleToLongBits(sign * in)
    put(slot, bits ^ ((bits >> 63) & Long.MaxValue), 1L)
  }

  override def lower(slot: Int): Long = count(slot)
}
