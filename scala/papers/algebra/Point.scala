package io.sash.papers.algebra

/** A point of a time series. The time may be in any unit. */
final case class Point(time: Long, value: Double)
