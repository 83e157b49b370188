package io.sash.spark.monoids

import org.apache.spark.sql.catalyst.expressions.{And, Expression, IsNotNull, IsNull, Or}

/**
 * Properties of the merge of one of Sash's aggregates, besides associativity. The expressions
 * refer to aggBufferAttributes, the older operand, and inputAggBufferAttributes, the younger.
 */
private[spark] trait MonoidTraits {

  /**
   * The inverse of the merge: takes the oldest part (inputAggBufferAttributes) from the whole
   * (aggBufferAttributes). Empty if there is no exact inverse.
   */
  def subtract: Seq[Expression] = Nil

  /** Whether the merge picks the younger operand, if it always picks one of the two. */
  def selectsRight: Option[Expression] = None

  /** Whether a partial has few values though its type is a list. */
  def isShort: Boolean = false

  /** Whether partials may be merged in any order. */
  def commutes: Boolean = false

  /** See `AggregateMonoid`. */
  def recipe: Int = 1
}

/** An aggregate that has its monoid already. */
private[spark] trait KnownMonoid {
  def monoid: AggregateMonoid
}

/** An aggregate whose merge the user has written. A stream's checkpoint describes these parts. */
private[spark] trait WrittenMonoid {
  def inputs: Seq[Expression]

  /** The inputs that must not be NULL for a row to count. */
  def needed: Seq[Expression]

  /** The parts of the call that partials depend on, beside the inputs. A missing part is NULL. */
  def bodies: Seq[Expression]
}

private[spark] object MonoidTraits {

  /** Whether the younger of two cells is kept. A cell is NULL if it has no rows. */
  def outdone(older: Expression, younger: Expression, better: Expression): Expression =
    And(IsNotNull(younger), Or(IsNull(older), better))
}
