package io.sash.spark.streams.checkpoint

import org.apache.hadoop.fs.Path
import org.apache.spark.sash.SparkInternals
import org.apache.spark.sql.internal.SQLConf

import io.sash.spark.base.SashConf

/** Errors for a state that does not fit the query, under Spark's own condition. */
private[streams] object StateErrors {
  import StateSignature._

  /**
   * The checkpoint has a state that was written for other windows, or in another way.
   *
   * @param mayBeginAnew whether a history would let the windows begin anew
   */
  def other(was: String, is: String, mayBeginAnew: Boolean = false): Throwable = {
    val all = differing(was, is)
    val names = if (all.contains(Layout)) Seq(Layout) else all
    differ(
      was,
      is,
      names,
      (if (mayBeginAnew) s"$GivePast, or " else "") + remedies(was, names).mkString(" and ")
    )
  }

  private val GivePast = "give the rows of the past with warm_start, up to a time after the " +
    "last row that the stream has read"

  /** The query has windows that the state cannot answer. */
  def missing(was: String, is: String, parts: Seq[String]): Throwable = {
    val names = differing(was, is)
    val more = if (parts.length > MostParts) s" and ${parts.length - MostParts} more" else ""
    differ(
      was,
      is,
      names,
      s"the state lacks ${parts.take(MostParts).mkString(", ")}$more; $GivePast, or set " +
        s"${SashConf.StreamNewWindows.key} to incomplete, with which new windows begin with " +
        s"the rows that the state holds, or ${remedies(was, names).mkString(" and ")}"
    )
  }

  /** Rows that wait in the state would have NULL in columns that have none. */
  def neverNull(was: String, is: String, columns: Seq[String]): Throwable = differ(
    was,
    is,
    Seq(Columns),
    s"rows that wait have no ${columns.mkString(", ")}, which is never NULL in the query; " +
      s"$GivePast"
  )

  private val MostParts = 5

  /** The history of a changed query ends before rows that have been answered. */
  def earlyHistory(was: String, is: String, answered: Long): Throwable = differ(
    was,
    is,
    differing(was, is),
    s"give a history that ends after the last row that the stream has read, and not before " +
      time(answered),
    s", which have answered the rows until ${time(answered)}"
  )

  /** The earlier query has run a batch, and was stopped before it was committed. */
  def hasRun(batch: Long): Throwable = notMatching(
    s"Sash's windows that have run batch $batch and not committed it",
    "Sash's windows that would begin anew with that batch",
    "start the query as it was once more, until it has committed the batch"
  )

  /** The checkpoint has a state that nothing describes. */
  def undescribed(path: Path): Throwable = notMatching(
    s"Sash's windows, whose description $path is gone",
    "Sash's windows, which cannot tell whether the state is theirs",
    "restore that file"
  )

  /** Rows that wait are behind the history of a changed query, and lack its columns. */
  def behindHistory(until: Long, last: Long, columns: Seq[String]): Throwable = notMatching(
    s"Sash's windows with rows that wait until ${time(last)}",
    s"Sash's windows with ${columns.mkString(", ")}, which these rows lack, and a history " +
      s"until ${time(until)}",
    s"give a history that ends at ${time(last)} or later"
  )

  /**
   * @param names the parts that the error shows of both texts
   * @param more more of the windows that have written the state
   */
  private def differ(
      was: String,
      is: String,
      names: Seq[String],
      remedy: String,
      more: String = ""
  ): Throwable = notMatching(
    s"Sash's windows with ${differences(was, is, names)}, begun by ${begunBy(was)}$more",
    s"Sash's windows with ${differences(is, was, names)}",
    remedy
  )

  private def begunBy(was: String): String =
    part(was, BegunBy).getOrElse("an earlier version of Sash")

  /**
   * A remedy for each cause. If the user's part of the description is the same, the version or a
   * setting is another one.
   */
  private def remedies(was: String, names: Seq[String]): Seq[String] = {
    def before(name: String) = part(was, name).getOrElse("")
    val goOn = s"go on with ${begunBy(was)}"
    if (names.contains(Layout)) Seq(goOn)
    else if (!names.forall(OfSettings)) Seq("start the query as it was")
    else
      names.map {
        case Partials   => goOn
        case Algorithms => s"set ${SashConf.WindowAlgorithm.key} as it was"
        case Buckets    => s"set ${SashConf.StreamBuckets.key} to ${before(Buckets)}"
        case TimeZone   => s"set ${SQLConf.SESSION_LOCAL_TIMEZONE.key} to ${before(TimeZone)}"
        case TimeToLive => timeToLiveAs(part(was, TimeToLive))
        case History    => historyAs(part(was, History))
        case _          => s"write ${before(Answered)}"
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
        "OpsInCurBatchSeq" -> s"$is; $remedy, or start with a new checkpoint location"
      )
    )
}
