package io.sash.papers.algebra

/**
 * An aggregation that keeps one whole element of the window. For an empty window it keeps None.
 *
 * Identity: None. Cost: one call of `replaces`.
 *
 * @param replaces whether the first, younger element is kept rather than the second
 * @param answer the answer, computed from the element that is kept
 */
private[algebra] final class Selection[In, Out](
    replaces: (In, In) => Boolean,
    answer: In => Out
) extends SelectiveAggregation[In, Option[In], Option[Out]] {
  override def identity: Option[In] = None

  override def lift(in: In): Option[In] = Some(in)

  override def selectsRight(older: Option[In], younger: Option[In]): Boolean = younger match {
    case Some(y) => older.forall(replaces(y, _))
    case None    => false
  }

  override def lower(agg: Option[In]): Option[Out] = agg.map(answer)
}

private[algebra] object Selection {

  /** The element that is greatest by `ordering`; the first in arrival order of several. */
  def first[T](ordering: Ordering[T]): Selection[T, T] =
    new Selection[T, T](ordering.gt(_, _), x => x)

  /** The argument of the measure that is greatest by `ordering`, likewise. */
  def argument[M, A](ordering: Ordering[M]): Selection[(M, A), A] =
    new Selection[(M, A), A]((y, o) => ordering.gt(y._1, o._1), _._2)
}
