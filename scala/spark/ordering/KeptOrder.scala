package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.expressions.{Expression, SortOrder}
import org.apache.spark.sql.execution.UnaryExecNode

/**
 * A window that requires `order` of its child, and passes rows on in the order in which they
 * come. The rules on ordering steps know windows by this trait.
 */
private[spark] trait KeptOrder extends UnaryExecNode {
  def partitionSpec: Seq[Expression]

  def orderSpec: Seq[SortOrder]

  def order: KeyOrder

  /** Whether an answer depends on the order of rows that tie. */
  def seesTies: Boolean
}
