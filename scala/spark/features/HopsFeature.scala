package io.sash.spark.features

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.execution.SparkPlan

import io.sash.spark.hops._
import io.sash.spark.links.Standing

/** Aggregates over hop windows, `window(time, size, slide)`, in batch. */
private[spark] object HopsFeature extends Feature {
  private val guard = new Guard(Standing.Hops)

  override def inject(extensions: SparkSessionExtensions): Unit = {
    extensions.injectHintResolutionRule(guard.rule(new ManyHops.Find(_)))
    extensions.injectResolutionRule(guard.rule(_ => ResolveManyHops))
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
