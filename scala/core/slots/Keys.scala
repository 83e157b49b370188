package io.sash.core.slots

/** Slots that hold what rows are ordered by, and bounds that rows are compared with. */
trait Keys extends Slots {

  /** Negative, zero or positive as `left` comes before, beside or after `right`. */
  def compare(left: Int, right: Int): Int

  /** `dst <-` the key at `src`, moved by the shift of this number: by a bound of a frame. */
  def shift(which: Int, dst: Int, src: Int): Unit

  override def grow(slots: Int): Keys
}
