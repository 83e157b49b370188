package io.sash.spark.streams.checkpoint

/**
 * The generations of an operator's state, the oldest first and the present one last. A bucket's
 * header has the number of the generation that has written it. A bucket of an earlier one is
 * changed when it is next read.
 *
 * @param layouts the parts of the state of each generation before the present; None for hops
 * @param begunAnew for each generation after the first, the end of the history with which windows
 *   began anew, in microseconds; `Long.MinValue` if they began without rows, None if they have
 *   gone on
 * @param places for each generation, the texts of the keys and of their order
 */
private[spark] final case class EarlierStates(
    layouts: IndexedSeq[Option[StateLayout]],
    begunAnew: IndexedSeq[Option[Long]],
    places: IndexedSeq[Seq[String]]
) {

  /** The number of the present generation. */
  def present: Int = layouts.length

  def layoutOf(generation: Int): StateLayout = layouts(generation).getOrElse {
    throw new IllegalStateException(s"generation $generation of the state has no layout")
  }

  /** Whether rows have their present keys, in their present order, in a generation. */
  def hasPlacesOf(generation: Int): Boolean = places(generation) == places.last

  /** How windows began anew last after a generation, if they did. */
  def begunAnewAfter(generation: Int): Option[Long] =
    begunAnew.drop(generation).flatten.lastOption
}

private[spark] object EarlierStates {

  /** The state of a plan that is only explained. */
  val Unknown: EarlierStates =
    EarlierStates(IndexedSeq.empty, IndexedSeq.empty, IndexedSeq.empty)
}
