package io.sash.spark.streams.plan

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.WindowExpression

/** Errors of windows on streams, under Spark's own conditions. */
private[spark] object StreamErrors {

  /**
   * Spark's own error for OVER on a stream, with the reason why Sash does not take the window,
   * either.
   */
  def unsupported(source: WindowSourceText, why: String): AnalysisException = {
    val window = source.window
    val names = window.windowExpressions.flatMap(e =>
      e.collect { case _: WindowExpression => e.toAttribute.name }
    )
    new AnalysisException(
      errorClass = "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING",
      messageParameters = Map(
        "windowFunc" -> source.calls.map(c => s"'$c'").mkString(","),
        "columnName" -> names.map(n => s"'$n'").mkString(","),
        "windowSpec" -> s"'${source.spec}'; Sash: $why"
      ),
      origin = window.origin
    )
  }
}
