package io.sash.spark.streams

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/**
 * What the tasks of an operator have done in a batch.
 *
 * @param totals of all tasks, by [[StreamMetrics.Names]]; empty if nobody asks
 */
private[spark] final class StreamMetrics(val totals: IndexedSeq[SQLMetric]) extends Serializable {
  @transient private[this] lazy val counts = new Array[Long](StreamMetrics.Names.length)

  /** The task has done that so often more. */
  def add(metric: Int, count: Long): Unit = counts(metric) += count

  /** Adds what the task has counted to the totals. */
  def flush(): Unit =
    totals.indices.foreach { i =>
      if (counts(i) > 0) totals(i) += counts(i)
      counts(i) = 0L
    }
}

private[spark] object StreamMetrics {

  /** As the query's progress has them, and as Spark's UI says them. */
  val Names: IndexedSeq[(String, String)] = IndexedSeq(
    "rowsInTime" -> "rows in time",
    "answers" -> "answers",
    "answersCorrected" -> "answers that late rows have changed",
    "partialsEvicted" -> "partials that no window holds any more",
    "nodesRead" -> "nodes read",
    "nodesWritten" -> "nodes written",
    "nodesRemoved" -> "nodes removed"
  )
  val RowsInTime: Int = 0
  val Answers: Int = 1
  val AnswersCorrected: Int = 2
  val PartialsEvicted: Int = 3
  val NodesRead: Int = 4
  val NodesWritten: Int = 5
  val NodesRemoved: Int = 6

  /** Of whoever does not ask. */
  val Unasked: StreamMetrics = new StreamMetrics(IndexedSeq.empty)

  def of(context: SparkContext): StreamMetrics =
    new StreamMetrics(Names.map { case (_, says) => SQLMetrics.createMetric(context, says) })
}
