package io.sash.spark.features

import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan

import io.sash.spark.features.status.FeatureName

/** The features that are on. Each is loaded at its first use. */
private[spark] object Features {

  def inject(extensions: SparkSessionExtensions): Unit = {
    val early = FeatureName.All.flatMap(name => new Guard(name).run(noRules)(of(name).earlyRules))
    new EarlyRules(early).inject(extensions)
    FeatureName.All.foreach(name => new Guard(name).run(())(of(name).inject(extensions)))
  }

  private def noRules: Seq[SparkSession => Rule[LogicalPlan]] = Nil

  /** The lines of all features that EXPLAIN prints about a node of a plan. */
  def explained(plan: SparkPlan): Seq[String] =
    FeatureName.All.flatMap(name =>
      new Guard(name).run(Seq.empty[String])(of(name).explained(plan))
    )

  private def of(name: FeatureName): Feature = name match {
    case FeatureName.Windows   => WindowsFeature
    case FeatureName.Split     => SplitFeature
    case FeatureName.Functions => FunctionsFeature
    case FeatureName.Lateral   => LateralFeature
    case FeatureName.Hops      => HopsFeature
    case FeatureName.Streams   => StreamsFeature
    case FeatureName.Ordering  => OrderingFeature
    case FeatureName.Base      => throw new IllegalArgumentException(s"$name has no rules")
  }
}
