package io.sash.spark.features

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.execution.SparkPlan

import io.sash.spark.links.Standing
import io.sash.spark.ordering.{OneSort, OrderingExec}

/** Keys together and in order below windows, by hashing; Spark sorts where it stands down. */
private[spark] object OrderingFeature extends Feature {
  private val guard = new Guard(Standing.Ordering)

  override def inject(extensions: SparkSessionExtensions): Unit = {
    // one sort where the rows below windows are sorted anyway
    extensions.injectQueryStagePrepRule(guard.rule(_ => OneSort))
    // plans that are not adaptive have no hook of their own for it
    extensions.injectColumnar(guard.columnar(_ => OneSort))
  }

  override def explained(plan: SparkPlan): Seq[String] = plan match {
    case _: OrderingExec => Seq("ordering: hash + adaptive")
    case _               => Nil
  }
}
