package io.sash.spark.features

import org.apache.spark.sql.{SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkPlan

import io.sash.spark.base.FilterBelow
import io.sash.spark.history.{HistoryUnion, PlanHistory}
import io.sash.spark.hops.stream.SlimStreamHops
import io.sash.spark.features.status.FeatureName
import io.sash.spark.plan.WrapMovingAggregates
import io.sash.spark.streams.late.PlanLateTable
import io.sash.spark.streams.plan.{PruneStreamColumns, StatefulOperators, StreamWindows}
import io.sash.spark.streams.start.StreamingWrite
import io.sash.spark.streams.task.BucketProcessor

/** Sliding windows (OVER) and hop windows on a stream. */
private[spark] object StreamsFeature extends Feature {
  private val guard = new Guard(FeatureName.Streams)

  override def earlyRules: Seq[SparkSession => Rule[LogicalPlan]] =
    Seq(guard.rule(_ => StreamingWrite))

  override def inject(extensions: SparkSessionExtensions): Unit = {
    extensions.injectResolutionRule(guard.rule(WrapMovingAggregates(_, overStreams = true)))
    extensions.injectPostHocResolutionRule(guard.rule(_ => HistoryUnion))
    extensions.injectPostHocResolutionRule(guard.rule(_ => StreamWindows))
    extensions.injectPlannerStrategy(guard.strategy(_ => PlanHistory))
    extensions.injectPlannerStrategy(guard.strategy(_ => PlanLateTable))
    extensions.injectOptimizerRule(guard.rule(_ => FilterBelow))
    extensions.injectOptimizerRule(guard.rule(_ => PruneStreamColumns))
    extensions.injectOptimizerRule(guard.rule(_ => SlimStreamHops))
    extensions.injectColumnar(guard.columnar(_ => StatefulOperators))
  }

  override def explained(plan: SparkPlan): Seq[String] =
    plan.productIterator.collect { case b: BucketProcessor => b.explained }.toSeq
}
