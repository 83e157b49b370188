package io.sash.core.frames

/** A bound of the rows of a frame, by the order key of its current row. */
sealed abstract class KeyBound extends Serializable

object KeyBound {

  /** There is no bound. */
  case object Unbounded extends KeyBound

  /** The bound is the current row, peers included. */
  case object CurrentRow extends KeyBound

  /**
   * The bound is the current row's key, shifted.
   *
   * @param shift number of the shift, as in `Keys.shift`
   * @param isOpen whether keys equal to the bound lie beyond it
   */
  final case class Shifted(shift: Int, isOpen: Boolean = false) extends KeyBound
}
