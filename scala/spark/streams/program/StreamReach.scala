package io.sash.spark.streams.program

/**
 * The rows of a key before a moment that windows after it may hold: the last `rows` of them, and
 * those whose time is at least `time`.
 *
 * @param time in microseconds; `Long.MaxValue` if no window holds rows by their time
 */
private[spark] final case class StreamReach(rows: Long, time: Long) {
  def or(other: StreamReach): StreamReach =
    StreamReach(math.max(rows, other.rows), math.min(time, other.time))
}

private[spark] object StreamReach {
  val Nothing: StreamReach = StreamReach(0L, Long.MaxValue)
}
