package io.sash.spark.streams.late

import org.apache.hadoop.fs.{FileContext, Options, Path, UnsupportedFileSystemException}
import org.apache.hadoop.mapreduce.{TaskAttemptID, TaskType}
import org.apache.hadoop.mapreduce.task.TaskAttemptContextImpl
import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.execution.datasources.OutputWriter
import org.apache.spark.unsafe.types.UTF8String

/**
 * How many of its hop windows a row has missed.
 *
 * @param windows the number of missed windows
 * @param of the number of all its windows
 */
private[late] final case class Missed(windows: Long, of: Long)

/**
 * The file of a task's late rows. It has a hidden name of the task's own until `commit`; without
 * a late row there is no file.
 */
private[late] final class LateFile(files: LateFiles, partition: Int) {
  private[this] val name = files.nameOf(partition)
  private[this] val hidden =
    new Path(files.folder, s".$name.${TaskContext.get().taskAttemptId()}")
  private[this] var writer: OutputWriter = _

  private[this] val columns = new GenericInternalRow(5)
  columns.update(0, UTF8String.fromString(files.batch.query))
  columns.setLong(1, files.batch.watermark)

  /**
   * Writes a late row.
   *
   * @param missed None if the operator has no hop windows
   */
  def write(row: InternalRow, missed: Option[Missed]): Unit = {
    if (writer == null) writer = open()
    missed.foreach { m =>
      columns.setLong(2, m.windows)
      columns.setLong(3, m.of)
    }
    columns.update(4, row)
    writer.write(columns)
  }

  /** Called when all rows are written. */
  def commit(): Unit = if (writer != null) {
    writer.close()
    rename(new Path(files.folder, name))
    writer = null
  }

  /** Called when the task ends; it does nothing after `commit`. */
  def abort(): Unit = if (writer != null) {
    writer.close()
    hidden.getFileSystem(files.conf.value).delete(hidden, false)
    writer = null
  }

  private def open(): OutputWriter = {
    val task = new TaskAttemptID("late", 0, TaskType.MAP, partition, 0)
    files.factory.newInstance(
      hidden.toString,
      files.schema,
      new TaskAttemptContextImpl(files.conf.value, task)
    )
  }

  /** Replaces the file of a task with the same rows, in one step if the file system can. */
  private def rename(to: Path): Unit =
    try
      FileContext
        .getFileContext(to.toUri, files.conf.value)
        .rename(hidden, to, Options.Rename.OVERWRITE)
    catch {
      case _: UnsupportedFileSystemException =>
        val fs = to.getFileSystem(files.conf.value)
        fs.delete(to, false)
        if (!fs.rename(hidden, to))
          throw new java.io.IOException(s"$hidden is not renamed to $to")
    }
}
