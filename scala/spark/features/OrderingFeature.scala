package io.sash.spark.features

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.execution.SparkPlan

import io.sash.spark.features.status.FeatureName
import io.sash.spark.ordering.{OneSort, OrderingExec}

/** Orders the rows below windows by hashing their keys. When it is off, Spark sorts. */
private[spark] object OrderingFeature extends Feature {
  private val guard = new Guard(FeatureName.Ordering)

  override def inject(extensions: SparkSessionExtensions): Unit = {
    // replaces an OrderingExec by Spark's sort if the rows get sorted anyway
    extensions.injectQueryStagePrepRule(guard.rule(_ => OneSort))
    // plans without adaptive execution have no hook of their own for this rule
    extensions.injectColumnar(guard.columnar(_ => OneSort))
  }

  override def explained(plan: SparkPlan): Seq[String] = plan match {
    case _: OrderingExec => Seq("ordering: hash + adaptive")
    case _               => Nil
  }
}
