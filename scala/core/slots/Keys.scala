package io.sash.core.slots

/** Slots that hold the order keys of rows, and the bounds with which keys are compared. */
trait Keys extends Slots {

  /** Negative, zero or positive if `left` comes before, equals or comes after `right`. */
  def compare(left: Int, right: Int): Int

  /** `dst <-` the key at `src`, moved by shift number `which`: the bound of a frame. */
  def shift(which: Int, dst: Int, src: Int): Unit

  /** Whether the condition that belongs to the keys holds for a key. */
  def holds(slot: Int): Boolean = true

  /** The own width of the row with this key; negative for an empty frame. */
  def width(slot: Int): Long = -1L

  override def grow(slots: Int): Keys
}
