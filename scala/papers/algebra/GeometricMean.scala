package io.sash.papers.algebra

/**
 * The geometric mean, from count and the sum of logarithms. The product of table 1 would leave
 * the doubles' range after some hundred values.
 *
 * Types: Double, (Double, Long), Double. Identity: (0, 0), whose mean is NaN. Associative and
 * commutative; no inverse, as [[Sum]] says of doubles. Cost: two additions a combine, a logarithm
 * an insert, an exponential a query. The answer is right to some units in the last place. A zero
 * makes the mean 0, a negative number or a NaN makes it NaN.
 * {{{
 * GeometricMean.aggregate(0.0, 1.0, 4.0) == 0.0
 * }}}
 * Papers: Reactive Aggregator, table 1; SlickDeque, section 3.1.
 */
object GeometricMean
    extends Algebraic[Double, Double, Double, Long, Long, Double](
      Sum[Double].on(Math.log(_: Double)),
      Count[Double]
    )((logarithms, count) => Math.exp(logarithms / count)) {
  override def newColumn(): Column[Double, Double] = new LogarithmMean

  private final class LogarithmMean extends DoubleSumAndCount with Column[Double, Double] {
    override def lift(slot: Int, in: Double): Unit = put(slot, Math.log(in), 1.0)
    override def lower(slot: Int): Double = Math.exp(cells(2 * slot) / cells(2 * slot + 1))
  }
}
