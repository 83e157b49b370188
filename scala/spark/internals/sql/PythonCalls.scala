package org.apache.spark.sql.sash

import org.apache.spark.sql.catalyst.expressions.{Expression, PythonUDAF, PythonUDF}

/** Opens `private[spark]` parts of Spark's Python functions to Sash. */
object PythonCalls {

  /** `PythonEvalType.SQL_SCALAR_ARROW_ITER_UDF`, which Spark has since 4.1. */
  private val ScalarArrowIter = 251

  /**
   * The call of an aggregator's function by Spark's operator for Arrow UDFs, which passes batches
   * of rows on in their order.
   */
  def overBatches(of: PythonUDAF, arguments: Seq[Expression]): PythonUDF =
    PythonUDF(
      of.name,
      of.func,
      of.dataType,
      arguments,
      ScalarArrowIter,
      udfDeterministic = false
    )
}
