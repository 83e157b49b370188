package io.sash.spark.streams

import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.WindowExpression
import org.apache.spark.sql.catalyst.plans.logical.Window

/** Errors of windows on streams, under Spark's own conditions. */
private[spark] object StreamErrors {

  /** Spark's own refusal of OVER on a stream, which says why Sash does not take it, either. */
  def unsupported(window: Window, why: String): AnalysisException = {
    val calls = window.windowExpressions.flatMap { e =>
      e.collect { case w: WindowExpression => (w, e.toAttribute.sql) }
    }
    new AnalysisException(
      errorClass = "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING",
      messageParameters = Map(
        "windowFunc" -> calls.map(c => s"'${c._1.windowFunction}'").mkString(","),
        "columnName" -> calls.map(c => s"'${c._2}'").mkString(","),
        "windowSpec" -> s"'${calls.head._1.windowSpec.sql}'; Sash: $why"
      ),
      origin = window.origin
    )
  }

  /** A checkpoint of another query's windows, under Spark's condition for that. */
  def otherState(was: String, is: String): Throwable =
    SparkInternals.runtimeError(
      "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",
      Map(
        "OpsInMetadataSeq" -> s"Sash's windows of $was",
        "OpsInCurBatchSeq" -> (s"Sash's windows of $is; start with a new checkpoint location, or " +
          "with what the query was")
      )
    )
}
