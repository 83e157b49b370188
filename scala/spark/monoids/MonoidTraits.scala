package io.sash.spark.monoids

import org.apache.spark.sql.catalyst.expressions.Expression

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
