package io.sash.spark.features

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.execution.SparkPlan

/**
 * A part of Sash that stands down alone where this Spark lacks what it links to. Its object is not
 * loaded then, and no class that only it needs.
 */
private[spark] trait Feature {

  /** Adds its rules, each behind the feature's [[Guard]]. */
  def inject(extensions: SparkSessionExtensions): Unit

  /** What EXPLAIN says of a node of a plan. */
  def explained(plan: SparkPlan): Seq[String] = Nil
}
