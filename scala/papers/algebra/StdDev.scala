package io.sash.papers.algebra

/**
 * The variance of a sample, over n - 1. For fewer than two values it is NaN. All else is as in
 * [[OfMoments]].
 * {{{
 * SampleVariance.aggregate(1.0, 3.0, 5.0) == 4.0
 * }}}
 * Paper: Reactive Aggregator, table 1, without its root.
 */
object SampleVariance
    extends OfMoments((n, _, squares) => if (n < 2) Double.NaN else squares / (n - 1))

/**
 * The variance of a population, over n. For no values it is NaN. All else is as in [[OfMoments]].
 * {{{
 * PopulationVariance.aggregate(1.0, 3.0, 1.0, 3.0) == 1.0
 * }}}
 * Paper: Reactive Aggregator, table 1, without its root.
 */
object PopulationVariance extends OfMoments((n, _, squares) => squares / n)

/**
 * The standard deviation of a sample, over n - 1. For fewer than two values it is NaN. All else
 * is as in [[OfMoments]].
 * {{{
 * SampleStdDev.aggregate(1.0, 3.0, 5.0) == 2.0
 * }}}
 * Paper: Reactive Aggregator, table 1. [[Moments]] says why its formula is not used.
 */
object SampleStdDev
    extends OfMoments((n, _, squares) => if (n < 2) Double.NaN else Math.sqrt(squares / (n - 1)))

/**
 * The standard deviation of a population, over n. For no values it is NaN. All else is as in
 * [[OfMoments]].
 * {{{
 * PopulationStdDev.aggregate(1.0, 3.0, 1.0, 3.0) == 1.0
 * }}}
 * Paper: Reactive Aggregator, table 1. [[Moments]] says why its formula is not used.
 */
object PopulationStdDev extends OfMoments((n, _, squares) => Math.sqrt(squares / n))

/**
 * The coefficient of variation: the standard deviation of a sample relative to its mean. A
 * mean of 0 makes it infinite, or NaN if all values are 0. All else is as in [[OfMoments]];
 * [[RelativeVariation]] is the spread.
 * {{{
 * CoefficientOfVariation.aggregate(2.0, 4.0, 6.0) == 0.5
 * }}}
 * Paper: an algebraic aggregation in the sense of SlickDeque, section 3.1.
 */
object CoefficientOfVariation
    extends OfMoments((n, mean, squares) =>
      if (n < 2) Double.NaN else Math.sqrt(squares / (n - 1)) / mean
    )
