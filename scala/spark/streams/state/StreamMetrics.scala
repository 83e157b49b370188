package io.sash.spark.streams.state

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

import io.sash.spark.base.MetricNames

/**
 * The metrics of an operator in a batch, under the names of these fields, reported once for each
 * bucket. `rowsOutOfOrder` counts rows in time that are out of order.
 */
private[spark] final case class StreamMetrics(
    rowsInTime: SQLMetric,
    rowsOutOfOrder: SQLMetric,
    answers: SQLMetric,
    answersCorrected: SQLMetric,
    partialsEvicted: SQLMetric,
    nodesRead: SQLMetric,
    nodesWritten: SQLMetric,
    nodesRemoved: SQLMetric
) {

  def byName: Map[String, SQLMetric] = MetricNames.of(this)

  def report(counts: StreamCounts): Unit = {
    rowsInTime.add(counts.rowsInTime)
    rowsOutOfOrder.add(counts.rowsOutOfOrder)
    answers.add(counts.answers)
    answersCorrected.add(counts.answersCorrected)
    partialsEvicted.add(counts.partialsEvicted)
    nodesRead.add(counts.nodesRead)
    nodesWritten.add(counts.nodesWritten)
    nodesRemoved.add(counts.nodesRemoved)
  }
}

private[spark] object StreamMetrics {
  def apply(sc: SparkContext): StreamMetrics = StreamMetrics(
    rowsInTime = SQLMetrics.createMetric(sc, "rows in time"),
    rowsOutOfOrder = SQLMetrics.createMetric(sc, "rows in time that came out of order"),
    answers = SQLMetrics.createMetric(sc, "answers"),
    answersCorrected = SQLMetrics.createMetric(sc, "answers that rows out of order have changed"),
    partialsEvicted = SQLMetrics.createMetric(sc, "partials that no window holds any more"),
    nodesRead = SQLMetrics.createMetric(sc, "nodes read"),
    nodesWritten = SQLMetrics.createMetric(sc, "nodes written"),
    nodesRemoved = SQLMetrics.createMetric(sc, "nodes removed")
  )
}

/** The counts of a task for one bucket, in plain fields. */
private[spark] final class StreamCounts {
  var rowsInTime: Long = 0L
  var rowsOutOfOrder: Long = 0L
  var answers: Long = 0L
  var answersCorrected: Long = 0L
  var partialsEvicted: Long = 0L
  var nodesRead: Long = 0L
  var nodesWritten: Long = 0L
  var nodesRemoved: Long = 0L

  def clear(): Unit = {
    rowsInTime = 0L
    rowsOutOfOrder = 0L
    answers = 0L
    answersCorrected = 0L
    partialsEvicted = 0L
    nodesRead = 0L
    nodesWritten = 0L
    nodesRemoved = 0L
  }
}
