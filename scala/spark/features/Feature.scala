package io.sash.spark.features

import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan

/**
 * A part of Sash that is off by itself if this Spark lacks a class or method that it links to.
 * Then its object is not loaded, nor any class that only this feature needs.
 */
private[spark] trait Feature {

  /** Adds the feature's rules to the session, each behind the feature's [[Guard]]. */
  def inject(extensions: SparkSessionExtensions): Unit

  /** The feature's rules that run before the analyzer checks that all functions exist. */
  def earlyRules: Seq[SparkSession => Rule[LogicalPlan]] = Nil

  /** The lines that EXPLAIN prints about a node of a plan. */
  def explained(plan: SparkPlan): Seq[String] = Nil
}
