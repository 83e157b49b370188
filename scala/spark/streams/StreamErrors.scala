package io.sash.spark.streams

import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.WindowExpression

/** Errors of windows on streams, under Spark's own conditions. */
private[spark] object StreamErrors {

  /** Spark's own refusal of OVER on a stream, which says why Sash does not take it, either. */
  def unsupported(written: Written, why: String): AnalysisException = {
    val window = written.window
    val names = window.windowExpressions.flatMap(e =>
      e.collect { case _: WindowExpression => e.toAttribute.name }
    )
    new AnalysisException(
      errorClass = "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING",
      messageParameters = Map(
        "windowFunc" -> written.calls.map(c => s"'$c'").mkString(","),
        "columnName" -> names.map(n => s"'$n'").mkString(","),
        "windowSpec" -> s"'${written.spec}'; Sash: $why"
      ),
      origin = window.origin
    )
  }

  /** A checkpoint of another query's windows, under Spark's condition for that. */
  def otherState(was: String, is: String): Throwable = {
    val (before, now) = StateText.differences(was, is)
    notMatching(s"Sash's windows with $before", s"Sash's windows with $now")
  }

  /** A checkpoint whose state this version does not read. */
  def earlierState(): Throwable = notMatching(
    "Sash's windows, as an earlier version of Sash has written them",
    "Sash's windows, which this version writes otherwise"
  )

  private def notMatching(was: String, is: String): Throwable =
    SparkInternals.runtimeError(
      "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",
      Map(
        "OpsInMetadataSeq" -> was,
        "OpsInCurBatchSeq" -> s"$is; start with a new checkpoint location, or with what the query was"
      )
    )
}
