package io.sash.core.slots

/**
 * Places for things of one kind, numbered from 0: partial aggregates ([[Partials]]), order keys
 * ([[Keys]]). An algorithm knows the numbers of its slots and nothing of what they hold.
 *
 * Nothing here allocates but `grow`.
 */
trait Slots {

  /** `dst <- src` */
  def copy(dst: Int, src: Int): Unit

  /**
   * Copies the `count` slots from `src` on into those from `dst` on, as if by way of somewhere
   * else where the two overlap.
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
   * Makes room for at least `slots` slots and keeps what the present ones hold. The answer is
   * where they are from now on, under the same numbers: slots that find no memory may hand over
   * to others that live elsewhere.
   */
  def grow(slots: Int): Slots

  /** Gives back what memory the slots from `slots` on take, which nobody uses any more. */
  def shrink(slots: Int): Unit = ()
}

private[core] object Slots {

  /** As many as there can be of those that are a power of two. */
  val MaxCapacity: Int = 1 << 30
}
