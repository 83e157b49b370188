package io.sash.core.slots

/**
 * Places for things of one kind, numbered from 0: partial aggregates ([[Partials]]) or order keys
 * ([[Keys]]). An algorithm knows the numbers of its slots and nothing of their content.
 *
 * Only `grow` allocates.
 */
trait Slots {

  /** `dst <- src` */
  def copy(dst: Int, src: Int): Unit

  /**
   * Copies `count` slots, from `src` on, to the slots from `dst` on. Where the two ranges
   * overlap, the result is as if the slots had been copied elsewhere first.
   */
  def move(dst: Int, src: Int, count: Int): Unit =
    if (dst < src) {
      var i = 0
      while (i < count) {
        copy(dst + i, src + i)
        i += 1
      }
    } else {
      var i = count - 1
      while (i >= 0) {
        copy(dst + i, src + i)
        i -= 1
      }
    }

  /**
   * Makes room for at least `slots` slots and keeps the content of the present ones. Returns the
   * slots to use from now on, under the same numbers. They may be another object, which keeps its
   * content elsewhere, if there is no memory for more here.
   */
  def grow(slots: Int): Slots

  /** Frees the memory of the slots from `slots` on, which nobody uses any more. */
  def shrink(slots: Int): Unit = ()
}

private[sash] object Slots {

  /** The greatest power of two that is a possible number of slots. */
  val MaxCapacity: Int = 1 << 30
}
