package io.sash.spark.streams.state

import io.sash.spark.base.MetricTable

/**
 * The metrics of an operator in a batch. `RowsOutOfOrder` counts rows in time that are out of
 * order.
 */
private[spark] object StreamMetrics extends MetricTable {
  val InTime = "rowsInTime"
  val RowsInTime = sum(InTime, "rows in time")
  val RowsWithoutTime = sum("rowsWithoutTime", "rows whose event time is NULL")
  val RowsOutOfOrder = sum("rowsOutOfOrder", "rows in time that came out of order")
  val RowsPartlyLate = sum("rowsPartlyLate", "rows in time for some of their hop windows only")
  val Answers = sum("answers", "answers")
  val AnswersCorrected = sum("answersCorrected", "answers that rows out of order have changed")
  val KeysRemoved = sum("keysRemoved", "keys removed, or begun anew")
  val PartialsEvicted = sum("partialsEvicted", "partials that no window holds any more")
  val NodesRead = sum("nodesRead", "nodes read")
  val NodesWritten = sum("nodesWritten", "nodes written")
  val NodesRemoved = sum("nodesRemoved", "nodes removed")
}
