package io.sash.papers.algebra

import io.sash.core.algebra.{Adapted, Aggregation}
import io.sash.core.slots.{Invertible, Selective}

/** An aggregation that makes the column of its partials itself, for example one of primitives. */
trait MakesColumn[In, Out] { this: Aggregation[In, _, Out] =>

  /** A new column of these partials. */
  def newColumn(): Column[In, Out]
}

/**
 * An aggregation whose combine can be undone exactly, for all operands. No floating-point sum is
 * one: (1e17 + 1) - 1e17 is 0, and no subtraction turns a NaN back into a number.
 *
 * Paper: ''SlickDeque'', section 3.1. There, as in the Reactive Aggregator's section 3.2, the
 * younger operand is taken back. A window evicts the older operand. The two are the same for
 * commutative operations only.
 */
trait InvertibleAggregation[In, Agg, Out]
    extends Aggregation[In, Agg, Out]
    with MakesColumn[In, Out] {

  /** whole ⊖ oldest: where whole = oldest ⊗ rest, the result is rest. */
  def subtract(whole: Agg, oldest: Agg): Agg

  override def on[I](part: I => In): InvertibleAggregation[I, Agg, Out] =
    new InvertibleAdapted(this, part, (out: Out) => out)

  override def map[B](finish: Out => B): InvertibleAggregation[In, Agg, B] =
    new InvertibleAdapted(this, (in: In) => in, finish)

  override def newColumn(): Column[In, Out] with Invertible =
    new ObjectColumn(this) with Invertible {
      override def subtract(dst: Int, whole: Int, oldest: Int): Unit =
        put(dst, InvertibleAggregation.this.subtract(get(whole), get(oldest)))
    }
}

/**
 * An aggregation whose combine returns an operand: x ⊗ y is x or y.
 *
 * Paper: ''SlickDeque'', section 3.1, the note on non-invertible operations.
 */
trait SelectiveAggregation[In, Agg, Out]
    extends Aggregation[In, Agg, Out]
    with MakesColumn[In, Out] {

  /** Whether older ⊗ younger = younger. */
  def selectsRight(older: Agg, younger: Agg): Boolean

  override def combine(older: Agg, younger: Agg): Agg =
    if (selectsRight(older, younger)) younger else older

  override def on[I](part: I => In): SelectiveAggregation[I, Agg, Out] =
    new SelectiveAdapted(this, part, (out: Out) => out)

  override def map[B](finish: Out => B): SelectiveAggregation[In, Agg, B] =
    new SelectiveAdapted(this, (in: In) => in, finish)

  override def newColumn(): Column[In, Out] with Selective =
    new ObjectColumn(this) with Selective {
      override def selectsRight(left: Int, right: Int): Boolean =
        SelectiveAggregation.this.selectsRight(get(left), get(right))
    }
}

/**
 * An aggregation with x ⊗ y = y ⊗ x. FiBA then combines a late value into the
 * aggregates above it. A plan that reorders its input asks `Commutative(aggregation)`, too.
 *
 * Paper: ''General Incremental Sliding-Window Aggregation'', section 3.2 and table 2.
 */
trait Commutative { this: Aggregation[_, _, _] => }

object Commutative {

  /** Whether the aggregation says that it commutes, or is made of others that say so. */
  def apply(aggregation: Aggregation[_, _, _]): Boolean = aggregation match {
    case _: Commutative                       => true
    case adapted: Adapted[_, _, _, _, _]      => Commutative(adapted.aggregation)
    case product: Algebraic[_, _, _, _, _, _] => product.commutes
    case _                                    => false
  }
}
