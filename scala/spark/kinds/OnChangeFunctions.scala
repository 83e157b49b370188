package io.sash.spark.kinds

import io.sash.spark.base.SashFunction
import io.sash.spark.times.LeavingTime

/**
 * The functions that `sash.on_change` calls. SQL has words for them: FILTER (WHERE …), for which
 * PySpark has none, and `ts + INTERVAL …`.
 */
private[spark] object OnChangeFunctions {

  private val where: SashFunction = SashFunction.of(
    WindowWhere.Name,
    """
    Leaves out the rows for which a condition does not hold, in any kind or frame.

    * condition - a BOOLEAN
    """,
    classOf[WindowWhere],
    group = "window_funcs"
  ) { case Seq(condition) => PendingKind(WindowWhere(condition)) }

  private val leavingTime: SashFunction = SashFunction.of(
    LeavingTime.Name,
    """
    Returns a time moved on by a number of its units; NULL if its type ends before that.

    * ts - a time, or a whole number
    * after - a BIGINT of microseconds, or of days for a DATE
    """,
    classOf[LeavingTime],
    group = "datetime_funcs"
  ) { case Seq(ts, after) => LeavingTime(ts, after) }

  val All: Seq[SashFunction] = Seq(where, leavingTime)
}
