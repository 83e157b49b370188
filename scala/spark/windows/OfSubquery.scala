package io.sash.spark.windows

import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/**
 * The subquery that a window answers.
 *
 * @param subquery the text of the whole subquery, as the user wrote it
 * @param call the text of the window's aggregate in it; none if the user did not write it
 */
private[spark] final case class OfSubquery(subquery: String, call: Option[String])

private[spark] object OfSubquery {

  /** Tags a window that was made from a subquery. */
  val Tag: TreeNodeTag[OfSubquery] = TreeNodeTag("sash.subquery")

  /** Tags the condition that keeps the outer rows, which are the rows that get answers. */
  val Asks: TreeNodeTag[Unit] = TreeNodeTag("sash.asks")

  /**
   * Tags ORDER BY in a subquery that is left to Spark. For its LIMIT, Spark numbers the rows by a
   * window in this order.
   */
  val Order: TreeNodeTag[Unit] = TreeNodeTag("sash.order.left")
}
