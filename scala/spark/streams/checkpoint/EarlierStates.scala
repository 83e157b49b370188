package io.sash.spark.streams.checkpoint

/**
 * The generations of an operator's state, the oldest first and the present one last. A bucket's
 * header has the number of the generation that has written it. A bucket of an earlier one is
 * changed when it is next read.
 */
private[spark] final case class EarlierStates(generations: IndexedSeq[StateGeneration]) {
  def present: Int = generations.length - 1

  def layoutOf(generation: Int): StateLayout = generations(generation).layout.getOrElse {
    throw new IllegalStateException(s"generation $generation of the state has no layout")
  }

  /** Whether rows have their present keys, in their present order, in a generation. */
  def hasPlacesOf(generation: Int): Boolean =
    generations(generation).places == generations(present).places

  /**
   * The end of the last history with which windows began anew after a generation, in
   * microseconds. `Long.MinValue` if they began without rows; None if they have gone on.
   */
  def begunAnewAfter(generation: Int): Option[Long] =
    generations.drop(generation + 1).flatMap(_.begunAnew).lastOption
}

private[spark] object EarlierStates {

  /** The state of a plan that is only explained. */
  val Unknown: EarlierStates = EarlierStates(IndexedSeq(StateGeneration(None, None, Nil)))
}

/**
 * @param layout the parts of the state; None if it is of hops
 * @param begunAnew present if the windows began anew: see `EarlierStates`
 * @param places the texts of the keys and of their order
 */
private[spark] final case class StateGeneration(
    layout: Option[StateLayout],
    begunAnew: Option[Long],
    places: Seq[String]
)
