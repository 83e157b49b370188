package io.sash.spark.base

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/**
 * The SQL metrics of an operator, one on a line: its name in `SparkPlan.metrics` and its words in
 * Spark's UI. A metric is known by its number in the table.
 */
private[spark] abstract class MetricTable {
  private[this] val lines = ArrayBuffer.empty[(String, SparkContext => SQLMetric)]

  protected final def sum(name: String, words: String): Int =
    add(name, SQLMetrics.createMetric(_, words))

  protected final def bytes(name: String, words: String): Int =
    add(name, SQLMetrics.createSizeMetric(_, words))

  /** Counted in nanoseconds, shown in milliseconds. */
  protected final def time(name: String, words: String): Int =
    add(name, SQLMetrics.createTimingMetric(_, words))

  protected final def average(name: String, words: String): Int =
    add(name, SQLMetrics.createAverageMetric(_, words))

  private def add(name: String, create: SparkContext => SQLMetric): Int = {
    lines += name -> create
    lines.length - 1
  }

  final def length: Int = lines.length

  final def create(sc: SparkContext): Metrics =
    new Metrics(lines.map(_._1).toSeq, lines.map(_._2(sc)).toArray)

  final def counts(): TaskCounts = new TaskCounts(length)
}

/** The counts of a task, by the numbers of the metrics. */
private[spark] class TaskCounts(length: Int) {
  private[this] val values = new Array[Long](length)

  final def apply(metric: Int): Long = values(metric)

  final def update(metric: Int, count: Long): Unit = values(metric) = count

  final def clear(): Unit = java.util.Arrays.fill(values, 0L)
}

/** The metrics of one operator. */
private[spark] final class Metrics(val names: Seq[String], metrics: Array[SQLMetric])
    extends Serializable {
  def byName: Map[String, SQLMetric] = names.zip(metrics).toMap

  /** Adds counts, once for each task, or for each bucket of a stream. */
  def report(counts: TaskCounts): Unit = metrics.indices.foreach { i =>
    metrics(i).metricType match {
      case "average" => metrics(i).set(counts(i).toDouble)
      case "timing"  => metrics(i).add(counts(i) / 1000000)
      case _         => metrics(i).add(counts(i))
    }
  }
}
