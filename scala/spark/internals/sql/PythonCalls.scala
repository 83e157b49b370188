package org.apache.spark.sql.sash

import org.apache.spark.sql.catalyst.expressions.{Expression, PythonUDAF, PythonUDF}

/** Opens to Sash the `private[spark]` parts of Python's functions. */
object PythonCalls {

  /** `PythonEvalType.SQL_SCALAR_ARROW_ITER_UDF`, which Spark has since 4.1. */
  private val ScalarArrowIter = 251

  /**
   * The call of an aggregator's function by the operator that passes on batches of rows, each in
   * its place.
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
