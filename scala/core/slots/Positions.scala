package io.sash.core.slots

/** Positions of several users of one ring, which keeps what the last of them needs. */
private[core] object Positions {

  /** The least of some, at least one. */
  def least(of: Array[Long]): Long = {
    var least = of(0)
    var i = 1
    while (i < of.length) {
      least = math.min(least, of(i))
      i += 1
    }
    least
  }
}
