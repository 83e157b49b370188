package io.sash.spark.streams.checkpoint

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

/**
 * What the state of an operator was written for, in a file beside it: written before the first batch,
 * and compared before any other, so that no batch mixes the states of two queries.
 *
 * @param operator where its state is, in the directory of the query's states
 */
private[streams] final class StateFile(operator: Path, hadoop: Configuration) {
  import StateFile._

  private[this] val path = new Path(new Path(operator, "_sash"), "windows")
  private[this] val files = path.getFileSystem(hadoop)

  /** Fails if the state is of something else. */
  def check(text: String): Unit = {
    val now = s"$text\n$LayoutIs$Layout"
    val was = read()
    if (!was.contains(now)) {
      was.filter(_ => hasBatch).foreach { old =>
        // before the fifth layout all was one line
        if (old.linesIterator.length == 1) throw StateErrors.earlierState()
        throw StateErrors.otherState(old, now)
      }
      TextFile.write(path, now + End, hadoop)
    }
  }

  /** Whether a batch has been committed. */
  def hasBatch: Boolean = {
    val commits = new Path(operator.getParent.getParent, "commits")
    files.exists(commits) && files.listStatus(commits).exists(_.getPath.getName.forall(_.isDigit))
  }

  /** None as well if it is a beginning: then there has been no batch. */
  def read(): Option[String] = Option
    .when(files.exists(path))(TextFile.read(path, hadoop))
    .filter(_.endsWith(End))
    .map(_.stripSuffix(End))
}

private object StateFile {

  /** The version of all that Sash writes into its state. */
  private val Layout: Int = 5

  private val LayoutIs = "layout: "

  private val End = "\n"
}
