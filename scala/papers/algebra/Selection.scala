package io.sash.papers.algebra

/**
 * An aggregation that keeps one whole element of the window. For an empty window it keeps None.
 *
 * Identity: None. Cost: one call of `replaces`.
 */
private[algebra] abstract class Selection[In, Out]
    extends SelectiveAggregation[In, Option[In], Option[Out]] {

  /** Whether `younger` is kept rather than `older`. */
  protected def replaces(younger: In, older: In): Boolean

  /** The answer, computed from the element that is kept. */
  protected def answer(in: In): Out

  override final def identity: Option[In] = None

  override final def lift(in: In): Option[In] = Some(in)

  override final def selectsRight(older: Option[In], younger: Option[In]): Boolean =
    younger match {
      case Some(y) => older.forall(replaces(y, _))
      case None    => false
    }

  override final def lower(agg: Option[In]): Option[Out] = agg.map(answer)
}
