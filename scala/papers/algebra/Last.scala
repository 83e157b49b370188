package io.sash.papers.algebra

/**
 * The youngest element. All else is as in [[First]].
 * {{{
 * Last[String].aggregate("b", "c", "a") == Some("a")
 * }}}
 * Paper: Reactive Aggregator, section 1.
 */
object Last {
  def apply[T]: SelectiveAggregation[T, Option[T], Option[T]] =
    new Selection[T, T]((_, _) => true, x => x)
}
