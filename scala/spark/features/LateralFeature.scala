package io.sash.spark.features

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.execution.SparkPlan

import io.sash.spark.features.status.FeatureName
import io.sash.spark.lateral.{
  AsOfLabel,
  LabelConditions,
  LateralWindows,
  LeftSubqueries,
  OwnAliases,
  SlimFoundRows,
  StreamLateralWindows
}
import io.sash.spark.plan.HiddenKeys
import io.sash.spark.slices.{EventSlicesExec, PackFoundRows, SliceStrategy, SliceWindows}

/** Correlated aggregates over a range of another table's rows. */
private[spark] object LateralFeature extends Feature {
  private val guard = new Guard(FeatureName.Lateral)

  override def inject(extensions: SparkSessionExtensions): Unit = {
    extensions.injectPlanNormalizationRule(guard.rule(_ => LateralWindows))
    extensions.injectOptimizerRule(guard.rule(_ => OwnAliases))
    extensions.injectOptimizerRule(guard.rule(_ => SlimFoundRows))
    extensions.injectOptimizerRule(guard.rule(_ => LabelConditions))
    extensions.injectPreCBORule(guard.rule(_ => HiddenKeys))
    extensions.injectPreCBORule(guard.rule(_ => SliceWindows))
    extensions.injectPreCBORule(guard.rule(_ => PackFoundRows))
    extensions.injectPlannerStrategy(guard.strategy(_ => SliceStrategy))
    // before a subquery is planned, by whomever
    extensions.injectPostHocResolutionRule(guard.rule(_ => AsOfLabel))
    // on a stream the window that this rule makes is run by the streams feature
    extensions.injectPostHocResolutionRule(
      guard.rule(new Guard(FeatureName.Streams).rule(_ => StreamLateralWindows))
    )
  }

  override def explained(plan: SparkPlan): Seq[String] = {
    LeftSubqueries.in(plan).map(line => s"left to Spark: $line") ++ sliced(plan)
  }

  private def sliced(plan: SparkPlan): Option[String] = plan match {
    case s: EventSlicesExec => Some(s"subquery's ${s.text}")
    case p =>
      SliceWindows
        .refusal(p)
        .map(why => s"subquery's events are exchanged one by one: $why")
  }
}
