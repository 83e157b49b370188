package io.sash.spark.features

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.execution.SparkPlan

import io.sash.spark.features.status.FeatureName
import io.sash.spark.plan.SplitStrategy
import io.sash.spark.split.{SplitWindowExec, SplitWindows}

/** Divides windows without PARTITION BY among tasks. When it is off, one task answers them. */
private[spark] object SplitFeature extends Feature {
  private val guard = new Guard(FeatureName.Split)

  override def inject(extensions: SparkSessionExtensions): Unit =
    extensions.injectPlannerStrategy(guard.strategy(_ => SplitStrategy))

  override def explained(plan: SparkPlan): Seq[String] = plan match {
    case s: SplitWindowExec => s.texts.map(c => s"slides in many tasks: $c")
    case p if p.nodeName.contains("Window") =>
      p.logicalLink
        .flatMap(_.getTagValue(SplitWindows.OneTask))
        .map(why => s"in one task: $why")
        .toSeq
    case _ => Nil
  }
}
