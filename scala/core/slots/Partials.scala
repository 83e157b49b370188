package io.sash.core.slots

/**
 * A column of partial aggregates. An algorithm of this library never touches a value. It moves
 * ''slots'', the places of this column, numbered from 0. The owner of the column lifts a value
 * into a slot and lowers the slot that holds the answer.
 *
 * The one law: `combine` is associative and `identity` is its neutral element. It need not be
 * commutative: `left` always holds older elements than `right`.
 *
 * A column belongs for good to the first window that was made over it.
 *
 * A call that throws leaves every slot as it was. `identity` and `copy` never throw. Only
 * `suffixes` and the folds may have written their own slots. So after an exception a window is as
 * it was before the call.
 *
 * In every operation but the folds, `dst` may be the same slot as any operand.
 *
 * Paper: Tangwongsan, Hirzel, Schneider, ''In-Order Sliding-Window Aggregation in Worst-Case
 * Constant Time'', section 2 (lift, combine, lower; the monoid (⊗, 1)).
 */
abstract class Partials extends Slots {
  private[this] var owner = Partials.Nobody

  /**
   * Makes the caller the column's only owner of this rank, or throws if there is one already. Two
   * windows over one column would overwrite each other's slots.
   */
  private[sash] final def claimed(rank: Int): this.type = {
    if (owner >= rank) {
      throw new IllegalStateException("this column is another window's; make one for each window")
    }
    owner = rank
    this
  }

  /**
   * Whether no operation but `grow` ever throws, or no window is used after an exception. Then a
   * window need not be ready to undo a call.
   *
   * If false, Two-Stacks Lite flips by single combines, and the FiBA of the papers' library notes
   * all that it overwrites. Other algorithms do not look at it.
   */
  def total: Boolean = false

  /** `dst <- 1` */
  def identity(dst: Int): Unit

  /** `dst <- left ⊗ right` */
  def combine(dst: Int, left: Int, right: Int): Unit

  /**
   * `dst <- src` of `other`, a column of the same kind. Only the columns in chunks of the papers'
   * library need it.
   */
  def copyFrom(other: Partials, dst: Int, src: Int): Unit =
    throw new UnsupportedOperationException(
      s"${getClass.getName} does not say how to copy from another column: override copyFrom"
    )

  /**
   * Replaces each of the slots first … last by the aggregate from that slot to `last`. From the
   * last but one down to the first, `slot <- slot ⊗ (slot + 1)`. An override that keeps the
   * running aggregate in a register is several times faster.
   */
  def suffixes(first: Int, last: Int): Unit = {
    var i = last - 1
    while (i >= first) {
      combine(i, i, i + 1)
      i -= 1
    }
  }

  /**
   * `dst <- slots(0) ⊗ slots(1) ⊗ … ⊗ slots(count - 1)`, with count at least 1. Only the first of
   * these slots may be `dst`. An override that keeps the running aggregate in a register is
   * several times faster.
   */
  def fold(dst: Int, slots: Array[Int], count: Int): Unit =
    if (count == 1) {
      copy(dst, slots(0))
    } else {
      combine(dst, slots(0), slots(1))
      var i = 2
      while (i < count) {
        combine(dst, dst, slots(i))
        i += 1
      }
    }

  /**
   * `dst <- dst ⊗ first ⊗ (first + 1) ⊗ … ⊗ last`. `dst` is none of these slots. If `last` is
   * less than `first`, nothing happens.
   */
  def foldRange(dst: Int, first: Int, last: Int): Unit = {
    var i = first
    while (i <= last) {
      combine(dst, dst, i)
      i += 1
    }
  }

  override def grow(slots: Int): Partials
}

private[sash] object Partials {
  // Ranks of owners: a window of slots, and a window of values over it.
  final val Nobody = 0
  final val Slots = 1
  final val Values = 2
}

/**
 * Partials whose combine can be undone exactly: (x ⊗ y) ⊖ x = y, where x is the oldest operand.
 */
trait Invertible extends Partials {

  /** `dst <- whole ⊖ oldest`: where whole = oldest ⊗ rest, the result is rest. */
  def subtract(dst: Int, whole: Int, oldest: Int): Unit
}

/** Partials whose combine returns an operand: x ⊗ y is x or y. */
trait Selective extends Partials {

  /** Whether left ⊗ right = right, so that the older `left` is no longer needed. */
  def selectsRight(left: Int, right: Int): Boolean
}
