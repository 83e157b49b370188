package io.sash.spark.streams.checkpoint

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.json4s.{JInt, JNothing, JValue}
import org.json4s.jackson.JsonMethods.parse

/**
 * Entries of a checkpoint's directories that are named by numbers: batches in the logs of offsets
 * and of commits, operators among the states, and partitions of an operator.
 */
private[streams] object NumberedFiles {

  /** No entries if there is no directory. */
  def in(directory: Path, hadoop: Configuration): Seq[FileStatus] = {
    val files = directory.getFileSystem(hadoop)
    if (files.exists(directory))
      files.listStatus(directory).toSeq.filter(_.getPath.getName.forall(_.isDigit))
    else Nil
  }

  /** The entry of the last batch. */
  def last(log: Path, hadoop: Configuration): Option[FileStatus] =
    in(log, hadoop).maxByOption(_.getPath.getName.toLong)

  /** The second line of an entry of a log. The first is the version of its format. */
  def json(entry: Path, hadoop: Configuration): JValue =
    TextFile
      .read(entry, hadoop)
      .linesIterator
      .drop(1)
      .nextOption()
      .fold[JValue](JNothing)(parse(_))

  /** The watermark of a batch, in microseconds, in its entry of the log of offsets. */
  def watermark(batch: JValue): Long = batch \ "batchWatermarkMs" match {
    case JInt(millis) => millis.toLong * MicrosInMilli
    case _            => 0L
  }

  private val MicrosInMilli = 1000L
}
