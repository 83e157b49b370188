package io.sash.spark.base

import org.apache.spark.sql.catalyst.expressions.Expression

/**
 * An expression of Sash that the description of a stream's state may contain. A checkpoint keeps
 * the description, and each start of the query compares it. So it has words of its own, in which
 * no class or parameter is named: those are renamed in later versions, and the words are not.
 */
private[spark] trait Described extends Expression {

  /** The name in the description. */
  override def prettyName: String

  /** The arguments that SQL leaves out. */
  def words: Seq[String] = Nil

  /** The expression that is described in the place of this one. */
  def inWords: Expression = this
}
