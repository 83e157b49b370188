package io.sash.core.slots

/** Positions of several users of one ring. The ring keeps all that any user still needs. */
private[sash] object Positions {

  /** The least of the positions; there is at least one. */
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
