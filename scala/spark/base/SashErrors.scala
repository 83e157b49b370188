package io.sash.spark.base

import org.apache.spark.sql.AnalysisException

/** Errors of Sash's functions, which use Spark's own error conditions. */
private[spark] object SashErrors {
  def invalidArgument(function: String, argument: String, why: String): AnalysisException =
    new AnalysisException(
      errorClass = "INVALID_PARAMETER_VALUE.PATTERN",
      messageParameters =
        Map("parameter" -> s"`$argument`", "functionName" -> s"`$function`", "value" -> why)
    )

  def withoutOver(function: String): Throwable = new AnalysisException(
    errorClass = "WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE",
    messageParameters = Map("funcName" -> s"`$function`")
  )

  /** Spark's message links to Spark's page of functions, which lacks this one: hence DESCRIBE. */
  def wrongArguments(function: String, expected: String, actual: Int): Throwable =
    new AnalysisException(
      errorClass = "WRONG_NUM_ARGS.WITHOUT_SUGGESTION",
      messageParameters = Map(
        "functionName" -> s"`$function`",
        "expectedNum" -> s"$expected (see DESCRIBE FUNCTION EXTENDED $function)",
        "actualNum" -> actual.toString,
        "docroot" -> "https://spark.apache.org/docs/latest"
      )
    )
}
