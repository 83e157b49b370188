package io.sash.spark.streams.checkpoint

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.SPARK_VERSION

import io.sash.spark.base.SashVersion

/**
 * The file beside an operator's state, with the text that describes the state. The text is
 * written before the first batch and compared before each later one, so that no batch mixes the
 * states of two queries.
 *
 * @param operator the operator's directory among the states of the query
 */
private[streams] final class StateFile(operator: Path, hadoop: Configuration) {
  import StateFile._
  import StateSignature._

  private[this] val path = new Path(operator, "_sash/windows")
  private[this] val files = path.getFileSystem(hadoop)

  /** The text; None also if the file is incomplete, as before the first batch. */
  def read(): Option[String] = Option
    .when(files.exists(path))(TextFile.read(path, hadoop))
    .filter(_.endsWith(End))
    .map(_.stripSuffix(End))

  /**
   * Refuses a query if the state is of another one.
   *
   * @param description the description of the query's operator
   * @param batch the batch that is planned. Before the first one is committed there is no state
   * @param passed the watermark, in microseconds, that the batch before has passed, if it is
   *   known
   */
  def check(description: String, batch: Long, passed: => Option[Long]): Unit = {
    val is = s"$description\n${line(Layout, LayoutNumber.toString)}"
    if (batch == 0) TextFile.write(path, s"$is\n${line(BegunBy, Versions)}$End", hadoop)
    else {
      val was = read().getOrElse(throw StateErrors.undescribed(path))
      if (differing(was, is).nonEmpty && !leavesHistoryOut(was, is, passed))
        throw StateErrors.other(was, is)
    }
  }

  /** A query may leave its history out once the watermark has passed all of it. */
  private def leavesHistoryOut(was: String, is: String, passed: => Option[Long]): Boolean =
    differing(was, is) == Seq(History) && historyIn(is).isEmpty &&
      historyIn(was).exists(until => passed.exists(_ >= until))
}

private object StateFile {

  /** The version of the layout of everything that Sash writes into its state. */
  private val LayoutNumber: Int = 12

  private val Versions: String = s"Sash ${SashVersion.Version} on Spark $SPARK_VERSION"

  private val End = "\n"
}
