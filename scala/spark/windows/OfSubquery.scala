package io.sash.spark.windows

import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/**
 * The subquery that a window answers.
 *
 * @param subquery all of it, as the user wrote it
 * @param call the aggregate in it that is the window's, if the user wrote it
 */
private[spark] final case class OfSubquery(subquery: String, call: Option[String])

private[spark] object OfSubquery {

  /** The tag of a window that a subquery has become. */
  val Tag: TreeNodeTag[OfSubquery] = TreeNodeTag("sash.subquery")

  /** The tag of the condition that a row is one around the subquery, which gets answers. */
  val Asks: TreeNodeTag[Unit] = TreeNodeTag("sash.asks")

  /**
   * The tag of ORDER BY in a subquery that is left to Spark, which numbers rows in this order for
   * LIMIT.
   */
  val Order: TreeNodeTag[Unit] = TreeNodeTag("sash.order.left")
}
