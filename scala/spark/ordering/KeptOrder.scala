package io.sash.spark.ordering

import org.apache.spark.sql.catalyst.expressions.{Expression, SortOrder}
import org.apache.spark.sql.execution.UnaryExecNode

/** A window as the order below it sees it: it asks for one, and hands rows on as they come. */
private[spark] trait KeptOrder extends UnaryExecNode {
  def partitionSpec: Seq[Expression]

  def orderSpec: Seq[SortOrder]

  def order: KeyOrder

  /** Whether an answer depends on the order in which rows that tie come. */
  def seesTies: Boolean
}
