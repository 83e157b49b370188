package io.sash.spark.features

import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule

import io.sash.spark.aggregates.AsOfRow
import io.sash.spark.base.SashConf
import io.sash.spark.kinds.{CheckWindowKinds, ResolveWindowKinds}
import io.sash.spark.features.status.{FeatureName, FeatureStatus}
import io.sash.spark.lambdas.ResolveMonoids
import io.sash.spark.names.{CreateOverSash, ResolveSashNames}

/** Everything that SQL calls by name: aggregates, sliding_agg and the kinds of windows. */
private[spark] object FunctionsFeature extends Feature {
  private val guard = new Guard(FeatureName.Functions)

  // sliding_agg and the functions of docs/functions.md, unless someone else has the name
  override def earlyRules: Seq[SparkSession => Rule[LogicalPlan]] =
    Seq(guard.rule(new ResolveSashNames(_)))

  override def inject(extensions: SparkSessionExtensions): Unit = {
    // a name in IDENTIFIER(…) is known only now
    extensions.injectResolutionRule(guard.rule(new ResolveSashNames(_)))
    extensions.injectPostHocResolutionRule(guard.rule(new CreateOverSash(_)))
    // windows that SQL's frames cannot express
    extensions.injectResolutionRule(guard.rule(_ => ResolveWindowKinds))
    // windows whose answers are as of the row
    extensions.injectResolutionRule(guard.rule(_ => AsOfRow))
    // the lambdas of monoid_agg
    extensions.injectResolutionRule(guard.rule(_ => ResolveMonoids))
    extensions.injectCheckRule(
      guard.check(s => CheckWindowKinds(() => SashConf.enabled(s), () => whyOff))
    )
  }

  /** The reason why a window of a kind that only Sash has cannot run. */
  private def whyOff: Option[String] =
    FeatureStatus.reason(FeatureName.Windows).map(why => s"only Sash has it, and $why")
}
