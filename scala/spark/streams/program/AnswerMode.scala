package io.sash.spark.streams.program

import org.apache.spark.sql.streaming.OutputMode

/** When a row of a stream, or a hop window, is answered. */
private[spark] sealed abstract class AnswerMode(name: String) {

  /** The mode in the description of a state. */
  def signature: String = s"in $name mode"
}

private[spark] object AnswerMode {

  /** Once, when the watermark has passed the time of the row, or the end of the window. */
  case object Append extends AnswerMode("append")

  /**
   * In each batch in which the answer of the row changes, or in which the window has new rows.
   */
  case object Update extends AnswerMode("update")

  /** None for Spark's complete mode. */
  def of(mode: OutputMode): Option[AnswerMode] =
    if (mode == OutputMode.Append()) Some(Append)
    else if (mode == OutputMode.Update()) Some(Update)
    else None
}
