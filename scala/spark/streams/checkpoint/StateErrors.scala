package io.sash.spark.streams.checkpoint

import org.apache.spark.sash.SparkInternals

/** Errors for a state that does not fit the query, under Spark's own condition. */
private[streams] object StateErrors {

  /** The checkpoint has the state of other windows. */
  def otherState(was: String, is: String): Throwable = {
    val (before, now) = StateText.differences(was, is)
    notMatching(s"Sash's windows with $before", s"Sash's windows with $now")
  }

  /** The checkpoint has a state that this version does not read. */
  def earlierState(): Throwable = notMatching(
    "Sash's windows, as an earlier version of Sash has written them",
    "Sash's windows, which this version writes otherwise"
  )

  private def notMatching(was: String, is: String): Throwable =
    SparkInternals.runtimeError(
      "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",
      Map(
        "OpsInMetadataSeq" -> was,
        "OpsInCurBatchSeq" -> (s"$is; start with a new checkpoint location, or with the " +
          "query as it was")
      )
    )
}
