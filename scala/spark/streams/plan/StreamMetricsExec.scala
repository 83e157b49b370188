package io.sash.spark.streams.plan

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, GenericRowWithSchema, Literal}
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.execution.{CollectMetricsExec, SparkPlan}
import org.apache.spark.sql.execution.metric.SQLMetric

import io.sash.spark.base.Metrics
import io.sash.spark.streams.state.StreamMetrics

/**
 * Passes on the rows of Sash's operator. It reports the operator's metrics of a batch as observed
 * metrics of the query's progress, since the progress of an operator has room for Spark's metrics
 * only.
 *
 * @param observed the name of the observed metrics
 * @param run the run of the query; None if the plan is only explained
 */
private[streams] final class StreamMetricsExec(
    observed: String,
    columns: Seq[NamedExpression],
    operator: SparkPlan,
    done: Metrics,
    @transient read: ReadPartitions,
    run: Option[Any]
) extends CollectMetricsExec(observed, columns, operator) {
  import StreamMetricsExec._

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(done, read, run)

  override def stringArgs: Iterator[Any] = Iterator(observed)

  override lazy val metrics: Map[String, SQLMetric] = done.byName

  override def collectedMetrics: Row = {
    val dropped = operator.metrics.get(SparksDropped)
    val all = metrics ++ dropped.map(Dropped -> _)
    def count(name: String) = all.get(name).fold(0L)(_.value)
    run.foreach(LateRows.check(_, operator, count(Dropped), count(StreamMetrics.InTime)))
    val values = metricsSchema.fieldNames.map(count(_): Any)
    new GenericRowWithSchema(values, metricsSchema)
  }

  /** Whether the rows of the batch have been read to their end. */
  def isRead: Boolean = read.areAll

  override def doExecute(): RDD[InternalRow] = read.of(operator.execute())

  override def withNewChildInternal(newChild: SparkPlan): CollectMetricsExec =
    new StreamMetricsExec(observed, columns, newChild, done, read, run)
}

private[streams] object StreamMetricsExec {

  /** Spark's name for the number of rows that it drops before they reach the operator. */
  private val SparksDropped = "numRowsDroppedByWatermark"

  private val Dropped = "rowsDropped"

  /**
   * @param number the operator's number in its query; None if the plan is only explained
   * @param run the run of the query; None if the plan is only explained
   */
  def apply(
      number: Option[String],
      operator: SparkPlan,
      done: Metrics,
      run: Option[Any]
  ): SparkPlan = {
    val names = Dropped +: done.names
    val columns = names.map(Alias(Literal(0L), _)())
    val read = new ReadPartitions(operator.session.sparkContext)
    new StreamMetricsExec(number.fold("sash")("sash." + _), columns, operator, done, read, run)
  }
}
