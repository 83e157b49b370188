package io.sash.spark.features

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.execution.SparkPlan

import io.sash.spark.features.status.FeatureName
import io.sash.spark.plan.SplitStrategy
import io.sash.spark.split.{SplitWindowExec, SplitWindows}

/**
 * Divides the rows of a window, or of a key, among tasks. When it is off, one task answers a key,
 * and one task a window without PARTITION BY.
 */
private[spark] object SplitFeature extends Feature {
  private val guard = new Guard(FeatureName.Split)

  override def inject(extensions: SparkSessionExtensions): Unit =
    extensions.injectPlannerStrategy(guard.strategy(_ => SplitStrategy))

  override def explained(plan: SparkPlan): Seq[String] = plan match {
    case s: SplitWindowExec => s.texts.map(c => s"slides in many tasks: $c")
    case p if p.nodeName.contains("Window") =>
      p.logicalLink
        .flatMap(_.getTagValue(SplitWindows.OneTask))
        .toSeq
    case _ => Nil
  }
}
