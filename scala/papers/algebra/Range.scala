package io.sash.papers.algebra

/**
 * An aggregation of doubles that computes its answer from their maximum and minimum.
 *
 * Types: Double, (Double, Double), Double. Identity: (-∞, ∞), whose answer is NaN. Associative
 * and commutative; neither selective nor invertible. Cost: two comparisons. A NaN makes the
 * answer NaN.
 */
abstract class OfExtremes private[algebra] (finish: (Double, Double) => Double)
    extends Algebraic[Double, Double, Double, Double, Double, Double](Max[Double], Min[Double])(
      finish
    ) {
  override final def newColumn(): Column[Double, Double] = new ExtremesColumn(finish)
}

/**
 * The range: maximum minus minimum. All else is as in [[OfExtremes]].
 * {{{
 * Range.aggregate(3.0, 1.0, 4.0) == 3.0
 * }}}
 * Paper: SlickDeque, section 3.1.
 */
object Range extends OfExtremes((max, min) => if (max < min) Double.NaN else max - min)

/**
 * The relative variation: the range relative to the maximum. A maximum of 0 makes it infinite, or
 * NaN if all values are 0. All else is as in [[OfExtremes]].
 * {{{
 * RelativeVariation.aggregate(3.0, 1.0, 4.0) == 0.75
 * }}}
 * Paper: the operation of that name in the benchmarks of ''In-Order Sliding-Window Aggregation in
 * Worst-Case Constant Time'', as in its authors' code. See [[CoefficientOfVariation]] for the
 * standard deviation relative to the mean.
 */
object RelativeVariation
    extends OfExtremes((max, min) => if (max < min) Double.NaN else (max - min) / max)

/** Pairs of maximum and minimum. */
private final class ExtremesColumn(finish: (Double, Double) => Double)
    extends DoublePairs
    with Column[Double, Double] {
  override def identity(dst: Int): Unit =
    put(dst, Double.NegativeInfinity, Double.PositiveInfinity)

  override def lift(slot: Int, in: Double): Unit = put(slot, in, in)

  override def combine(dst: Int, left: Int, right: Int): Unit = put(
    dst,
    Math.max(cells(2 * left), cells(2 * right)),
    Math.min(cells(2 * left + 1), cells(2 * right + 1))
  )

  override def lower(slot: Int): Double = finish(cells(2 * slot), cells(2 * slot + 1))
}
