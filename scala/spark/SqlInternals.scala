package org.apache.spark.sql.sash

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers

/** What Sash needs of Spark's `private[sql]` parts. */
object SqlInternals {

  /** Makes all NaNs one, and -0.0 the same as 0.0, in values of any type. */
  def normalized(e: Expression): Expression = NormalizeFloatingNumbers.normalize(e)
}
