package io.sash.spark.windows

import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/** A window that a subquery has become. The tag has the subquery as the user wrote it. */
private[spark] object OfSubquery {
  val Tag: TreeNodeTag[String] = TreeNodeTag("sash.subquery")
}
