package io.sash.spark.aggregates

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DoubleType

import io.sash.spark.base.SashFunction

/**
 * The geometric mean, from the count and the sum of logarithms, as in
 * `io.sash.papers.algebra.GeometricMean`, but NULL over no rows.
 */
private[spark] case object GeometricMean extends OfDouble {
  override def parts(arguments: Seq[Expression]): MonoidParts = {
    val logarithm = Doubles.log(KnownNotNull(arguments.head))
    MonoidParts.beside(arguments: _*)(OneCell.sum(logarithm), OneCell.rows) { case Seq(sum, n) =>
      If(EqualTo(n, Literal(0L)), nothing(DoubleType), Doubles.exp(Doubles.mean(sum, n)))
    }
  }

  override val function: SashFunction = described("geometric_mean")("""
    Returns the geometric mean of the values: the nth root of their product.

    * x - a number, taken as a DOUBLE

    > SELECT _FUNC_(col) FROM VALUES (2), (8), (NULL) AS tab(col);
    4.0

    > SELECT _FUNC_(col) FROM VALUES (0), (8) AS tab(col);
    0.0

    Computed from the sum of logarithms, so that no product overflows. A 0 makes it 0, a
    negative number NaN. NULLs are skipped; NULL over no rows.
  """)
}
