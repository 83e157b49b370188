package io.sash.spark.features

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.execution.SparkPlan

/**
 * A part of Sash that stands down by itself if this Spark lacks a class or method that it links
 * to. Then its object is not loaded, nor any class that only this feature needs.
 */
private[spark] trait Feature {

  /** Adds the feature's rules to the session, each behind the feature's [[Guard]]. */
  def inject(extensions: SparkSessionExtensions): Unit

  /** The lines that EXPLAIN prints about a node of a plan. */
  def explained(plan: SparkPlan): Seq[String] = Nil
}
