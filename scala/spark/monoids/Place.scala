package io.sash.spark.monoids

import org.apache.spark.sql.catalyst.expressions.{SpecifiedWindowFrame, UnboundedPreceding}

/**
 * A place in which windows move, and the algorithms that run there. The first algorithm runs for
 * which an aggregate has the operations, unless a setting forces another. No other code chooses.
 *
 * @param title the place's name in the documentation
 * @param cascade the algorithms in the order in which they are asked
 */
private[sash] sealed abstract class Place[+A <: Algorithm](
    val title: String,
    val cascade: Seq[A]
) {

  /** Whether the monoid has the operations that the algorithm needs here. */
  def accepts(algorithm: Algorithm, monoid: AggregateMonoid): Boolean = algorithm.accepts(monoid)
}

private[sash] object Place {
  import Algorithm._

  /**
   * A ring of elements, and windows of all of them. Recalculate takes running answers without
   * inverse, which are about as long as their window.
   */
  case object Ring
      extends Place[Algorithm](
        "`OVER` in batch",
        Seq(
          SlickDequeInvAlgorithm,
          SlickDequeNonInvAlgorithm,
          TwoStacksLiteAlgorithm,
          RecalculateAlgorithm
        )
      )

  /** Elements that only enter. Answers that are computed anew from them keep all of them. */
  case object Growing
      extends Place[Algorithm](
        "`OVER` from UNBOUNDED PRECEDING",
        Seq(GrowingWindowAlgorithm, SlickDequeInvAlgorithm, RecalculateAlgorithm)
      )

  /** The place in which the windows of a frame of SQL move. */
  def of(frame: SpecifiedWindowFrame): Place[Algorithm] =
    if (frame.lower == UnboundedPreceding) Growing else Ring

  /** A ring, and windows of its youngest elements, whose number differs per row. */
  case object RingSuffixes
      extends Place[Algorithm](
        "`rows_window`, `range_window`",
        Seq(
          PrefixAggregatesAlgorithm,
          SlickDequeNonInvAlgorithm,
          BaseIntervalsAlgorithm,
          RecalculateAlgorithm
        )
      )

  /** A ring, and windows of any runs of neighbouring elements, one or several at once. */
  case object RingStretches
      extends Place[Algorithm](
        "`window_exclude`, own widths in `window_and`, `LATERAL` with each label's own ends",
        Seq(PrefixAggregatesAlgorithm, BaseIntervalsAlgorithm, RecalculateAlgorithm)
      )

  /**
   * A ring of panes. Two-Stacks Lite runs all aggregates with partials in slots in one window,
   * and SlickDeque (Inv) all running answers in another. A pane's partial is of many rows, so a
   * subtraction has to be exact for any number of them.
   */
  case object RingOfPanes
      extends Place[Algorithm](
        "hop windows in batch",
        Seq(
          TwoStacksLiteAlgorithm,
          SlickDequeInvAlgorithm,
          SlickDequeNonInvAlgorithm,
          RecalculateAlgorithm
        )
      ) {
    override def accepts(algorithm: Algorithm, monoid: AggregateMonoid): Boolean =
      super.accepts(algorithm, monoid) &&
        (algorithm != SlickDequeInvAlgorithm || monoid.hasPrefixes)
  }

  /**
   * A forest in a stream's state. Two-Stacks Lite goes on in each batch where it stopped. The
   * others combine a window's elements again when a batch begins; only answers beside the slots
   * need them.
   */
  case object Forest
      extends Place[ForestAlgorithm](
        "`OVER` on streams",
        Seq(TwoStacksLiteAlgorithm, SlickDequeInvAlgorithm, RecalculateAlgorithm)
      )

  /** A forest of panes, into which rows come out of order. */
  case object ForestOfPanes
      extends Place[TwoStacksLiteAlgorithm.type](
        "hop windows on streams",
        Seq(TwoStacksLiteAlgorithm)
      )

  /** The members of a set, which leave in any order. */
  case object Members
      extends Place[Algorithm](
        "the members of DISTINCT",
        Seq(SlickDequeInvAlgorithm, MemberTreeAlgorithm)
      )
}
