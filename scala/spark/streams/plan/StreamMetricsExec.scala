package io.sash.spark.streams.plan

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, GenericRowWithSchema, Literal}
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.execution.{CollectMetricsExec, SparkPlan}
import org.apache.spark.sql.execution.metric.SQLMetric

import io.sash.spark.streams.state.StreamMetrics

/**
 * The rows of an operator of ours. What it has done in a batch is among the observed metrics of the
 * query's progress, since Spark knows no others than its own among those of the operators.
 *
 * @param observed under which name
 */
private[streams] final class StreamMetricsExec(
    observed: String,
    columns: Seq[NamedExpression],
    operator: SparkPlan,
    done: StreamMetrics
) extends CollectMetricsExec(observed, columns, operator) {

  override protected def otherCopyArgs: Seq[AnyRef] = Seq(done)

  override def stringArgs: Iterator[Any] = Iterator(observed)

  override lazy val metrics: Map[String, SQLMetric] = done.byName

  override def collectedMetrics: Row = {
    val dropped = operator.metrics.get(StreamMetricsExec.SparksDropped)
    val all = metrics ++ dropped.map(StreamMetricsExec.Dropped -> _)
    val values = metricsSchema.fieldNames.map(all.get(_).fold(0L)(_.value): Any)
    new GenericRowWithSchema(values, metricsSchema)
  }

  override def doExecute(): RDD[InternalRow] = operator.execute()

  override def withNewChildInternal(newChild: SparkPlan): CollectMetricsExec =
    new StreamMetricsExec(observed, columns, newChild, done)
}

private[streams] object StreamMetricsExec {

  /** What Spark calls its count of rows that it drops before they reach the operator. */
  private val SparksDropped = "numRowsDroppedByWatermark"

  private val Dropped = "rowsDropped"

  /** @param number of the operator in its query, if that runs */
  def apply(number: Option[String], operator: SparkPlan, done: StreamMetrics): SparkPlan = {
    val names = Dropped +: done.productElementNames.toSeq
    val columns = names.map(Alias(Literal(0L), _)())
    new StreamMetricsExec(number.fold("sash")("sash." + _), columns, operator, done)
  }
}
