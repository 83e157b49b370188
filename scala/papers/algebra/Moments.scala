package io.sash.papers.algebra

import io.sash.core.algebra.Aggregation

/**
 * The number of values, their mean, and the sum of the squares of their distances from it.
 *
 * Two parts are merged as by Chan, Golub and LeVeque (''Algorithms for Computing the Sample
 * Variance'', 1983). Table 1 of the Reactive Aggregator and SlickDeque's section 3.1 keep the sum
 * and the sum of squares instead. Their difference, Σx² - (Σx)²/n, has no right digit left when
 * the mean is far larger than the deviation. It may even be negative.
 */
final case class Moments(count: Long, mean: Double, squares: Double) {
  def merge(younger: Moments): Moments =
    if (younger.count == 0) this
    else if (count == 0) younger
    else {
      val n = count + younger.count
      val delta = younger.mean - mean
      Moments(
        n,
        mean + delta * (younger.count.toDouble / n),
        squares + younger.squares + delta * delta * (count.toDouble * younger.count / n)
      )
    }
}

/**
 * An aggregation of doubles that computes its answer from their [[Moments]].
 *
 * Types: Double, Moments, Double. Identity: no values. Associative and commutative, up to
 * rounding. No inverse, as [[Sum]] says of doubles, though table 2 of the Reactive Aggregator has
 * one. Cost: one merge: a division and a dozen additions and multiplications. A NaN or an
 * infinity makes the answer NaN.
 */
abstract class OfMoments private[algebra] (finish: OfMoments.Finish)
    extends Aggregation[Double, Moments, Double]
    with MakesColumn[Double, Double]
    with Commutative {

  override final def identity: Moments = Moments(0L, 0.0, 0.0)

  override final def lift(in: Double): Moments = Moments(1L, in, 0.0)

  override final def combine(older: Moments, younger: Moments): Moments = older.merge(younger)

  override final def lower(agg: Moments): Double =
    finite(agg.count.toDouble, agg.mean, agg.squares)

  /**
   * NaN if any value is a NaN or an infinity. The mean shows this even if the squares are
   * infinite.
   */
  private[algebra] final def finite(count: Double, mean: Double, squares: Double): Double =
    if (java.lang.Double.isFinite(mean)) finish(count, mean, squares) else Double.NaN

  override final def newColumn(): Column[Double, Double] = new MomentsColumn(this)
}

private[algebra] object OfMoments {

  /** A function of count, mean and squares. */
  trait Finish extends Serializable {
    def apply(count: Double, mean: Double, squares: Double): Double
  }
}

/** Triples of count, mean and squares. */
private final class MomentsColumn(operation: OfMoments)
    extends DoubleCells(3)
    with Column[Double, Double] {
  override def copy(dst: Int, src: Int): Unit =
    put(dst, cells(3 * src), cells(3 * src + 1), cells(3 * src + 2))

  private def put(slot: Int, count: Double, mean: Double, squares: Double): Unit = {
    cells(3 * slot) = count
    cells(3 * slot + 1) = mean
    cells(3 * slot + 2) = squares
  }

  override def identity(dst: Int): Unit = put(dst, 0.0, 0.0, 0.0)

  override def lift(slot: Int, in: Double): Unit = put(slot, 1.0, in, 0.0)

  override def combine(dst: Int, left: Int, right: Int): Unit = {
    val older = cells(3 * left)
    val younger = cells(3 * right)
    if (younger == 0.0) copy(dst, left)
    else if (older == 0.0) copy(dst, right)
    else {
      val n = older + younger
      val mean = cells(3 * left + 1)
      val delta = cells(3 * right + 1) - mean
      put(
        dst,
        n,
        mean + delta * (younger / n),
        cells(3 * left + 2) + cells(3 * right + 2) + delta * delta * (older * younger / n)
      )
    }
  }

  override def lower(slot: Int): Double =
    operation.finite(cells(3 * slot), cells(3 * slot + 1), cells(3 * slot + 2))
}
