package io.sash.core.slots

/**
 * A column of partial aggregates. An algorithm of this library never touches a value: it moves
 * ''slots'', the places of this column, numbered from 0. Whoever owns the column lifts a value
 * into a slot and lowers the slot that holds the answer.
 *
 * The one law: `combine` is associative and `identity` is its neutral element. It need not be
 * commutative: `left` always holds older elements than `right`.
 *
 * A column belongs to one window, for good: the one that was made over it first.
 *
 * What throws leaves every slot as it was; `identity` and `copy` never do. Only `suffixes` and
 * the folds may have written theirs. So a window is after an exception what it was before the
 * call.
 *
 * In every operation but the folds, `dst` may be the same slot as any operand.
 *
 * Paper: Tangwongsan, Hirzel, Schneider, ''In-Order Sliding-Window Aggregation in Worst-Case
 * Constant Time'', section 2 (lift, combine, lower; the monoid (⊗, 1)).
 */
abstract class Partials extends Slots {
  private[this] var owner = Partials.Nobody

  /**
   * Makes whoever calls this the column's owner of a rank, of which there is but one: two windows
   * over one column would write each other's slots.
   */
  private[core] final def claimed(rank: Int): this.type = {
    if (owner >= rank) {
      throw new IllegalStateException("this column is another window's; make one for each window")
    }
    owner = rank
    this
  }

  /**
   * Whether nothing here but `grow` ever throws, so that a window need not be ready to take a call
   * back; true, too, where no window is asked anything more after an exception.
   *
   * False costs FiBA most, which then notes what it overwrites: over sums of ints a slide, a late
   * insertion and a bulk take 1.5 to 2.5 times as long. Two-Stacks Lite then flips by single
   * combines; other algorithms do not look at it.
   */
  def total: Boolean = false

  /** `dst <- 1` */
  def identity(dst: Int): Unit

  /** `dst <- left ⊗ right` */
  def combine(dst: Int, left: Int, right: Int): Unit

  /**
   * `dst <- src` of `other`, a column made as this one was. Only columns that are chunks of
   * [[io.sash.core.slots.ChunkedPartials]] need it; columns of this library's aggregations have it.
   */
  def copyFrom(other: Partials, dst: Int, src: Int): Unit =
    throw new UnsupportedOperationException(
      s"${getClass.getName} does not say how to copy from another column: override copyFrom"
    )

  /**
   * Turns the slots first, first + 1, … last into the aggregates of their suffixes: from the last
   * but one down to the first, `slot <- slot ⊗ (slot + 1)`. A column that keeps the running
   * aggregate in a register does it several times faster than through its slots.
   */
  def suffixes(first: Int, last: Int): Unit = {
    var i = last - 1
    while (i >= first) {
      combine(i, i, i + 1)
      i -= 1
    }
  }

  /**
   * `dst <- slots(0) ⊗ slots(1) ⊗ … ⊗ slots(count - 1)`, of one slot or more, of which at most the
   * first is `dst`. A column that keeps the running aggregate in a register does it several times
   * faster than through its slots.
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
   * `dst <- dst ⊗ first ⊗ (first + 1) ⊗ … ⊗ last`, slots among which `dst` is not; nothing if
   * `last` is less than `first`.
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

private[core] object Partials {
  // Ranks of owners: a window of slots, and a window of values over it.
  final val Nobody = 0
  final val Slots = 1
  final val Values = 2
}

/** Partials whose combine can be undone exactly: (x ⊗ y) ⊖ x = y for the oldest operand x. */
trait Invertible extends Partials {

  /** `dst <- whole ⊖ oldest`, where whole = oldest ⊗ rest; leaves rest. */
  def subtract(dst: Int, whole: Int, oldest: Int): Unit
}

/** Partials whose combine picks an operand: x ⊗ y is x or y. */
trait Selective extends Partials {

  /** Whether left ⊗ right = right, that is, whether `right` makes the older `left` useless. */
  def selectsRight(left: Int, right: Int): Boolean
}
