package io.sash.spark.monoids

import org.apache.spark.sql.catalyst.expressions.{And, Expression, IsNotNull, IsNull, Or}

/**
 * What an aggregate of Sash's own knows of its merge, besides that it is associative. Expressions
 * are over its aggBufferAttributes, the older operand, and inputAggBufferAttributes.
 */
private[spark] trait MonoidTraits {

  /** Older less younger, where the merge has an exact inverse: the whole less its oldest part. */
  def subtract: Seq[Expression] = Nil

  /** Where the merge picks an operand: when it picks the younger. */
  def selectsRight: Option[Expression] = None
}

private[spark] object MonoidTraits {

  /** Whether the younger of two cells, which are NULL where there were no rows, is to be kept. */
  def outdone(older: Expression, younger: Expression, better: Expression): Expression =
    And(IsNotNull(younger), Or(IsNull(older), better))
}
