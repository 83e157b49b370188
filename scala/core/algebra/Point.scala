package io.sash.core.algebra

/** A point of a time series; the time in whatever unit the series has. */
final case class Point(time: Long, value: Double)
