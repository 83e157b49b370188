package io.sash.spark.streams.checkpoint

import org.apache.hadoop.fs.Path
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.base.SashConf

/** Errors for a state that does not fit the query, under Spark's own condition. */
private[streams] object StateErrors {
  import StateSignature._

  /** The checkpoint has a state that was written for other windows, or in another way. */
  def other(was: String, is: String): Throwable = {
    val all = differing(was, is)
    val names = if (all.contains(Layout)) Seq(Layout) else all
    notMatching(
      s"Sash's windows with ${differences(was, is, names)}, begun by ${begunBy(was)}",
      s"Sash's windows with ${differences(is, was, names)}",
      remedy(was, names)
    )
  }

  /** The checkpoint has a state that nothing describes. */
  def undescribed(path: Path): Throwable = notMatching(
    s"Sash's windows, whose description $path is gone",
    "Sash's windows, which cannot tell whether the state is theirs",
    s"restore that file, or $BeginAnew"
  )

  private def begunBy(was: String): String =
    part(was, BegunBy).getOrElse("an earlier version of Sash")

  private val BeginAnew = "start with a new checkpoint location"

  private def remedy(was: String, names: Seq[String]): String =
    if (names.contains(Layout) || names.forall(OfSettings))
      s"${names.map(remedy(was, _)).mkString(" and ")}, or $BeginAnew"
    else
      "start the query as it was, and this one beside it with a new checkpoint location and " +
        "the rows of the past (warm_start)"

  /** The remedy for a part that the user's query does not say. */
  private def remedy(was: String, name: String): String = {
    def before = part(was, name).getOrElse("")
    name match {
      case Layout | Partials => s"go on with ${begunBy(was)}"
      case Algorithms        => s"set ${SashConf.WindowAlgorithm.key} as it was"
      case Buckets           => s"set ${SashConf.StreamBuckets.key} to $before"
      case TimeZone          => s"set ${SQLConf.SESSION_LOCAL_TIMEZONE.key} to $before"
      case TimeToLive        => timeToLiveAs(part(was, TimeToLive))
      case History           => historyAs(part(was, History))
      case _                 => s"write $before"
    }
  }

  private def timeToLiveAs(time: Option[String]): String = time.fold(
    s"unset ${SashConf.StreamKeyTimeToLive.key}"
  )(t => s"set ${SashConf.StreamKeyTimeToLive.key} to $t")

  private def historyAs(until: Option[String]): String = until.fold(
    "leave out the history, with which a query can only begin"
  )(u => s"give the history until $u, as before; it is not read again")

  private val OfSettings =
    Set(Partials, Algorithms, Buckets, Answered, TimeZone, History, TimeToLive)

  private def notMatching(was: String, is: String, remedy: String): Throwable =
    SparkInternals.runtimeError(
      "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",
      Map(
        "OpsInMetadataSeq" -> was,
        "OpsInCurBatchSeq" -> s"$is; $remedy"
      )
    )
}
