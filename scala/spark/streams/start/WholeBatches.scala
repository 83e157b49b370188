package io.sash.spark.streams.start

import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.encoders.{AgnosticEncoders, ExpressionEncoder}
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.execution.streaming.sources.ForeachBatchSink

import io.sash.spark.streams.plan.StreamMetricsExec

/** Makes sure that a function of foreachBatch reads all answers of Sash. */
private[start] object WholeBatches {

  /** The query with a sink that fails if the function leaves rows unread. */
  def of(write: WriteToStreamStatement): WriteToStreamStatement = write.sink match {
    case _: WholeBatches               => write
    case function: ForeachBatchSink[_] =>
      // not by copy, whose parameters change from version to version
      val fields = write.productIterator.map {
        case `function` => new WholeBatches(function)
        case other      => other.asInstanceOf[AnyRef]
      }
      write.makeCopy(fields.toArray).asInstanceOf[WriteToStreamStatement]
    case _ => write
  }
}

/**
 * Runs the function of foreachBatch, and fails if it has left rows unread. Spark does not commit
 * their state, and yet marks the batch as done. Then the next start finds no state. This failure
 * comes before that mark, so the checkpoint goes on with a function that reads all rows.
 */
private[start] final class WholeBatches(function: ForeachBatchSink[_])
    extends ForeachBatchSink[Int](
      (_, _) => (), // neither is used
      ExpressionEncoder(AgnosticEncoders.PrimitiveIntEncoder)
    ) {

  override def addBatch(batch: Long, rows: DataFrame): Unit = {
    function.addBatch(batch, rows)
    val isRead = rows.queryExecution.executedPlan.collect { case m: StreamMetricsExec =>
      m.isRead
    }
    if (isRead.contains(false))
      throw SparkInternals.runtimeError(
        "FOREACH_BATCH_USER_FUNCTION_ERROR",
        Map(
          "reason" -> (s"the function has not read all rows of batch $batch (as by take, " +
            "first, limit or isEmpty alone), and Spark keeps the state of windows only for " +
            "partitions that are read to the end. Write the batch, or begin the function with " +
            "batch.persist() and batch.count(). The checkpoint goes on with this batch")
        )
      )
  }
}
