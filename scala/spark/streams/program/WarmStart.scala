package io.sash.spark.streams.program

/**
 * How a stateful operator begins with the rows of a history. The last time of the history is a
 * border and works as a watermark: all rows up to it come in the first batch, and none later.
 *
 * @param until the border, in microseconds
 * @param answers whether rows up to the border are answered, for an operator above. If not, the
 *   answers begin behind the border
 */
private[spark] final case class WarmStart(until: Long, answers: Boolean) {

  /** The time up to which nothing is answered. */
  def silent: Option[Long] = Option.unless(answers)(until)
}
