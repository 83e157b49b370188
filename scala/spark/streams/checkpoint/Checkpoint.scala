package io.sash.spark.streams.checkpoint

import java.util.Locale

import scala.collection.mutable.ArrayBuffer

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.internal.SQLConf
import org.json4s._

import io.sash.spark.base.StreamVersions

/** The checkpoint of a query that starts: the state and the settings of its earlier runs. */
private[spark] final class Checkpoint(statement: WriteToStreamStatement, conf: SQLConf) {
  private[this] val location: Option[Path] = statement.userSpecifiedCheckpointLocation
    .orElse(conf.checkpointLocation.zip(statement.userSpecifiedName).map { case (l, n) =>
      s"$l/$n"
    })
    .map(new Path(_))

  /**
   * The provider of the query's state stores. Spark stays with the provider of the checkpoint.
   */
  lazy val stateStoreProvider: String = storedProvider.getOrElse {
    val key = SQLConf.STATE_STORE_PROVIDER_CLASS
    // in real-time mode Spark chooses RocksDB unless another provider is set
    if (StreamVersions.isRealTime(statement) && !conf.contains(key.key)) Checkpoint.RocksDB
    else conf.getConf(key)
  }

  private lazy val storedProvider: Option[String] = {
    val key = SQLConf.STATE_STORE_PROVIDER_CLASS.key
    location
      .flatMap(l => NumberedFiles.last(new Path(l, "offsets"), statement.hadoopConf))
      .map(last => NumberedFiles.json(last.getPath, statement.hadoopConf) \ "conf" \ key)
      .collect { case JString(value) => value }
  }

  /** Says, for an error, where the provider was chosen and how to change it. */
  def originOfProvider: String = {
    val key = SQLConf.STATE_STORE_PROVIDER_CLASS.key
    val ask = s"set $key to ${Checkpoint.RocksDB}"
    if (storedProvider.nonEmpty)
      s"which the checkpoint was begun with ($ask, and start with a new one)"
    else if (conf.contains(key)) s"to which $key is set ($ask)"
    else s"which is the default of $key ($ask)"
  }

  /**
   * Whether Spark's own operators go on answering the hop windows. The checkpoint then has state
   * of aggregations; operators of Sash, if any, were given up in their first batch.
   */
  lazy val hasSparksHops: Boolean = !operators.exists(isHops) && operators.exists(isAggregation)

  /** Whether a batch has been committed. */
  lazy val hasBatch: Boolean =
    location.exists(l => NumberedFiles.in(new Path(l, "commits"), statement.hadoopConf).nonEmpty)

  /**
   * Removes the state of hop windows that Spark's operators take over, if no batch has been
   * committed. Otherwise Spark would take the metadata of Sash's operator for its own, and refuse
   * the next start.
   */
  def dropBegunHops(): Unit =
    if (!hasBatch) operators.filter(hasHops).foreach { o =>
      o.getFileSystem(statement.hadoopConf).delete(o, true)
    }

  private def isAggregation(operator: Path): Boolean = {
    val metadata =
      filesIn(new Path(operator, "_metadata")).map(TextFile.read(_, statement.hadoopConf))
    // a batch that was killed may have left empty directories, which belong to no operator
    metadata.isEmpty && hasBatch || hasHops(operator) ||
    metadata.exists(_.toLowerCase(Locale.ROOT).contains("statestoresave"))
  }

  private def isHops(operator: Path): Boolean = hasHops(operator) && !hasSparksSchema(operator)

  private def hasHops(operator: Path): Boolean =
    new StateFile(operator, statement.hadoopConf).read().exists(StateSignature.isOfHops)

  /**
   * Whether the operator has a state schema, which Spark's own operators write and
   * transformWithState does not.
   */
  private def hasSparksSchema(operator: Path): Boolean = {
    val schema = new Path(operator, "0/_metadata/schema")
    schema.getFileSystem(statement.hadoopConf).exists(schema)
  }

  private def operators: Seq[Path] = location.toSeq.map(new Path(_, "state")).flatMap { states =>
    val files = states.getFileSystem(statement.hadoopConf)
    if (files.exists(states)) files.listStatus(states).toSeq.filter(_.isDirectory).map(_.getPath)
    else Nil
  }

  private def filesIn(directory: Path): Seq[Path] = {
    val files = directory.getFileSystem(statement.hadoopConf)
    val found = ArrayBuffer.empty[Path]
    if (files.exists(directory)) {
      val all = files.listFiles(directory, true)
      while (all.hasNext) found += all.next().getPath
    }
    found.toSeq
  }
}

private object Checkpoint {
  val RocksDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
}
