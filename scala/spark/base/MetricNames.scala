package io.sash.spark.base

import org.apache.spark.sql.execution.metric.SQLMetric

private[spark] object MetricNames {

  /**
   * Maps the field names of a case class of metrics to the metrics, as `SparkPlan.metrics` needs
   * them.
   */
  def of(metrics: Product): Map[String, SQLMetric] = metrics.productElementNames
    .zip(metrics.productIterator.map(_.asInstanceOf[SQLMetric]))
    .toMap
}
