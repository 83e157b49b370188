package io.sash.spark.features

import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan

import io.sash.spark.hops._
import io.sash.spark.features.status.FeatureName

/** Aggregates over hop windows, `window(time, size, slide)`, in batch. */
private[spark] object HopsFeature extends Feature {
  private val guard = new Guard(FeatureName.Hops)

  override def earlyRules: Seq[SparkSession => Rule[LogicalPlan]] =
    Seq(guard.rule(new HopCall.Find(_)))

  override def inject(extensions: SparkSessionExtensions): Unit = {
    extensions.injectResolutionRule(guard.rule(_ => ResolveHopCalls))
    extensions.injectPlanNormalizationRule(guard.rule(new BatchHops(_)))
    extensions.injectOptimizerRule(guard.rule(_ => SlimHops))
    extensions.injectPlannerStrategy(guard.strategy(new HopStrategy(_)))
  }

  override def explained(plan: SparkPlan): Seq[String] = plan match {
    case h: HopWindowsExec => Seq(s"hops: ${h.text}")
    case p =>
      p.logicalLink
        .flatMap(_.getTagValue(BatchHops.Refused))
        .map(why => s"hops left to Spark: $why")
        .toSeq
  }
}
