package io.sash.papers.algebra

import io.sash.core.algebra.Aggregation
import io.sash.core.slots.{Invertible, Selective}

/**
 * An aggregation of one part of the window's elements: of a field of a record, or of a function
 * of a number. Nothing else changes, its laws included. `On` has an overload for each law, which
 * Java cannot tell apart: there, use `On.of`, `On.ofInvertible` or `On.ofSelective`.
 *
 * Types: I, Agg, Out. Identity and cost are the aggregation's. A primitive field is boxed on its
 * way.
 * {{{
 * On(Max[Int])((name: String) => name.length).aggregate("sash", "window") == 6
 * }}}
 * Paper: ''Constant-Time Sliding Window Framework'', section 5.8 (dimensions of the data).
 */
class On[I, In, Agg, Out] private (aggregation: Aggregation[In, Agg, Out], part: I => In)
    extends Aggregation[I, Agg, Out]
    with MakesColumn[I, Out] {
  override def identity: Agg = aggregation.identity
  override def lift(in: I): Agg = aggregation.lift(part(in))
  override def combine(older: Agg, younger: Agg): Agg = aggregation.combine(older, younger)
  override def lower(agg: Agg): Out = aggregation.lower(agg)
  override def newColumn(): Column[I, Out] = new OnColumn(Column.of(aggregation), part)
}

object On {
  private class InvertibleOn[I, In, Agg, Out](
      aggregation: InvertibleAggregation[In, Agg, Out],
      part: I => In
  ) extends On(aggregation, part)
      with InvertibleAggregation[I, Agg, Out] {
    override def subtract(whole: Agg, oldest: Agg): Agg = aggregation.subtract(whole, oldest)
    override def newColumn(): Column[I, Out] with Invertible =
      new InvertibleOnColumn(aggregation.newColumn(), part)
  }

  private class SelectiveOn[I, In, Agg, Out](
      aggregation: SelectiveAggregation[In, Agg, Out],
      part: I => In
  ) extends On(aggregation, part)
      with SelectiveAggregation[I, Agg, Out] {
    override def combine(older: Agg, younger: Agg): Agg = aggregation.combine(older, younger)
    override def selectsRight(older: Agg, younger: Agg): Boolean =
      aggregation.selectsRight(older, younger)
    override def newColumn(): Column[I, Out] with Selective =
      new SelectiveOnColumn(aggregation.newColumn(), part)
  }

  def apply[I, In, Agg, Out](aggregation: Aggregation[In, Agg, Out])(
      part: I => In
  ): Aggregation[I, Agg, Out] = new On(aggregation, part)

  def apply[I, In, Agg, Out](aggregation: InvertibleAggregation[In, Agg, Out])(
      part: I => In
  ): InvertibleAggregation[I, Agg, Out] = new InvertibleOn(aggregation, part)

  def apply[I, In, Agg, Out](aggregation: SelectiveAggregation[In, Agg, Out])(
      part: I => In
  ): SelectiveAggregation[I, Agg, Out] = new SelectiveOn(aggregation, part)

  // Commutative stands first, and DummyImplicit last, to tell the overloads apart after erasure
  def apply[I, In, Agg, Out](aggregation: Commutative with Aggregation[In, Agg, Out])(
      part: I => In
  ): Aggregation[I, Agg, Out] with Commutative = new On(aggregation, part) with Commutative

  def apply[I, In, Agg, Out](
      aggregation: Commutative with InvertibleAggregation[In, Agg, Out]
  )(part: I => In)(implicit
      erasure: DummyImplicit
  ): InvertibleAggregation[I, Agg, Out] with Commutative =
    new InvertibleOn(aggregation, part) with Commutative

  def apply[I, In, Agg, Out](
      aggregation: Commutative with SelectiveAggregation[In, Agg, Out]
  )(part: I => In)(implicit
      erasure: DummyImplicit,
      again: DummyImplicit
  ): SelectiveAggregation[I, Agg, Out] with Commutative =
    new SelectiveOn(aggregation, part) with Commutative

  /** For Java: of any aggregation. */
  def of[I, In, Agg, Out](
      aggregation: Aggregation[In, Agg, Out],
      part: I => In
  ): Aggregation[I, Agg, Out] = new On(aggregation, part)

  /** For Java: of an invertible aggregation. */
  def ofInvertible[I, In, Agg, Out](
      aggregation: InvertibleAggregation[In, Agg, Out],
      part: I => In
  ): InvertibleAggregation[I, Agg, Out] = new InvertibleOn(aggregation, part)

  /** For Java: of a selective aggregation. */
  def ofSelective[I, In, Agg, Out](
      aggregation: SelectiveAggregation[In, Agg, Out],
      part: I => In
  ): SelectiveAggregation[I, Agg, Out] = new SelectiveOn(aggregation, part)
}
