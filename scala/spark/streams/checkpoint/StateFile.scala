package io.sash.spark.streams.checkpoint

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.SPARK_VERSION

import io.sash.spark.base.SashVersion

/**
 * The files beside an operator's state, with the texts that describe the state. A text is written
 * before the first batch and compared before each later one, so that no batch mixes the states of
 * two queries. A changed query whose windows can go on begins a new generation of the state, with
 * a file of its own. Buckets of an earlier generation are changed when they are next read.
 *
 * @param operator the operator's directory among the states of the query
 */
private[streams] final class StateFile(operator: Path, hadoop: Configuration) {
  import StateFile._

  private[this] val directory = new Path(operator, "_sash")
  private[this] val files = directory.getFileSystem(hadoop)

  private def path(generation: Int): Path =
    new Path(directory, if (generation == 0) "windows" else s"windows.$generation")

  /** The file of the first generation. */
  def first: Path = path(0)

  /** Whether tasks of a batch have written its state. */
  def hasRun(batch: Long): Boolean = {
    val names = Seq(".", "_").map(s => s"${batch + 1}$s")
    NumberedFiles.in(operator, hadoop).exists { partition =>
      files.listStatus(partition.getPath).exists(f => names.exists(f.getPath.getName.startsWith))
    }
  }

  /** The generations, the oldest first. */
  def read(): IndexedSeq[Generation] = Iterator
    .from(0)
    .map(n => textIn(path(n)))
    .takeWhile(_.nonEmpty)
    .flatMap(_.map(Generation))
    .toIndexedSeq

  /**
   * Writes that a generation begins with a batch, after `known` generations. A batch that failed
   * may have left other files, which are removed.
   */
  def begin(text: String, layout: Option[StateLayout], known: Int, batch: Long): Unit = {
    endAt(known)
    val more = layout.map(StateSignature.Parts -> _.json) ++ Seq(
      StateSignature.BegunIn -> batch.toString,
      StateSignature.BegunBy -> Versions
    )
    val lines = text +: more.map { case (name, value) => StateSignature.line(name, value) }.toSeq
    TextFile.write(path(known), lines.mkString("", "\n", End), hadoop)
  }

  /** Removes all generations but the first ones. */
  def endAt(known: Int): Unit =
    Iterator.from(known).map(path).takeWhile(files.exists).foreach(files.delete(_, false))

  /** None also if the file is incomplete, as before the first batch. */
  private def textIn(path: Path): Option[String] = Option
    .when(files.exists(path))(TextFile.read(path, hadoop))
    .filter(_.endsWith(End))
    .map(_.stripSuffix(End))
}

private[streams] object StateFile {

  /** The version of the layout of everything that Sash writes into its state. */
  private val Layout: Int = 9

  private val Versions: String = s"Sash ${SashVersion.Version} on Spark $SPARK_VERSION"

  private val End = "\n"

  /** The text that is compared with the text of a state. */
  def text(description: String): String =
    s"$description\n${StateSignature.line(StateSignature.Layout, Layout.toString)}"
}

/** The description of a state from one batch on. */
private[streams] final case class Generation(text: String) {
  import StateSignature._

  def isOfHops: Boolean = StateSignature.isOfHops(text)

  /** The first batch. */
  def from: Long = part(text, BegunIn).fold(0L)(_.toLong)

  /** The end of the history that the windows began with, in microseconds. */
  def history: Option[Long] = historyIn(text)

  /** The parts of the state; None if it is of hops. JSON has no line breaks to be escaped. */
  def layout: Option[StateLayout] =
    part(text, Parts).map(json => StateLayout.read(json.replace("\\\\", "\\")))
}
