package io.sash.spark

import org.apache.spark.sql.{ExtendedExplainGenerator, SparkSession}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanHelper
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.base.SashConf
import io.sash.spark.features.{EarlyRules, Features}
import io.sash.spark.features.status.{FeatureName, FeatureStatus}

/**
 * Adds Sash's lines to EXPLAIN: the windows that Sash runs, and for each other window the reason
 * why Spark runs it. Spark prints the lines if `spark.sql.extendedExplainProviders` names this
 * class. Part of the API.
 */
final class Explain extends ExtendedExplainGenerator {
  override def title: String = "Sash"

  override def generateExtendedInfo(plan: SparkPlan): String = {
    val lines =
      if (!FeatureStatus.isOn(FeatureName.Base)) FeatureStatus.lines
      else if (!SashConf.enabled(SQLConf.get)) Nil
      else {
        val all = ExplainedPlan.lines(plan) ++ FeatureStatus.lines ++ ofNames(plan.session)
        if (all.isEmpty) Seq("no window") else all
      }
    lines.map(_ + "\n").mkString
  }

  private def ofNames(session: SparkSession): Option[String] =
    if (!FeatureStatus.isOn(FeatureName.Functions)) None
    else EarlyRules.reason(session).map(why => s"left to Spark: functions: $why")
}

private object ExplainedPlan extends AdaptiveSparkPlanHelper {
  def lines(plan: SparkPlan): Seq[String] =
    collect(plan) { case p => Features.explained(p) }.flatten.distinct
}
