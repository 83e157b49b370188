package io.sash.papers.algebra

import io.sash.core.algebra.Aggregation

/** A run of points whose values increase strictly: its first and last time, and its length. */
final case class Run(start: Long, end: Long, length: Long) {
  def interval: Long = end - start

  private[algebra] def join(younger: Run): Run =
    Run(start, younger.end, length + younger.length)

  private[algebra] def longer(younger: Run): Run = if (younger.length > length) younger else this
}

/**
 * The partial of [[LongestIncreasingRun]] for a part of a time series with at least one point.
 */
final case class Runs private[algebra] (
    firstValue: Double,
    lastValue: Double,
    length: Long,
    prefix: Run,
    suffix: Run,
    longest: Run
) {
  private def isOneRun: Boolean = prefix.length == length

  private[algebra] def join(younger: Runs): Runs = {
    val joined = if (lastValue < younger.firstValue) Some(suffix.join(younger.prefix)) else None
    Runs(
      firstValue,
      younger.lastValue,
      length + younger.length,
      joined.filter(_ => isOneRun).getOrElse(prefix),
      joined.filter(_ => younger.isOneRun).getOrElse(younger.suffix),
      joined.fold(longest)(longest.longer).longer(younger.longest)
    )
  }
}

/**
 * The longest run of neighbouring points whose values increase strictly. Among several it is the
 * first. An empty window answers None.
 *
 * Types: Point, Option[Runs], Option[Run]. Identity: None. Associative; neither commutative nor
 * invertible. Cost: one join of runs. A NaN is a run of its own, since it is neither more nor
 * less than any value.
 * {{{
 * LongestIncreasingRun.aggregate(Point(1, 3.0), Point(4, 5.0)) == Some(Run(1, 4, 2))
 * }}}
 * Paper: Constant-Time Sliding Window Framework, section 5.6 (LIS, with the dimensions initial
 * and final timestamp, interval and number of updates).
 */
object LongestIncreasingRun extends Aggregation[Point, Option[Runs], Option[Run]] {
  override def identity: Option[Runs] = None

  override def lift(in: Point): Option[Runs] = {
    val run = Run(in.time, in.time, 1L)
    Some(Runs(in.value, in.value, 1L, run, run, run))
  }

  override def combine(older: Option[Runs], younger: Option[Runs]): Option[Runs] =
    (older, younger) match {
      case (Some(o), Some(y)) => Some(o.join(y))
      case _                  => older.orElse(younger)
    }

  override def lower(agg: Option[Runs]): Option[Run] = agg.map(_.longest)
}
