package io.sash.spark.base

import org.apache.spark.sql.execution.metric.SQLMetric

private[spark] object MetricNames {

  /** The fields of a case class of metrics, as Spark's plans have them. */
  def of(metrics: Product): Map[String, SQLMetric] = metrics.productElementNames
    .zip(metrics.productIterator.map(_.asInstanceOf[SQLMetric]))
    .toMap
}
