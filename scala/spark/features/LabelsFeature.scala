package io.sash.spark.features

import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.window.WindowExecBase

import io.sash.spark.labels.{LabelWindows, StreamLabelWindows}
import io.sash.spark.links.Standing

/** Correlated aggregates over a range of another table's rows. */
private[spark] object LabelsFeature extends Feature {
  private val guard = new Guard(Standing.Labels)

  override def inject(extensions: SparkSessionExtensions): Unit = {
    extensions.injectPlanNormalizationRule(guard.rule(_ => LabelWindows))
    extensions.injectPostHocResolutionRule(guard.rule(_ => StreamLabelWindows))
  }

  override def explained(plan: SparkPlan): Seq[String] = {
    val tagged = plan match {
      case a: BaseAggregateExec => a.aggregateExpressions.map(_.aggregateFunction)
      case w: WindowExecBase    => w.orderSpec.map(_.child)
      case _                    => Nil
    }
    tagged
      .flatMap(_.getTagValue(LabelWindows.Refused))
      .map(why => s"subquery left to Spark: $why")
  }
}
