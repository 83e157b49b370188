package io.sash.spark.streams.program

import java.util.Locale

import org.apache.spark.sql.streaming.OutputMode

/** When a row of a stream, or a window of hops, is answered. */
private[spark] sealed abstract class AnswerMode {

  /** As the text of a state says it. */
  def text: String = s"in ${toString.toLowerCase(Locale.ROOT)} mode"
}

private[spark] object AnswerMode {

  /** Once, when the watermark has passed it: the row's time, or the window's end. */
  case object Append extends AnswerMode

  /** In each batch that changes the answer, or has rows of the window. */
  case object Update extends AnswerMode

  /** None of Spark's complete mode. */
  def of(mode: OutputMode): Option[AnswerMode] =
    if (mode == OutputMode.Append()) Some(Append)
    else if (mode == OutputMode.Update()) Some(Update)
    else None
}
