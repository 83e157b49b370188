package io.sash.core.fat

import java.lang.Long.{numberOfLeadingZeros, numberOfTrailingZeros}

/**
 * Aggregates of dyadic intervals. Number k of level l covers the positions k·2^l … (k+1)·2^l - 1.
 * It combines the numbers 2k and 2k+1 of level l-1. Level 0 holds the elements themselves.
 *
 * An interval is ''complete'' while all its positions are occupied. Only complete intervals are
 * ever combined or read. So an unoccupied place needs no marker ⊥ (section 5.2 of the Reactive
 * Aggregator's paper).
 */
private[sash] trait DyadicIntervals {
  import DyadicIntervals.IsCombined

  /** The slot of an interval. */
  private[sash] def slotOf(level: Int, number: Long): Int

  /** `dst <- left ⊗ right` */
  protected def combine(dst: Int, left: Int, right: Int): Unit

  /**
   * Combines every interval that lies in [front, back) and ends after `settled`, level by level.
   * Intervals that end earlier are already combined. It stops at the first level without a new
   * interval, since higher levels have none either.
   */
  protected final def complete(front: Long, settled: Long, back: Long): Unit = {
    var level = 0
    var first = front
    var from = settled
    var until = back
    var going = true
    while (going) {
      level += 1
      first = (first + 1) >> 1
      from >>= 1
      until >>= 1
      var number = math.max(first, from)
      going = number < until
      while (number < until) {
        val left = slotOf(level - 1, 2 * number)
        val right = slotOf(level - 1, 2 * number + 1)
        combine(slotOf(level, number), left, right)
        number += 1
      }
    }
  }

  /** The slot that holds the aggregate of the positions [first, until), at least one. */
  protected final def cover(answer: Int, first: Long, until: Long): Int =
    cover(answer, DyadicIntervals.Nothing, first, until)

  /**
   * The slot that holds the aggregate at `before`, if there is one, combined with the positions
   * [first, until), at least one. It is the slot of an interval, or `answer`.
   *
   * The range is made of the fewest intervals, from left to right. First they grow: one for each
   * 0 in the bits of `first` - 1. Then they shrink: one for each 1 in the bits of `until`. Both
   * count only the bits below the highest bit in which the two numbers differ.
   */
  protected final def cover(answer: Int, before: Int, first: Long, until: Long): Int = {
    val last = first - 1
    val bits = (1L << (63 - numberOfLeadingZeros(last ^ until))) - 1
    var slot = before
    var growing = ~last & bits
    while (growing != 0) {
      val level = numberOfTrailingZeros(growing)
      slot = joined(answer, slot, slotOf(level, (last >> level) + 1))
      growing &= growing - 1
    }
    var shrinking = until & bits
    while (shrinking != 0) {
      val level = 63 - numberOfLeadingZeros(shrinking)
      slot = joined(answer, slot, slotOf(level, (until >> level) - 1))
      shrinking ^= 1L << level
    }
    slot
  }

  /** Whether every complete interval within [first, until) satisfies `isCombined`. */
  private[sash] final def allCombined(first: Long, until: Long, isCombined: IsCombined): Boolean =
    Iterator.from(1).takeWhile(level => (until - first) >> level > 0).forall { level =>
      (((first - 1) >> level) + 1 until (until >> level)).forall { k =>
        isCombined(slotOf(level, k), slotOf(level - 1, 2 * k), slotOf(level - 1, 2 * k + 1))
      }
    }

  private def joined(answer: Int, left: Int, right: Int): Int =
    if (left < 0) {
      right
    } else {
      combine(answer, left, right)
      answer
    }
}

private[sash] object DyadicIntervals {

  /** Whether slot = left ⊗ right. Only the owner of the column can tell. */
  type IsCombined = (Int, Int, Int) => Boolean

  /** Stands for no slot. */
  final val Nothing = -1
}
