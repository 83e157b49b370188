package io.sash.spark.streams.late

import java.util.Locale

import scala.collection.mutable

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.hadoop.mapreduce.Job
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark
import org.apache.spark.sql.execution.datasources.OutputWriterFactory
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types._
import org.apache.spark.util.SerializableConfiguration

/**
 * The Parquet files of a batch's late rows, one for each task that has some. Spark reads the
 * names of their folders (`operator=…`, `batch=…`) as columns. Readers skip a file that is being
 * written, since its name begins with a dot.
 *
 * @param folder the folder of the batch's files, of this query and maybe of others
 */
private[late] final case class LateFiles(
    folder: String,
    batch: LateBatch,
    schema: StructType,
    factory: OutputWriterFactory,
    conf: SerializableConfiguration
) {
  def nameOf(partition: Int): String = f"${batch.query}-$partition%05d.parquet"

  /** Removes the files that an earlier run of the batch has left. */
  def clear(hadoop: Configuration): Unit = {
    val path = new Path(folder)
    val fs = path.getFileSystem(hadoop)
    if (fs.exists(path)) fs.listStatus(path).map(_.getPath).filter(isOwn).foreach { file =>
      fs.delete(file, false)
    }
  }

  private def isOwn(file: Path): Boolean = file.getName.stripPrefix(".").startsWith(batch.query)
}

private[spark] object LateFiles {
  private[late] def apply(
      session: SparkSession,
      path: String,
      batch: LateBatch,
      columns: Seq[Attribute]
  ): LateFiles = {
    val schema = schemaOf(columns)
    val hadoop = session.sessionState.newHadoopConf()
    val job = Job.getInstance(hadoop)
    val factory = new ParquetFileFormat().prepareWrite(session, job, Map.empty, schema)
    val folder = new Path(path, s"operator=${batch.operator}/batch=${batch.batch}")
    LateFiles(
      folder.getFileSystem(hadoop).makeQualified(folder).toString,
      batch,
      schema,
      factory,
      new SerializableConfiguration(job.getConfiguration)
    )
  }

  /** The columns for which Parquet has no type. */
  def unwritable(columns: Seq[Attribute]): Seq[Attribute] = {
    val parquet = new ParquetFileFormat
    columns.filterNot(c => parquet.supportDataType(c.dataType))
  }

  /** The row is a struct, so that its columns may have any names. */
  private def schemaOf(columns: Seq[Attribute]): StructType = new StructType()
    .add("query", StringType)
    .add("watermark", TimestampType)
    .add("missed", LongType)
    .add("windows", LongType)
    .add("row", StructType(unlike(columns).map { case (name, c) => fieldOf(name, c) }))

  private def fieldOf(name: String, column: Attribute): StructField = {
    val metadata = new MetadataBuilder()
      .withMetadata(column.metadata)
      .remove(EventTimeWatermark.delayKey)
      .build()
    StructField(name, column.dataType, nullable = true, metadata)
  }

  /** The columns with different names, also if case does not count, as in `id, id_2`. */
  private def unlike(columns: Seq[Attribute]): Seq[(String, Attribute)] = {
    val all = columns.map(c => lower(c.name)).toSet
    val taken = mutable.Set.empty[String]
    columns.map { column =>
      val others = Iterator.from(2).map(i => s"${column.name}_$i").filterNot(n => all(lower(n)))
      val name = (Iterator(column.name) ++ others).find(n => taken.add(lower(n))).get
      name -> column
    }
  }

  private def lower(name: String): String = name.toLowerCase(Locale.ROOT)
}
