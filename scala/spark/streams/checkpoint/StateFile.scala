package io.sash.spark.streams.checkpoint

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.SPARK_VERSION

import io.sash.spark.base.SashVersion

/**
 * A file beside an operator's state, with the text that describes the state. It is written before
 * the first batch and compared before each later one, so that no batch mixes the states of two
 * queries.
 *
 * @param operator the operator's directory among the states of the query
 */
private[streams] final class StateFile(operator: Path, hadoop: Configuration) {
  import StateFile._

  private[this] val path = new Path(new Path(operator, "_sash"), "windows")
  private[this] val files = path.getFileSystem(hadoop)

  /**
   * Compares the text with the file's. If they differ, or the file is gone, it fails, or, before
   * the first commit, writes the file.
   */
  def check(text: String): Unit = {
    val now = withLayout(text)
    val was = read()
    if (!was.exists(StateSignature.differing(_, now).isEmpty)) {
      if (hasBatch) throw was.fold(StateErrors.undescribed(path))(StateErrors.other(_, now))
      TextFile.write(
        path,
        s"$now\n${StateSignature.line(StateSignature.BegunBy, Versions)}$End",
        hadoop
      )
    }
  }

  /** Whether the file has this text; None if there is no file. */
  def has(text: String): Option[Boolean] =
    read().map(StateSignature.differing(_, withLayout(text)).isEmpty)

  /** The error for a file that has another text. */
  def differs(text: String): Throwable =
    read().fold(StateErrors.undescribed(path))(StateErrors.other(_, withLayout(text)))

  private def withLayout(text: String): String =
    s"$text\n${StateSignature.line(StateSignature.Layout, Layout.toString)}"

  /** Whether a batch has been committed. */
  def hasBatch: Boolean = {
    val commits = new Path(operator.getParent.getParent, "commits")
    files.exists(commits) && files.listStatus(commits).exists(_.getPath.getName.forall(_.isDigit))
  }

  /** The text in the file; None also if the file is incomplete, as before the first batch. */
  def read(): Option[String] = Option
    .when(files.exists(path))(TextFile.read(path, hadoop))
    .filter(_.endsWith(End))
    .map(_.stripSuffix(End))
}

private object StateFile {

  /** The version of the layout of everything that Sash writes into its state. */
  private val Layout: Int = 7

  private val Versions: String = s"Sash ${SashVersion.Version} on Spark $SPARK_VERSION"

  private val End = "\n"
}
